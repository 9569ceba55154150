/** Fig. 5 of NVIDIA's article as bars, and the sweeps of static-map as lines. */
import type { BarPanel, Figure, LinePanel, Panel } from "../chart/figure.js";
import type { BenchRow, StoredReport } from "../report.js";
import {
  contender,
  distinct,
  footerOf,
  groupBy,
  inMillions,
  level,
  linesBy,
  numberIn,
  parameter,
  publishedBars,
  publishedLines,
  sizeText,
  textIn,
} from "./parts.js";

const LATENCY = "find of 1,000 host keys";
const GUPS = "random 8-byte reads of the same run (GUPS)";

export function staticMapFigure(report: StoredReport): Figure {
  const { sweep } = report.parameters;
  const base = { footer: footerOf(report) };
  if (sweep === "size") {
    return {
      ...base,
      title: "A map of u32 to u32 by number of keys",
      subtitle: "Unique random keys at load 0.5, inputs and results in the device's memory.",
      panels: sweepPanels(report, "size"),
    };
  }
  if (sweep === "load") {
    return {
      ...base,
      title: "A map of u32 to u32 by load factor",
      subtitle: `${sizeText(numberIn(report.rows[0], "size"))} unique random keys, inputs and results in the device's memory.`,
      panels: sweepPanels(report, "load"),
    };
  }
  return {
    ...base,
    title: "Bulk operations on a map of u32 to u32",
    subtitle:
      "Unique random keys, inputs and results in the device's memory, by the time of the awaited call.",
    panels: tablePanels(report),
  };
}

function sweepPanels(report: StoredReport, column: "size" | "load"): Panel[] {
  return distinct(report.rows, "operation").map((operation) => {
    const rows = report.rows.filter((row) => row.operation === operation);
    const measured = linesBy(rows, "on", column, "GB/s", contender);
    const panel: LinePanel = {
      kind: "lines",
      title: operation,
      x:
        column === "size"
          ? { label: "keys", scale: "log2" }
          : { label: "load factor (entries / slots)", scale: "linear" },
      y: { label: "GB/s", scale: "linear" },
      series: [
        ...measured,
        ...(column === "load" ? publishedLines(report, operation) : publishedAt(report, operation, rows)),
        ...level(GUPS, parameter(report, "GUPS GB/s"), measured),
      ],
    };
    return inMillions(panel, "GB/s");
  });
}

/** Others' figures are of 2^27 keys: a point in a sweep that comes so far. */
function publishedAt(report: StoredReport, operation: string, rows: readonly BenchRow[]) {
  const size = 2 ** 27;
  if (!rows.some((row) => numberIn(row, "size") >= size)) return [];
  return publishedBars(report, operation, 0.5).map(({ name, value }) => ({
    name,
    origin: "published" as const,
    points: [{ x: size, y: value }],
  }));
}

/** A panel for each table that was measured, and one for the latency. */
function tablePanels(report: StoredReport): Panel[] {
  const bulk = report.rows.filter((row) => row.operation !== LATENCY);
  const few = report.rows.filter((row) => row.operation === LATENCY);
  const tables = [...groupBy(bulk, (row) => `${textIn(row, "size")} ${textIn(row, "load")}`).values()];
  const panels: Panel[] = tables.map((rows) => inMillions(tablePanel(report, rows), "GB/s"));
  if (few.length > 0) {
    panels.push({
      kind: "bars",
      title: "A find of 1,000 keys, from call to result, keys and results on the host",
      label: "microseconds",
      groups: [...groupBy(few, (row) => numberIn(row, "size"))].map(([size, rows]) => ({
        label: `in a map of ${sizeText(size)} entries`,
        bars: rows.map((row) => ({
          name: contender(textIn(row, "on")),
          origin: "measured",
          value: numberIn(row, "ms") * 1000,
        })),
      })),
    });
  }
  return panels;
}

function tablePanel(report: StoredReport, rows: readonly BenchRow[]): BarPanel {
  // reports of before there were several loads have it among the parameters
  const load = Number(rows[0].load ?? report.parameters["load factor"]);
  return {
    kind: "bars",
    title: `${sizeText(numberIn(rows[0], "size"))} pairs, load ${load}`,
    label: "GB/s",
    groups: distinct(rows, "operation").map((operation) => ({
      label: operation,
      bars: [
        ...rows
          .filter((row) => row.operation === operation)
          .map((row) => ({
            name: contender(textIn(row, "on")),
            origin: "measured" as const,
            value: numberIn(row, "GB/s"),
          })),
        ...publishedBars(report, operation, load),
      ],
    })),
  };
}
