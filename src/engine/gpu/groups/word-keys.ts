/**
 * Keys of one column of one or two words, as kernels bind them, where they lie (key-range.wgsl), and as words where
 * that is a range of words.
 */
import { bitmapBytes } from "../../../bitmaps.js";

import type { DeviceKeys, DeviceWordColumn, Words } from "../../device-columns.js";
import type { WordColumn } from "../../rows.js";
import { asBytes } from "../../scalars.js";
import type { Range, Recorder } from "../runtime.js";
import { keyRangeKernel, narrowKeysKernel } from "./key-kernels.js";
import type { RowParams } from "./row-kernels.js";
import type { RowRun } from "./row-run.js";

/** Rows of a sample, from how many rows on one is taken, and rows that an invocation looks at. */
const SAMPLED = 2 ** 14;
const LEAST_SAMPLED = 2 ** 15;
const RANGE_ITEMS = 16;

export type KeyWords = WordColumn | DeviceWordColumn;

/** The only key column, of one or two words. */
export function oneWord({ columns }: DeviceKeys): KeyWords | undefined {
  const [column] = columns;
  return columns.length === 1 && "width" in column && column.width <= 2 ? column : undefined;
}

export interface BoundKeys {
  readonly rows: number;
  readonly bindings: { readonly keys: Range; readonly keyValidity: Range | undefined };
  readonly constants: { readonly KEY_WORDS: number };
  readonly params: RowParams;
}

/** Keys of the host or the device, for the call. */
export async function bindKeys(
  run: RowRun,
  { data, validity, width }: KeyWords,
  rows: number,
): Promise<BoundKeys> {
  const bits = validity instanceof Uint8Array ? validity.subarray(0, bitmapBytes(rows)) : validity;
  const keyValidity = bits === null ? undefined : await boundWords(run, bits, Math.ceil(rows / 32));
  return {
    rows,
    bindings: { keys: await boundWords(run, data, rows * width), keyValidity },
    constants: { KEY_WORDS: width },
    params: { keyNullable: Number(validity !== null) },
  };
}

/** Words of the host or the device, for the call. */
export async function boundWords(
  run: RowRun,
  data: Uint32Array | Uint8Array | Words,
  words: number,
): Promise<Range> {
  if (!(data instanceof Uint32Array || data instanceof Uint8Array)) return run.bind(data, 0, words);
  const range = await run.range(words * 4);
  await run.host.gpu.upload(range.buffer, 0, asBytes(data).subarray(0, words * 4));
  return range;
}

export interface KeyRange {
  /** The least one's words. */
  readonly lowest: number;
  readonly lowestUpper: number;
  /** Keys from the least to the greatest. */
  readonly places: number;
}

/**
 * Waits for where keys lie; null where that is a longer range than `most`, which mostly a sample tells. A pass over the
 * rows; once a call.
 */
export async function keyRange(run: RowRun, keys: BoundKeys, most: number): Promise<KeyRange | null> {
  const { rows } = keys;
  const look = await looking(run, keys, most);
  if (rows >= LEAST_SAMPLED) {
    const sample = { first: 0, count: SAMPLED };
    run.queue((recorder) => look(recorder, sample, Math.floor(rows / SAMPLED)));
  }
  await run.eachChunk("key range", rows, (recorder, chunk) => look(recorder, chunk, 1), { isPass: false });
  const { keyLower, keyUpper, keysAbove, keysBelow, keysFar } = run.counters;
  const places = keysAbove + keysBelow + 1;
  if (keysFar > 0 || places > most) return null;
  const borrow = Number(keyLower < keysBelow);
  return { lowest: (keyLower - keysBelow) >>> 0, lowestUpper: (keyUpper - borrow) >>> 0, places };
}

/** Counts the keys that are no null, for whoever waits next. A pass over the rows; once a call. */
export async function countKeys(run: RowRun, keys: BoundKeys): Promise<void> {
  const look = await looking(run, keys, 0xffffffff);
  await run.eachChunk("key range", keys.rows, (recorder, chunk) => look(recorder, chunk, 1), {
    isPass: false,
    waits: false,
  });
}

/** What records a look at one key in `stride`. */
async function looking(run: RowRun, { bindings, constants, params }: BoundKeys, most: number) {
  const step = await run.step(keyRangeKernel, constants, RANGE_ITEMS);
  const all = { ...bindings, control: run.control };
  return (recorder: Recorder, chunk: { first: number; count: number }, stride: number) =>
    step(recorder, all, chunk, { ...params, most, items: RANGE_ITEMS, stride });
}

/**
 * Keys of one word in place of two, equal where these are; null where they lie too far apart. Two passes over the rows,
 * one of which is waited for.
 */
export async function narrowKeys(run: RowRun, keys: BoundKeys): Promise<Range | null> {
  const range = await keyRange(run, keys, 0xffffffff);
  if (range === null) return null;
  const narrowed = await run.range(keys.rows * 4);
  const bindings = { ...keys.bindings, narrowed };
  const params = { ...keys.params, lowest: range.lowest };
  await run.over(narrowKeysKernel, keys.constants, keys.rows, bindings, params, { waits: false });
  return narrowed;
}
