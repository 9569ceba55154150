import { afterAll, expect, it, vi } from "vitest";
import { run } from "../../bench/join-vs-duckdb.js";
import { openDevice } from "../../src/index.js";
import { expectReport } from "./expect-report.js";

// a collection before each run takes longer than runs of some rows (timing.test.ts sees that it collects)
const { collectGarbage } = vi.hoisted(() => {
  vi.resetModules(); // files of one process share modules
  return { collectGarbage: vi.fn(async () => {}) };
});
vi.mock("../../bench/garbage.js", () => ({ collectGarbage }));
afterAll(() => vi.resetModules());

it("joins some flights and integers as DuckDB does, with one thread and with all", async () => {
  using device = await openDevice({ backend: "cpu", threads: 2 });
  const report = await run(device, { size: 2000, runs: 1 });
  expectReport(report, "join-vs-duckdb");
  expect(collectGarbage.mock.calls.length).toBeGreaterThanOrEqual(report.rows.length);
  expect(report.parameters).toMatchObject({ "flights rows": 2000, "airports rows": 3376 });
  expect(report.parameters).toMatchObject({ "integer rows": 1024 });
  const by = ["warpmap cpu", "warpmap cpu", "DuckDB", "DuckDB", "DuckDB"];
  expect(report.rows.map((row) => [row.threads, row.join, row.by])).toEqual(
    [1, 2].flatMap((threads) =>
      [
        "flights",
        "2^10 integers",
        "2^10 integers, left",
        "2^10 integers, anti",
        "2^10 strings, zipf, left",
      ].flatMap((join) => by.map((name) => [threads, join, name])),
    ),
  );
});
