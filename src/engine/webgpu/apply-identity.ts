/** Values that change nothing under an operation: what a fresh slot of an insertOrApply holds until values are applied. */
import type { ApplyOp } from "../engine.js";
import type { ValueType } from "../scalars.js";

/** Bit pattern e with op(e, v) = v for every v of the type. f32 min and max order by bits, see kernels/apply.wgsl. */
export function applyIdentity(op: ApplyOp, type: ValueType): number {
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
      return { u32: 0, i32: 0x80000000, f32: 0xffffffff }[type];
  }
}
