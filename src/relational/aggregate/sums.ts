/**
 * Sums by group: of integers exactly at any width, of floats compensated. Engines add values up (host/group-tasks.ts), in one pass for
 * each 32-bit word of them; sums of several tables are merged here. Rows whose value is null have the number of an extra group behind
 * the last one, so that no loop looks at validity.
 */
import { addWords, type GroupTask, mergeFloats, runTask } from "../../host/group-tasks.js";

const WORD = 2 ** 32;

/** The bits of integers of some width, as sums are made of them. */
export interface Integers {
  /** `width` 32-bit words a value, little-endian, two's complement when signed. */
  readonly data: Uint32Array;
  readonly width: number;
  readonly signed: boolean;
}

/**
 * Exact sums: that of group g is the sum of `parts[k][g]` × 2^(32 k). A part that grows too large for exact doubles hands
 * its upper bits to the next one.
 */
export class IntegerSums {
  readonly #parts: Float64Array[] = [];

  private constructor(readonly groups: number) {}

  /** What heldBytes counts. */
  get heldBytes(): number {
    return this.#parts.reduce((sum, part) => sum + (part?.byteLength ?? 0), 0);
  }

  /** @param groupOf per row its group, up to `groups`, the extra one, included */
  static of(integers: Integers, groupOf: Uint32Array, groups: number): IntegerSums {
    return IntegerSums.from(runTask(integerTask(integers, groupOf, groups)), groups);
  }

  /** Of the states of a task. Parts without a value are dropped. */
  static from(states: readonly Float64Array[], groups: number): IntegerSums {
    const sums = new IntegerSums(groups);
    const used = states.findLastIndex((state, k) => k === 0 || state.some((part) => part !== 0));
    for (let k = 0; k <= used; k++) sums.#parts[k] = states[k];
    return sums;
  }

  /**
   * Sums of the sums of several tables.
   * @param groupOf per group of the tables, one table after the other: its new number
   */
  static merge(all: readonly IntegerSums[], groupOf: Uint32Array, groups: number): IntegerSums {
    const merged = new IntegerSums(groups);
    const parts = Math.max(...all.map((sums) => sums.#parts.length));
    for (let k = 0; k < parts; k++) {
      let first = 0;
      for (const sums of all) {
        const own = groupOf.subarray(first, first + sums.groups);
        first += sums.groups;
        const part = sums.#parts[k];
        if (part) addWords(part, 1, 0, allRows(own, groups), merged.#part(k), () => merged.#part(k + 1));
      }
    }
    return merged;
  }

  #part(k: number): Float64Array {
    this.#parts[k] ??= new Float64Array(this.groups + 1);
    return this.#parts[k];
  }

  /** Writes the sum of a group as `size` words of two's complement, and answers whether it fits. */
  write(group: number, out: Uint32Array, at: number, size: number): boolean {
    let carry = 0;
    for (let k = 0; k < size; k++) {
      const value = (this.#parts[k]?.[group] ?? 0) + carry;
      out[at + k] = value;
      carry = Math.floor(value / WORD);
    }
    // of values as wide as `out` a sum may have come to a part behind it
    carry += this.#parts[size]?.[group] ?? 0;
    return carry === (out[at + size - 1] >= 0x80000000 ? -1 : 0);
  }

  /** The sum of a group, rounded once. */
  toNumber(group: number): number {
    const parts = this.#parts;
    if (parts.length === 1) return parts[0][group];
    // scaling by a power of two does not round
    if (parts.length === 2) return parts[1][group] * WORD + parts[0][group];
    return Number(parts.reduceRight((sum, part) => (sum << 32n) + BigInt(part[group]), 0n));
  }
}

/** Integers to add up. */
export function integerTask(integers: Integers, groupOf: Uint32Array, groups: number): GroupTask {
  return { groupOf, groups, values: { kind: "words", ...integers } };
}

/** Floats to add up. */
export function floatTask(
  data: Float32Array | Float64Array,
  groupOf: Uint32Array,
  groups: number,
): GroupTask {
  return { groupOf, groups, values: { kind: "floats", data } };
}

function allRows(groupOf: Uint32Array, groups: number) {
  return { groupOf, from: 0, to: groupOf.length, low: 0, span: groups + 1 };
}

/** Compensated sums of floats (`addFloats`). */
export class FloatSums {
  private constructor(
    readonly groups: number,
    readonly sums: Float64Array = new Float64Array(groups + 1),
    readonly errors: Float64Array = new Float64Array(groups + 1),
  ) {}

  /** @param groupOf per row its group, up to `groups`, the extra one, included */
  static of(values: Float32Array | Float64Array, groupOf: Uint32Array, groups: number): FloatSums {
    return FloatSums.from(runTask(floatTask(values, groupOf, groups)), groups);
  }

  /** Of the states of a task. */
  static from([sums, errors]: readonly Float64Array[], groups: number): FloatSums {
    return new FloatSums(groups, sums, errors);
  }

  /** As IntegerSums.merge. */
  static merge(all: readonly FloatSums[], groupOf: Uint32Array, groups: number): FloatSums {
    const merged = new FloatSums(groups);
    let first = 0;
    for (const part of all) {
      const own = groupOf.subarray(first, first + part.groups);
      first += part.groups;
      mergeFloats(part.sums, part.errors, allRows(own, groups), merged.sums, merged.errors);
    }
    return merged;
  }

  /** The sum of a group. Infinities and NaN make the error NaN, and are the sum. */
  toNumber(group: number): number {
    const sum = this.sums[group];
    return Number.isFinite(sum) ? sum + this.errors[group] : sum;
  }
}

/** The mean of each group. @param unit what sums are divided by besides: of unscaled decimals */
export function meansOf(sums: IntegerSums | FloatSums, counts: Float64Array, unit: number): Float64Array {
  return counts.map((count, group) => sums.toNumber(group) / (count * unit));
}
