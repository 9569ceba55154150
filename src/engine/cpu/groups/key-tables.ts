/**
 * Finding equal keys: one side's keys go into a table, the other's are looked up in it. Of equal build rows the first
 * one found stands for all (the "leader"); which rows follow which leader is written down beside the table, so a probe
 * compares a key once however many rows have it.
 *
 * Four tables: `ExactTable` for keys of one word, `RowTable` (row-table.ts) for all others (both linear probing over
 * slots of code and position), and `DenseTable` and `DenseWideTable` for keys of one word or two that lie close together
 * (an array indexed by the key).
 *
 * A probe passes `REACH` slots at most and goes on in a tree (key-tree.ts), so no choice of keys makes it long. A key
 * that is not in the slots within its reach is in the tree, or nowhere: slots are never emptied.
 */
import { type CompareKey, KeyTree, REACH } from "./key-tree.js";
import { mixedWord, type PackedKeys, type RowHashing } from "./row-keys.js";

/**
 * Keys in the order in which they are built or looked up. The key at position p has the code codes[p × codeStride], the
 * row number codes[p × codeStride + 1] (or p itself when `recorded` is false), and words from words[p × stride + base]
 * on.
 */
export interface TableKeys
  extends Pick<PackedKeys, "width" | "stride" | "words" | "bytes" | "skip" | "codes"> {
  readonly codeStride: number;
  readonly base: number;
  readonly recorded: boolean;
}

/** Keys in row order. */
export function unsorted({ width, stride, words, bytes, skip, codes }: PackedKeys): TableKeys {
  return { width, stride, words, bytes, skip, codes, codeStride: 1, base: 0, recorded: false };
}

/** A build side's table. */
export interface KeyTable {
  /** What its slots had no place for; null where all keys have one. */
  readonly tree: KeyTree | null;
  /**
   * Puts the keys at positions `from` to `to` in. For each that is there already, follows[row] becomes its leader's row
   * + 1. Returns how many those are.
   */
  insert(build: TableKeys, from: number, to: number, follows: Uint32Array): number;
  /**
   * For each key at positions `from` to `to`: the row + 1 of its leader, or 0, at matches[position × codeStride] (which
   * may be where its code is). Returns how many have one.
   */
  probe(probe: TableKeys, from: number, to: number, matches: Uint32Array): number;
}

/**
 * Slots of two words: code, and row or position + 1 of the leader (0: empty); and the keys that they have no place for.
 */
export class Slots {
  words: Uint32Array;
  /** Number of the last slot. */
  mask: number;
  readonly tree: KeyTree;
  /** What was read ahead: no compiler leaves out what is kept. */
  touched = 0;

  /** @param words a power of two of slots */
  constructor(words: Uint32Array = new Uint32Array(2), tree?: Uint32Array) {
    this.words = words;
    this.mask = words.length / 2 - 1;
    this.tree = new KeyTree(tree);
  }

  /** Slots that a probe passes, less than all. */
  get reach(): number {
    return Math.min(REACH, this.mask);
  }

  /** Takes everything out, and makes room for `keys` keys. */
  reset(keys: number): void {
    const slots = slotsFor(keys, PARTITION_LOAD);
    this.mask = slots - 1;
    if (this.words.length < 2 * slots) this.words = new Uint32Array(2 * slots);
    else this.words.fill(0, 0, 2 * slots);
    this.tree.clear();
  }
}

/**
 * Most keys per slot. Fewer keys a slot are fewer mispredicted branches, as long as the slots stay in the L2 cache:
 * partitions join 1.4 times as fast at 0.3 as at 0.6 (2^22 rows on both sides, EPYC 9004, Node 20).
 */
const PARTITION_LOAD = 0.3;
const TABLE_LOAD = 0.6;

/** A power of two of slots. */
export function slotsFor(keys: number, load = TABLE_LOAD): number {
  return 2 ** Math.ceil(Math.log2(Math.max(16, keys / load)));
}

/**
 * Keys that are equal when their codes are: one word each, or, in records, its hash, which is another one for every
 * word.
 */
export class ExactTable implements KeyTable {
  readonly #slots: Slots;
  readonly #hashing: RowHashing;

  constructor(slots: Slots, hashing: RowHashing) {
    this.#slots = slots;
    this.#hashing = hashing;
  }

  get tree(): KeyTree {
    return this.#slots.tree;
  }

  insert(build: TableKeys, from: number, to: number, follows: Uint32Array): number {
    const { codes, codeStride, recorded, skip } = build;
    const { words: slots, mask, reach, tree } = this.#slots;
    const { multiplier, offset } = this.#hashing;
    const hashMask = mask & this.#hashing.mask;
    const wrap = 2 * mask + 1;
    let repeats = 0;
    for (let position = from; position < to; position++) {
      if (skip !== null && skip[position] !== 0) continue;
      const code = codes[position * codeStride];
      const row = recorded ? codes[position * codeStride + 1] : position;
      const hash = recorded ? code : mixedWord((Math.imul(code, multiplier) + offset) | 0);
      let slot = (hash & hashMask) << 1;
      let left = reach;
      let found = slots[slot + 1];
      while (found !== 0 && slots[slot] !== code) {
        slot = (slot + 2) & wrap;
        if (--left === 0) break;
        found = slots[slot + 1];
      }
      if (found === 0) {
        slots[slot] = code;
        slots[slot + 1] = row + 1;
        continue;
      }
      if (left === 0) found = tree.add(code, row + 1, comparingCodes(code));
      if (found !== row + 1) {
        follows[row] = found;
        repeats++;
      }
    }
    return repeats;
  }

  probe(probe: TableKeys, from: number, to: number, matches: Uint32Array): number {
    const { codes, codeStride, recorded, skip } = probe;
    const { words: slots, mask, reach, tree } = this.#slots;
    const { multiplier, offset } = this.#hashing;
    const hashMask = mask & this.#hashing.mask;
    const wrap = 2 * mask + 1;
    let hits = 0;
    for (let position = from; position < to; position++) {
      if (skip !== null && skip[position] !== 0) {
        matches[position * codeStride] = 0;
        continue;
      }
      const code = codes[position * codeStride];
      const hash = recorded ? code : mixedWord((Math.imul(code, multiplier) + offset) | 0);
      let slot = (hash & hashMask) << 1;
      let left = reach;
      let found = slots[slot + 1];
      while (found !== 0 && slots[slot] !== code) {
        slot = (slot + 2) & wrap;
        if (--left === 0) break;
        found = slots[slot + 1];
      }
      if (left === 0) found = tree.find(comparingCodes(code));
      matches[position * codeStride] = found;
      if (found !== 0) hits++;
    }
    return hits;
  }
}

/** Where a key of one word is among others. */
function comparingCodes(code: number): CompareKey {
  return (other) => code - other;
}

/** An array indexed by key − smallest key. Elements are row + 1 of the leader. For exact keys in row order. */
export class DenseTable implements KeyTable {
  readonly tree = null;
  readonly #smallest: number;
  readonly #leaders: Uint32Array;

  /** @param leaders zeroed, one per key of the range */
  constructor(smallest: number, leaders: Uint32Array) {
    this.#smallest = smallest;
    this.#leaders = leaders;
  }

  insert(build: TableKeys, from: number, to: number, follows: Uint32Array): number {
    const { codes, skip } = build;
    const smallest = this.#smallest;
    const table = this.#leaders;
    let repeats = 0;
    for (let row = from; row < to; row++) {
      if (skip !== null && skip[row] !== 0) continue;
      const index = (codes[row] - smallest) >>> 0;
      const found = table[index];
      if (found === 0) {
        table[index] = row + 1;
      } else {
        follows[row] = found;
        repeats++;
      }
    }
    return repeats;
  }

  probe(probe: TableKeys, from: number, to: number, matches: Uint32Array): number {
    const { codes, skip } = probe;
    const smallest = this.#smallest;
    const table = this.#leaders;
    let hits = 0;
    for (let row = from; row < to; row++) {
      const index = (codes[row] - smallest) >>> 0;
      const skipped = skip !== null && skip[row] !== 0;
      const found = index < table.length && !skipped ? table[index] : 0;
      matches[row] = found;
      if (found !== 0) hits++;
    }
    return hits;
  }
}

/** The same for keys of two words, as one number of 64 bits, the lower word first. */
export class DenseWideTable implements KeyTable {
  readonly tree = null;

  /** @param leaders zeroed, one per key of the range */
  constructor(
    private readonly range: WideKeyRange,
    private readonly leaders: Uint32Array,
  ) {}

  insert(build: TableKeys, from: number, to: number, follows: Uint32Array): number {
    const { words, stride, skip } = build;
    const { smallest } = this.range;
    const table = this.leaders;
    let repeats = 0;
    for (let row = from; row < to; row++) {
      if (skip !== null && skip[row] !== 0) continue;
      const index = (words[row * stride] - smallest) >>> 0;
      const found = table[index];
      if (found === 0) {
        table[index] = row + 1;
      } else {
        follows[row] = found;
        repeats++;
      }
    }
    return repeats;
  }

  probe(probe: TableKeys, from: number, to: number, matches: Uint32Array): number {
    const { words, stride, skip } = probe;
    const { smallest, upper } = this.range;
    const table = this.leaders;
    let hits = 0;
    for (let row = from; row < to; row++) {
      const word = words[row * stride];
      const index = (word - smallest) >>> 0;
      const isAbove = (words[row * stride + 1] - upper - Number(word < smallest)) | 0;
      const skipped = skip !== null && skip[row] !== 0;
      const found = index < table.length && isAbove === 0 && !skipped ? table[index] : 0;
      matches[row] = found;
      if (found !== 0) hits++;
    }
    return hits;
  }
}

/** Where keys of one word lie: all are `smallest` plus less than `size`, modulo 2^32. */
export interface KeyRange {
  readonly smallest: number;
  readonly size: number;
}

/** Where keys of two words lie: all are `upper` × 2^32 + `smallest` plus less than `size`, modulo 2^64. */
export interface WideKeyRange extends KeyRange {
  readonly upper: number;
}

/** Rows of one word each. */
type CodedRows = Pick<PackedKeys, "codes" | "skip" | "rows">;

/** The range of the keys that are not skipped, as signed or as unsigned numbers, if it is at most `mostSize` long. */
export function keyRange(keys: CodedRows, mostSize: number): KeyRange | null {
  const signed = rangeOver(keys, 0, mostSize);
  // numbers of one sign have the same range either way
  const isMixed = signed === null || (signed.low < 0 && signed.high >= 0);
  const unsigned = isMixed ? rangeOver(keys, TOP_BIT, mostSize) : null;
  const shorter = unsigned && (signed === null || sizeOf(unsigned) <= sizeOf(signed)) ? unsigned : signed;
  if (shorter === null) return null;
  return { smallest: (shorter.low ^ (shorter === unsigned ? TOP_BIT : 0)) >>> 0, size: sizeOf(shorter) };
}

/** Unsigned numbers with it flipped are in the order of signed ones. */
const TOP_BIT = 1 << 31;

interface SignedRange {
  readonly low: number;
  readonly high: number;
}

const sizeOf = ({ low, high }: SignedRange) => high - low + 1;

/** The range of the keys with some bits flipped, as signed numbers; null where it is longer than `mostSize`, or no key is. */
function rangeOver({ codes, skip, rows }: CodedRows, flipped: number, mostSize: number): SignedRange | null {
  let [low, high] = [2 ** 31 - 1, -(2 ** 31)];
  for (let from = 0; from < rows; from += RANGE_CHECK_ROWS) {
    const to = Math.min(rows, from + RANGE_CHECK_ROWS);
    for (let row = from; row < to; row++) {
      if (skip !== null && skip[row] !== 0) continue;
      const key = (codes[row] ^ flipped) | 0;
      if (key < low) low = key;
      if (key > high) high = key;
    }
    if (high - low >= mostSize) return null;
  }
  return low <= high ? { low, high } : null;
}

/** Rows between two looks whether the range has become too long. */
const RANGE_CHECK_ROWS = 4096;

/** The range of keys of two words that are not skipped, as signed numbers, if it is at most `mostSize` long. */
export function wideKeyRange(
  { words, stride, skip, rows }: Pick<PackedKeys, "words" | "stride" | "skip" | "rows">,
  mostSize: number,
): WideKeyRange | null {
  const first = skip === null ? 0 : skip.indexOf(0);
  if (first < 0 || first >= rows) return null;
  const [lower, upper] = [words[first * stride], words[first * stride + 1] | 0];
  // how far others are from the first
  let [least, most] = [0, 0];
  for (let from = 0; from < rows; from += RANGE_CHECK_ROWS) {
    const to = Math.min(rows, from + RANGE_CHECK_ROWS);
    for (let row = from; row < to; row++) {
      if (skip !== null && skip[row] !== 0) continue;
      const far = ((words[row * stride + 1] | 0) - upper) * 2 ** 32 + (words[row * stride] - lower);
      if (far < least) least = far;
      if (far > most) most = far;
    }
    if (most - least >= mostSize) return null;
  }
  const smallest = lower + least;
  return { smallest: smallest >>> 0, upper: upper + Math.floor(smallest / 2 ** 32), size: most - least + 1 };
}
