/** Figures of retrieve-all, stream, skew and batch. */
import type { Bar, Figure } from "../chart/figure.js";
import type { BenchRow, StoredReport } from "../report.js";
import {
  contender,
  distinct,
  footerOf,
  inMillions,
  linesBy,
  numberIn,
  parameter,
  publishedBars,
  publishedLines,
  sizeText,
  textIn,
} from "./parts.js";

function bars(
  rows: readonly BenchRow[],
  column: string,
  nameOf: (row: BenchRow) => string,
  familyOf: (row: BenchRow) => string,
): Bar[] {
  return rows.map((row) => ({
    name: nameOf(row),
    origin: "measured",
    value: numberIn(row, column),
    family: familyOf(row),
  }));
}

const variantOf = (row: BenchRow) =>
  textIn(row, "variant") + (row["tile slots"] ? `, tiles of ${textIn(row, "tile slots")} slots` : "");

/** The library's rows have one colour, the benchmark's own kernels another. */
const makerOf = (row: BenchRow) => (textIn(row, "variant").startsWith("warpmap") ? "warpmap" : "kernels");

export function retrieveAllFigure(report: StoredReport): Figure {
  const base = {
    title: "All pairs out of a table",
    subtitle: `${sizeText(parameter(report, "slots"))} slots, u32 to u32. Kernels of bench/retrieve-all by their own time, the library also by the wall time of the call.`,
    footer: footerOf(report),
  };
  if (report.parameters.sweep === "load") {
    const named = report.rows.map((row) => ({ ...row, named: variantOf(row) }));
    return {
      ...base,
      panels: [
        inMillions(
          {
            kind: "lines",
            title: "Pairs out",
            x: { label: "load factor (entries / slots)", scale: "linear" },
            y: { label: "GB/s", scale: "linear" },
            series: [...linesBy(named, "named", "load", "GB/s"), ...publishedLines(report, "retrieveAll")],
          },
          "GB/s",
          "pairs",
        ),
      ],
    };
  }
  const copy: Bar = {
    name: "copy of a buffer, same run",
    origin: "measured",
    value: parameter(report, "copy GB/s"),
  };
  return {
    ...base,
    panels: [
      inMillions(
        {
          kind: "bars",
          title: "Pairs out",
          label: "GB/s",
          groups: [
            {
              label: `load ${textIn(report.rows[0], "load")}`,
              bars: [
                ...bars(report.rows, "GB/s", variantOf, makerOf),
                ...publishedBars(report, "retrieveAll"),
              ],
            },
          ],
        },
        "GB/s",
        "pairs",
      ),
      {
        kind: "bars",
        title: "Bytes moved: 8 read per slot, 8 written per pair",
        label: "GB/s",
        groups: [
          { label: "read and written", bars: [...bars(report.rows, "moved GB/s", variantOf, makerOf), copy] },
        ],
      },
    ],
  };
}

export function streamFigure(report: StoredReport): Figure {
  const link = report.rows.filter((row) => row.on === undefined);
  const calls = report.rows.filter((row) => row.on !== undefined);
  return {
    title: "Keys that lie in host memory",
    subtitle: `${sizeText(numberIn(calls[0], "size"))} keys of u32. Bytes that cross the link / time: 8 up a pair for insert; 4 up and 5 down a key for find.`,
    panels: [
      {
        kind: "bars",
        title: "Bytes between host and device",
        label: "GB/s",
        groups: [
          {
            label: "The link, one direction at a time",
            bars: bars(
              link,
              "GB/s",
              (row) => textIn(row, "operation"),
              () => "link",
            ),
          },
          {
            label: "Calls on a map, from host memory to host memory",
            bars: bars(
              calls,
              "GB/s",
              (row) => `${textIn(row, "operation")}: ${contender(textIn(row, "on"))}`,
              () => "warpmap",
            ),
          },
        ].filter((group) => group.bars.length > 0),
      },
    ],
    footer: footerOf(report),
  };
}

export function skewFigure(report: StoredReport): Figure {
  return {
    title: "Keys that repeat",
    subtitle: `${sizeText(parameter(report, "keys"))} keys of u32, drawn by Zipf distributions from as many numbers. Repeated keys are counted each time.`,
    panels: [
      inMillions(
        {
          kind: "bars",
          title: `Throughput: ${contender(textIn(report.rows[0], "on"))}`,
          label: "GB/s",
          groups: distinct(report.rows, "operation").map((operation) => ({
            label: operation,
            bars: bars(
              report.rows.filter((row) => row.operation === operation),
              "GB/s",
              (row) => textIn(row, "keys"),
              () => operation,
            ),
          })),
        },
        "GB/s",
      ),
    ],
    footer: footerOf(report),
  };
}

export function batchFigure(report: StoredReport): Figure {
  return {
    title: "A find from call to result",
    subtitle: `Keys and results in host memory, maps of ${sizeText(parameter(report, "entries"))} entries, all keys present.`,
    panels: [
      {
        kind: "lines",
        title: "Latency by number of keys",
        x: { label: "keys of the call", scale: "log2" },
        y: { label: "microseconds", scale: "log10" },
        series: linesBy(report.rows, "on", "keys", "us", contender),
      },
    ],
    footer: footerOf(report),
  };
}
