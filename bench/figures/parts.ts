/** What figures share: columns of rows as series, and the lines under the panels that say where the numbers come from. */
import type { Bar, LineSeries, Origin, Panel, Point } from "../chart/figure.js";
import { powerOfTwo } from "../chart/scale.js";
import type { BenchRow, Published, StoredReport } from "../report.js";

/** Units in which reports have rates of tables, in millions a second. A "GB/s" of a table is 8 bytes × keys / time. */
const MILLIONS = { "GB/s": 125, "G/s": 1000 } as const;

/** A panel of rates of tables in the one unit that all pictures and README.md have for them. @param what is counted */
export function inMillions(panel: Panel, unit: keyof typeof MILLIONS, what = "keys"): Panel {
  const factor = MILLIONS[unit];
  const label = `million ${what} a second`;
  if (panel.kind === "lines") {
    const series = panel.series.map((each) => ({
      ...each,
      points: each.points.map(({ x, y }) => ({ x, y: y * factor })),
    }));
    return { ...panel, y: { ...panel.y, label }, series };
  }
  const groups = panel.groups.map((group) => ({
    ...group,
    bars: group.bars.map((each) => ({ ...each, value: each.value * factor })),
  }));
  return { ...panel, label, groups };
}

/** A number of a row; NaN where there is none. */
export function numberIn(row: BenchRow, column: string): number {
  const value = row[column];
  return typeof value === "number" ? value : Number.NaN;
}

/** A cell in words; empty where there is none. */
export function textIn(row: BenchRow, column: string): string {
  return String(row[column] ?? "");
}

/** Elements by what `keyOf` says of them, in the order in which keys first come. */
export function groupBy<T, K>(elements: readonly T[], keyOf: (element: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const element of elements) {
    const key = keyOf(element);
    const group = groups.get(key);
    if (group) group.push(element);
    else groups.set(key, [element]);
  }
  return groups;
}

/** A number of the parameters; NaN where there is none. */
export function parameter(report: StoredReport, name: string): number {
  return numberIn(report.parameters, name);
}

/** Values of a column in the order in which they first come. */
export function distinct(rows: readonly BenchRow[], column: string): string[] {
  return [...new Set(rows.map((row) => textIn(row, column)))];
}

/** Points of rows that have both columns. */
export function pointsOf(rows: readonly BenchRow[], x: string, y: string): Point[] {
  return rows
    .map((row) => ({ x: numberIn(row, x), y: numberIn(row, y) }))
    .filter((point) => Number.isFinite(point.x) && Number.isFinite(point.y));
}

/** One series for each value of a column. */
export function linesBy(
  rows: readonly BenchRow[],
  by: string,
  x: string,
  y: string,
  nameOf: (value: string) => string = (value) => value,
): LineSeries[] {
  return distinct(rows, by).map((value) => ({
    name: nameOf(value),
    origin: "measured" as const,
    points: pointsOf(
      rows.filter((row) => textIn(row, by) === value),
      x,
      y,
    ),
  }));
}

/** The figures of others for an operation, one series each, over their load factor. */
export function publishedLines(report: StoredReport, operation: string): LineSeries[] {
  return publishedOf(report, operation).map(([name, figures]) => ({
    name,
    origin: "published" as const,
    points: figures.flatMap(({ load, value }) => (load === undefined ? [] : [{ x: load, y: value }])),
  }));
}

/** The figures of others for an operation, as bars; at this load and size, where these are given. */
export function publishedBars(report: StoredReport, operation: string, load?: number, size?: number): Bar[] {
  return publishedOf(report, operation).flatMap(([name, figures]) =>
    figures
      .filter((figure) => load === undefined || figure.load === load)
      .filter((figure) => size === undefined || figure.size === size)
      .map(({ value }) => ({ name, origin: "published" as const, value })),
  );
}

function publishedOf(report: StoredReport, operation: string): [string, Published[]][] {
  const figures = (report.published ?? []).filter((figure) => figure.operation === operation);
  return [...groupBy(figures, ({ of }) => of)];
}

/** A constant over the range of other series, such as a bound. */
export function level(name: string, y: number, series: readonly LineSeries[]): LineSeries[] {
  const xs = series.flatMap(({ points }) => points.map(({ x }) => x));
  if (!Number.isFinite(y) || xs.length === 0) return [];
  const origin: Origin = "reference";
  const ends = [...new Set([Math.min(...xs), Math.max(...xs)])];
  return [{ name, origin, points: ends.map((x) => ({ x, y })) }];
}

/** "warpmap, cpu, 2 threads"; a JS Map is itself. */
export function contender(on: string): string {
  return on === "JS Map" ? on : `warpmap, ${on}`;
}

/** Machine, driver, date and commit, and the sources of figures that were not measured here. */
export function footerOf(report: StoredReport): string[] {
  const { machine, device, driver, node, commit, date, state } = report;
  const sources = groupBy(report.published ?? [], ({ source }) => source);
  return [
    `Device: ${device}${driver === "" ? "" : `, driver ${driver}`}. Host: ${machine}, Node ${node}.`,
    `${report.bench}, ${date.slice(0, 10)}, commit ${commit ?? "not known"}. Medians.${state ? ` State: ${state}.` : ""}`,
    ...[...sources].map(
      ([source, figures]) =>
        `Not from this run: ${[...new Set(figures.map(({ of }) => of))].join("; ")}. Source: ${source}.`,
    ),
  ];
}

/** Powers of two as such: "2²⁷"; other numbers grouped. */
export function sizeText(size: number): string {
  const exponent = Math.log2(size);
  return Number.isInteger(exponent) && exponent >= 10 ? powerOfTwo(exponent) : size.toLocaleString("en");
}
