/**
 * Combining the values of a chunk with those that its keys have: insertOrApply, and insertOrAssign where it could not assign at
 * once. Loaded by the first call of these.
 */
import type { ApplyOp } from "../engine.js";
import type { ValueType } from "../scalars.js";
import { type BoundChunk, compileRun, type Run, runOverChunk } from "./chunk-rounds.js";
import type { Column } from "./columns.js";
import { needsRoomForAll } from "./insert-chunk.js";
import applyCode from "./kernels/apply.wgsl";
import { LIST_BYTES } from "./selection.js";
import type { TableState } from "./table-state.js";

/** Codes of apply.wgsl's OP. */
const applyCodes = { assign: 0, add: 1, min: 2, max: 3, and: 4, or: 5, xor: 6 } as const;

/**
 * What a fresh slot of an insertOrApply holds until values are applied: bit pattern e with op(e, v) = v for every v of the type.
 * f32 min and max order by bits, see kernels/apply.wgsl.
 */
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

/** Allocates and compiles what it takes to combine the values of a chunk with those of its keys; the answer does it. */
export async function prepareApply(
  state: TableState,
  chunk: BoundChunk,
  op: keyof typeof applyCodes,
  present: Column | undefined,
): Promise<() => Promise<void>> {
  const isF32 = state.spec.value === "f32" && op !== "assign";
  const word = state.spec.value === "i32" ? "alias Word = i32;" : "alias Word = u32;";
  const kernel = state.sources.changing(`apply ${word}`, [word, applyCode]);
  const constants = { OP: applyCodes[op], VALUE_F32: Number(isF32) };
  const run: Run = { kernel, constants, values: chunk.values };
  if (needsRoomForAll(state, op)) {
    const room = chunk.count;
    run.lists = { buffer: await chunk.scratch.buffer(room * LIST_BYTES), room };
  } else {
    run.goesOn = true;
  }
  for (const mask of new Set([chunk.mask, present]))
    await compileRun(state, { ...run, mask }, chunk.groupSize);
  return async () => {
    await runOverChunk(state, chunk, { ...run, mask: chunk.present ?? chunk.mask });
  };
}
