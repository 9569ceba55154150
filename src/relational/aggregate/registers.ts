/**
 * A HyperLogLog for every group: registers that were raised, as a list. So a group takes memory for as many registers
 * as it has different values, 4,096 at most, and lists of several tables merge to that of one with all their rows, in
 * any order.
 */
import { CodedBytes } from "../../engine/coded-bytes.js";
import { murmur3 } from "../../engine/hash.js";
import { UNKEYED } from "../../engine/hash-seed.js";
import { foldStrings, foldWords } from "../../engine/row-hash.js";
import type { KeyColumn } from "../../engine/rows.js";
import { mostRank } from "../../engine/sketch-format.js";
import { estimateOf } from "../../sketches/estimate.js";

/**
 * 4,096 registers a group: estimates have a relative standard error of 1.6 % (standardError of sketches/estimate.ts).
 */
const PRECISION = 12;
const REGISTERS = 2 ** PRECISION;
/** Ranks of a register in one number with the register's own: 33 at most. */
const RANKS = 64;
/** Bytes of registers of all groups that are always taken, and per row: more are listed by sorting. */
const FEW_BYTES = 2 ** 22;
const BYTES_PER_ROW = 4;
/** Of the hash that ranks come from, which is to have nothing in common with that of the registers' numbers. */
const RANK_SEED = 0x9e3779b9;

export class Registers {
  private constructor(
    readonly groups: number,
    /** (group × registers + register) × ranks + rank of those that were raised, ascending; each register once. */
    readonly entries: Float64Array,
  ) {}

  /** What another thread has made, as plain data. */
  static received({ groups, entries }: Registers): Registers {
    return new Registers(groups, entries);
  }

  /**
   * Of values in the form in which keys are compared.
   * @param groupOf per value its group; the number behind the last group for nulls
   */
  static of(key: KeyColumn, groupOf: Uint32Array, groups: number): Registers {
    const rows = groupOf.length;
    const numbers = hashesOf(key, rows, 0);
    const ranks = hashesOf(key, rows, RANK_SEED);
    const register = (row: number) => groupOf[row] * REGISTERS + (numbers[row] >>> (32 - PRECISION));
    const rank = (row: number) => Math.clz32(ranks[row]) + 1;
    if (groups * REGISTERS > Math.max(FEW_BYTES, rows * BYTES_PER_ROW)) {
      const present = rowsWithValues(groupOf, groups);
      const entries = Float64Array.from(present, (row) => register(row) * RANKS + rank(row));
      return new Registers(groups, highest(entries));
    }
    const raised = new Uint8Array(groups * REGISTERS);
    let count = 0;
    for (let row = 0; row < rows; row++) {
      if (groupOf[row] >= groups) continue;
      const at = register(row);
      if (raised[at] === 0) count++;
      raised[at] = Math.max(raised[at], rank(row));
    }
    const entries = new Float64Array(count);
    for (let at = 0, next = 0; next < count; at++) {
      if (raised[at] > 0) entries[next++] = at * RANKS + raised[at];
    }
    return new Registers(groups, entries);
  }

  /**
   * @param groupOf per group of the parts, one part after the other: its new number; `groups` for those that are left
   * out
   */
  static merge(parts: readonly Registers[], groupOf: Uint32Array, groups: number): Registers {
    const merged = new Float64Array(parts.reduce((sum, part) => sum + part.entries.length, 0));
    let [count, base] = [0, 0];
    for (const part of parts) {
      for (const entry of part.entries) {
        const old = Math.floor(entry / (REGISTERS * RANKS));
        const group = groupOf[base + old];
        if (group < groups) merged[count++] = entry + (group - old) * REGISTERS * RANKS;
      }
      base += part.groups;
    }
    return new Registers(groups, highest(merged.subarray(0, count)));
  }

  /** Estimated different values of each group. */
  estimates(): Float64Array {
    const { groups, entries } = this;
    const estimates = new Float64Array(groups);
    const held = new Float64Array(mostRank(PRECISION) + 1);
    for (let at = 0; at < entries.length; ) {
      const group = Math.floor(entries[at] / (REGISTERS * RANKS));
      const end = (group + 1) * REGISTERS * RANKS;
      held.fill(0);
      const first = at;
      for (; at < entries.length && entries[at] < end; at++) held[entries[at] % RANKS]++;
      held[0] = REGISTERS - (at - first);
      estimates[group] = Math.round(estimateOf(held, PRECISION));
    }
    return estimates;
  }
}

function rowsWithValues(groupOf: Uint32Array, groups: number): Uint32Array {
  const rows = new Uint32Array(groupOf.length);
  let count = 0;
  for (let row = 0; row < groupOf.length; row++) if (groupOf[row] < groups) rows[count++] = row;
  return rows.subarray(0, count);
}

/** Sorts in place; of each register the entry with the highest rank stays, which is its last. */
function highest(entries: Float64Array): Float64Array {
  entries.sort();
  let count = 0;
  for (let i = 0; i < entries.length; i++) {
    const isLast =
      i + 1 === entries.length || Math.floor(entries[i] / RANKS) !== Math.floor(entries[i + 1] / RANKS);
    if (isLast) entries[count++] = entries[i];
  }
  return entries.slice(0, count);
}

/** Equal values have equal hashes, whatever table they are of. */
function hashesOf(key: KeyColumn, rows: number, seed: number): Uint32Array {
  if (key instanceof CodedBytes) {
    const { strings, codes } = key;
    const ofStrings = hashesOf(strings, strings.starts.length, seed);
    return Uint32Array.from(codes, (code) => ofStrings[code]);
  }
  const hashes = new Uint32Array(rows).fill(seed);
  if (key.kind === "words") foldWords(hashes, key.data, key.width, key.width, 0, rows, UNKEYED);
  else {
    const ranges = new Uint32Array(2 * rows);
    for (let row = 0; row < rows; row++) {
      ranges[2 * row] = key.starts[row];
      ranges[2 * row + 1] = key.ends[row];
    }
    foldStrings(hashes, ranges, 2, 0, key.bytes, 0, rows, UNKEYED);
  }
  for (let row = 0; row < rows; row++) hashes[row] = murmur3(hashes[row]);
  return hashes;
}
