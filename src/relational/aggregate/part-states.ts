/**
 * The groups of a part of a table, made by one thread, as plain data: so any thread can group what it has decoded, and
 * the states alone go to the calling one. Dictionaries become their values, so that parts have one type.
 */
import { Type } from "@uwdata/flechette";
import { columnIndex, readTable, type SourceColumn, type SourceTable } from "../../arrow/columns.js";
import { compactChunk } from "../../arrow/compact-chunk.js";
import type { FilePart, PartRows } from "../../arrow/file-parts.js";
import { plainChunk, RowBatch, shapeOf } from "../../arrow/row-batch.js";
import { sourceColumn } from "../../arrow/source-columns.js";
import type { SummedColumn } from "../../engine/group-sums.js";
import type { RowOperations } from "../../engine/row-operations.js";
import type { NamedAggregate } from "../aggregates.js";
import { encodeOwnKeys } from "../keys/encode-keys.js";
import { NEEDS } from "./chunks.js";
import {
  COLUMN_STATES,
  type ColumnStates,
  type GroupedSource,
  GroupStates,
  openSource,
} from "./group-states.js";
import { Registers } from "./registers.js";
import type { StateName } from "./states.js";
import { SumPlan } from "./sum-plan.js";
import { Sums } from "./sums.js";

/** States that come to the same whatever the parts are, and hold no more than a group has different values. */
const OF_PARTS: readonly StateName[] = ["counts", "sums", "registers", ...COLUMN_STATES];

/** Whether parts may be grouped by themselves: nothing is held but the groups, and what is added up is exact. */
export function arePartial(aggregates: readonly NamedAggregate[]): boolean {
  const needed = aggregates.flatMap(({ aggregate }) => NEEDS[aggregate.name]);
  return needed.every((state) => OF_PARTS.includes(state));
}

/** Whether a row may stand for all that equal it, with their number as its weight: where the last one is not asked for. */
export function takeWeights({ columns }: GroupedSource, aggregates: readonly NamedAggregate[]): boolean {
  return aggregates.every(({ aggregate: { name, column } }) => {
    const states = NEEDS[name];
    const type = columns.get(column ?? "")?.field.type;
    // floats are added up one by one
    return !states.includes("last") && !(states.includes("sums") && type?.typeId === Type.Float);
  });
}

/** What is grouped of each part, and what is asked of its groups. */
export interface PartGrouping {
  readonly by: readonly string[];
  readonly aggregates: readonly NamedAggregate[];
  /** Whether rows may come merged: see takeWeights. */
  readonly merges: boolean;
}

/** A part for another thread, which decodes it. */
export interface GroupedPart {
  readonly data: FilePart["data"];
  readonly grouping: PartGrouping;
}

/** The groups of a part. */
export interface PartStates {
  /** Rows of the part. */
  readonly rows: number;
  /** Whether they came merged. */
  readonly isMerged?: boolean;
  readonly groups: number;
  readonly rowCounts: Float64Array;
  /** Keys and states that are columns, as an Arrow IPC stream. */
  readonly columns: Uint8Array;
  readonly states: readonly { readonly name: string; readonly states: ColumnStates }[];
}

/** Groups a part on the calling thread. @param sum as RowOperations.sumGroups */
export async function groupPart(
  { table: part, weights }: PartRows,
  { by, aggregates }: PartGrouping,
  sum: NonNullable<RowOperations["sumGroups"]>,
  signal?: AbortSignal,
): Promise<PartStates> {
  const table = readTable(part, "");
  const { rows } = table;
  const source = openSource(table, by, aggregates);
  const plan = new SumPlan(source.columns, aggregates, true);
  const narrow = plan.summed.map(narrowed);
  const summed = weights === null ? narrow : narrow.map((column) => weighted(column, weights));
  const call = { numbers: plan.needsNumbers, alone: true, signal };
  const { columns, ...groups } = await sum(encodeOwnKeys(source.keys, rows), summed, call);
  const pause = async () => signal?.throwIfAborted();
  const made = { ...groups, sums: columns };
  const states = (await GroupStates.of(source, plan, made, ungrouped, pause, null)).own();
  if (weights === null) return packStates(states, rows);
  return { ...packStates(states, total(weights)), isMerged: true };
}

function total(weights: Uint32Array): number {
  let sum = 0;
  for (let row = 0; row < weights.length; row++) sum += weights[row];
  return sum;
}

const WORD = 2 ** 32;

/** Integers whose upper words all say no more than the sign, as those of most decimals, by their lowest word. */
function narrowed(column: SummedColumn): SummedColumn {
  if (column.kind !== "words" || column.width === 1) return column;
  const { data, width, signed } = column;
  const words = new Uint32Array(data.length / width);
  return takeLowest(data, width, signed, words) ? { ...column, data: words, width: 1 } : column;
}

/** @returns false where an upper word says more than the sign */
function takeLowest(data: Uint32Array, width: number, signed: boolean, words: Uint32Array): boolean {
  for (let row = 0, at = 0; row < words.length; row++) {
    const word = data[at++];
    const upper = signed ? word >> 31 : 0;
    for (let k = 1; k < width; k++) if ((data[at++] | 0) !== upper) return false;
    words[row] = word;
  }
  return true;
}

/** Counts each row as often as its weight says, 2^20 times at most. Integers get a word more. */
function weighted(column: SummedColumn, weights: Uint32Array): SummedColumn {
  const { kind, validity } = column;
  if (kind === "rows") return { kind: "words", data: weights, width: 1, signed: false, validity };
  if (kind !== "words") return column;
  const { data, width, signed } = column;
  const products = new Uint32Array(weights.length * (width + 1));
  multiply(data, width, signed, weights, products);
  return { ...column, data: products, width: width + 1 };
}

function multiply(
  data: Uint32Array,
  width: number,
  signed: boolean,
  weights: Uint32Array,
  products: Uint32Array,
): void {
  let [from, to] = [0, 0];
  for (let row = 0; row < weights.length; row++) {
    let carry = 0;
    for (let k = 1; k <= width; k++) {
      const word = data[from++];
      const product = (signed && k === width ? word | 0 : word) * weights[row] + carry;
      products[to++] = product;
      carry = Math.floor(product / WORD);
    }
    products[to++] = carry;
  }
}

/** No state of a part groups values. */
const ungrouped = () => Promise.reject(new Error("warpmap: a part has no groups within groups"));

/** The same with values in place of dictionaries. */
export function plainStates(all: GroupStates): GroupStates {
  return all.withColumns(plainColumn);
}

/** In place of columns, which go to the other thread by themselves. */
const SENT = null as unknown as SourceColumn;

/** The same as plain data. @param all in memory of its own; its states are such as arePartial says */
export function packStates(all: GroupStates, rows: number): PartStates {
  const columns: SourceColumn[] = [];
  const rest = all.withColumns((column) => {
    columns.push(plainColumn(column));
    return SENT;
  });
  const states = Array.from(rest.columns, ([name, { states }]) => ({ name, states }));
  const names = columns.map((_, i) => String(i));
  const table = { rows: all.groups, names, column: (i: number) => columns[i], columns };
  const shape = shapeOf(table, "", [...columns.keys()]);
  const pieces = RowBatch.of(shape, table).toIpc();
  return { rows, groups: all.groups, rowCounts: all.rowCounts, columns: joined(pieces), states };
}

function plainColumn(column: SourceColumn): SourceColumn {
  return sourceColumn(column.field, compactChunk(plainChunk(column.contiguous())));
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** What holds a part's states. */
export function viewsOfStates({ rowCounts, columns, states }: PartStates): ArrayBufferView[] {
  const views: ArrayBufferView[] = [rowCounts, columns];
  for (const { states: own } of states) {
    const { counts, sums, registers } = own;
    if (counts) views.push(counts);
    if (registers) views.push(registers.entries);
    if (sums) views.push(...sums.parts, ...(sums.odd ?? []));
  }
  return views;
}

/** The groups again. @param like a table with the parts' columns, without rows and dictionaries */
export function receivedStates(part: PartStates, like: SourceTable, by: readonly string[]): GroupStates {
  const indices = by.map((name) => columnIndex(like, name, ""));
  const columns = part.states.map(({ name, states: { sums, registers, ...states } }) => {
    const index = columnIndex(like, name, "");
    for (const kind of COLUMN_STATES) if (kind in states) indices.push(index);
    const own: ColumnStates = states;
    if (sums) own.sums = Sums.received(sums);
    if (registers) own.registers = Registers.received(registers);
    const { field } = like.column(index);
    return [name, { field, batchClass: like.column(index).contiguous().batchClass, states: own }] as const;
  });
  const { chunks } = RowBatch.fromIpc(shapeOf(like, "", indices), part.columns, part.groups);
  const received = chunks.map((chunk, i) => sourceColumn(like.column(indices[i]).field, chunk));
  const keys = by.map(() => SENT);
  return GroupStates.received(keys, part.rowCounts, new Map(columns)).withColumns(
    () => received.shift() as SourceColumn,
  );
}
