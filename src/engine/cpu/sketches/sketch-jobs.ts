/**
 * Jobs of sketches that threads share. Bits and registers do not depend on the order of the keys, so only two writers
 * of one word have to be kept apart: each range of a filter's blocks has one owner, and each thread raises registers of
 * its own, which the caller merges.
 */
import { type Made, silently, type Work } from "../../../host/work.js";
import { BLOCK_WORDS, hashKeys, type KeyColumn, rankOf } from "../../sketch-format.js";

/** Keys that are hashed at once: their hashes stay in the L1 cache. */
const HASHED = 1024;

/** Keys of a chunk, a piece of `grain` keys at a time. */
interface KeysOfJob {
  readonly keys: KeyColumn;
  /** A byte a key, 0 for those left out; empty where there is no mask. */
  readonly where: Uint8Array;
  readonly count: number;
  readonly grain: number;
}

/** Keys of a chunk by ranges of blocks, as the first job leaves them to the second one. */
export interface SortedHashes {
  /** Blocks of the filter. A block's number shifted right by `shift` is its range. */
  readonly blocks: number;
  readonly shift: number;
  readonly ranges: number;
  /**
   * Per key that the mask lets through: its block, and the second word of its hash; piece after piece, within one by
   * range.
   */
  readonly homes: Uint32Array;
  readonly patterns: Uint32Array;
  /** Where the ranges of each piece begin, and where its last one ends: ranges + 1 words a piece. */
  readonly starts: Uint32Array;
}

export interface SortKeysJob extends KeysOfJob {
  readonly kind: "sort keys";
  readonly sorted: SortedHashes;
}

/** Set the bits of sorted keys; a piece is a range. */
export interface FilterAddJob {
  readonly kind: "filter add";
  readonly bits: Uint32Array;
  readonly sorted: SortedHashes;
  /** Pieces that were sorted. */
  readonly pieces: number;
}

export interface FilterContainsJob extends KeysOfJob {
  readonly kind: "filter contains";
  readonly bits: Uint32Array;
  readonly blocks: number;
  /** Per key: 1 or 0. */
  readonly found: Uint8Array;
}

export interface RegistersAddJob extends KeysOfJob {
  readonly kind: "registers add";
  readonly precision: number;
}

export function openSortKeys(job: SortKeysJob): Work {
  const { where, count, grain, keys, sorted } = job;
  const { blocks, shift, ranges, homes, patterns, starts } = sorted;
  const most = Math.min(grain, count);
  const [first, second] = [new Uint32Array(most), new Uint32Array(most)];
  const ends = new Uint32Array(ranges + 1);
  return silently(Math.ceil(count / grain), (piece) => {
    const from = piece * grain;
    const length = Math.min(count - from, grain);
    hashKeys(keys, from, from + length, first, second);
    let chosen = 0;
    ends.fill(0);
    for (let i = 0; i < length; i++) {
      const home = blockIn(first[i], blocks);
      first[chosen] = home;
      second[chosen] = second[i];
      // no branch to mispredict
      const isChosen = where.length === 0 ? 1 : (where[from + i] + 255) >>> 8;
      ends[(home >>> shift) + 1] += isChosen;
      chosen += isChosen;
    }
    const at = piece * (ranges + 1);
    ends[0] = from;
    starts[at] = from;
    for (let range = 1; range <= ranges; range++) {
      ends[range] += ends[range - 1];
      starts[at + range] = ends[range];
    }
    for (let i = 0; i < chosen; i++) {
      const home = first[i];
      const to = ends[home >>> shift]++;
      homes[to] = home;
      patterns[to] = second[i];
    }
  });
}

export function openFilterAdd({ bits, sorted, pieces }: FilterAddJob): Work {
  const { ranges, homes, patterns, starts } = sorted;
  return silently(ranges, (range) => {
    for (let piece = 0; piece < pieces; piece++) {
      const at = piece * (ranges + 1) + range;
      const end = starts[at + 1];
      for (let i = starts[at]; i < end; i++) setBits(bits, homes[i] * BLOCK_WORDS, patterns[i]);
    }
  });
}

/**
 * blockOf, without a division: the double product may be off by 2^10, and less its low word it is a multiple of 2^32
 * give or take 2^11.
 */
function blockIn(hash: number, blocks: number): number {
  return ((hash * blocks - (Math.imul(hash, blocks) >>> 0)) * 2 ** -32 + 0.5) >>> 0;
}

// bitOf of each word, by hand: eight factors that the JIT knows

function setBits(bits: Uint32Array, at: number, pattern: number): void {
  bits[at] |= 1 << (Math.imul(pattern, 0x47b6137b) >>> 27);
  bits[at + 1] |= 1 << (Math.imul(pattern, 0x44974d91) >>> 27);
  bits[at + 2] |= 1 << (Math.imul(pattern, 0x8824ad5b) >>> 27);
  bits[at + 3] |= 1 << (Math.imul(pattern, 0xa2b7289d) >>> 27);
  bits[at + 4] |= 1 << (Math.imul(pattern, 0x705495c7) >>> 27);
  bits[at + 5] |= 1 << (Math.imul(pattern, 0x2df1424b) >>> 27);
  bits[at + 6] |= 1 << (Math.imul(pattern, 0x9efc4947) >>> 27);
  bits[at + 7] |= 1 << (Math.imul(pattern, 0x5c6bfb31) >>> 27);
}

export function openFilterContains(job: FilterContainsJob): Work {
  const { where, bits, blocks, found } = job;
  return inPieces(job, (from, to, first, second) => {
    for (let i = from; i < to; i++) {
      const isChosen = where.length === 0 || where[i] !== 0;
      const at = blockIn(first[i - from], blocks) * BLOCK_WORDS;
      found[i] = Number(isChosen && holds(bits, at, second[i - from]));
    }
  });
}

function holds(bits: Uint32Array, at: number, pattern: number): boolean {
  return (
    ((bits[at] >>> (Math.imul(pattern, 0x47b6137b) >>> 27)) &
      (bits[at + 1] >>> (Math.imul(pattern, 0x44974d91) >>> 27)) &
      (bits[at + 2] >>> (Math.imul(pattern, 0x8824ad5b) >>> 27)) &
      (bits[at + 3] >>> (Math.imul(pattern, 0xa2b7289d) >>> 27)) &
      (bits[at + 4] >>> (Math.imul(pattern, 0x705495c7) >>> 27)) &
      (bits[at + 5] >>> (Math.imul(pattern, 0x2df1424b) >>> 27)) &
      (bits[at + 6] >>> (Math.imul(pattern, 0x9efc4947) >>> 27)) &
      (bits[at + 7] >>> (Math.imul(pattern, 0x5c6bfb31) >>> 27)) &
      1) ===
    1
  );
}

export function openRegistersAdd(job: RegistersAddJob): Work {
  const { where, precision } = job;
  const registers = new Uint8Array(2 ** precision);
  const made: Made[] = [{ task: 0, buffers: [registers.buffer] }];
  const work = inPieces(job, (from, to, first, second) => {
    for (let i = from; i < to; i++) {
      if (where.length > 0 && where[i] === 0) continue;
      const hash = first[i - from];
      const register = hash >>> (32 - precision);
      const rank = rankOf(hash, second[i - from], precision);
      if (rank > registers[register]) registers[register] = rank;
    }
  });
  return { ...work, result: () => ({ repeats: 0, made }) };
}

/** Work over a job's keys by their hashes. */
function inPieces(
  { keys, count, grain }: KeysOfJob,
  each: (from: number, to: number, first: Uint32Array, second: Uint32Array) => void,
): Work {
  const first = new Uint32Array(HASHED);
  const second = new Uint32Array(HASHED);
  return silently(Math.ceil(count / grain), (piece) => {
    const end = Math.min(count, (piece + 1) * grain);
    for (let from = piece * grain; from < end; from += HASHED) {
      const to = Math.min(end, from + HASHED);
      hashKeys(keys, from, to, first, second);
      each(from, to, first, second);
    }
  });
}
