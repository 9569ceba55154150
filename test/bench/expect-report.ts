import { expect } from "vitest";
import type { BenchReport } from "../../bench/report.js";

/** A report that survives JSON, says where it was made, and whose numbers are all positive. */
export function expectReport(report: BenchReport, bench: string): void {
  expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  expect(report.bench).toBe(bench);
  for (const text of [report.machine, report.device, report.node]) expect(text).not.toBe("");
  expect(Date.parse(report.date)).toBeGreaterThan(0);
  expect(report.rows.length).toBeGreaterThan(0);
  for (const row of report.rows) {
    for (const [name, value] of Object.entries(row)) {
      if (typeof value === "number") expect(value, `${name} of ${JSON.stringify(row)}`).toBeGreaterThan(0);
    }
  }
}
