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
 * | 56-63 | a number of 64 bits floating-point: the bytes of all strings; 0 where keys are none |
 * | from 64 | the keys, then (maps) the values; each column is filled up with zeros to a multiple of 8 bytes |
 *
 * Keys that are strings are two columns: as 32-bit numbers where in the other one each begins and, behind the last, where that ends; and
 * their bytes.
 */
import type { Input } from "../engine/engine.js";
import { hashNames } from "../engine/hash.js";
import {
  arrayClass,
  asBytes,
  type ScalarArrays,
  type ScalarType,
  scalarBytes,
  type ValueType,
} from "../engine/scalars.js";
import { Utf8Column } from "../engine/utf8-column.js";
import { FormatError, LimitError, ValidationError } from "../errors.js";
import type { Parts, Sizing, TableOptions } from "./create-table.js";
import type { ContainerKey, ContainerTable, TableKey } from "./key-types.js";
import { xxh32 } from "./xxh32.js";

const MAGIC = [0x89, 0x57, 0x4d, 0x41, 0x50, 0x0d, 0x0a, 0x1a];
const VERSION = 1;
const HEADER_BYTES = 64;
/** Where the bytes begin that the checksum is of. */
const CHECKED = 16;
const kinds = ["map", "set"] as const;
/** Sets have the value type "none". New types come behind the others. */
const types = ["u32", "i32", "f32", "u64", "none", "utf8"] as const;

type Options = TableOptions<ContainerKey> & { value?: ValueType };

/** The entries of a table as bytes. @throws LimitError */
export async function pack<K extends ContainerKey, V extends ValueType>(
  table: ContainerTable<K, V>,
  { capacity, maxLoadFactor, hash }: Sizing,
): Promise<Uint8Array<ArrayBuffer>> {
  const { value } = table.spec;
  const key = table.spec.key as ContainerKey;
  const entries = table.live;
  // strings are brought to the host first: only then their bytes are known
  const strings = key === "utf8" ? await table.retrieveAll("host", {}) : null;
  const column = strings?.keys as unknown as Utf8Column | undefined;
  const stringBytes = column ? column.offsets[entries] - column.offsets[0] : 0;
  const { columns, end } = places({ key, value, entries, stringBytes });
  const bytes = newBytes(end);
  const header = new DataView(bytes.buffer);
  bytes.set(MAGIC);
  header.setUint32(8, VERSION, true);
  const numbers = [kinds.indexOf(value === null ? "set" : "map"), types.indexOf(key)];
  numbers.push(types.indexOf(value ?? "none"), hashNames.indexOf(hash));
  for (const [i, number] of numbers.entries()) header.setUint32(16 + 4 * i, number, true);
  for (const [i, number] of [capacity, maxLoadFactor, entries, stringBytes].entries()) {
    header.setFloat64(32 + 8 * i, number, true);
  }
  const targets = columns.map(({ type, at, length }) => new arrayClass[type](bytes.buffer, at, length));
  if (column) writeStrings(targets, column, strings?.values as ScalarArrays[ScalarType] | null);
  else await table.retrieveAll(targets, {});
  header.setUint32(12, xxh32(bytes.subarray(CHECKED)), true);
  return bytes;
}

/**
 * A table with the entries of `pack`.
 * @param how checks the options of a table, as `create` does, and makes an empty one
 * @throws FormatError when the bytes are not what `pack` makes of a table of this kind
 */
export async function unpack<K extends ContainerKey, V extends ValueType, P extends Parts<K, V>>(
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
  const header = checkHeader(bytes);
  const [kindNumber, keyNumber, valueNumber, hashNumber] = [0, 1, 2, 3].map((i) =>
    header.getUint32(16 + 4 * i, true),
  );
  const [capacity, maxLoadFactor, entries, stringBytes] = [0, 1, 2, 3].map((i) =>
    header.getFloat64(32 + 8 * i, true),
  );
  const key = typeOf(keyNumber);
  const value = typeOf(valueNumber);
  const isSet = kinds[kindNumber] === "set";
  if (
    key === null ||
    value === "utf8" ||
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
  const { columns, end } = places({ key, value, entries, stringBytes });
  if (!Number.isSafeInteger(entries) || entries < 0 || !(stringBytes >= 0) || end !== bytes.length) {
    throw damaged(`There are ${bytes.length} bytes, and ${entries} entries take ${end}.`);
  }
  const arrays = columns.map(
    ({ type, at, length }) => new arrayClass[type](bytes.buffer, bytes.byteOffset + at, length),
  );
  const keys = key === "utf8" ? stringsOf(arrays) : arrays[0];
  const shape = { key, capacity, maxLoadFactor, hash: hashNames[hashNumber] };
  return {
    options: value === null ? shape : { ...shape, value },
    entries,
    keys,
    values: value === null ? null : arrays[arrays.length - 1],
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

function typeOf(number: number): ContainerKey | null {
  const type = types[number];
  if (type === undefined) throw damaged(`The header has the type ${number}, which means nothing.`);
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
