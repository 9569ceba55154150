/**
 * Tables as bytes: `toBytes` and `fromBytes`. The entries go into the bytes, not the slots, so that any engine and any kind of container
 * reads what another one wrote. The format, all numbers little-endian:
 *
 * | bytes | |
 * |---|---|
 * | 0-15 | the frame of sealed-bytes.ts: "WMAP", version 1, checksum |
 * | 16-31 | four numbers of 32 bits: kind, key type, value type, hash function (their places in the lists below; 0xffffffff for a user's own function) |
 * | 32-55 | three numbers of 64 bits floating-point: capacity, maxLoadFactor, entries |
 * | 56-59 | the seed of the hash function |
 * | 60-63 | the bytes of all strings; 0 where keys are none |
 * | from 64 | the keys, then (maps) the values; each column is filled up with zeros to a multiple of 8 bytes |
 *
 * Keys that are strings are two columns: as 32-bit numbers where in the other one each begins and, behind the last, where that ends; and
 * their bytes.
 */
import type { Input } from "../engine/engine.js";
import { hashNames, NO_SEED } from "../engine/hash-names.js";
import {
  arrayClass,
  asBytes,
  type ScalarArrays,
  type ScalarType,
  scalarBytes,
  type ValueType,
} from "../engine/scalars.js";
import { Utf8Column } from "../engine/utf8-column.js";
import { FormatError, ValidationError } from "../errors.js";
import { checkSeed } from "./check-hash.js";
import type { HashOptions, Parts, Sizing, TableOptions } from "./create-table.js";
import type { ContainerKey, ContainerTable, TableKey } from "./key-types.js";
import { damaged, HEADER_BYTES, newBytes, type Seal, seal, unseal } from "./sealed-bytes.js";

const TABLE: Seal = {
  letters: "WMAP",
  version: 1,
  what: "warpmap table",
  instead: "Write the pieces that entries({ chunk }) gives.",
};
const kinds = ["map", "set"] as const;
/** By their numbers; sets have the value type "none". 5 and 6 are kept for i64 and f64. */
const types = ["u32", "i32", "f32", "u64", "none", null, null, "utf8"] as const;
/** In place of a hash function's name. */
const OWN_HASH = 0xffffffff;

type Options = TableOptions<ContainerKey> & { value?: ValueType };

/** The entries of a table as bytes. @throws LimitError */
export async function pack<K extends ContainerKey, V extends ValueType>(
  table: ContainerTable<K, V>,
  { capacity, maxLoadFactor }: Sizing,
): Promise<Uint8Array<ArrayBuffer>> {
  const { value, hash, seed = NO_SEED } = table.spec;
  const key = table.spec.key as ContainerKey;
  const entries = table.live;
  // strings are brought to the host first: only then their bytes are known
  const strings = key === "utf8" ? await table.retrieveAll("host", {}) : null;
  const column = strings?.keys as unknown as Utf8Column | undefined;
  const stringBytes = column ? column.offsets[entries] - column.offsets[0] : 0;
  const { columns, end } = places({ key, value, entries, stringBytes });
  const bytes = newBytes(TABLE, end);
  const header = new DataView(bytes.buffer);
  const numbers = [kinds.indexOf(value === null ? "set" : "map"), types.indexOf(key)];
  numbers.push(types.indexOf(value ?? "none"));
  numbers.push(typeof hash === "string" ? hashNames.indexOf(hash) : OWN_HASH);
  for (const [i, number] of numbers.entries()) header.setUint32(16 + 4 * i, number, true);
  for (const [i, number] of [capacity, maxLoadFactor, entries].entries()) {
    header.setFloat64(32 + 8 * i, number, true);
  }
  header.setUint32(56, seed, true);
  header.setUint32(60, stringBytes, true);
  const targets = columns.map(({ type, at, length }) => new arrayClass[type](bytes.buffer, at, length));
  if (column) writeStrings(targets, column, strings?.values as ScalarArrays[ScalarType] | null);
  else await table.retrieveAll(targets, {});
  seal(TABLE, bytes);
  return bytes;
}

/**
 * A table with the entries of `pack`; a hash function or seed that is given takes the place of that in the bytes.
 * @param how checks the options of a table, as `create` does, and makes an empty one
 * @throws FormatError when the bytes are not what `pack` makes of a table of this kind
 */
export async function unpack<K extends ContainerKey, V extends ValueType, P extends Parts<K, V>>(
  kind: "map" | "set",
  bytes: Uint8Array,
  { hash, seed }: HashOptions,
  how: { check(kind: "map" | "set", options: Options): unknown; create(options: Options): Promise<P> },
): Promise<P> {
  const { options, ownHash, entries, keys, values } = read(kind, bytes);
  try {
    how.check(kind, options);
    checkSeed(options.hash, options.seed);
  } catch (cause) {
    if (!(cause instanceof ValidationError)) throw cause;
    throw damaged(`The header describes a table that cannot be: ${cause.message}`, { cause });
  }
  if (ownHash && hash === undefined) {
    throw new ValidationError(
      "The table's hash function was its maker's own, and bytes hold no functions.",
      "Give the function as the option hash, or the name of another one.",
    );
  }
  const parts = await how.create({ ...options, hash: hash ?? options.hash, seed: seed ?? options.seed });
  try {
    const taken = parts.table.takeKeys?.(keys) ?? keys;
    const { inserted } = await parts.table.insert(
      taken as Input<TableKey<K>>,
      values as ScalarArrays[V] | null,
      "keep",
      {},
    );
    if (inserted === entries) return parts;
    throw damaged(`Of ${entries} keys only ${inserted} are different, or fit.`);
  } catch (error) {
    parts.table.destroy();
    throw error;
  }
}

/** What the bytes say. Columns are views of them where they lie at a multiple of 8 bytes. */
function read(kind: "map" | "set", given: Uint8Array) {
  const bytes = given.byteOffset % 8 === 0 ? given : new Uint8Array(given);
  const header = unseal(TABLE, bytes);
  const [kindNumber, keyNumber, valueNumber, hashNumber] = [0, 1, 2, 3].map((i) =>
    header.getUint32(16 + 4 * i, true),
  );
  const [capacity, maxLoadFactor, entries] = [0, 1, 2].map((i) => header.getFloat64(32 + 8 * i, true));
  const stringBytes = header.getUint32(60, true);
  const key = typeOf(keyNumber);
  const value = typeOf(valueNumber);
  const isSet = kinds[kindNumber] === "set";
  const ownHash = hashNumber === OWN_HASH;
  if (
    key === null ||
    value === "utf8" ||
    (value === null) !== isSet ||
    kinds[kindNumber] === undefined ||
    !(hashNames[hashNumber] || ownHash)
  ) {
    throw damaged("The header has numbers that mean nothing.");
  }
  if (kinds[kindNumber] !== kind) {
    throw new FormatError(
      `The bytes are a ${kinds[kindNumber]}'s, not a ${kind}'s.`,
      `Use fromBytes of a ${kinds[kindNumber] === "set" ? "StaticSet or DynamicSet" : "StaticMap or DynamicMap"}.`,
    );
  }
  const { columns, end } = places({ key, value, entries, stringBytes });
  if (!Number.isSafeInteger(entries) || entries < 0 || end !== bytes.length) {
    throw damaged(`There are ${bytes.length} bytes, and ${entries} entries take ${end}.`);
  }
  const arrays = columns.map(
    ({ type, at, length }) => new arrayClass[type](bytes.buffer, bytes.byteOffset + at, length),
  );
  const keys = key === "utf8" ? stringsOf(arrays) : arrays[0];
  const hash = ownHash ? "murmur3" : hashNames[hashNumber];
  const shape = { key, capacity, maxLoadFactor, hash, seed: header.getUint32(56, true) };
  return {
    ownHash,
    options: value === null ? shape : { ...shape, value },
    entries,
    keys,
    values: value === null ? null : arrays[arrays.length - 1],
  };
}

function typeOf(number: number): ContainerKey | null {
  const type = types[number];
  if (!type) throw damaged(`The header has the type ${number}, which means nothing.`);
  return type === "none" ? null : type;
}

/** Where columns lie: those of the keys, then that of the values. */
function places({
  key,
  value,
  entries,
  stringBytes,
}: {
  key: ContainerKey;
  value: ValueType | null;
  entries: number;
  stringBytes: number;
}): { columns: { type: ScalarType; at: number; length: number }[]; end: number } {
  let end = HEADER_BYTES;
  const column = (type: ScalarType, length: number) => {
    const at = end;
    end += Math.ceil((length * scalarBytes[type]) / 8) * 8;
    return { type, at, length };
  };
  const columns =
    key === "utf8" ? [column("u32", entries + 1), column("u8", stringBytes)] : [column(key, entries)];
  if (value !== null) columns.push(column(value, entries));
  return { columns, end };
}

/** Writes strings, and the values of a map, to their columns. */
function writeStrings(
  [offsets, bytes, values]: readonly ScalarArrays[ScalarType][],
  column: Utf8Column,
  given: ScalarArrays[ScalarType] | null,
): void {
  const [first, last] = [column.offsets[0], column.offsets[column.length]];
  for (let i = 0; i <= column.length; i++) offsets[i] = column.offsets[i] - first;
  asBytes(bytes).set(column.bytes.subarray(first, last));
  if (given !== null) asBytes(values).set(asBytes(given));
}

/** The strings of two columns. @throws FormatError */
function stringsOf([offsets, bytes]: readonly ScalarArrays[ScalarType][]): Utf8Column {
  const numbers = offsets as Uint32Array;
  let before = 0;
  for (const offset of numbers) {
    if (offset < before || offset > bytes.length) throw damaged(`A string ends at byte ${offset}.`);
    before = offset;
  }
  return new Utf8Column(numbers, bytes as Uint8Array);
}
