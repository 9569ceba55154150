import { afterAll, expect, it, vi } from "vitest";
import { run } from "../../bench/group-vs-duckdb.js";
import { openDevice } from "../../src/index.js";
import { expectReport } from "./expect-report.js";

// a collection before each run takes longer than runs of some rows (timing.test.ts sees that it collects)
vi.hoisted(() => vi.resetModules()); // files of one process share modules
vi.mock("../../bench/garbage.js", () => ({ collectGarbage: async () => {} }));
vi.mock("../../bench/timing.js", async (original) => (await import("./in-small.js")).withoutWarmUp(original));
afterAll(() => vi.resetModules());

it("groups some rows as DuckDB does, with one thread and with two", async () => {
  using device = await openDevice({ backend: "cpu", threads: 2 });
  const report = await run(device, { size: 2000, runs: 1 });
  expectReport(report, "group-vs-duckdb");
  expect(new Set(report.rows.map((row) => row.threads))).toEqual(new Set([1, 2]));
  expect(new Set(report.rows.map((row) => row.query)).size).toBe(9);
});
