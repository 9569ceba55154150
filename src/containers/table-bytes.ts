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
 * | from 64 | where keys or values are composites: a byte for the type of each of their columns, those of the keys first |
 * | behind | the columns of the keys, then (maps) those of the values |
 *
 * The bytes of the types, and each column, are filled up with zeros to a multiple of 8 bytes. A composite's own type is COMPOSITE and the
 * number of its columns. Keys that are strings are two columns: as 32-bit numbers where in the other one each begins and, behind the last,
 * where that ends; and their bytes.
 */
import { columnsOf, elementsOf, scalarsOf, type ValueType } from "../engine/element-types.js";
import type { ColumnTarget, Input } from "../engine/engine.js";
import { hashNames, NO_SEED } from "../engine/hash-names.js";
import {
  arrayClass,
  asBytes,
  type Scalar,
  type ScalarArrays,
  type ScalarType,
  scalarBytes,
} from "../engine/scalars.js";
import { Utf8Column } from "../engine/utf8-column.js";
import { FormatError, ValidationError } from "../errors.js";
import { checkSeed } from "./check-hash.js";
import {
  type HashOptions,
  MOST_VALUE_WORDS,
  type Parts,
  type Sizing,
  type TableOptions,
} from "./create-table.js";
import type { ContainerKey, ContainerTable, TableKey } from "./key-types.js";
import { damaged, HEADER_BYTES, newBytes, type Seal, seal, unseal } from "./sealed-bytes.js";

const TABLE: Seal = {
  letters: "WMAP",
  version: 1,
  what: "warpmap table",
  instead: "Write the pieces that entries({ chunk }) gives.",
};
const kinds = ["map", "set"] as const;
/** By their numbers; sets have the value type "none". New types come behind the others. */
const types = ["u32", "i32", "f32", "u64", "none", "i64", "f64", "utf8"] as const;
const COMPOSITE = 128;
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
  const numbers = [kinds.indexOf(value === null ? "set" : "map"), numberOf(key)];
  numbers.push(numberOf(value ?? "none"));
  numbers.push(typeof hash === "string" ? hashNames.indexOf(hash) : OWN_HASH);
  for (const [i, number] of numbers.entries()) header.setUint32(16 + 4 * i, number, true);
  for (const [i, number] of [capacity, maxLoadFactor, entries].entries()) {
    header.setFloat64(32 + 8 * i, number, true);
  }
  header.setUint32(56, seed, true);
  header.setUint32(60, stringBytes, true);
  const listed = typesIn(key, value).map((type) => types.indexOf(type));
  bytes.set(listed, HEADER_BYTES);
  const targets = columns.map(({ type, at, length }) => new arrayClass[type](bytes.buffer, at, length));
  if (column) writeStrings(targets, column, columnsOf(strings?.values as Column | null));
  else await table.retrieveAll(targets as readonly ColumnTarget[], {});
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
      values as Input<V> | null,
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
  const listed = { bytes, at: HEADER_BYTES };
  const key = typeOf(keyNumber, listed);
  const value = typeOf(valueNumber, listed);
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
  const { columns, keyColumns, end } = places({ key, value, entries, stringBytes });
  if (!Number.isSafeInteger(entries) || entries < 0 || end !== bytes.length) {
    throw damaged(`There are ${bytes.length} bytes, and ${entries} entries take ${end}.`);
  }
  const arrays = columns.map(
    ({ type, at, length }) => new arrayClass[type](bytes.buffer, bytes.byteOffset + at, length),
  );
  const keys = arrays.slice(0, keyColumns);
  const hash = ownHash ? "murmur3" : hashNames[hashNumber];
  const shape = { key, capacity, maxLoadFactor, hash, seed: header.getUint32(56, true) };
  return {
    ownHash,
    options: value === null ? shape : { ...shape, value },
    entries,
    keys: key === "utf8" ? stringsOf(keys) : elementsOf(key, keys),
    values: value === null ? null : elementsOf(value, arrays.slice(keyColumns)),
  };
}

/** The number of a type. */
function numberOf(type: ContainerKey | "none"): number {
  return typeof type === "string" ? types.indexOf(type) : COMPOSITE + type.length;
}

/** The types that are listed behind the header: those of the columns of composites. */
function typesIn(key: ContainerKey, value: ValueType | null): Scalar[] {
  return [key, value].flatMap((type) => (typeof type === "string" || type === null ? [] : type));
}

/** The type with a number; a composite's columns are listed from `listed.at` on, which then goes behind them. */
function typeOf(number: number, listed: { readonly bytes: Uint8Array; at: number }): ContainerKey | null {
  if (number > COMPOSITE && number <= COMPOSITE + MOST_VALUE_WORDS) {
    const first = listed.at;
    listed.at += number - COMPOSITE;
    return Array.from(listed.bytes.subarray(first, listed.at), scalarOf);
  }
  const type = types[number];
  if (type === "none") return null;
  return type === "utf8" ? type : scalarOf(number);
}

function scalarOf(number: number): Scalar {
  const type = types[number];
  if (type === undefined || type === "none" || type === "utf8") {
    throw damaged(`The header has the type ${number}, which means nothing.`);
  }
  return type;
}

/** Where columns lie, behind the types that are listed: those of the keys, then those of the values. */
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
}): { columns: { type: ScalarType; at: number; length: number }[]; keyColumns: number; end: number } {
  const padded = (bytes: number) => Math.ceil(bytes / 8) * 8;
  let end = HEADER_BYTES + padded(typesIn(key, value).length);
  const column = (type: ScalarType, length = entries) => {
    const at = end;
    end += padded(length * scalarBytes[type]);
    return { type, at, length };
  };
  const columnsFor = (type: ValueType | null) => scalarsOf<Scalar>(type).map((scalar) => column(scalar));
  const keys = key === "utf8" ? [column("u32", entries + 1), column("u8", stringBytes)] : columnsFor(key);
  return { columns: [...keys, ...columnsFor(value)], keyColumns: keys.length, end };
}

/** A column on the host. */
type Column = ScalarArrays[ScalarType];

/** Writes strings, and the values of a map, to their columns. */
function writeStrings(
  [offsets, bytes, ...values]: readonly Column[],
  column: Utf8Column,
  given: readonly Column[],
): void {
  const [first, last] = [column.offsets[0], column.offsets[column.length]];
  for (let i = 0; i <= column.length; i++) offsets[i] = column.offsets[i] - first;
  asBytes(bytes).set(column.bytes.subarray(first, last));
  for (const [i, each] of given.entries()) asBytes(values[i]).set(asBytes(each));
}

/** The strings of two columns. @throws FormatError */
function stringsOf([offsets, bytes]: readonly Column[]): Utf8Column {
  const numbers = offsets as Uint32Array;
  let before = 0;
  for (const offset of numbers) {
    if (offset < before || offset > bytes.length) throw damaged(`A string ends at byte ${offset}.`);
    before = offset;
  }
  return new Utf8Column(numbers, bytes as Uint8Array);
}
