/**
 * What a table looks like in memory, the same on every engine and for users' own kernels.
 *
 * A table is one array of `slots + 2` slots. A slot is `slotWords` 32-bit words: the key, then the value (maps only).
 * Tables of wider keys have a state word before the key, which marks slots in place of the key word, and no side slots:
 * slot-format.ts.
 * Slots 0..slots-1 are an open-addressing table with linear probing: a key lives at its home slot
 * `floor(hash × slots / 2^32)` or after it, with no EMPTY slot between, wrapping at the end.
 * Two bit patterns mark slots without a key. Keys that equal a sentinel live in one side slot each, after the table,
 * so no key is reserved: a side slot holds EMPTY (absent) or SIDE_PRESENT. A side slot never holds TOMBSTONE.
 *
 * On the webgpu engine the value of a slot that is EMPTY (of a side slot: absent) is EMPTY in all its words, so that
 * users' kernels can add to a value that its inserter has not stored yet (src/wgsl/change.wgsl).
 *
 * Invariants: no key is stored twice; no live key lies `maxProbe` or more slots after its home, where `maxProbe` only
 * grows until clear or rehash; so a lookup ends at EMPTY or after `maxProbe` slots, also in a table without any EMPTY
 * slot.
 */

import { LimitError } from "../errors.js";
import type { KeyType, ValueType } from "./element-types.js";
import type { HashName, OwnHash } from "./hash-names.js";

/** Key word of a slot that never held a key since the last clear. */
export const EMPTY = 0xffffffff;
/** Key word of a slot whose key was erased. Lookups pass over it, inserts may take it. */
export const TOMBSTONE = 0xfffffffe;
/** Key word of a side slot whose key (EMPTY's or TOMBSTONE's bit pattern) is in the table. */
export const SIDE_PRESENT = 0;
/** Side slots behind the table: slot `slots` for the key 0xffffffff, slot `slots + 1` for 0xfffffffe. */
export const SIDE_SLOTS = 2;
/** Most slots of a table in one memory: home slots are 32-bit numbers. */
export const MAX_SLOTS = 2 ** 32 - 1 - SIDE_SLOTS;

/** What an engine needs to know to make a table. */
export interface TableSpec {
  readonly key: KeyType;
  /** null for a set. */
  readonly value: ValueType | null;
  /** Slots of the probing table, without the side slots. At least 1. */
  readonly slots: number;
  readonly hash: HashName | OwnHash;
  /** Secret of the hash function, 32 bits. 0, or left out: none. */
  readonly seed?: number | undefined;
}

/** @throws LimitError for more slots than an engine's tables have */
export function checkSlots(slots: number, most = MAX_SLOTS): void {
  if (slots > most) throw new LimitError("slots", slots, most, "Split the data over several tables.");
}

/** Slots for `capacity` entries at `maxLoadFactor`: the ceiling, no rounding to primes or powers of two. */
export function slotsFor(capacity: number, maxLoadFactor: number): number {
  return Math.max(1, Math.ceil(capacity / maxLoadFactor));
}
