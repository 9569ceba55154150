/**
 * How a call over lists goes on the cpu engine: its inputs are kept in place, and its elements are gone over piece by
 * piece on the calling thread.
 */
import type { DeviceArray } from "../../device-array.js";
import type { CallOptions } from "../../engine.js";
import type { CpuEngine } from "../cpu-engine.js";
import { Inputs } from "../memory/storage.js";
import { inChunks } from "../table/chunks.js";
import type { Piece } from "./list-loops.js";

/** Elements between two looks at the clock: a millisecond or less. */
const PIECE = 2 ** 14;

/** The words of an array of this engine. */
export function hostOf(array: DeviceArray<"u32">): Uint32Array {
  return array.storage.host as Uint32Array;
}

/** Runs an operation with inputs that are kept in place; when it throws, frees what it was to fill. */
export async function withInputs<T>(
  engine: CpuEngine,
  filled: { destroy(): void } | null,
  operation: (inputs: Inputs) => Promise<T>,
): Promise<T> {
  const inputs = new Inputs(engine);
  try {
    return await operation(inputs);
  } catch (error) {
    filled?.destroy();
    throw error;
  } finally {
    inputs.release();
  }
}

/** Goes over elements a piece at a time; the event loop gets turns. */
export function inPieces(
  engine: CpuEngine,
  elements: number,
  call: Pick<CallOptions, "signal" | "onProgress">,
  step: (piece: Piece) => void,
): Promise<void> {
  return inChunks(
    elements,
    call,
    () => engine.guard(),
    (from) => {
      const to = Math.min(elements, from + PIECE);
      if (to > from) step({ from, to });
      return to;
    },
  );
}
