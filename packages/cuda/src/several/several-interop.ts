/** Memory of other libraries on any of the GPUs, and the addresses of arrays that one GPU has. */
import { type DeviceArray, type Interop, ValidationError } from "warpmap/engine";
import type { CudaEngine } from "../cuda-engine.js";
import { arrayOn, piecesOf } from "./pieces.js";
import type { SeveralHost } from "./results.js";

export function severalInterop({ engine }: SeveralHost, engines: readonly CudaEngine[]): Interop {
  return {
    wrap(memory, view) {
      let refusal: unknown;
      for (const [gpu, { interop }] of engines.entries()) {
        try {
          return arrayOn(engine, gpu, interop.wrap(memory, view)) as DeviceArray;
        } catch (error) {
          refusal ??= error;
        }
      }
      throw refusal;
    },
    pointerOf(array) {
      const pieces = piecesOf(array);
      if (pieces.length > 1) {
        throw new ValidationError(
          `The array lies in ${pieces.length} pieces on as many GPUs, and has no address as a whole.`,
          "Open a device on one GPU for your own kernels, or use arrays of less than 4 MiB.",
        );
      }
      const [{ gpu, array: piece }] = pieces;
      return engines[gpu].interop.pointerOf?.(piece) as bigint;
    },
  };
}
