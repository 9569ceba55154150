/** Maps and pinned arrays on the device under test. */
import { asBytes, scalarTypeOf } from "../../../src/engine/scalars.js";
import {
  type PinnedArray,
  type ScalarArrays,
  type ScalarOf,
  type ScalarType,
  StaticMap,
} from "../../../src/index.js";
import { onGpu, onOneTable, scaled, useDevice } from "./device.js";

/** More than one chunk on every engine; several GPUs share rounds of 65,536 elements (packages/cuda/test/helpers/several.ts). */
export const LONG = onGpu ? scaled(9_000_001, onOneTable ? 600_001 : 300_001) : 600_001;

/** Call this in a file, and its results inside tests. */
export function usePinned() {
  const device = useDevice();
  return {
    device,
    newMap: (capacity: number) => StaticMap.create(device(), { key: "u32", value: "u32", capacity }),
    /** A pinned array for results. */
    target: <T extends ScalarType>(type: T, length: number) => device().pinned(type, length, "readback"),
    /** A pinned array with these elements. */
    async pinned<A extends ScalarArrays[ScalarType]>(
      elements: A,
    ): Promise<PinnedArray<ScalarOf<A>, "upload">> {
      const type = scalarTypeOf(elements) as ScalarOf<A>;
      const array = await device().pinned(type, elements.length, "upload");
      asBytes(array.array).set(asBytes(elements));
      return array;
    },
  };
}
