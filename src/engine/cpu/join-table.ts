/**
 * Finding equal keys: one side's keys go into a table, the other's are looked up in it. Of equal build rows the first one
 * found stands for all (the "leader"); which rows follow which leader is written down beside the table, so a probe
 * compares a key once however many rows have it.
 *
 * Two tables: linear probing over slots of code and position, at most half full; and, where keys are one word and lie
 * close together, an array indexed by the key itself.
 */
import { murmur3 } from "../hash.js";
import type { PackedKeys, Strings } from "./join-keys.js";
import type { JoinKeys } from "./join-partition.js";

/** No row. */
export const NONE = 0xffffffff;

/** A build side's table, and what was found while building it. */
export interface KeyTable {
  /** Puts the keys at positions from to to in; leaders[row] becomes the leader of each. Returns the keys found again. */
  insert(build: JoinKeys, from: number, to: number, leaders: Uint32Array): number;
  /** matches[row] becomes the leader with the same key for each position from to to, where there is one. Returns how many. */
  probe(probe: JoinKeys, from: number, to: number, matches: Uint32Array): number;
  /** Takes everything out, and makes room for `keys` keys. */
  reset(keys: number): void;
}

/** Linear probing. Slots are pairs of words: code, and position + 1 of the leader (0: empty). */
export class ProbingTable implements KeyTable {
  readonly #slots: Uint32Array;
  #mask = 0;

  /** @param mostKeys the most keys that will be in the table at once */
  constructor(
    private readonly build: JoinKeys,
    mostKeys: number,
    private readonly hashMask: number,
  ) {
    this.#slots = new Uint32Array(2 * slotsFor(mostKeys));
    this.#mask = slotsFor(mostKeys) - 1;
  }

  reset(keys: number): void {
    const slots = slotsFor(keys);
    this.#mask = slots - 1;
    this.#slots.fill(0, 0, 2 * slots);
  }

  insert(build: JoinKeys, from: number, to: number, leaders: Uint32Array): number {
    const { codes, skip, rowAt, exact } = build;
    const slots = this.#slots;
    const mask = this.#mask;
    const hashMask = this.hashMask & mask;
    let repeats = 0;
    for (let position = from; position < to; position++) {
      if (skip !== null && skip[position] !== 0) continue;
      const code = codes[position];
      let slot = murmur3(code) & hashMask;
      let found = slots[2 * slot + 1];
      while (found !== 0 && !(slots[2 * slot] === code && (exact || sameKey(build, found - 1, build, position)))) {
        slot = (slot + 1) & mask;
        found = slots[2 * slot + 1];
      }
      const row = rowAt === null ? position : rowAt[position];
      if (found === 0) {
        slots[2 * slot] = code;
        slots[2 * slot + 1] = position + 1;
        leaders[row] = row;
      } else {
        leaders[row] = rowAt === null ? found - 1 : rowAt[found - 1];
        repeats++;
      }
    }
    return repeats;
  }

  probe(probe: JoinKeys, from: number, to: number, matches: Uint32Array): number {
    const { codes, skip, rowAt, exact } = probe;
    const { build } = this;
    const leaderRowAt = build.rowAt;
    const slots = this.#slots;
    const mask = this.#mask;
    const hashMask = this.hashMask & mask;
    let hits = 0;
    for (let position = from; position < to; position++) {
      if (skip !== null && skip[position] !== 0) continue;
      const code = codes[position];
      let slot = murmur3(code) & hashMask;
      let found = slots[2 * slot + 1];
      while (found !== 0 && !(slots[2 * slot] === code && (exact || sameKey(build, found - 1, probe, position)))) {
        slot = (slot + 1) & mask;
        found = slots[2 * slot + 1];
      }
      if (found === 0) continue;
      matches[rowAt === null ? position : rowAt[position]] = leaderRowAt === null ? found - 1 : leaderRowAt[found - 1];
      hits++;
    }
    return hits;
  }
}

/** Slots for a number of keys: a power of two, twice as many at least. */
function slotsFor(keys: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(8, keys) * 2));
}

function sameKey(a: JoinKeys, i: number, b: JoinKeys, j: number): boolean {
  const { width } = a;
  for (let k = 0, p = i * width, q = j * width; k < width; k++) {
    if (a.words[p + k] !== b.words[q + k]) return false;
  }
  if (a.strings.length === 0) return true;
  const row = a.rowAt === null ? i : a.rowAt[i];
  const other = b.rowAt === null ? j : b.rowAt[j];
  for (let c = 0; c < a.strings.length; c++) {
    if (!sameString(a.strings[c], row, b.strings[c], other)) return false;
  }
  return true;
}

function sameString(a: Strings, i: number, b: Strings, j: number): boolean {
  let p = a.starts[i];
  let q = b.starts[j];
  const end = a.ends[i];
  if (end - p !== b.ends[j] - q) return false;
  for (; p < end; p++, q++) if (a.bytes[p] !== b.bytes[q]) return false;
  return true;
}

/** An array indexed by key − smallest key. Elements are row + 1 of the leader. For exact, unpartitioned keys. */
export class DenseTable implements KeyTable {
  readonly #leaders: Uint32Array;

  constructor(private readonly range: KeyRange) {
    this.#leaders = new Uint32Array(range.size);
  }

  reset(): void {
    this.#leaders.fill(0);
  }

  insert(build: JoinKeys, from: number, to: number, leaders: Uint32Array): number {
    const { codes, skip } = build;
    const { smallest } = this.range;
    const table = this.#leaders;
    let repeats = 0;
    for (let row = from; row < to; row++) {
      if (skip !== null && skip[row] !== 0) continue;
      const index = (codes[row] - smallest) >>> 0;
      const found = table[index];
      if (found === 0) {
        table[index] = row + 1;
        leaders[row] = row;
      } else {
        leaders[row] = found - 1;
        repeats++;
      }
    }
    return repeats;
  }

  probe(probe: JoinKeys, from: number, to: number, matches: Uint32Array): number {
    const { codes, skip } = probe;
    const { smallest, size } = this.range;
    const table = this.#leaders;
    let hits = 0;
    for (let row = from; row < to; row++) {
      if (skip !== null && skip[row] !== 0) continue;
      const index = (codes[row] - smallest) >>> 0;
      const found = index < size ? table[index] : 0;
      if (found === 0) continue;
      matches[row] = found - 1;
      hits++;
    }
    return hits;
  }
}

/** Where keys of one word lie: all are `smallest` plus less than `size`, modulo 2^32. */
export interface KeyRange {
  readonly smallest: number;
  readonly size: number;
}

/** The range of the keys that are not skipped, as signed or as unsigned numbers, whichever is shorter. */
export function keyRange(keys: PackedKeys): KeyRange {
  const { codes, skip } = keys;
  let signedLow = 2 ** 31;
  let signedHigh = -(2 ** 31);
  let low = 2 ** 32;
  let high = 0;
  for (let row = 0; row < codes.length; row++) {
    if (skip !== null && skip[row] !== 0) continue;
    const key = codes[row];
    const signed = key | 0;
    if (key < low) low = key;
    if (key > high) high = key;
    if (signed < signedLow) signedLow = signed;
    if (signed > signedHigh) signedHigh = signed;
  }
  const size = high - low + 1;
  const signedSize = signedHigh - signedLow + 1;
  return signedSize < size ? { smallest: signedLow >>> 0, size: signedSize } : { smallest: low, size };
}
