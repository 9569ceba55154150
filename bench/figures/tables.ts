/** Figures of how a table behaves: by group size (Fig. 4 of NVIDIA's article), by strategy, as it fills, and how deep its keys lie. */
import type { Figure, LinePanel, LineSeries } from "../chart/figure.js";
import type { StoredReport } from "../report.js";
import {
  contender,
  distinct,
  footerOf,
  inMillions,
  level,
  linesBy,
  numberIn,
  parameter,
  pointsOf,
  publishedLines,
  sizeText,
  textIn,
} from "./parts.js";

const LOAD = { label: "load factor (entries / slots)", scale: "linear" } as const;
const GUPS = "random 8-byte reads of the same run (GUPS)";

export function groupSizeFigure(report: StoredReport): Figure {
  return {
    title: "Group-cooperative probing by load factor",
    subtitle: `A table of ${sizeText(parameter(report, "slots"))} slots, u32 to u32, direct strategy; a probe looks at so many slots in one step.`,
    panels: distinct(report.rows, "operation").map((operation) => {
      const rows = report.rows.filter((row) => row.operation === operation);
      const measured = linesBy(rows, "group size", "load", "GB/s", (size) => `group of ${size}`);
      const panel: LinePanel = {
        kind: "lines",
        title: operation,
        x: LOAD,
        y: { label: "GB/s", scale: "linear" },
        series: [
          ...measured,
          ...publishedLines(report, operation),
          ...level(GUPS, parameter(report, "GUPS GB/s"), measured),
        ],
      };
      return inMillions(panel, "GB/s");
    }),
    footer: footerOf(report),
  };
}

export function crossoversFigure(report: StoredReport): Figure {
  const byLoad = report.parameters.sweep === "load";
  const [by, nameOf] = byLoad
    ? (["load", (load: string) => `load ${Number(load).toFixed(2)}`] as const)
    : (["slots", (slots: string) => `${sizeText(Number(slots))} slots`] as const);
  const slots = sizeText(Math.max(...report.rows.map((row) => numberIn(row, "slots"))));
  return {
    title: "Calls that go directly, and partitioned ones",
    subtitle: `${contender(textIn(report.rows[0], "on"))}: the time of a call that goes directly over that of one that is partitioned. ${byLoad ? `A table of ${slots} slots` : "Tables half full; for insert a quarter, for build empty"}, u32 to u32.`,
    panels: distinct(report.rows, "operation").map((operation) => {
      const rows = report.rows.filter((row) => row.operation === operation);
      const measured = linesBy(rows, by, "batch", "ratio", nameOf);
      return {
        kind: "lines",
        title: operation,
        x: { label: "keys of the call", scale: "log2" },
        y: { label: "direct / partitioned", scale: "linear" },
        series: [...measured, ...level("equally fast", 1, measured)],
      };
    }),
    footer: footerOf(report),
  };
}

export function loadFactorFigure(report: StoredReport): Figure {
  const kernels: LineSeries = {
    name: "warpmap, kernels alone",
    origin: "measured",
    points: pointsOf(report.rows, "load", "kernel M keys/s"),
  };
  return {
    title: "Inserting into a table as it fills",
    subtitle: `${sizeText(parameter(report, "slots"))} slots, ${sizeText(parameter(report, "keys of a batch"))} new keys at a time, over the load before each batch.`,
    panels: [
      {
        kind: "lines",
        title: "Throughput of each batch",
        x: { ...LOAD, label: "load factor before the batch" },
        y: { label: "million keys a second", scale: "log10" },
        series: [
          ...linesBy(report.rows, "on", "load", "M keys/s", contender),
          ...(kernels.points.length > 0 ? [kernels] : []),
          ...publishedLines(report, "insert"),
        ],
      },
    ],
    footer: footerOf(report),
  };
}

export function probeDepthFigure(report: StoredReport): Figure {
  const positive = (series: readonly LineSeries[]) =>
    series.map((each) => ({ ...each, points: each.points.filter(({ y }) => y > 0) }));
  return {
    title: "How far keys lie from their home slot",
    subtitle: `Probes after the first, of linear probing in ${sizeText(parameter(report, "slots"))} slots: 0 for a key in its home slot.`,
    panels: (["mean depth", "deepest"] as const).map((column) => ({
      kind: "lines",
      title: column === "deepest" ? "Deepest key" : "Mean over all keys",
      x: LOAD,
      y: { label: "probes after the first", scale: "log10" },
      series: positive([
        ...linesBy(report.rows, "on", "load", column, contender),
        ...(column === "deepest"
          ? []
          : [
              {
                name: "expected of linear probing (Knuth)",
                origin: "reference" as const,
                points: pointsOf(report.rows, "load", "expected"),
              },
            ]),
        ...publishedLines(report, column),
      ]),
    })),
    footer: footerOf(report),
  };
}
