/**
 * Exact sums by group, of integers and of floats (engine/group-sums.ts). Engines add values up; sums of several tables
 * are merged here. A sum becomes one number of an answer by one rounding, so it depends on no order.
 */
import type { ColumnSums, SumParts } from "../../engine/group-sums.js";
import { gridOf, rangeOf, roundedSum, sumOfThree, upperLimbs } from "../../host/exact-floats.js";
import { runTask } from "../../host/group-tasks.js";
import { type LaneColumn, sumsOfLanes } from "../../host/lanes.js";

const WORD = 2 ** 32;
/** Parts stay below this, far enough below 2^53 that adding another one is exact. */
const SPILL = 2 ** 52;

/** The bits of integers of some width, as sums are made of them. */
export interface Integers {
  /** `width` 32-bit words a value, little-endian, two's complement when signed. */
  readonly data: Uint32Array;
  readonly width: number;
  readonly signed: boolean;
}

/** Exact sums: that of group g is the sum of parts[k][g] × 2^(32 k + exponent), but for NaN and infinities. */
export class Sums {
  private constructor(
    readonly groups: number,
    readonly exponent: number,
    readonly parts: Float64Array[],
    /** NaN, +Infinity and −Infinity by group; null where there are none. */
    readonly odd: readonly Float64Array[] | null,
    /** In place of all: the sums, each rounded once. */
    readonly numbers?: Float64Array,
  ) {}

  /** What heldBytes counts. */
  get heldBytes(): number {
    return [...this.parts, ...(this.odd ?? [])].reduce((sum, part) => sum + part.byteLength, 0);
  }

  /** What an engine has added up. Parts without a value are dropped. */
  static of({ sums, odd, numbers }: ColumnSums, groups: number): Sums {
    if (numbers !== undefined) return new Sums(groups, 0, [], null, numbers);
    if (sums.length > 1) {
      const merged = Sums.#empty(groups, sums, odd);
      for (const parts of sums) merged.#add(parts, null);
      return merged;
    }
    const [{ exponent, parts }] = sums;
    const end = parts.findLastIndex((part, k) => k === 0 || isUsed(part)) + 1;
    return new Sums(groups, exponent, parts.slice(0, end), odd);
  }

  /** Sums that another thread has made, as plain data. */
  static received({ groups, exponent, parts, odd }: Sums): Sums {
    return new Sums(groups, exponent, parts, odd);
  }

  /** The sums of rows whose groups are known. @param groupOf per row its group, up to `groups`, which is left out */
  static ofRows(column: LaneColumn, groupOf: Uint32Array, groups: number): Sums {
    const lanes = runTask({ groupOf, groups, values: { kind: "sums", column } });
    return Sums.of(sumsOfLanes([column], lanes)[0], groups);
  }

  static ofIntegers(integers: Integers, groupOf: Uint32Array, groups: number): Sums {
    return Sums.ofRows({ kind: "words", ...integers, validity: null }, groupOf, groups);
  }

  static ofFloats(data: Float32Array | Float64Array, groupOf: Uint32Array, groups: number): Sums {
    return Sums.ofRows(floatLanes(data, null), groupOf, groups);
  }

  /**
   * Sums of the sums of several tables.
   * @param groupOf per group of the tables, one table after the other: its new number; `groups` for those left out
   */
  static merge(parts: readonly Sums[], groupOf: Uint32Array, groups: number): Sums {
    const anyOdd = parts.some(({ odd }) => odd !== null);
    const odd = anyOdd ? Array.from({ length: 3 }, () => new Float64Array(groups + 1)) : null;
    const merged = Sums.#empty(groups, parts, odd);
    let first = 0;
    for (const sums of parts) {
      const own = groupOf.subarray(first, first + sums.groups);
      first += sums.groups;
      merged.#add(sums, own);
      for (const [k, counts] of sums.odd?.entries() ?? []) {
        for (let group = 0; group < own.length; group++)
          (odd?.[k] as Float64Array)[own[group]] += counts[group];
      }
    }
    return merged;
  }

  static #empty(groups: number, parts: readonly SumParts[], odd: readonly Float64Array[] | null): Sums {
    return new Sums(groups, Math.min(...parts.map(({ exponent }) => exponent)), [], odd);
  }

  #part(k: number): Float64Array {
    while (this.parts.length <= k) this.parts.push(new Float64Array(this.groups + 1));
    return this.parts[k];
  }

  /** Adds sums whose exponent is not below this. @param groupOf per group its number here; null for the same */
  #add({ exponent, parts }: SumParts, groupOf: Uint32Array | null): void {
    const words = Math.floor((exponent - this.exponent) / 32);
    const bits = exponent - this.exponent - 32 * words;
    const [unit, above] = [2 ** bits, 2 ** (32 - bits)];
    for (const [k, numbers] of parts.entries()) {
      const sums = this.#part(words + k);
      const groups = groupOf?.length ?? this.groups;
      for (let old = 0; old < groups; old++) {
        const number = numbers[old];
        if (number === 0) continue;
        const group = groupOf === null ? old : groupOf[old];
        // a number that is shifted may have bits for the next part
        const upper = bits === 0 ? 0 : Math.floor(number / above);
        if (upper !== 0) this.#part(words + k + 1)[group] += upper;
        const sum = sums[group] + (number - upper * above) * unit;
        if (sum < SPILL && sum > -SPILL) {
          sums[group] = sum;
        } else {
          const carry = Math.floor(sum / WORD);
          this.#part(words + k + 1)[group] += carry;
          sums[group] = sum - carry * WORD;
        }
      }
    }
  }

  /**
   * Writes the sums of integers as `size` words of two's complement each.
   * @returns the first group whose sum does not fit; −1 where all do
   */
  write(out: Uint32Array, size: number): number {
    const { groups, parts } = this;
    const [low] = parts;
    if (parts.length === 1) {
      writeWords(low, out, size);
      return -1;
    }
    for (let group = 0; group < groups; group++)
      if (!this.#writeOne(group, out, size * group, size)) return group;
    return -1;
  }

  /** Answers whether the sum of a group fits. */
  #writeOne(group: number, out: Uint32Array, at: number, size: number): boolean {
    let carry = 0;
    for (let k = 0; k < size; k++) {
      const value = (k < this.parts.length ? this.parts[k][group] : 0) + carry;
      out[at + k] = value;
      carry = Math.floor(value / WORD);
    }
    // of values as wide as `out` a sum may have come to a part behind it
    if (size < this.parts.length) carry += this.parts[size][group];
    return carry === (out[at + size - 1] >= 0x80000000 ? -1 : 0);
  }

  /** The sums of all groups, each rounded once. */
  toNumbers(): Float64Array {
    const { groups, exponent, parts, odd } = this;
    if (this.numbers !== undefined) return this.numbers;
    const numbers = new Float64Array(groups);
    const upper = odd === null ? upperLimbs(exponent, parts.length, (k) => isUsed(parts[k])) : null;
    const [top, middle, low] = (upper?.limbs ?? []).map((k) => parts[k]);
    const [topUnit, middleUnit, lowUnit] = upper?.units ?? [];
    for (let group = 0; group < groups; group++) {
      const number = upper
        ? sumOfThree(top[group] * topUnit, middle[group] * middleUnit, low[group] * lowUnit)
        : Number.NaN;
      numbers[group] = Number.isNaN(number) ? this.toNumber(group) : number;
    }
    return numbers;
  }

  /** The sum of a group, rounded once. */
  toNumber(group: number): number {
    const { parts, exponent, odd, numbers } = this;
    if (numbers !== undefined) return numbers[group];
    if (odd !== null) {
      const [nan, above, below] = odd.map((counts) => counts[group] > 0);
      if (nan || (above && below)) return Number.NaN;
      if (above || below) return above ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    }
    const limbs = LIMBS.subarray(0, parts.length);
    for (let k = 0; k < limbs.length; k++) limbs[k] = parts[k][group];
    return roundedSum([{ exponent, limbs }]);
  }
}

/** Whether one of the numbers is not 0. */
function isUsed(part: Float64Array): boolean {
  for (let group = 0; group < part.length; group++) if (part[group] !== 0) return true;
  return false;
}

/** Writes integers below 2^53 in magnitude as `size` words of two's complement each. */
export function writeWords(numbers: Float64Array, out: Uint32Array, size: number): void {
  for (let group = 0, at = 0; group < numbers.length; group++, at += size) {
    let rest = numbers[group];
    out[at] = rest;
    for (let k = 1; k < size; k++) out[at + k] = rest = Math.floor(rest / WORD);
  }
}

/** One number at a time, of floats of all magnitudes at most. */
const LIMBS = new Float64Array(80);

/** Floats as lanes of rows whose groups are known. */
export function floatLanes(data: Float32Array | Float64Array, validity: Uint8Array | null): LaneColumn {
  const grid = gridOf(rangeOf(data, 0, data.length), data instanceof Float32Array);
  return { kind: "floats", data, grid, validity };
}

/** The mean of each group. @param unit what sums are divided by besides: of unscaled decimals */
export function meansOf(sums: Sums, counts: Float64Array, unit: number): Float64Array {
  const numbers = sums.toNumbers();
  const means = new Float64Array(counts.length);
  for (let group = 0; group < counts.length; group++) means[group] = numbers[group] / (counts[group] * unit);
  return means;
}
