import { expect, it } from "vitest";
import { run } from "../../bench/group-vs-duckdb.js";
import { openDevice } from "../../src/index.js";
import { expectReport } from "./expect-report.js";

it("groups some rows as DuckDB does, with one thread and with two", async () => {
  using device = await openDevice({ backend: "cpu", threads: 2 });
  const report = await run(device, { size: 20_000, runs: 1 });
  expectReport(report, "group-vs-duckdb");
  expect(new Set(report.rows.map((row) => row.threads))).toEqual(new Set([1, 2]));
  expect(new Set(report.rows.map((row) => row.query)).size).toBe(9);
});
