/**
 * Checks every slot of a table of wide slots in host memory against src/engine/slot-format.ts and the invariants of
 * src/engine/layout.ts. Written anew from these pages: it shares no code with the engine but the hash functions, homeSlot and the
 * format, which have tests of their own.
 */
import type { Counters } from "../../src/engine/cpu/table/probes.js";
import { homeSlot } from "../../src/engine/hash.js";
import type { HashName } from "../../src/engine/hash-names.js";
import type { SlotFormat } from "../../src/engine/slot-format.js";
import { referenceHash } from "./reference-hash.js";

const EMPTY = 0xffffffff;
const TOMBSTONE = 0xfffffffe;

export interface WideSlots {
  readonly slots: Uint32Array;
  readonly slotCount: number;
  readonly format: SlotFormat;
  readonly hash: HashName;
  readonly seed?: number | undefined;
}

/** Throws an Error that names the broken invariant, or returns the entries: words of the value by words of the key, as text. */
export function checkWideTable(
  { slots, slotCount, format, hash, seed }: WideSlots,
  counters: Counters,
): Map<string, string> {
  const { keyWords, valueWords, slotWords, claim, sideSlots } = format;
  const fail = (what: string): never => {
    throw new Error(`layout: ${what}`);
  };
  if (slots.length !== (slotCount + sideSlots) * slotWords) fail(`${slots.length} words`);
  const first = (slot: number) => slots[slot * slotWords];
  // the state word comes first, then the key, then the value
  const keyAt = (slot: number) =>
    slots.subarray(slot * slotWords + (claim === "row" ? 1 : 0)).slice(0, keyWords);
  const valueAt = (slot: number) => slots.slice((slot + 1) * slotWords - valueWords, (slot + 1) * slotWords);

  const entries = new Map<string, string>();
  let tombstones = 0;
  for (let slot = 0; slot < slotCount; slot++) {
    if (first(slot) === TOMBSTONE) tombstones++;
    if (first(slot) >= TOMBSTONE) continue;
    const key = keyAt(slot);
    if (entries.has(key.join())) fail(`key ${key} is there twice`);
    entries.set(key.join(), valueAt(slot).join());
    let hashed = referenceHash({ hash, seed }, key);
    if (claim === "row") {
      // 31 bits of the hash with the highest bit set, below the sentinels
      const tag = Math.min(2 ** 31 + Math.floor(hashed / 2), TOMBSTONE - 1);
      if (first(slot) !== tag) fail(`the tag of key ${key} is ${first(slot)}`);
      hashed = (tag - 2 ** 31) * 2;
    }
    const home = homeSlot(hashed, slotCount);
    const after = (slot - home + slotCount) % slotCount;
    if (after >= counters.maxProbe)
      fail(`key ${key} lies ${after} slots on, maxProbe is ${counters.maxProbe}`);
    for (let i = 0; i < after; i++) {
      if (first((home + i) % slotCount) === EMPTY) fail(`EMPTY between key ${key} and its home`);
    }
  }
  if (counters.mainLive !== entries.size) fail(`mainLive is ${counters.mainLive}, ${entries.size} are there`);
  if (counters.tombstones !== tombstones)
    fail(`tombstones is ${counters.tombstones}, ${tombstones} are there`);
  if (counters.maxProbe > slotCount) fail(`maxProbe ${counters.maxProbe} is more than the slots`);
  for (let side = 0; side < sideSlots; side++) {
    const word = first(slotCount + side);
    if (word !== EMPTY && word !== 0) fail(`side slot ${side} holds ${word}`);
    if (word === 0) entries.set(String(EMPTY - side), valueAt(slotCount + side).join());
  }
  if (counters.mainLive + counters.sideLive !== entries.size) fail(`sideLive is ${counters.sideLive}`);
  return entries;
}
