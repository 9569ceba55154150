/**
 * Key columns whose values lie close together: strings of a dictionary, by their codes, and integers of a small range.
 * Each of their values has a place below the size of its column, and the places of several columns make one number:
 * place × size of the next + next place. So rows with several keys become rows of one word, which an array can be
 * indexed by (one-table.ts).
 */
import { isSet } from "../../../bitmaps.js";
import { ArrivingRows } from "../../../host/arrival.js";
import type { Arrived } from "../../../host/arrived.js";
import type { RowMemory, Scratch } from "../../../host/row-memory.js";
import { silently, type Work } from "../../../host/work.js";
import type { KeyColumn, RowKeys, WordColumn } from "../../rows.js";
import type { RowRun } from "../rows/row-run.js";
import { type KeyRange, keyRange } from "./key-tables.js";
import { skipNulls } from "./row-keys.js";
import { codedColumn } from "./strings.js";

/** A column as places. */
interface CloseColumn {
  /** Places there are; that of a null is the last one, when nulls are equal. */
  readonly size: number;
  readonly codes: Uint8Array | Uint16Array | Uint32Array;
  /** The place of each code; null: of code c it is c - smallest. */
  readonly placeOf: Uint32Array | null;
  readonly smallest: number;
  readonly validity: Uint8Array | null;
}

/** Keys, and where they lie when each is one word. */
export interface CloseKeys {
  readonly keys: RowKeys;
  readonly range: KeyRange | null;
}

/** Which of equal strings stands for them: row + 1 for those that follow another, 0 for others. */
export type StringLeaders = (strings: RowKeys) => Promise<Uint32Array>;

/** Sizes whose product a word holds are put together. */
const MOST_PLACES = 2 ** 32;

/**
 * The same keys with close columns put together to as few words as hold them. Columns that are not close stay as they
 * are.
 * @param mostSize integers lie close together within a range of so many
 */
export async function closeKeys(
  run: RowRun,
  { rows, columns }: RowKeys,
  nullsEqual: boolean,
  mostSize: number,
  leadersOf: StringLeaders,
): Promise<CloseKeys> {
  const [only] = columns;
  const isWord = columns.length === 1 && only.kind === "words" && only.validity === null;
  if (isWord) return { keys: { rows, columns }, range: null };
  const made: KeyColumn[] = [];
  let range: KeyRange | null = null;
  let [waiting, places]: [CloseColumn[], number] = [[], 1];
  const put = async () => {
    if (waiting.length === 0) return;
    made.push(await combined(run, waiting, rows, nullsEqual));
    range = { smallest: 0, size: places };
    [waiting, places] = [[], 1];
  };
  for (const column of columns) {
    const close = await closeColumn(run, column, rows, nullsEqual, mostSize, leadersOf);
    if (close === null) {
      made.push(column);
      continue;
    }
    if (places * close.size > MOST_PLACES) await put();
    waiting.push(close);
    places *= close.size;
  }
  await put();
  return { keys: { rows, columns: made }, range: made.length === 1 ? range : null };
}

/** The same keys with numbers of two words, whose upper ones are all alike, as their lower ones. */
export function narrowKeys({ work }: RowRun, { rows, columns }: RowKeys): RowKeys {
  return { rows, columns: columns.map((column) => lowerWords(column, rows, work) ?? column) };
}

function lowerWords(column: KeyColumn, rows: number, memory: RowMemory): WordColumn | null {
  if (column.kind !== "words" || column.width !== 2 || rows === 0) return null;
  const { data: words, validity } = column;
  // most others are found out before memory is taken for them
  for (let row = 1; row < rows; row *= 2) if (words[2 * row + 1] !== words[1]) return null;
  const data = memory.words(rows);
  const upper = words[1];
  for (let row = 0; row < rows; row++) {
    if (words[2 * row + 1] !== upper) return null;
    data[row] = words[2 * row];
  }
  return { kind: "words", width: 1, data, validity };
}

async function closeColumn(
  run: RowRun,
  column: KeyColumn,
  rows: number,
  nullsEqual: boolean,
  mostSize: number,
  leadersOf: StringLeaders,
): Promise<CloseColumn | null> {
  const { validity } = column;
  const nullPlaces = validity !== null && nullsEqual ? 1 : 0;
  const coded = codedColumn(column, rows);
  if (coded !== null) {
    const { strings, codes } = coded;
    const count = strings.starts.length;
    const placeOf = await leadersOf({ rows: count, columns: [strings] });
    for (let code = 0; code < count; code++) placeOf[code] = placeOf[code] === 0 ? code : placeOf[code] - 1;
    return { size: count + nullPlaces, codes, placeOf, smallest: 0, validity };
  }
  if (column.kind !== "words" || column.width !== 1) return null;
  const range = rangeOf(run, column, rows, mostSize);
  if (range === null) return null;
  const { smallest, size } = range;
  return { size: size + nullPlaces, codes: column.data, placeOf: null, smallest, validity };
}

function rangeOf(
  { work }: RowRun,
  { data, validity, below }: WordColumn,
  rows: number,
  mostSize: number,
): KeyRange | null {
  if (below !== undefined && below <= mostSize) return { smallest: 0, size: below };
  const skip = validity && work.bytes(rows);
  if (skip && validity) skipNulls(skip, validity, 0, 0, rows);
  return keyRange({ rows, codes: data, skip }, mostSize);
}

async function combined(
  run: RowRun,
  columns: readonly CloseColumn[],
  rows: number,
  nullsEqual: boolean,
): Promise<WordColumn> {
  const data = run.work.words(rows);
  const sliceRows = run.threads.tuning.slice;
  const placesOf = columns.map(({ placeOf }) => placeOf && run.work.reachable(placeOf));
  const makeJob = (first: number, count: number, scratch: Scratch) => {
    const arriving = new ArrivingRows(run.work, scratch, first, count);
    const there = columns.map((column, c) => ({
      ...column,
      codes: arriving.elements(`codes ${c}`, column.codes),
      placeOf: placesOf[c],
      validity: column.validity && arriving.bits(`validity ${c}`, column.validity),
    }));
    const own = data.subarray(first, first + count);
    const job = { kind: "places", columns: there, data: own, sliceRows, nullsEqual } as const;
    return { job, bring: arriving.bring };
  };
  await run.overChunks(rows, makeJob, false);
  return { kind: "words", width: 1, data, validity: nullsEqual ? null : validRows(columns) };
}

/** Puts the places of some rows together; a piece is a slice. */
export interface PlacesJob {
  readonly kind: "places";
  readonly columns: readonly CloseColumn[];
  readonly data: Uint32Array;
  readonly sliceRows: number;
  readonly nullsEqual: boolean;
  readonly arrived: Arrived | null;
}

/** Rows whose places are put together column by column, so that their words stay in the cache meanwhile. */
const BLOCK_ROWS = 2 ** 12;

export function openPlaces({ columns, data, sliceRows, nullsEqual, arrived }: PlacesJob): Work {
  const run = (piece: number) => {
    const end = Math.min(data.length, (piece + 1) * sliceRows);
    for (let from = piece * sliceRows; from < end; from += BLOCK_ROWS) {
      const to = Math.min(end, from + BLOCK_ROWS);
      data.fill(0, from, to);
      for (const column of columns) {
        if (column.validity !== null) addValidPlaces(data, column, from, to, nullsEqual);
        else if (column.placeOf !== null) addCodes(data, column.codes, column.placeOf, column.size, from, to);
        else addNumbers(data, column.codes, column.smallest, column.size, from, to);
      }
    }
  };
  return silently(Math.ceil(data.length / sliceRows), run, arrived);
}

function addCodes(
  data: Uint32Array,
  codes: CloseColumn["codes"],
  placeOf: Uint32Array,
  size: number,
  from: number,
  to: number,
): void {
  for (let row = from; row < to; row++) data[row] = Math.imul(data[row], size) + placeOf[codes[row]];
}

function addNumbers(
  data: Uint32Array,
  codes: CloseColumn["codes"],
  smallest: number,
  size: number,
  from: number,
  to: number,
): void {
  for (let row = from; row < to; row++) data[row] = Math.imul(data[row], size) + (codes[row] - smallest);
}

/** The code of a null may be anything. */
function addValidPlaces(
  data: Uint32Array,
  { size, codes, placeOf, smallest, validity }: CloseColumn,
  from: number,
  to: number,
  nullsEqual: boolean,
): void {
  const ofNull = nullsEqual ? size - 1 : 0;
  for (let row = from; row < to; row++) {
    const isNull = validity !== null && !isSet(validity, row);
    const place = isNull ? ofNull : placeOf === null ? codes[row] - smallest : placeOf[codes[row]];
    data[row] = Math.imul(data[row], size) + place;
  }
}

/** The bitmap of rows that are null in none of the columns; null when there are no others. */
function validRows(columns: readonly CloseColumn[]): Uint8Array | null {
  let bits: Uint8Array | null = null;
  for (const { validity } of columns) {
    if (validity === null) continue;
    if (bits === null) bits = validity.slice();
    else for (let i = 0; i < bits.length; i++) bits[i] &= validity[i];
  }
  return bits;
}
