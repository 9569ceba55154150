/**
 * Dictionaries, part of the seam: strings that have numbers. A table of `utf8` keys is a table of such numbers
 * (containers/utf8), so all that engines' tables can do serves strings too, and no kernel or loop of theirs knows of
 * strings.
 *
 * A dictionary owns an arena with the bytes of its strings, and a hash table that finds them. Two strings have one
 * number exactly when their bytes are equal: hashes only find candidates. The number of a string is the word of the
 * arena where its record begins, which is its length in bytes, and its bytes filled up with zeros to whole words.
 * Strings never leave a dictionary: `compact` makes another one without those that nobody needs. Numbers hold as long
 * as their dictionary.
 */
import type { DeviceArray } from "./device-array.js";
import type { CallOptions } from "./engine.js";
import type { HashName } from "./hash-names.js";
import type { Utf8Column } from "./utf8-column.js";

/** What stands for the number of a string that has none. */
export const NO_NUMBER = 0xffffffff;

/** Bytes of a dictionary's strings at most: their records are numbered by words. */
export const MOST_ARENA_WORDS = 2 ** 32 - 1;

/** Hash functions that take bytes. */
export type Utf8HashName = Extract<HashName, "murmur3" | "xxhash32">;

/** How a dictionary hashes. */
export interface DictionarySpec {
  readonly hash: Utf8HashName;
  /** Default 0. */
  readonly seed?: number | undefined;
  /** Bits of hashes that are kept: tests make strings collide with few of them. Default all. */
  readonly hashMask?: number;
}

/** Options of a dictionary's operations. Elements that `where` leaves out get any number, and bring no string in. */
export type DictionaryCall = Pick<CallOptions, "where" | "signal" | "checkInputs">;

/** Strings that have numbers, in the memory of one engine. The caller keeps operations on one dictionary apart. */
export interface Dictionary {
  readonly spec: DictionarySpec;
  /** Strings that have a number. */
  readonly strings: number;
  /** Bytes that records of the strings take. */
  readonly usedBytes: number;
  /** Bytes of memory, unused ones included. */
  readonly bytes: number;
  /** The number of each string; those that have none get one. @throws LimitError; strings that came in before stay */
  add(strings: Utf8Column, call: DictionaryCall): Promise<DeviceArray<"u32">>;
  /** The number of each string, NO_NUMBER for those that have none. */
  lookUp(strings: Utf8Column, call: DictionaryCall): Promise<DeviceArray<"u32">>;
  /** The strings that have these numbers. @throws LimitError when their bytes are 2^32 or more */
  read(numbers: Uint32Array): Promise<Utf8Column>;
  /**
   * A dictionary of the strings that have these numbers, which are all different, and what number each has there; it
   * hashes with `seed`, if one is given. This one stays as it is.
   * @throws LimitError
   */
  compact(
    numbers: DeviceArray<"u32">,
    seed?: number,
  ): Promise<{ readonly dictionary: Dictionary; readonly numbers: DeviceArray<"u32"> }>;
  /** Takes all strings out. */
  clear(): Promise<void>;
  /** Frees the memory. Idempotent. */
  destroy(): void;
}
