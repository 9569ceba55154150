/**
 * The operations of insertOrApply on values of 64 bits, which WGSL has no atomics for: two words, the low one first.
 * The arithmetic is combinePair's of engine/apply.ts.
 *
 * | operation | how |
 * |---|---|
 * | add of integers | the low words are added atomically; whoever makes them wrap adds the carry to the high word. Every wrap has one cause, so the sum is exact in any order |
 * | and, or, xor | each word on its own |
 * | min, max | first the high words, then the low ones of the values that have the winning high word |
 * | add of f64 | in integers of 160 bits, an element of each key for all: sums.wgsl |
 */
import type { ApplyOp } from "../../engine.js";
import type { Scalar } from "../../scalars.js";

const ONES = 0xffffffff;

/** Words of the value e with op(e, v) = v for every v of the type. */
export function identityPair(op: ApplyOp, type: Scalar): readonly [low: number, high: number] {
  switch (op) {
    case "add":
      // −0: the only f64 that changes no other, +0 included
      return [0, type === "f64" ? 0x80000000 : 0];
    case "or":
    case "xor":
      return [0, 0];
    case "and":
      return [ONES, ONES];
    case "min":
      return [ONES, type === "u64" ? ONES : 0x7fffffff];
    case "max":
      if (type === "f64") return [ONES, ONES];
      return [0, type === "u64" ? 0 : 0x80000000];
  }
}

/** WGSL of an operation that one pass does: combineElement(word, element), which is true when it is done. */
export function pairCode(op: "add" | "and" | "or" | "xor"): string {
  const atomics = { add: "atomicAdd", and: "atomicAnd", or: "atomicOr", xor: "atomicXor" };
  const high = op === "add" ? "values[source + 1u] + u32(before + low < before)" : "values[source + 1u]";
  return `
fn noteRaise(element: u32, slot: u32) {}
fn combineElement(word: u32, element: u32) -> bool {
  let source = params.valueShift + element * 2u;
  let low = values[source];
  let before = ${atomics[op]}(&table[word], low);
  ${atomics[op]}(&table[word + 1u], ${high});
  return true;
}`;
}

/** WGSL of min and max: the order of high words, and which low word of two is taken. */
export function extremeCode(op: "min" | "max", type: Scalar): string {
  const order = {
    i64: "high ^ 0x80000000u",
    f64: "select(high | 0x80000000u, ~high, (high >> 31u) == 1u)",
  } as Record<Scalar, string>;
  // of two negative doubles the one with the greater magnitude is less
  const isNegative = type === "f64" ? "(high >> 31u) == 1u" : "false";
  return `
fn ordered(high: u32) -> u32 { return ${order[type] ?? "high"}; }
fn takesGreaterLow(high: u32) -> bool { return ${op === "max" ? "!" : ""}(${isNegative}); }
fn isTaken(old: u32, next: u32) -> bool { return ordered(next) ${op === "max" ? ">" : "<"} ordered(old); }`;
}
