/**
 * What a slot of a table holds, said once: how many 32-bit words its key and its value have, and how the slot is
 * claimed. All byte arithmetic of tables comes from here, on every engine.
 *
 * | claim | a slot's words | who uses it |
 * |---|---|---|
 * | `key` | the key word, the value's words | keys of one word: the key itself is compare-exchanged into the slot |
 * | `row` | the state word, the key's words, the value's words | wider keys, which 32-bit atomics cannot exchange |
 *
 * The *state word* of a slot that is claimed by row is EMPTY, TOMBSTONE, the tag of the entry (ENTRY and 31 bits of the
 * key's hash; of keys of two words webgpu/direct/row-claims.ts takes 29, and says in the others which words are EMPTY)
 * or, while an insert of the webgpu engine runs, the number of the batch's row that claimed the slot, whose key is
 * compared in the batch. Only the state word can equal a sentinel, so such tables have no side slots, and reserve no
 * key.
 */
import {
  type FloatInKey,
  floatsIn,
  type KeyType,
  scalarsOf,
  type ValueType,
  wordsIn,
} from "./element-types.js";
import { SIDE_SLOTS, type TableSpec } from "./layout.js";
import type { Scalar } from "./scalars.js";

/** How a slot is claimed: by its key word, or by a row number in its state word. */
export type SlotClaim = "key" | "row";

/** What a slot holds. Word offsets count from the slot's first word. */
export interface SlotFormat {
  /** 32-bit words of a key. */
  readonly keyWords: number;
  /** 32-bit words of a value; 0 for sets. */
  readonly valueWords: number;
  readonly claim: SlotClaim;
  /** 32-bit words of a slot. */
  readonly slotWords: number;
  /** Where the key's words begin. */
  readonly keyOffset: number;
  /** Where the value's words begin. */
  readonly valueOffset: number;
  /** The types of the columns that a key comes in: its words are theirs, one after the other. */
  readonly keyScalars: readonly Scalar[];
  /** The floats among a key's words. */
  readonly keyFloats: readonly FloatInKey[];
  /** The same for a value; none for sets. */
  readonly valueScalars: readonly Scalar[];
  /** Slots behind the table for keys that equal a sentinel: 2, or 0 where no key can. */
  readonly sideSlots: number;
}

/** The format of tables with keys and values (null for a set) of these types. */
export function slotFormat({
  key,
  value,
}: {
  readonly key: KeyType;
  readonly value: ValueType | null;
}): SlotFormat {
  const keyWords = wordsIn(key);
  const valueWords = wordsIn(value);
  const claim = keyWords === 1 ? "key" : "row";
  const keyOffset = claim === "key" ? 0 : 1;
  const valueOffset = keyOffset + keyWords;
  return {
    keyWords,
    valueWords,
    claim,
    slotWords: valueOffset + valueWords,
    keyOffset,
    valueOffset,
    keyScalars: scalarsOf<Scalar>(key),
    keyFloats: floatsIn(key),
    valueScalars: scalarsOf<Scalar>(value),
    sideSlots: claim === "key" ? SIDE_SLOTS : 0,
  };
}

/**
 * True where a slot holds more than a word of key and a word of value, so that no 32-bit atomic can change its value in
 * place.
 */
export function isWide({ keyWords, valueWords }: SlotFormat): boolean {
  return keyWords > 1 || valueWords > 1;
}

/** Bytes of a table's slot array, side slots included. */
export function tableBytes(spec: TableSpec): number {
  const { slotWords, sideSlots } = slotFormat(spec);
  return (spec.slots + sideSlots) * slotWords * 4;
}

/** State words of entries have this bit; row numbers have not. */
export const ENTRY = 0x80000000;
