/**
 * The operations of insertOrApply, as kernels know them: what each is in WGSL, on two values and on an atomic word.
 * Every kernel that combines values has its code from here.
 */
import type { ApplyOp } from "../../engine.js";
import type { Scalar } from "../../scalars.js";
import floats from "./combine.wgsl";

/** How kernels combine values; `assign`: the last one stays. */
export interface Combining {
  readonly op: ApplyOp | "assign";
  readonly type: Scalar;
  /** Bit pattern of the value that a fresh slot holds until values are combined with it. */
  readonly fill: number;
}

export function combining(op: ApplyOp | "assign", type: Scalar): Combining {
  return { op, type, fill: op === "assign" ? 0 : identity(op, type) };
}

/** What stands where a kernel combines nothing. */
export const NOT_COMBINING: Combining = { op: "assign", type: "u32", fill: 0 };

/**
 * Bit pattern e with op(e, v) = v for every v of the type: what a fresh slot of an insertOrApply holds until values are
 * applied. f32 min and max order by bits, see combine.wgsl.
 */
function identity(op: ApplyOp, type: Scalar): number {
  switch (op) {
    case "add":
      // −0: the only f32 that changes no other, +0 included
      return type === "f32" ? 0x80000000 : 0;
    case "or":
    case "xor":
      return 0;
    case "and":
      return 0xffffffff;
    case "min":
      return type === "u32" ? 0xffffffff : 0x7fffffff;
    case "max":
      return type === "i32" ? 0x80000000 : type === "f32" ? 0xffffffff : 0;
  }
}

/** On integers: the built-in function on an atomic, and the expression. */
const integers: { readonly [O in Combining["op"]]: readonly [atomic: string, expression: string] } = {
  assign: ["atomicStore", "b"],
  add: ["atomicAdd", "a + b"],
  min: ["atomicMin", "min(a, b)"],
  max: ["atomicMax", "max(a, b)"],
  and: ["atomicAnd", "a & b"],
  or: ["atomicOr", "a | b"],
  xor: ["atomicXor", "a ^ b"],
};

/** The type of the atomic words that values are combined in: min and max are those of the value type. */
export function atomicType({ type }: Pick<Combining, "type">): "u32" | "i32" {
  return type === "i32" ? "i32" : "u32";
}

/** Where values are combined atomically. */
export interface CombineTarget {
  /** An array of atomic words of `atomicType`. */
  readonly memory: string;
  /** WGSL that is true when word `at` was exchanged, from `old` to `next`. */
  readonly exchanged: string;
  /** Times that a value meets another one's change, or fails spuriously, before it is given up. */
  readonly meetings: number;
}

/**
 * WGSL of an operation: `combined(old, value)` on bit patterns, and `combineInto(at, value)`, which is true when the
 * value was combined with a word of the target.
 */
export function combiningCode(
  { op, type }: Combining,
  { memory, exchanged, meetings }: CombineTarget,
): string {
  const word = atomicType({ type });
  if (type === "f32" && op !== "assign") {
    return `${floats}
fn combined(old: u32, value: u32) -> u32 { return ${op}F32(old, value); }
fn combineInto(at: u32, value: u32) -> bool {
  for (var turn = 0u; turn < ${meetings}u; turn++) {
    let old = bitcast<u32>(atomicLoad(&${memory}[at]));
    let next = combined(old, value);
    if (next == old || ${exchanged}) { return true; }
  }
  return false;
}`;
  }
  const [atomic, expression] = integers[op];
  return `
fn combined(old: u32, value: u32) -> u32 {
  let a = bitcast<${word}>(old);
  let b = bitcast<${word}>(value);
  return bitcast<u32>(${expression});
}
fn combineInto(at: u32, value: u32) -> bool {
  ${atomic}(&${memory}[at], bitcast<${word}>(value));
  return true;
}`;
}
