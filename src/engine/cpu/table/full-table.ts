/**
 * Inserting into a table without a free slot. A key that is not there is probed for as far as the longest probe of the table
 * goes, which may be all its slots; so with many such keys the table's keys are put into a roomy set once, and only
 * elements whose key is in it are probed. Decides nothing that the probe loops would decide otherwise.
 */
import { murmur3 } from "../../hash.js";
import { EMPTY, TOMBSTONE } from "../../layout.js";
import type { Block, TableMemory } from "./blocks.js";
import { type Counters, type InsertColumns, reject, type Territory } from "./probes.js";

/** Longest probe below which probing is as cheap as the set. */
const WORTH_PROBES = 256;
/** Slots above which the set would take more than 1 GiB. */
const MOST_SLOTS = 2 ** 27;

/** One insert call's view of a table that may be full. While a call runs a full table stays full, with the same keys. */
export class FullTable {
  #present: Uint32Array | null = null;

  /** @param at the whole ring. */
  constructor(
    private readonly at: Territory,
    private readonly columns: InsertColumns,
  ) {}

  /**
   * When the table is full, rejects elements of a block whose keys are not in it, and moves the others to the
   * block's front. Answers how many are left to probe.
   */
  rejectAbsent(block: Block, count: number): number {
    const { table, counters, tally } = this.at;
    if (!isWorthSet(table, counters)) return count;
    this.#present ??= keySet(table);
    const { key, home, element } = block;
    let left = 0;
    for (let j = 0; j < count; j++) {
      if (key[j] < TOMBSTONE && !has(this.#present, key[j])) {
        reject(tally, this.columns, element[j]);
        continue;
      }
      key[left] = key[j];
      home[left] = home[j];
      element[left] = element[j];
      left++;
    }
    return left;
  }
}

/** True for full tables where a set of the keys is made sooner than absent keys are probed for. */
export function isWorthSet({ slotCount }: TableMemory, { mainLive, maxProbe }: Counters): boolean {
  return mainLive === slotCount && maxProbe >= WORTH_PROBES && slotCount <= MOST_SLOTS;
}

/** The keys of all slots, side slots excluded, at load 0.5 or less. */
function keySet({ slots, slotCount, words }: TableMemory): Uint32Array {
  const set = new Uint32Array(2 ** Math.ceil(Math.log2(2 * slotCount))).fill(EMPTY);
  const mask = set.length - 1;
  for (let w = 0; w < slotCount * words; w += words) {
    let at = murmur3(slots[w]) & mask;
    while (set[at] !== EMPTY) at = (at + 1) & mask;
    set[at] = slots[w];
  }
  return set;
}

function has(set: Uint32Array, key: number): boolean {
  const mask = set.length - 1;
  let at = murmur3(key) & mask;
  while (set[at] !== EMPTY && set[at] !== key) at = (at + 1) & mask;
  return set[at] === key;
}
