/** What figures are drawn of: from rows of reports to points of named series. */
import type { BenchRow } from "../../../../../bench/report.js";
import { counted } from "../../dom.js";

export type Rows = readonly BenchRow[];

export interface Point {
  /** Whose number. */
  readonly series: string;
  /** What was done; each has a panel, or a line of bars. */
  readonly operation: string;
  readonly x: number | null;
  readonly y: number;
}

interface Source {
  readonly rows: Rows;
  /** What the GPU is called. */
  readonly device: string;
}

/** How a benchmark is drawn. */
export interface Shape {
  /** Where the column lies that x comes from; without it each operation has one number. */
  readonly x?: { readonly column: string; readonly label: string; readonly log: boolean };
  readonly y: { readonly column: string; readonly label: string; readonly factor?: number };
}

/** The unit that README.md and the pages of benchmarks have for tables. */
const RATE = { column: "G ops/s", label: "million keys a second", factor: 1000 };
const KEYS = { column: "size", label: "keys", log: true };

export const SHAPES: Readonly<Record<string, Shape>> = {
  gups: { y: { column: "GB/s", label: "GB/s" } },
  map: { y: RATE },
  "map-by-size": { x: KEYS, y: RATE },
  "map-by-load": { x: { column: "load", label: "load factor (entries / slots)", log: false }, y: RATE },
  lifecycle: { x: KEYS, y: { column: "total ms", label: "milliseconds" } },
};

export function pointsOf(id: string, { rows, device }: Source): Point[] {
  const shape = SHAPES[id];
  if (!shape) return [];
  return rows.flatMap((row): Point[] => {
    const { column, factor = 1 } = shape.y;
    const y = row[column];
    const x = shape.x ? row[shape.x.column] : null;
    // a first table and a cold process are one number each, which the table below the figure has
    if (id === "lifecycle" && row.state !== "fresh table") return [];
    if (typeof y !== "number" || !(y > 0) || (shape.x && typeof x !== "number")) return [];
    return [
      {
        series: seriesOf(row, device),
        operation: operationOf(id, row),
        x: x as number | null,
        y: y * factor,
      },
    ];
  });
}

/** Rows name the engine `webgpu`; a reader wants the GPU's name. */
function seriesOf({ on, threads }: BenchRow, device: string): string {
  if (typeof on === "string") return on === "webgpu" ? device : on;
  return typeof threads === "number" ? `cpu, ${counted(threads, "thread")}` : device;
}

function operationOf(id: string, { operation, load, state }: BenchRow): string {
  if (id === "lifecycle") return `${state}: create, insert, find and destroy together`;
  return id === "map" && load !== undefined ? `${operation}, load ${load}` : String(operation);
}
