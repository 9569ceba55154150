/**
 * Tables as bytes: `toBytes` and `fromBytes`. The entries go into the bytes, not the slots, so that any engine and any kind of container
 * reads what another one wrote. The format, all numbers little-endian:
 *
 * | bytes | |
 * |---|---|
 * | 0-7 | 0x89 "WMAP" 0x0d 0x0a 0x1a: no text, and damaged by what converts line ends |
 * | 8-11 | version, 1 |
 * | 12-15 | XXH32 of all bytes from 16 on |
 * | 16-31 | four numbers of 32 bits: kind, key type, value type, hash function (their places in the lists below) |
 * | 32-55 | three numbers of 64 bits floating-point: capacity, maxLoadFactor, entries |
 * | 56-63 | 0 |
 * | from 64 | where keys or values are composites: a byte for the type of each of their columns, those of the keys first |
 * | behind | the columns of the keys, then (maps) those of the values |
 *
 * The bytes of the types, and each column, are filled up with zeros to a multiple of 8 bytes. A composite's own type is COMPOSITE and the
 * number of its columns.
 */
import { elementsOf, type KeyType, scalarsOf, type ValueType } from "../engine/element-types.js";
import type { ColumnTarget, Input, Table } from "../engine/engine.js";
import { hashNames } from "../engine/hash.js";
import { arrayClass, type Scalar, scalarBytes } from "../engine/scalars.js";
import { FormatError, LimitError, ValidationError } from "../errors.js";
import { MOST_VALUE_WORDS, type Parts, type Sizing, type TableOptions } from "./create-table.js";
import { xxh32 } from "./xxh32.js";

const MAGIC = [0x89, 0x57, 0x4d, 0x41, 0x50, 0x0d, 0x0a, 0x1a];
const VERSION = 1;
const HEADER_BYTES = 64;
/** Where the bytes begin that the checksum is of. */
const CHECKED = 16;
const kinds = ["map", "set"] as const;
/** Sets have the value type "none". New types come behind the others. */
const types = ["u32", "i32", "f32", "u64", "none", "i64", "f64"] as const;
const COMPOSITE = 128;

type Options = TableOptions<KeyType> & { value?: ValueType };

/** The entries of a table as bytes. @throws LimitError */
export async function pack<K extends KeyType, V extends ValueType>(
  table: Table<K, V>,
  { capacity, maxLoadFactor, hash }: Sizing,
): Promise<Uint8Array<ArrayBuffer>> {
  const { key, value } = table.spec;
  const entries = table.live;
  const { columns, end } = places(
    [...scalarsOf<Scalar>(key), ...scalarsOf<Scalar>(value)],
    typesIn(key, value),
    entries,
  );
  const bytes = newBytes(end);
  const header = new DataView(bytes.buffer);
  bytes.set(MAGIC);
  header.setUint32(8, VERSION, true);
  const numbers = [kinds.indexOf(value === null ? "set" : "map"), numberOf(key)];
  numbers.push(numberOf(value ?? "none"), hashNames.indexOf(hash));
  for (const [i, number] of numbers.entries()) header.setUint32(16 + 4 * i, number, true);
  for (const [i, number] of [capacity, maxLoadFactor, entries].entries()) {
    header.setFloat64(32 + 8 * i, number, true);
  }
  bytes.set(
    typesIn(key, value).map((type) => types.indexOf(type)),
    HEADER_BYTES,
  );
  const targets = columns.map(({ type, at }) => new arrayClass[type](bytes.buffer, at, entries));
  await table.retrieveAll(targets as readonly ColumnTarget[], {});
  header.setUint32(12, xxh32(bytes.subarray(CHECKED)), true);
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
  const header = checkHeader(bytes);
  const [kindNumber, keyNumber, valueNumber, hashNumber] = [0, 1, 2, 3].map((i) =>
    header.getUint32(16 + 4 * i, true),
  );
  const [capacity, maxLoadFactor, entries] = [0, 1, 2].map((i) => header.getFloat64(32 + 8 * i, true));
  const listed = { bytes, at: HEADER_BYTES };
  const key = typeOf(keyNumber, listed);
  const value = typeOf(valueNumber, listed);
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
  const scalars = [...scalarsOf<Scalar>(key), ...scalarsOf<Scalar>(value)];
  const { columns, end } = places(scalars, typesIn(key, value), entries);
  if (!Number.isSafeInteger(entries) || entries < 0 || end !== bytes.length) {
    throw damaged(`There are ${bytes.length} bytes, and ${entries} entries take ${end}.`);
  }
  const arrays = columns.map(
    ({ type, at }) => new arrayClass[type](bytes.buffer, bytes.byteOffset + at, entries),
  );
  const keyColumns = scalarsOf<Scalar>(key).length;
  const shape = { key, capacity, maxLoadFactor, hash: hashNames[hashNumber] };
  return {
    options: value === null ? shape : { ...shape, value },
    entries,
    keys: elementsOf(key, arrays.slice(0, keyColumns)),
    values: value === null ? null : elementsOf(value, arrays.slice(keyColumns)),
  };
}

/** Checks magic, version and checksum. */
function checkHeader(bytes: Uint8Array): DataView {
  if (bytes.length < HEADER_BYTES || MAGIC.some((byte, i) => bytes[i] !== byte)) {
    throw new FormatError(
      `These ${bytes.length} bytes do not begin as those of a warpmap table do.`,
      "Give what toBytes made, whole and as binary data.",
    );
  }
  const header = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const version = header.getUint32(8, true);
  if (version !== VERSION) {
    throw new FormatError(
      `The bytes have version ${version} of the format, and this warpmap reads version ${VERSION}.`,
      "Read them with the version of warpmap that wrote them, or a newer one.",
    );
  }
  const [said, is] = [header.getUint32(12, true), xxh32(bytes.subarray(CHECKED))];
  if (said !== is) {
    throw damaged(`The checksum of the ${bytes.length} bytes is ${hex(is)} and should be ${hex(said)}.`);
  }
  return header;
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

function newBytes(length: number): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(length);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new LimitError("memory", length, Number.NaN, "Write the pieces that entries({ chunk }) gives.", {
      cause,
    });
  }
}

function damaged(message: string, options?: ErrorOptions): FormatError {
  return new FormatError(message, "The bytes are damaged or cut off: take another copy of them.", options);
}

const hex = (number: number) => `0x${number.toString(16).padStart(8, "0")}`;
