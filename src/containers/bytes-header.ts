/**
 * What the bytes of all tables begin with, those of multimaps and multisets too: how the table is made, in the frame of
 * sealed-bytes.ts. All numbers are little-endian.
 *
 * | bytes | |
 * |---|---|
 * | 0-15 | the frame: "WMAP", version 1, checksum |
 * | 16-31 | four numbers of 32 bits: kind, key type, value type, hash function (their places in the lists below; 0xffffffff for a user's own function) |
 * | 32-55 | three numbers of 64 bits floating-point: capacity, maxLoadFactor, entries |
 * | 56-59 | the seed of the hash function |
 * | 60-63 | the bytes of all strings; 0 where keys are none |
 * | from 64 | where keys or values are composites: a byte for the type of each of their columns, those of the keys first |
 *
 * The bytes of the types are filled up with zeros to a multiple of 8. A composite's own type is COMPOSITE and the
 * number of its columns.
 */
import type { ValueType } from "../engine/element-types.js";
import { hashNames, NO_SEED } from "../engine/hash-names.js";
import { type Scalar, type ScalarType, scalarBytes } from "../engine/scalars.js";
import { FormatError, ValidationError } from "../errors.js";
import { checkSeed } from "./check-hash.js";
import { type ContainerSpec, type HashOptions, MOST_VALUE_WORDS } from "./create-table.js";
import type { ContainerKey } from "./key-types.js";
import { damaged, HEADER_BYTES, newBytes, type Seal, seal, unseal } from "./sealed-bytes.js";

const TABLE: Seal = {
  letters: "WMAP",
  version: 1,
  what: "warpmap table",
  instead: "Write the pieces that entries({ chunk }) gives.",
};
const kinds = ["map", "set", "multimap", "multiset"] as const;
/** What reads the bytes of each kind. */
const readers: Readonly<Record<Kind, string>> = {
  map: "StaticMap or DynamicMap",
  set: "StaticSet or DynamicSet",
  multimap: "StaticMultimap",
  multiset: "StaticMultiset",
};
/** By their numbers; what has no values has the value type "none". New types come behind the others. */
const types = ["u32", "i32", "f32", "u64", "none", "i64", "f64", "utf8"] as const;
const COMPOSITE = 128;
/** In place of a hash function's name. */
const OWN_HASH = 0xffffffff;

/** What bytes are of. */
export type Kind = (typeof kinds)[number];

/** A table as its bytes say it. */
export interface Shape {
  readonly key: ContainerKey;
  readonly value: ValueType | null;
  readonly capacity: number;
  readonly maxLoadFactor: number;
  readonly entries: number;
  readonly stringBytes: number;
}

/**
 * Zeroed bytes for a table, with all that is before its columns. `closeBytes` is the last thing to do. @throws
 * LimitError
 */
export function openBytes(
  kind: Kind,
  { key, value, capacity, maxLoadFactor, entries, stringBytes }: Shape,
  { hash, seed = NO_SEED }: Pick<ContainerSpec, "hash" | "seed">,
  length: number,
): Uint8Array<ArrayBuffer> {
  const bytes = newBytes(TABLE, length);
  const header = new DataView(bytes.buffer);
  const numbers = [kinds.indexOf(kind), numberOf(key), numberOf(value ?? "none")];
  numbers.push(typeof hash === "string" ? hashNames.indexOf(hash) : OWN_HASH);
  for (const [i, number] of numbers.entries()) header.setUint32(16 + 4 * i, number, true);
  for (const [i, number] of [capacity, maxLoadFactor, entries].entries()) {
    header.setFloat64(32 + 8 * i, number, true);
  }
  header.setUint32(56, seed, true);
  header.setUint32(60, stringBytes, true);
  bytes.set(
    typesIn(key, value).map((type) => types.indexOf(type)),
    HEADER_BYTES,
  );
  return bytes;
}

/** Writes version and checksum. */
export const closeBytes = (bytes: Uint8Array): void => seal(TABLE, bytes);

/** What the bytes of a kind begin with; how many entries fit into the bytes is not checked. @throws FormatError */
export function readShape(kind: Kind, bytes: Uint8Array) {
  const header = unseal(TABLE, bytes);
  const [kindNumber, keyNumber, valueNumber, hashNumber] = [0, 1, 2, 3].map((i) =>
    header.getUint32(16 + 4 * i, true),
  );
  const [capacity, maxLoadFactor, entries] = [0, 1, 2].map((i) => header.getFloat64(32 + 8 * i, true));
  const listed = { bytes, at: HEADER_BYTES };
  const key = typeOf(keyNumber, listed);
  const value = typeOf(valueNumber, listed);
  const found = kinds[kindNumber];
  const ownHash = hashNumber === OWN_HASH;
  if (
    key === null ||
    value === "utf8" ||
    found === undefined ||
    (value === null) !== found.endsWith("set") ||
    !(hashNames[hashNumber] || ownHash)
  ) {
    throw damaged("The header has numbers that mean nothing.");
  }
  if (found !== kind) {
    throw new FormatError(
      `The bytes are a ${found}'s, not a ${kind}'s.`,
      `Use fromBytes of a ${readers[found]}.`,
    );
  }
  const seed = header.getUint32(56, true);
  const stringBytes = header.getUint32(60, true);
  const hash = ownHash ? "murmur3" : hashNames[hashNumber];
  const shape: Shape = { key, value, capacity, maxLoadFactor, entries, stringBytes };
  return { header, shape, hash, seed, ownHash };
}

/**
 * Checks that what bytes say can be: `checkOptions` is what checks options of the kind. @throws FormatError,
 * ValidationError
 */
export function checkShape(
  { hash, seed, ownHash }: ReturnType<typeof readShape>,
  given: HashOptions,
  checkOptions: () => unknown,
): void {
  try {
    checkOptions();
    checkSeed(hash, seed);
  } catch (cause) {
    if (!(cause instanceof ValidationError)) throw cause;
    throw damaged(`The header describes a table that cannot be: ${cause.message}`, { cause });
  }
  if (ownHash && given.hash === undefined) {
    throw new ValidationError(
      "The table's hash function was its maker's own, and bytes hold no functions.",
      "Give the function as the option hash, or the name of another one.",
    );
  }
}

/** Where columns lie. */
export interface Place {
  readonly type: ScalarType;
  readonly at: number;
  readonly length: number;
}

/** Lays out columns behind the types that are listed, and `more` bytes: each begins at a multiple of 8 bytes. */
export function columnPlaces({ key, value }: Pick<Shape, "key" | "value">, more = 0) {
  const padded = (bytes: number) => Math.ceil(bytes / 8) * 8;
  let end = HEADER_BYTES + padded(typesIn(key, value).length) + more;
  return {
    next(type: ScalarType, length: number): Place {
      const at = end;
      end += padded(length * scalarBytes[type]);
      return { type, at, length };
    },
    /** Behind all columns. */
    get end() {
      return end;
    },
  };
}

/** Checks that bytes are as many as their columns take. @throws FormatError */
export function checkEnd(bytes: Uint8Array, entries: number, end: number): void {
  if (Number.isSafeInteger(entries) && entries >= 0 && end === bytes.length) return;
  throw damaged(`There are ${bytes.length} bytes, and ${entries} entries take ${end}.`);
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
