/** Table 1 of NVIDIA's article as bars. */
import type { Bar, Figure } from "../chart/figure.js";
import type { BenchRow, StoredReport } from "../report.js";
import { footerOf, numberIn, parameter, publishedBars } from "./parts.js";

export function gupsFigure(report: StoredReport): Figure {
  const measured = (operation: string): Bar[] =>
    report.rows
      .filter((row) => row.operation === operation)
      .map((row) => ({ name: named(report, row), origin: "measured", value: numberIn(row, "GB/s") }));
  const reads = "random 8-byte reads";
  return {
    title: "Random 8-byte reads, and what copying moves",
    subtitle: `A table of ${parameter(report, "table bytes") / 2 ** 20} MiB. Reads count 8 bytes each; copies count the bytes read and the bytes written.`,
    panels: [
      {
        kind: "bars",
        title: "Random 8-byte reads (GUPS)",
        label: "GB/s",
        groups: [
          { label: "8 bytes × reads / time", bars: [...measured(reads), ...publishedBars(report, reads)] },
        ],
      },
      {
        kind: "bars",
        title: "Bandwidth",
        label: "GB/s",
        groups: [
          { label: "Copy, bytes read and written / time", bars: measured("copy") },
          { label: "Theoretical peak of the memory", bars: publishedBars(report, "peak") },
        ].filter(({ bars }) => bars.length > 0),
      },
    ],
    footer: footerOf(report),
  };
}

function named(report: StoredReport, { threads }: BenchRow): string {
  if (typeof threads !== "number") return report.device;
  return `this CPU, ${threads} ${threads === 1 ? "thread" : "threads"}`;
}
