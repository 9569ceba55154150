/** Columns that are added up by group: floats get the limbs that hold them, and rows come to where all threads reach them. */
import { bitmapBytes } from "../../../bitmaps.js";
import { ArrivingRows } from "../../../host/arrival.js";
import { gridOf, guessedGrid, noFloats } from "../../../host/exact-floats.js";
import type { LaneColumn } from "../../../host/lanes.js";
import { type RowMemory, Scratch } from "../../../host/row-memory.js";
import type { SummedColumn } from "../../group-sums.js";
import type { RowRun } from "../rows/row-run.js";
import { type FloatRangesJob, foundRanges } from "./aggregate-jobs.js";

/** Gives floats the grids that they are likely to fit; null where some column's are hard to tell. */
export function guessed(columns: readonly SummedColumn[]): LaneColumn[] | null {
  const made: LaneColumn[] = [];
  for (const column of columns) {
    const grid = column.kind === "floats" ? guessedGrid(column.data, column.validity) : null;
    if (column.kind !== "floats") made.push(column);
    else if (grid === null) return null;
    else made.push({ ...column, grid });
  }
  return made;
}

/** Gives floats grids that they fit, which are found by all threads. */
export async function withGrids(
  run: RowRun,
  columns: readonly SummedColumn[],
  rows: number,
): Promise<LaneColumn[]> {
  const arriving = new ArrivingRows(run.work, new Scratch(run.work), 0, rows);
  const floats = columns.flatMap((column, c) => {
    if (column.kind !== "floats") return [];
    // ranges count nulls in
    return [arrivingLanes({ ...column, validity: null }, arriving, `floats ${c}`).data];
  });
  const { bring } = arriving;
  const sliceRows = run.threads.tuning.slice;
  for (let from = 0; bring !== null && from < rows; from += sliceRows) {
    bring(from, Math.min(rows, from + sliceRows));
    await run.pace.turn();
  }
  const ranges = run.work.numbers(3 * run.slices(rows) * floats.length);
  const job: FloatRangesJob = { kind: "float ranges", columns: floats, rows, sliceRows, ranges };
  await run.share(job, rows);
  const found = foundRanges(job);
  return columns.map((column) => {
    if (column.kind !== "floats") return column;
    return { ...column, grid: gridOf(found.shift() ?? noFloats(), column.data instanceof Float32Array) };
  });
}

/** Some rows of a column of values, which may be on their way into memory that all threads reach. */
export function arrivingLanes<C extends SummedColumn>(column: C, rows: ArrivingRows, name: string): C {
  const validity = column.validity && rows.bits(`${name} validity`, column.validity);
  if (column.kind === "rows") return { ...column, validity };
  if (column.kind === "words")
    return { ...column, data: rows.elements(name, column.data, column.width), validity };
  const ranks =
    column.kind === "extremes" && column.ranks ? { ranks: rows.memory.reachable(column.ranks) } : {};
  return { ...column, ...ranks, data: rows.elements(name, column.data), validity };
}

/** Room for as many values. */
export function sortedLike(column: LaneColumn, rows: number, memory: RowMemory): LaneColumn {
  const validity = column.validity && memory.bytes(bitmapBytes(rows));
  if (column.kind === "rows") return { ...column, validity };
  if (column.kind === "words") return { ...column, data: memory.words(rows * column.width), validity };
  const { data } = column;
  const { buffer } = memory.words(Math.ceil((rows * data.BYTES_PER_ELEMENT) / 4));
  const Class = data.constructor as new (
    buffer: ArrayBufferLike,
    offset: number,
    length: number,
  ) => Float64Array;
  const ranks = column.kind === "extremes" && column.ranks ? { ranks: memory.reachable(column.ranks) } : {};
  return { ...column, ...ranks, data: new Class(buffer, 0, rows), validity } as LaneColumn;
}
