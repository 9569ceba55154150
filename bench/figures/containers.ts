/**
 * Multimaps by how often keys come, maps that grow, and maps of 64-bit keys: bars, beside cuCollections' where there are figures of
 * the same size.
 */
import type { Bar, BarGroup, BarPanel, Figure } from "../chart/figure.js";
import type { BenchRow, StoredReport } from "../report.js";
import {
  contender,
  distinct,
  footerOf,
  inMillions,
  numberIn,
  parameter,
  publishedBars,
  sizeText,
  textIn,
} from "./parts.js";

const bar = (name: string, row: BenchRow, column: string): Bar => ({
  name,
  origin: "measured",
  value: numberIn(row, column),
});

/** One panel a call: of both containers, by the entries of a key. */
export function multimapFigure(report: StoredReport): Figure {
  const size = parameter(report, "entries");
  const groupOf = (operation: string, multiplicity: string): BarGroup => ({
    label: `${multiplicity} of a key`,
    bars: report.rows
      .filter((row) => row.operation === operation && textIn(row, "equal keys") === multiplicity)
      .flatMap((row) => {
        const kind = textIn(row, "container");
        const keys = multiplicity === "1" ? "key" : "keys";
        const others = publishedBars(
          report,
          `${kind} ${operation}, ${multiplicity} equal ${keys}`,
          undefined,
          size,
        );
        return [bar(kind, row, "G/s"), ...others.map((each) => ({ ...each, name: `${each.name}: ${kind}` }))];
      }),
  });
  return {
    title: "Keys with many entries",
    subtitle: `${sizeText(size)} entries of u32, every key as often as the others, inputs and results in the device's memory.`,
    panels: distinct(report.rows, "operation").map((operation) =>
      inMillions(
        {
          kind: "bars",
          title: operation,
          label: "G/s",
          groups: distinct(report.rows, "equal keys").map((multiplicity) => groupOf(operation, multiplicity)),
        },
        "G/s",
        "elements",
      ),
    ),
    footer: footerOf(report),
  };
}

/** The batches one by one, and all of them. */
export function growthFigure(report: StoredReport): Figure {
  const isBatch = (operation: string) => operation.startsWith("insert, batch");
  const operations = distinct(report.rows, "operation");
  const size = parameter(report, "pairs");
  const panel = (title: string, of: readonly string[]): BarPanel => ({
    kind: "bars",
    title,
    label: "milliseconds",
    groups: of.map((operation) => ({
      label: operation,
      bars: [
        ...report.rows
          .filter((row) => row.operation === operation)
          .map((row) => bar(textIn(row, "map"), row, "ms")),
        ...publishedBars(report, operation, undefined, size),
      ],
    })),
  });
  const pairs = sizeText(size);
  return {
    title: "A map that grows",
    subtitle: `A DynamicMap of u32 to u32 with room for ${sizeText(parameter(report, "first capacity"))} pairs takes ${pairs} in eight batches; a StaticMap is made for all of them. Keys and results in the device's memory.`,
    panels: [
      panel(
        `${pairs} pairs`,
        operations.filter((operation) => !isBatch(operation)),
      ),
      panel("Batch by batch", operations.filter(isBatch)),
    ],
    footer: footerOf(report),
  };
}

/** One panel a load. */
export function wideFigure(report: StoredReport): Figure {
  const calls = report.rows.filter((row) => "operation" in row);
  const size = numberIn(calls[0], "size");
  return {
    title: "Bulk operations on a map of u64 to u64",
    subtitle: `${sizeText(size)} unique random keys, inputs and results in the device's memory, by the time of the awaited call.`,
    panels: distinct(calls, "load").map((load) =>
      inMillions(
        {
          kind: "bars",
          title: `Load ${load}`,
          label: "G/s",
          groups: distinct(calls, "operation").map((operation) => ({
            label: operation,
            bars: [
              ...calls
                .filter((row) => row.operation === operation && textIn(row, "load") === load)
                .map((row) => bar(contender(textIn(row, "on")), row, "G ops/s")),
              ...publishedBars(report, operation, Number(load), size),
            ],
          })),
        },
        "G/s",
      ),
    ),
    footer: footerOf(report),
  };
}
