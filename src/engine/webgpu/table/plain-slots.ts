/**
 * WGSL for the slots of plain tables: keys of one word, values of at most one, and murmur3 without a seed. slot-code.ts
 * and hash-code.ts have it for all formats and hash functions, and say what the functions are for; a page with plain
 * tables alone does not load them.
 */
import { isFloatWord } from "../../element-types.js";
import type { TableSpec } from "../../layout.js";
import { ENTRY, slotFormat } from "../../slot-format.js";
import { constantLines, wgsl } from "../device/module-code.js";
import { ABSENT } from "./control.js";
import hash from "./hash.wgsl";
import changing from "./plain-changing.wgsl";
import found from "./plain-found.wgsl";
import reading from "./plain-reading.wgsl";
import probe from "./probe.wgsl";

/** What the direct kernels of a table are written over. */
export interface SlotCode {
  /** Hashing and probing. */
  readonly probing: string;
  /** Reading slots, or changing them: a module has one of the two. */
  readonly reading: string;
  readonly changing: string;
  /** Writing what look-ups answer. */
  readonly found: string;
}

/**
 * A name for tables that have the same kernels: those of one hash function, with or without a seed, and of one type of
 * keys and values.
 */
export function kindOf({ key, value, hash, seed }: TableSpec): string {
  return JSON.stringify([key, value, hash, !seed]);
}

/** The code of a plain table; null for others. */
export function plainSlots(spec: TableSpec): SlotCode | null {
  const { claim, valueWords } = slotFormat(spec);
  if (claim === "row" || valueWords > 1 || spec.hash !== "murmur3" || spec.seed) return null;
  const [slot, key, value] = valueWords === 0 ? ["u32", "slot", "key"] : ["vec2u", "slot.x", "slot.y"];
  const types = `
alias Key = u32;
alias Slot = ${slot};
alias Found = u32;
const FOUND_WORDS: u32 = 1u;
fn stateIn(slot: Slot) -> u32 { return ${key}; }
fn keyIn(slot: Slot) -> Key { return ${key}; }
fn foundIn(slot: Slot, key: Key) -> Found { return ${value}; }
fn sameKey(a: Key, b: Key) -> bool { return a == b; }
fn firstWord(found: Found) -> u32 { return found; }`;
  const hashing = "fn hashKey(key: u32) -> u32 { return murmur3(key); }";
  return { probing: probingText(spec, types, hashing, KEY_STATE), reading, changing, found };
}

/**
 * The state word of the slot that holds a key, and the hash that the home slot comes from, where slots are claimed by
 * key.
 */
export const KEY_STATE = `
fn stateOf(key: Key) -> u32 { return key; }
fn hashOfState(state: u32) -> u32 { return hashKey(state); }`;

/** What probing is made of: the constants of a slot format, its types, and functions. */
export function probingText(spec: TableSpec, types: string, hashing: string, state: string): string {
  const format = slotFormat(spec);
  const constants = constantLines({
    KEY_F32: isFloatWord(spec.key),
    SLOT_WORDS: format.slotWords,
    KEY_WORDS: format.keyWords,
    KEY_OFFSET: format.keyOffset,
    VALUE_WORDS: format.valueWords,
    VALUE_OFFSET: format.valueOffset,
    SIDE_SLOTS: format.sideSlots,
    CLAIMED_BY_ROW: format.claim === "row",
    ENTRY,
    ABSENT,
  });
  return [constants, types, hash, hashing, state, probe].join("\n");
}

/** The functions that probing code asks for, in modules with params.slots and params.seed. */
export const slotCount = wgsl(
  "fn slotCount() -> u32 { return params.slots; } fn hashSeed() -> u32 { return params.seed; }",
);
