import { afterAll, expect, it, vi } from "vitest";
import { run } from "../../bench/files.js";
import { openDevice } from "../../src/index.js";
import { expectPicture, expectReport } from "./expect-report.js";

// a collection before each run takes longer than runs of some rows (timing.test.ts sees that it collects)
const { collectGarbage } = vi.hoisted(() => {
  vi.resetModules(); // files of one process share modules
  return { collectGarbage: vi.fn(async () => {}) };
});
vi.mock("../../bench/garbage.js", () => ({ collectGarbage }));
afterAll(() => vi.resetModules());

it("writes the same rows as DuckDB, and says how long each part took", async () => {
  using device = await openDevice({ backend: "cpu", threads: 2 });
  const report = await run(device, { size: 2000, runs: 1 });
  expectReport(report, "files");
  expectPicture(report);
  expect(collectGarbage.mock.calls.length).toBeGreaterThanOrEqual(report.rows.length);
  const both = ["cpu, 2 threads", "DuckDB"];
  expect(report.rows.map(({ task, by }) => [task, by])).toEqual([
    ...both.map((by) => ["flights with airports to csv", by]),
    ...both.map((by) => ["flights with airports to parquet", by]),
    ["flights with airports to arrow", both[0]],
    ...both.map((by) => ["csv to parquet", by]),
    ...both.map((by) => ["flights by route to csv", by]),
    ...[...both, "hyparquet"].map((by) => ["read flights", by]),
    ...both.map((by) => ["read csv", by]),
  ]);
  for (const row of report.rows.filter(({ by }) => by === both[0])) {
    const parts = ["reading", "working", "moving", "writing"].map((part) => Number(row[`${part} ms`]));
    expect(parts[0]).toBeGreaterThan(0);
    expect(parts.reduce((sum, ms) => sum + ms)).toBeLessThanOrEqual(Number(row.ms) * 1.01);
  }
});
