/**
 * Checks every slot of a cpu table against the invariants of src/engine/layout.ts. Written anew from that
 * page: it shares no code with the engine but the hash functions and homeSlot, which have tests of their own.
 */
import type { CpuTable } from "../../src/engine/cpu/cpu-table.js";
import { canonicalF32 } from "../../src/engine/float-keys.js";
import { homeSlot } from "../../src/engine/hash.js";
import type { Scalar } from "../../src/engine/scalars.js";
import { referenceHash } from "./reference-hash.js";

const EMPTY = 0xffffffff;
const TOMBSTONE = 0xfffffffe;

/** Throws an Error that names the broken invariant, or returns the entries by key bits (value 0 in sets). */
export function checkTable<K extends Scalar, V extends Scalar>(table: CpuTable<K, V>): Map<number, number> {
  const { memory, counters } = table.inspect();
  const { slots: slotCount, key: keyType, value } = table.spec;
  const words = value === null ? 1 : 2;
  const word = (slot: number) => memory.slots[slot * words];
  const valueAt = (slot: number) => (words === 2 ? memory.slots[slot * words + 1] : 0);
  const fail = (what: string): never => {
    throw new Error(`layout: ${what}`);
  };
  if (memory.slots.length !== (slotCount + 2) * words)
    fail(`${memory.slots.length} words for ${slotCount} slots`);

  const emptiesBefore = new Uint32Array(slotCount + 1);
  for (let slot = 0; slot < slotCount; slot++) {
    emptiesBefore[slot + 1] = emptiesBefore[slot] + Number(word(slot) === EMPTY);
  }
  const entries = new Map<number, number>();
  let tombstones = 0;
  for (let slot = 0; slot < slotCount; slot++) {
    const key = word(slot);
    if (key === TOMBSTONE) tombstones++;
    if (key === EMPTY || key === TOMBSTONE) continue;
    if (entries.has(key)) fail(`key ${key} is there twice`);
    if (keyType === "f32" && canonicalF32(key) !== key) fail(`f32 key ${key} is not canonical`);
    entries.set(key, valueAt(slot));
    const home = homeSlot(referenceHash(table.spec, [key]), slotCount);
    const displacement = (slot - home + slotCount) % slotCount;
    if (displacement >= counters.maxProbe)
      fail(`key ${key} lies ${displacement} slots on, maxProbe is ${counters.maxProbe}`);
    const wrapped = slot < home ? emptiesBefore[slotCount] : 0;
    if (emptiesBefore[slot] + wrapped !== emptiesBefore[home]) fail(`EMPTY between key ${key} and its home`);
  }
  if (counters.mainLive !== entries.size)
    fail(`mainLive is ${counters.mainLive}, ${entries.size} keys are there`);
  if (counters.tombstones !== tombstones)
    fail(`tombstones is ${counters.tombstones}, ${tombstones} are there`);
  if (counters.maxProbe > slotCount) fail(`maxProbe ${counters.maxProbe} is more than the slots`);
  for (const [slot, key] of [
    [slotCount, EMPTY],
    [slotCount + 1, TOMBSTONE],
  ]) {
    if (word(slot) !== EMPTY && word(slot) !== 0) fail(`side slot of ${key} holds ${word(slot)}`);
    if (word(slot) === 0) entries.set(key, valueAt(slot));
  }
  if (table.live !== entries.size) fail(`live is ${table.live}, ${entries.size} entries are there`);
  return entries;
}
