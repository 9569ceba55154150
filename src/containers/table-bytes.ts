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
 * | 60-63 | 0 |
 * | from 64 | where keys or values are composites: a byte for the type of each of their columns, those of the keys first |
 * | behind | the columns of the keys, then (maps) those of the values |
 *
 * The bytes of the types, and each column, are filled up with zeros to a multiple of 8 bytes. A composite's own type is COMPOSITE and the
 * number of its columns.
 */
import { elementsOf, type KeyType, scalarsOf, type ValueType } from "../engine/element-types.js";
import type { ColumnTarget, Input, Table } from "../engine/engine.js";
import { hashNames, NO_SEED } from "../engine/hash-names.js";
import { arrayClass, type Scalar, scalarBytes } from "../engine/scalars.js";
import { FormatError, ValidationError } from "../errors.js";
import { checkSeed } from "./check-hash.js";
import {
  type HashOptions,
  MOST_VALUE_WORDS,
  type Parts,
  type Sizing,
  type TableOptions,
} from "./create-table.js";
import { damaged, HEADER_BYTES, newBytes, type Seal, seal, unseal } from "./sealed-bytes.js";

const TABLE: Seal = {
  letters: "WMAP",
  version: 1,
  what: "warpmap table",
  instead: "Write the pieces that entries({ chunk }) gives.",
};
const kinds = ["map", "set"] as const;
/** Sets have the value type "none". New types come behind the others. */
const types = ["u32", "i32", "f32", "u64", "none", "i64", "f64"] as const;
const COMPOSITE = 128;
/** In place of a hash function's name. */
const OWN_HASH = 0xffffffff;

type Options = TableOptions<KeyType> & { value?: ValueType };

/** The entries of a table as bytes. @throws LimitError */
export async function pack<K extends KeyType, V extends ValueType>(
  table: Table<K, V>,
  { capacity, maxLoadFactor }: Sizing,
): Promise<Uint8Array<ArrayBuffer>> {
  const { key, value, hash, seed = NO_SEED } = table.spec;
  const entries = table.live;
  const { columns, end } = places(
    [...scalarsOf<Scalar>(key), ...scalarsOf<Scalar>(value)],
    typesIn(key, value),
    entries,
  );
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
  bytes.set(
    typesIn(key, value).map((type) => types.indexOf(type)),
    HEADER_BYTES,
  );
  const targets = columns.map(({ type, at }) => new arrayClass[type](bytes.buffer, at, entries));
  await table.retrieveAll(targets as readonly ColumnTarget[], {});
  seal(TABLE, bytes);
  return bytes;
}

/**
 * A table with the entries of `pack`; a hash function or seed that is given takes the place of that in the bytes.
 * @param how checks the options of a table, as `create` does, and makes an empty one
 * @throws FormatError when the bytes are not what `pack` makes of a table of this kind
 */
export async function unpack<K extends KeyType, V extends ValueType, P extends Parts<K, V>>(
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
    const { inserted } = await parts.table.insert(keys as Input<K>, values as Input<V> | null, "keep", {});
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
  const listed = { bytes, at: HEADER_BYTES };
  const key = typeOf(keyNumber, listed);
  const value = typeOf(valueNumber, listed);
  const isSet = kinds[kindNumber] === "set";
  const ownHash = hashNumber === OWN_HASH;
  if (
    key === null ||
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
  const scalars = [...scalarsOf<Scalar>(key), ...scalarsOf<Scalar>(value)];
  const { columns, end } = places(scalars, typesIn(key, value), entries);
  if (!Number.isSafeInteger(entries) || entries < 0 || end !== bytes.length) {
    throw damaged(`There are ${bytes.length} bytes, and ${entries} entries take ${end}.`);
  }
  const arrays = columns.map(
    ({ type, at }) => new arrayClass[type](bytes.buffer, bytes.byteOffset + at, entries),
  );
  const keyColumns = scalarsOf<Scalar>(key).length;
  const hash = ownHash ? "murmur3" : hashNames[hashNumber];
  const shape = { key, capacity, maxLoadFactor, hash, seed: header.getUint32(56, true) };
  return {
    ownHash,
    options: value === null ? shape : { ...shape, value },
    entries,
    keys: elementsOf(key, arrays.slice(0, keyColumns)),
    values: value === null ? null : elementsOf(value, arrays.slice(keyColumns)),
  };
}

/** The number of a type. */
function numberOf(type: KeyType | "none"): number {
  return typeof type === "string" ? types.indexOf(type) : COMPOSITE + type.length;
}

/** The types that are listed behind the header: those of the columns of composites. */
function typesIn(key: KeyType, value: ValueType | null): Scalar[] {
  return [key, value].flatMap((type) => (typeof type === "string" || type === null ? [] : type));
}

/** The type with a number; a composite's columns are listed from `listed.at` on, which then goes behind them. */
function typeOf(number: number, listed: { readonly bytes: Uint8Array; at: number }): KeyType | null {
  if (number > COMPOSITE && number <= COMPOSITE + MOST_VALUE_WORDS) {
    const first = listed.at;
    listed.at += number - COMPOSITE;
    return Array.from(listed.bytes.subarray(first, listed.at), scalarOf);
  }
  const type = types[number];
  return type === "none" ? null : scalarOf(number);
}

function scalarOf(number: number): Scalar {
  const type = types[number];
  if (type === undefined || type === "none") {
    throw damaged(`The header has the type ${number}, which means nothing.`);
  }
  return type;
}

/** Where columns lie, behind the types that are listed. */
function places(
  scalars: readonly Scalar[],
  listed: readonly Scalar[],
  entries: number,
): { columns: { readonly type: Scalar; readonly at: number }[]; end: number } {
  const padded = (bytes: number) => Math.ceil(bytes / 8) * 8;
  let end = HEADER_BYTES + padded(listed.length);
  const columns = scalars.map((type) => {
    const at = end;
    end += padded(entries * scalarBytes[type]);
    return { type, at };
  });
  return { columns, end };
}
