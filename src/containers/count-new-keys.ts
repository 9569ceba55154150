/**
 * How many keys of a batch a table does not have: what a growing table must know before an insert, so that it neither
 * grows for duplicates nor fills up. A sample tells it of small batches, and of large ones whether they are nearly all
 * new. Of others the distinct keys are counted, in a set beside the table. Nothing here changes the table.
 */
import { DeviceArray } from "../engine/device-array.js";
import {
  columnsOf,
  elementsOf,
  type KeyType,
  lengthOf,
  scalarsOf,
  type ValueType,
} from "../engine/element-types.js";
import type { CallOptions, ColumnInput, Engine, Input, InsertCall, Table } from "../engine/engine.js";
import type { TableSpec } from "../engine/layout.js";
import { PinnedArray } from "../engine/pinned-array.js";
import { allocate, type Scalar, type ScalarArrays, type ScalarType } from "../engine/scalars.js";
import { discard } from "./results.js";

/** What a sample says about a batch. */
export interface Sample {
  /** Keys of the batch that the table does not have: likely at least so many, or exactly. */
  readonly likelyNew: number;
  /** Whether the sample was the whole batch. */
  readonly isExact: boolean;
  /** Distinct keys of the batch, new or not: about so many. */
  readonly distinct: number;
}

/** Batches of so many elements are looked at as a whole. */
const SMALLEST_SAMPLE = 4096;
/**
 * Elements of a sample by the square root of the batch's: with 4, batches whose keys all come twice have some 16 equal
 * pairs in it.
 */
const SAMPLE_RATE = 4;
/** Pieces of neighbouring elements that a sample is taken in. */
const BLOCKS = 16;

/**
 * Looks at some elements of a batch; null where the host cannot read them: pinned memory that the device has, or some
 * of a caller's.
 */
export async function sampleKeys<K extends KeyType>(
  table: Table<K, ValueType>,
  keys: Input<K>,
  { where }: CallOptions,
): Promise<Sample | null> {
  const length = lengthOf(keys);
  const size = Math.min(length, Math.max(SMALLEST_SAMPLE, Math.ceil(SAMPLE_RATE * Math.sqrt(length))));
  const ranges = rangesOf(length, size);
  const columns = columnsOf<ColumnInput>(keys as ColumnInput);
  const masks = where && (await blocksOf(where, ranges));
  const blocks = await Promise.all(columns.map((column) => blocksOf(column, ranges)));
  if (masks === null || blocks.includes(null)) return null;
  const { distinct, selected } = distinctIn(table.spec.key, blocks as Blocks[], masks);
  const absent = countZeros((await table.contains(distinct.keys as Input<K>, "host", {})) as Uint8Array);
  if (size === length) return { likelyNew: absent, isExact: true, distinct: distinct.size };
  return { ...estimate({ part: size / length, selected, distinct: distinct.size, absent }), isExact: false };
}

/** Pieces of one column. */
type Blocks = readonly ScalarArrays[ScalarType][];

/** The distinct keys among pieces of a batch, and how many elements the mask lets through. */
function distinctIn(
  type: KeyType,
  columns: readonly Blocks[],
  masks: Blocks | undefined,
): { distinct: { readonly size: number; readonly keys: unknown }; selected: number } {
  // keys are equal as in a Map; those of several columns by their texts, in which −0 is 0
  const rows = new Map<unknown, readonly [block: number, i: number]>();
  let selected = 0;
  columns[0].forEach((block, b) => {
    for (let i = 0; i < block.length; i++) {
      if (masks?.[b][i] === 0) continue;
      selected++;
      rows.set(columns.length === 1 ? block[i] : columns.map((blocks) => blocks[b][i]).join(), [b, i]);
    }
  });
  const keys = scalarsOf<Scalar>(type).map((scalar, c) => {
    const list = allocate(scalar, rows.size);
    let at = 0;
    for (const [b, i] of rows.values()) list[at++] = columns[c][b][i] as never;
    return list;
  });
  return { distinct: { size: rows.size, keys: elementsOf(type, keys) }, selected };
}

/** What a part of a batch says about all of it. */
function estimate({
  part,
  selected,
  distinct,
  absent,
}: {
  part: number;
  selected: number;
  distinct: number;
  absent: number;
}): Pick<Sample, "likelyNew" | "distinct"> {
  const all = distinctKeys(part, selected / part, distinct);
  // a tenth less, for chance
  const likelyNew = Math.max(absent, Math.floor((0.9 * all * absent) / Math.max(1, distinct)));
  return { likelyNew, distinct: Math.ceil(all) };
}

/**
 * The distinct keys among n elements, by those in a part of them. Were there D keys that come equally often, the part
 * would have D × (1 − (1 − part)^(n/D)) of them: all n where no two are equal. Where some come more often, the answer
 * is too low.
 */
function distinctKeys(part: number, n: number, inPart: number): number {
  let [low, high] = [inPart, n];
  for (let step = 0; step < 40; step++) {
    const keys = (low + high) / 2;
    if (keys * (1 - (1 - part) ** (n / keys)) < inPart) low = keys;
    else high = keys;
  }
  return high;
}

/** Pieces of a batch, one at random in each of as many equal parts of it. The same ones every time. */
function rangesOf(length: number, size: number): { start: number; end: number }[] {
  if (size === length) return [{ start: 0, end: length }];
  const [part, block] = [length / BLOCKS, size / BLOCKS];
  return Array.from({ length: BLOCKS }, (_, b) => {
    // multiples of the golden ratio, less their whole parts
    const chance = ((b + 1) * 0.6180339887498949) % 1;
    const start = Math.floor(b * part + chance * (part - block));
    return { start, end: start + Math.floor(block) };
  });
}

/** Pieces of an input on the host; null where it cannot be read. */
async function blocksOf<T extends ScalarType>(
  input: ColumnInput<T>,
  ranges: readonly { start: number; end: number }[],
): Promise<ScalarArrays[T][] | null> {
  if (input instanceof DeviceArray) {
    if (input.storage.isReadable === false) return null;
    return Promise.all(ranges.map(({ start, end }) => input.storage.read(start, end)));
  }
  const array = input instanceof PinnedArray ? input.storage.view : input;
  return array && ranges.map(({ start, end }) => array.subarray(start, end) as ScalarArrays[T]);
}

/**
 * Slots of the first set that keys are counted in, unless twice the batch's elements are fewer or its distinct keys are
 * known to be more. A set that fills up takes longer than all of a larger one: on the cpu engine, 430,000 u64 keys of
 * which 67,000 are distinct take 40 ms of CPU time in 2^18 or 2^20 slots, 89 in 2^16 and 110 in 2^14 (and go on to the
 * next set).
 */
const FIRST_SLOTS = 2 ** 20;
/** What the slots of the next set are multiplied by when one was too small. */
const NEXT_SLOTS = 4;

/**
 * Counts the distinct keys of a batch that the table does not have, or stops beyond `most`. Memory: a set of at most
 * two slots an element of the batch, a copy of its keys, and two bytes an element.
 * @param distinct about how many distinct keys there are
 * @param firstSlots slots of the first set, unless so many distinct keys need more
 */
export async function countNewKeys<K extends KeyType>(
  engine: Engine,
  table: Table<K, ValueType>,
  keys: Input<K>,
  { where, signal, strategy, groupSize }: CallOptions,
  { distinct = 0, most, firstSlots = FIRST_SLOTS }: { distinct?: number; most: number; firstSlots?: number },
): Promise<number> {
  const { key, hash, seed } = table.spec;
  const length = lengthOf(keys);
  const enough = 2 * length;
  let slots = Math.min(enough, Math.max(firstSlots, 2 * distinct));
  let count = 0;
  let mask: DeviceArray<"u8"> | undefined;
  try {
    for (;;) {
      // what finds no slot goes to the next set: equal keys have the same fate, so no key is in two of them
      const rejected = slots < length ? await engine.allocate("u8", length) : undefined;
      const call = { where: mask ?? where, signal, strategy, groupSize, rejected };
      const round = await countInSet(
        engine,
        table,
        { key, value: null, hash, seed, slots },
        keys,
        call,
      ).finally(() => {
        mask?.destroy();
        mask = rejected;
      });
      count += round.absent;
      if (round.rejected === 0 || count > most) return count;
      slots = Math.min(enough, slots * NEXT_SLOTS);
    }
  } finally {
    mask?.destroy();
  }
}

/**
 * Distinct keys of a batch that are not in the table, of those that fit a set of so many slots, and elements that do
 * not fit.
 */
async function countInSet<K extends KeyType>(
  engine: Engine,
  table: Table<K, ValueType>,
  spec: TableSpec,
  keys: Input<K>,
  call: InsertCall,
): Promise<{ absent: number; rejected: number }> {
  const set = await engine.createTable<K, K>(spec);
  try {
    const { rejected } = await set.insert(keys, null, "keep", call);
    const distinct = await set.retrieveAll("device", {});
    try {
      const found = await table.contains(distinct.keys as Input<K>, "host", { signal: call.signal });
      return { absent: countZeros(found as Uint8Array), rejected };
    } finally {
      discard([distinct.keys]);
    }
  } finally {
    set.destroy();
  }
}

function countZeros(flags: Uint8Array): number {
  let zeros = 0;
  for (const flag of flags) zeros += 1 - flag;
  return zeros;
}
