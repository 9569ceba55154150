/**
 * The result table of a join: every output column gathered by row number, column by column, in record batches of at
 * most 2^19 rows. Columns of a side whose rows all come through once and in order are not gathered: they share the
 * input's memory. Where a column's side has no row, its batches are nulls that share one piece of memory.
 */
import { Column, Endianness, type Field, Table, Version } from "@uwdata/flechette";
import type { Segment } from "../engine/join-kinds.js";
import { LimitError } from "../errors.js";
import { gather } from "../host/gather.js";
import type { GatherTask } from "../host/gather-buffers.js";
import type { HostPool } from "../host/pool.js";
import { validityOf } from "./bitmaps.js";
import { asBytes, type Chunk, type DictionaryChunk } from "./chunk.js";
import type { SourceColumn } from "./columns.js";
import { type GatherPlan, planGather } from "./gather.js";
import { nullsLike } from "./null-chunk.js";
import { sliceChunk } from "./slice-chunk.js";
import { BatchMaker } from "./to-flechette.js";

/** Where one side's values of an output column come from. */
export interface ColumnPart {
  /** The column, where it comes out as it is. */
  readonly source?: SourceColumn;
  /** All values of the side. */
  chunk(): Chunk;
  /** Whether they are a dictionary's, and row r has code r (coded-columns.ts). */
  readonly isNumbered?: boolean;
  /** How rows are gathered, if not as they are: in some batches as a dictionary, in others as values. */
  readonly plan?: typeof planGather;
  /** Brings gathered values to the type of the output column, where that is another one. */
  readonly cast?: (gathered: Chunk) => Chunk;
}

/** A column of the result. Where both sides could give it, the left does if it has a row. */
export interface OutputColumn {
  /** Name, nullability and metadata. The type is that of the values. */
  readonly field: Field;
  readonly left?: ColumnPart;
  readonly right?: ColumnPart;
}

/**
 * Whether a column whose values are made late comes out as it went in: all rows of its side come through once and in
 * order.
 */
export function comesAsItIs(
  { source, cast }: ColumnPart,
  { rows, inOrder }: Segment,
  side: "left" | "right",
): boolean {
  return cast === undefined && inOrder === side && source?.late?.length === rows;
}

/** A column of one side as it is. */
export function plainColumn(side: "left" | "right", column: SourceColumn, hasNulls = false): OutputColumn {
  const part: ColumnPart = { source: column, chunk: () => column.contiguous() };
  const field: Field = hasNulls ? { ...column.field, nullable: true } : column.field;
  return side === "left" ? { field, left: part } : { field, right: part };
}

/**
 * Rows of a record batch, at most. Buffers of some megabytes are given memory that others gave back; larger ones get
 * fresh memory from the system, page by page, which costs more than gathering (216 MB: 112 ms in buffers of 72 MB, 20
 * to 55 ms in buffers of 8 to 24 MB; EPYC 9004, Node 20, glibc 2.36). Threads share a column batch by batch, too.
 */
export const MAX_BATCH_ROWS = 2 ** 19;
/** Batches that are not shorter than this, so that 16 threads have enough to share of smaller results. */
const MIN_BATCH_ROWS = 2 ** 16;
const BATCHES = 32;

/** Rows of a batch of a result of so many. Knows no threads: results do not show them. */
function batchRows(rows: number): number {
  const share = 2 ** Math.ceil(Math.log2(Math.max(1, rows / BATCHES)));
  return Math.min(MAX_BATCH_ROWS, Math.max(MIN_BATCH_ROWS, share));
}

/**
 * Builds the table. Time and memory are proportional to the bytes of the result.
 * @param host whose threads gather; null for the calling thread
 * @param pause called between columns; may throw to stop
 * @throws LimitError when a batch's strings or lists outgrow their offsets, or there is no memory for the table
 */
export async function materialise(
  outputs: readonly OutputColumn[],
  segments: readonly Segment[],
  pause: () => Promise<void>,
  host: HostPool | null = null,
  maxBatchRows = batchRows(segments.reduce((sum, segment) => sum + segment.rows, 0)),
): Promise<Table> {
  const placed = segments.map(placeSegment);
  const plans = outputs.map((output) =>
    lateColumn(output, segments) === null
      ? placed.flatMap((segment) => planBatches(output, segment, maxBatchRows))
      : [],
  );
  const tasks = plans.flatMap((batches) => batches.flatMap((plan) => plan.tasks));
  const made = await gather(host, tasks, pause).catch((error: unknown) => {
    throw error instanceof RangeError ? tooLarge(segments, error) : error;
  });
  const maker = new BatchMaker();
  const columns: Column<unknown>[] = [];
  let next = 0;
  for (const [i, batches] of plans.entries()) {
    const late = lateColumn(outputs[i], segments);
    if (late !== null) {
      columns.push(late);
      continue;
    }
    const done = [];
    for (const { tasks, finish } of batches) {
      done.push(maker.batch(finish(made.slice(next, next + tasks.length))));
      next += tasks.length;
      await pause();
    }
    columns.push(new Column(done, done[0].type));
  }
  return tableOf(outputs, columns);
}

/**
 * The same table in pieces of at most `most` rows, at least one, each a table of one record batch. All of them have the
 * same dictionaries, where the segments have. Nothing comes late.
 * @throws as `materialise`
 */
export async function* materialisePieces(
  outputs: readonly OutputColumn[],
  segments: readonly Segment[],
  pause: () => Promise<void>,
  most: number,
): AsyncGenerator<Table> {
  const maker = new BatchMaker();
  for (const segment of segments.map(placeSegment)) {
    const planners = outputs.map((output) => batchPlanner(output, segment, most));
    for (let from = 0; from < segment.rows || from === 0; from += most) {
      const columns: Column<unknown>[] = [];
      for (const planner of planners) {
        const { tasks, finish } = planner(from, Math.min(segment.rows, from + most));
        const made = await gather(null, tasks, pause).catch((error: unknown) => {
          throw error instanceof RangeError ? tooLarge(segments, error) : error;
        });
        columns.push(columnOf([finish(made)], maker));
      }
      yield tableOf(outputs, columns);
    }
  }
}

/** The column of the input that an output column is. */
function lateColumn(output: OutputColumn, segments: readonly Segment[]): Column<unknown> | null {
  const [segment] = segments;
  const side = output.left && segment.left ? "left" : "right";
  const part = output[side];
  if (segments.length > 1 || !part || !comesAsItIs(part, segment, side)) return null;
  return part.source?.late ?? null;
}

/** A column of at least one chunk. */
export function columnOf(chunks: readonly Chunk[], maker: BatchMaker): Column<unknown> {
  const batches = chunks.map((chunk) => maker.batch(chunk));
  return new Column(batches, batches[0].type);
}

/** Allocation throws a RangeError where there is no memory. */
function tooLarge(segments: readonly Segment[], cause: RangeError): LimitError {
  const rows = segments.reduce((sum, segment) => sum + segment.rows, 0);
  return new LimitError("rows", rows, Number.NaN, "Take fewer columns, or fewer rows at a time.", { cause });
}

/** A segment, and the sides whose row numbers in it are 0, 1, 2, … */
type PlacedSegment = Segment & {
  readonly identity: { readonly left: boolean; readonly right: boolean };
  /** Row numbers of a side, of a batch: in memory of their own, which the batch's columns share. */
  readonly numbers: (side: "left" | "right", from: number, to: number) => Uint8Array;
};

function placeSegment(segment: Segment): PlacedSegment {
  const isIdentity = (side: "left" | "right") => segment.inOrder === side || countsUp(segment[side]);
  const made = new Map<string, Uint8Array>();
  const numbers: PlacedSegment["numbers"] = (side, from, to) => {
    const key = `${side} ${from}`;
    const known =
      made.get(key) ?? asBytes(new Uint32Array((segment[side] as Uint32Array).subarray(from, to)));
    made.set(key, known);
    return known;
  };
  return { ...segment, identity: { left: isIdentity("left"), right: isIdentity("right") }, numbers };
}

/** Whether row numbers are 0, 1, 2, … */
export function countsUp(rows: Uint32Array | null): boolean {
  if (rows === null) return false;
  for (let i = 0; i < rows.length; i++) if (rows[i] !== i) return false;
  return true;
}

/** How the batches of one column are made in one segment; at least one batch. */
function planBatches(output: OutputColumn, segment: PlacedSegment, maxBatchRows: number): GatherPlan[] {
  const { rows: total } = segment;
  const planBatch = batchPlanner(output, segment, maxBatchRows);
  const batches: GatherPlan[] = [];
  for (let from = 0; from < total || from === 0; from += maxBatchRows)
    batches.push(planBatch(from, Math.min(total, from + maxBatchRows)));
  return batches;
}

function batchPlanner(
  output: OutputColumn,
  segment: PlacedSegment,
  maxBatchRows: number,
): (from: number, to: number) => GatherPlan {
  const side = output.left && segment.left ? "left" : "right";
  const part = output[side];
  const rows = segment[side];
  if (!part || !rows) return nullPlanner(output, Math.min(segment.rows, maxBatchRows));
  const chunk = part.chunk();
  const whole = segment.identity[side] && chunk.length === segment.rows;
  const planRows = (from: number, to: number): GatherPlan => {
    if (whole) return { tasks: [], finish: () => sliceChunk(chunk, from, to) };
    const some = rows.subarray(from, to);
    if (part.isNumbered) return planNumbered(chunk, some, () => segment.numbers(side, from, to));
    return (part.plan ?? planGather)(chunk, some);
  };
  return (from, to) => {
    const plan = planRows(from, to);
    const { cast } = part;
    return cast ? { ...plan, finish: (made) => cast(plan.finish(made)) } : plan;
  };
}

/** Rows of a chunk whose codes are its row numbers: only validity is gathered. */
function planNumbered(chunk: Chunk, rows: Uint32Array, numbers: () => Uint8Array): GatherPlan {
  const { validity } = chunk;
  const tasks: GatherTask[] =
    validity === null ? [] : [{ source: { kind: "bits", bits: validity.bits }, rows }];
  const finish: GatherPlan["finish"] = ([made]) => ({
    ...(chunk as DictionaryChunk),
    length: rows.length,
    validity: made ? validityOf(new Uint8Array(made[0]), rows.length) : null,
    codes: numbers(),
  });
  return { tasks, finish };
}

/** Plans batches of nulls, of at most `most` rows, over the same memory. */
function nullPlanner({ left, right }: OutputColumn, most: number): (from: number, to: number) => GatherPlan {
  const like = (left ?? right)?.chunk();
  if (!like) throw new TypeError("an output column of neither side");
  const nulls = nullsLike(like, most);
  return (from, to) => ({ tasks: [], finish: () => sliceChunk(nulls, 0, to - from) });
}

/** A table of such columns, in their order. */
export function tableOf(
  outputs: readonly { readonly field: Field }[],
  columns: readonly Column<unknown>[],
): Table {
  const fields: Field[] = outputs.map(({ field }, i) => ({ ...field, type: columns[i].type }));
  return new Table({ version: Version.V5, endianness: Endianness.Little, fields, metadata: null }, [
    ...columns,
  ]);
}
