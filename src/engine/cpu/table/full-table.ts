/**
 * Inserting into a table without a free slot. A key that is not there is probed for as far as the longest probe of the
 * table goes, which may be all its slots; so with many such keys the table's keys are put into a roomy set once, and
 * only elements whose key is in it are probed. Decides nothing that the probe loops would decide otherwise.
 */
import { keyedWord, murmur3 } from "../../hash.js";
import { NO_SEED } from "../../hash-names.js";
import { EMPTY, TOMBSTONE } from "../../layout.js";
import type { Block, TableMemory } from "./blocks.js";
import { type Counters, type InsertColumns, reject, type Territory } from "./probes.js";

/** Longest probe below which probing is as cheap as the set. */
const WORTH_PROBES = 256;
/** Slots above which the set would take more than 1 GiB. */
const MOST_SLOTS = 2 ** 27;

/** Slots whose keys are put into the set at once: about 10 ms of work. */
const SLOTS_AT_ONCE = 2 ** 18;

/**
 * One insert call's view of a table that may be full. While a call runs a full table stays full, with the same keys.
 */
export class FullTable {
  #present: Uint32Array | null = null;
  /** Slots whose keys are in `#present`. */
  #slots = 0;

  /** @param at the whole ring. */
  constructor(
    private readonly at: Territory,
    private readonly columns: InsertColumns,
  ) {}

  /** Goes on making the set where one is needed; false until it is made. */
  isReady(): boolean {
    const { table, counters } = this.at;
    if (!isWorthSet(table, counters) || this.#slots === table.slotCount) return true;
    this.#present ??= new Uint32Array(2 ** Math.ceil(Math.log2(2 * table.slotCount))).fill(EMPTY);
    const to = Math.min(table.slotCount, this.#slots + SLOTS_AT_ONCE);
    addKeys(this.#present, table, this.#slots, to);
    this.#slots = to;
    return to === table.slotCount;
  }

  /**
   * When the table is full, rejects elements of a block whose keys are not in it, and moves the others to the
   * block's front. Answers how many are left to probe. To be called when `isReady`.
   */
  rejectAbsent(block: Block, count: number): number {
    const { table, counters, tally } = this.at;
    if (this.#present === null || !isWorthSet(table, counters)) return count;
    const { key, home, element } = block;
    let left = 0;
    for (let j = 0; j < count; j++) {
      if (key[j] < TOMBSTONE && !has(this.#present, key[j], table.seed)) {
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

/** Adds the keys of slots `from..to` to a set of twice as many places as slots, or more. */
function addKeys(set: Uint32Array, table: TableMemory, from: number, to: number): void {
  const { slots, words, seed } = table;
  const mask = set.length - 1;
  for (let w = from * words; w < to * words; w += words) {
    let at = murmur3(keyedWord(slots[w], seed ?? NO_SEED)) & mask;
    while (set[at] !== EMPTY) at = (at + 1) & mask;
    set[at] = slots[w];
  }
}

function has(set: Uint32Array, key: number, seed = NO_SEED): boolean {
  const mask = set.length - 1;
  let at = murmur3(keyedWord(key, seed)) & mask;
  while (set[at] !== EMPTY && set[at] !== key) at = (at + 1) & mask;
  return set[at] === key;
}
