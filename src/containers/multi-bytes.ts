/**
 * Multimaps and multisets as bytes: `toBytes` and `fromBytes`. Each key is written once, with how many entries it has.
 * Behind what bytes-header.ts describes are, all numbers little-endian:
 *
 * | bytes | |
 * |---|---|
 * | 64-71, 72-79 | keyCapacity and distinct keys: 64 bits floating-point |
 * | behind | the columns of the keys, of their counts (32 bits, at least 1) and, of multimaps, of the values: those of a key together, in the order of the keys |
 *
 * Each column is filled up with zeros to a multiple of 8 bytes.
 */
import { arrayClass, asBits, type BasicType, type ScalarArrays, type ScalarType } from "../engine/scalars.js";
import {
  checkEnd,
  checkShape,
  closeBytes,
  columnPlaces,
  type Kind,
  openBytes,
  readShape,
  type Shape,
} from "./bytes-header.js";
import type { MultiOptions } from "./create-multi.js";
import type { HashOptions } from "./create-table.js";
import type { MultiIndex } from "./multi-index.js";
import { damaged, HEADER_BYTES } from "./sealed-bytes.js";

/** Bytes of the numbers that only these have. */
const MORE_BYTES = 16;

type Options = MultiOptions<BasicType> & { value?: BasicType };
type MultiKind = Extract<Kind, "multimap" | "multiset">;
/** A multimap or a multiset as its bytes say it. */
interface MultiShape extends Shape {
  readonly key: BasicType;
  readonly value: BasicType | null;
  readonly keyCount: number;
}

/** The entries of an index as bytes. @throws LimitError */
export async function packMulti(index: MultiIndex<BasicType, BasicType>): Promise<Uint8Array<ArrayBuffer>> {
  const { types, sizing, size: entries, keyCount } = index;
  const { capacity, keyCapacity, maxLoadFactor, hashing } = sizing;
  const shape = { ...types, capacity, maxLoadFactor, entries, keyCount, stringBytes: 0 };
  const { places, end } = placesOf(shape);
  const kind: MultiKind = types.value === null ? "multiset" : "multimap";
  const located = await index.locateAll("host", {});
  try {
    const bytes = openBytes(kind, shape, hashing, end);
    const header = new DataView(bytes.buffer, HEADER_BYTES);
    header.setFloat64(0, keyCapacity, true);
    header.setFloat64(8, keyCount, true);
    const { keys, counts, values } = columnsIn(bytes, places);
    const { offsets } = located.matches;
    const column = located.keys as NonNullable<typeof located.keys>;
    writeKeys(
      { keys, counts },
      await column.storage.read(0, column.length),
      await offsets.storage.read(0, offsets.length),
    );
    if (values !== null) {
      const range = { first: 0, count: entries };
      await located.lists.expand(located.matches, range, { values: true }, 0, [values], {});
    }
    closeBytes(bytes);
    return bytes;
  } finally {
    located.free();
  }
}

/**
 * An index with the entries of `packMulti`; a hash function or seed that is given takes the place of that in the bytes.
 * @param how checks options, as `create` of the containers does, and makes an empty index
 * @throws FormatError when the bytes are not what `packMulti` makes of this kind
 */
export async function unpackMulti<K extends BasicType, V extends BasicType>(
  kind: MultiKind,
  given: Uint8Array,
  replaced: HashOptions,
  how: {
    check(kind: MultiKind, options: Options): unknown;
    create(options: Options): Promise<MultiIndex<K, V>>;
  },
): Promise<MultiIndex<K, V>> {
  const bytes = given.byteOffset % 8 === 0 ? given : new Uint8Array(given);
  const read = readShape(kind, bytes);
  const { key, value, capacity, maxLoadFactor, entries } = read.shape;
  if (bytes.length < HEADER_BYTES + MORE_BYTES) {
    throw damaged(`There are ${bytes.length} bytes, too few for the numbers of a ${kind}.`);
  }
  const [keyCapacity, keyCount] = [0, 8].map((at) => read.header.getFloat64(HEADER_BYTES + at, true));
  const options = ({ hash, seed }: HashOptions) => ({
    ...{ key: key as BasicType, capacity, keyCapacity, maxLoadFactor, hash, seed },
    ...(value !== null && { value: value as BasicType }),
  });
  checkShape(read, replaced, () => how.check(kind, options(read)));
  const { places, end } = placesOf({ ...read.shape, keyCount } as MultiShape);
  checkEnd(bytes, entries, Number.isSafeInteger(keyCount) && keyCount >= 0 ? end : Number.NaN);
  const { keys, counts, values } = columnsIn(bytes, places);
  const offsets = offsetsOf(counts);
  if (offsets[keyCount] !== entries) {
    throw damaged(`The keys have ${offsets[keyCount]} entries together, not ${entries}.`);
  }
  if (entries > capacity) throw damaged(`There are ${entries} entries, more than the capacity ${capacity}.`);
  const index = await how.create(
    options({ hash: replaced.hash ?? read.hash, seed: replaced.seed ?? read.seed }),
  );
  try {
    const inserted = await index.fill(keys as ScalarArrays[K], offsets, values as ScalarArrays[V] | null);
    if (inserted === keyCount) return index;
    throw damaged(`Of ${keyCount} keys only ${inserted} are different, or fit.`);
  } catch (error) {
    index.destroy();
    throw error;
  }
}

/** Where columns lie. */
function placesOf({ key, value, keyCount, entries }: MultiShape) {
  const columns = columnPlaces({ key, value }, MORE_BYTES);
  const places = {
    keys: columns.next(key, keyCount),
    counts: columns.next("u32", keyCount),
    values: value === null ? null : columns.next(value, entries),
  };
  return { places, end: columns.end };
}

/** Columns as views of the bytes. */
function columnsIn(bytes: Uint8Array, { keys, counts, values }: ReturnType<typeof placesOf>["places"]) {
  const view = <T extends ScalarType>({ at, length }: { at: number; length: number }, type: T) =>
    new arrayClass[type](bytes.buffer, bytes.byteOffset + at, length) as ScalarArrays[T];
  return {
    keys: view(keys, keys.type as BasicType),
    counts: view(counts, "u32"),
    values: values && view(values, values.type as BasicType),
  };
}

/** Writes the keys that have entries, and how many. */
function writeKeys(
  to: { readonly keys: ScalarArrays[BasicType]; readonly counts: Uint32Array },
  keys: ScalarArrays[BasicType],
  offsets: Uint32Array,
): void {
  const words = keys.BYTES_PER_ELEMENT / 4;
  const [from, into] = [asBits(keys), asBits(to.keys)];
  let next = 0;
  for (let i = 0; i < keys.length; i++) {
    const count = offsets[i + 1] - offsets[i];
    // a key without entries: see multi-index.ts
    if (count === 0) continue;
    for (let word = 0; word < words; word++) into[next * words + word] = from[i * words + word];
    to.counts[next++] = count;
  }
}

/** Where the entries of each key begin, and the last one's end. @throws FormatError */
function offsetsOf(counts: Uint32Array): Uint32Array {
  const offsets = new Uint32Array(counts.length + 1);
  let sum = 0;
  for (let i = 0; i < counts.length; i++) {
    if (counts[i] === 0) throw damaged("A key has no entries.");
    sum += counts[i];
    // no container has as many
    if (sum > 0xffffffff) throw damaged(`The first ${i + 1} keys have ${sum} entries.`);
    offsets[i + 1] = sum;
  }
  return offsets;
}
