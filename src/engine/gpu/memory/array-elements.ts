/** The elements of device arrays on their way to the GPU and back. Loaded with the first upload, read or write. */
import type { DeviceArray } from "../../device-array.js";
import type { Engine } from "../../engine.js";
import { allocateUnfilled, asBytes, type ScalarArrays, type ScalarType, scalarBytes } from "../../scalars.js";
import { bindAt, newArray, type Place, placeOf } from "../batch/columns.js";
import { align4, type GpuRuntime, type Range } from "../runtime.js";
import { readBytes } from "./read-bytes.js";

export async function uploadArray<T extends ScalarType>(
  engine: Engine,
  gpu: GpuRuntime,
  type: T,
  data: ScalarArrays[T],
): Promise<DeviceArray<T>> {
  const array = await newArray(engine, gpu, type, data.length);
  try {
    await gpu.upload(placeOf(array).buffer, 0, asBytes(data));
    return array;
  } catch (error) {
    array.destroy();
    throw error;
  }
}

export async function zeroedArray<T extends ScalarType>(
  engine: Engine,
  gpu: GpuRuntime,
  type: T,
  length: number,
): Promise<DeviceArray<T>> {
  const array = await newArray(engine, gpu, type, length);
  await gpu.submit("zero", (recorder) => recorder.clear(placeOf(array).buffer));
  return array;
}

/** A copy of elements in host memory. @param at where the array begins */
export async function readElements<T extends ScalarType>(
  gpu: GpuRuntime,
  at: Place,
  type: T,
  start: number,
  end: number,
): Promise<ScalarArrays[T]> {
  at.checkCopy?.("from", "read");
  const result = allocateUnfilled(type, end - start);
  const from = at.byteOffset + start * scalarBytes[type];
  // flags may start inside a word
  const skip = from % 4;
  const into = skip === 0 ? asBytes(result) : new Uint8Array(skip + result.byteLength);
  await readBytes(gpu, "read", { buffer: at.buffer, offset: from - skip, into });
  if (skip > 0) asBytes(result).set(into.subarray(skip));
  return result;
}

/**
 * Overwrites bytes of a buffer. Buffers are written in words: of a word that `data` covers in part, the rest stays as
 * it is.
 */
export async function writeElements(
  gpu: GpuRuntime,
  at: Place,
  start: number,
  data: Uint8Array,
): Promise<void> {
  const { buffer } = at;
  const offset = at.byteOffset + start;
  if (data.length === 0) return;
  const before = offset % 4;
  const length = align4(before + data.length);
  const isWhole = before === 0 && length === data.length;
  at.checkCopy?.("to", "written");
  if (isWhole) return gpu.upload(buffer, offset, data);
  at.checkCopy?.("from", "written");
  const words = new Uint8Array(length);
  const word = async (at: number) => {
    await readBytes(gpu, "write", { buffer, offset: offset - before + at, into: words.subarray(at, at + 4) });
  };
  const partial = new Set<number>();
  if (before > 0) partial.add(0);
  if ((before + data.length) % 4 > 0) partial.add(length - 4);
  await Promise.all([...partial].map(word));
  words.set(data, before);
  await gpu.upload(buffer, offset - before, words);
}

/** A whole device array, which begins where a binding can, as a binding. Its buffer may be longer, too long to bind. */
export function rangeOf(array: DeviceArray): Range {
  const { buffer, byteOffset } = placeOf(array);
  return bindAt(buffer, byteOffset, Math.max(4, array.length * scalarBytes[array.type])).range;
}
