/** The operations of insertOrApply, as kernels know them. */
import type { ApplyOp } from "../../engine.js";
import type { ValueType } from "../../scalars.js";

/** Codes of OP in combine.wgsl. */
const opCodes = { assign: 0, add: 1, min: 2, max: 3, and: 4, or: 5, xor: 6 } as const;

/**
 * Bit pattern e with op(e, v) = v for every v of the type: what a fresh slot of an insertOrApply holds until values are applied.
 * f32 min and max order by bits, see combine.wgsl.
 */
function identity(op: ApplyOp, type: ValueType): number {
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
      return { u32: 0, i32: 0x80000000, f32: 0xffffffff, u64: 0 }[type];
  }
}

/** How kernels combine values. */
export interface Combining {
  readonly type: ValueType;
  /** Bit pattern of the value that a fresh slot holds until values are combined with it. */
  readonly fill: number;
  /** Constants of combine.wgsl. */
  readonly constants: { readonly OP: number; readonly VALUE_F32: number };
}

/** How values of a map are combined; the last one stays with `assign`. */
export function combining(op: ApplyOp | "assign", type: ValueType): Combining {
  const applies = op !== "assign";
  return {
    type,
    fill: applies ? identity(op, type) : 0,
    constants: { OP: opCodes[op], VALUE_F32: Number(applies && type === "f32") },
  };
}
