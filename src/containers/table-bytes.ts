/**
 * Tables as bytes: `toBytes` and `fromBytes`. The entries go into the bytes, not the slots, so that any engine and any kind of container
 * reads what another one wrote. The format, all numbers little-endian:
 *
 * | bytes | |
 * |---|---|
 * | 0-15 | the frame of sealed-bytes.ts: "WMAP", version 1, checksum |
 * | 16-31 | four numbers of 32 bits: kind, key type, value type, hash function (their places in the lists below) |
 * | 32-55 | three numbers of 64 bits floating-point: capacity, maxLoadFactor, entries |
 * | 56-63 | 0 |
 * | from 64 | the keys, then (maps) the values; each column is filled up with zeros to a multiple of 8 bytes |
 */
import type { Table } from "../engine/engine.js";
import { hashNames } from "../engine/hash.js";
import {
  arrayClass,
  type KeyType,
  type ScalarArrays,
  scalarBytes,
  type ValueType,
} from "../engine/scalars.js";
import { FormatError, ValidationError } from "../errors.js";
import type { Parts, Sizing, TableOptions } from "./create-table.js";
import { damaged, HEADER_BYTES, newBytes, type Seal, seal, unseal } from "./sealed-bytes.js";

const TABLE: Seal = {
  letters: "WMAP",
  version: 1,
  what: "warpmap table",
  instead: "Write the pieces that entries({ chunk }) gives.",
};
const kinds = ["map", "set"] as const;
/** Sets have the value type "none". New types come behind the others. */
const types = ["u32", "i32", "f32", "u64", "none"] as const;

type Options = TableOptions<KeyType> & { value?: ValueType };

/** The entries of a table as bytes. @throws LimitError */
export async function pack<K extends KeyType, V extends ValueType>(
  table: Table<K, V>,
  { capacity, maxLoadFactor, hash }: Sizing,
): Promise<Uint8Array<ArrayBuffer>> {
  const { key, value } = table.spec;
  const entries = table.live;
  const { valuesAt, end } = places(key, value, entries);
  const bytes = newBytes(TABLE, end);
  const header = new DataView(bytes.buffer);
  const numbers = [kinds.indexOf(value === null ? "set" : "map"), types.indexOf(key)];
  numbers.push(types.indexOf(value ?? "none"), hashNames.indexOf(hash));
  for (const [i, number] of numbers.entries()) header.setUint32(16 + 4 * i, number, true);
  for (const [i, number] of [capacity, maxLoadFactor, entries].entries()) {
    header.setFloat64(32 + 8 * i, number, true);
  }
  const keys = new arrayClass[key](bytes.buffer, HEADER_BYTES, entries);
  const values = value === null ? [] : [new arrayClass[value](bytes.buffer, valuesAt, entries)];
  await table.retrieveAll([keys, ...values], {});
  seal(TABLE, bytes);
  return bytes;
}

/**
 * A table with the entries of `pack`.
 * @param how checks the options of a table, as `create` does, and makes an empty one
 * @throws FormatError when the bytes are not what `pack` makes of a table of this kind
 */
export async function unpack<K extends KeyType, V extends ValueType, P extends Parts<K, V>>(
  kind: "map" | "set",
  bytes: Uint8Array,
  how: { check(kind: "map" | "set", options: Options): unknown; create(options: Options): Promise<P> },
): Promise<P> {
  const { options, entries, keys, values } = read(kind, bytes);
  try {
    how.check(kind, options);
  } catch (cause) {
    if (!(cause instanceof ValidationError)) throw cause;
    throw damaged(`The header describes a table that cannot be: ${cause.message}`, { cause });
  }
  const parts = await how.create(options);
  try {
    const { inserted } = await parts.table.insert(
      keys as ScalarArrays[K],
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
  const key = typeOf(keyNumber);
  const value = typeOf(valueNumber);
  const isSet = kinds[kindNumber] === "set";
  if (
    key === null ||
    (value === null) !== isSet ||
    kinds[kindNumber] === undefined ||
    !hashNames[hashNumber]
  ) {
    throw damaged("The header has numbers that mean nothing.");
  }
  if (kinds[kindNumber] !== kind) {
    throw new FormatError(
      `The bytes are a ${kinds[kindNumber]}'s, not a ${kind}'s.`,
      `Use fromBytes of a ${kinds[kindNumber] === "set" ? "StaticSet or DynamicSet" : "StaticMap or DynamicMap"}.`,
    );
  }
  const { valuesAt, end } = places(key, value, entries);
  if (!Number.isSafeInteger(entries) || entries < 0 || end !== bytes.length) {
    throw damaged(`There are ${bytes.length} bytes, and ${entries} entries take ${end}.`);
  }
  const column = (type: KeyType, at: number) =>
    new arrayClass[type](bytes.buffer, bytes.byteOffset + at, entries);
  const shape = { key, capacity, maxLoadFactor, hash: hashNames[hashNumber] };
  return {
    options: value === null ? shape : { ...shape, value },
    entries,
    keys: column(key, HEADER_BYTES),
    values: value === null ? null : column(value, valuesAt),
  };
}

function typeOf(number: number): KeyType | null {
  const type = types[number];
  if (type === undefined) throw damaged(`The header has the type ${number}, which means nothing.`);
  return type === "none" ? null : type;
}

/** Where columns lie. */
function places(key: KeyType, value: ValueType | null, entries: number): { valuesAt: number; end: number } {
  const columnBytes = (type: KeyType | null) =>
    type === null ? 0 : Math.ceil((entries * scalarBytes[type]) / 8) * 8;
  const valuesAt = HEADER_BYTES + columnBytes(key);
  return { valuesAt, end: valuesAt + columnBytes(value) };
}
