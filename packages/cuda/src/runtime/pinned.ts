/**
 * Pinned arrays: ordinary typed arrays in memory that is registered with the driver, which the GPU copies from and to
 * by itself. A call only has to keep others from reading what is being written.
 */
import {
  arrayClass,
  type BareEngine,
  PinnedArray,
  type PinnedStorage,
  type PinnedUse,
  type ScalarArrays,
  type ScalarType,
  scalarBytes,
} from "warpmap/engine";
import type { CudaRuntime } from "./cuda-runtime.js";
import { type CudaBuffer, native, PINNED } from "./memory.js";

/** A zeroed pinned array. @throws LimitError when the host has too little memory. */
export async function pin<T extends ScalarType, U extends PinnedUse>(
  engine: BareEngine,
  gpu: CudaRuntime,
  type: T,
  length: number,
  use: U,
): Promise<PinnedArray<T, U>> {
  const wanted = { bytes: length * scalarBytes[type], usage: PINNED };
  const buffer = native(await gpu.memory.allocate("a pinned array", wanted.bytes, wanted.usage));
  return PinnedArray.of(engine as never, type, length, use, new PinnedMemory(gpu, buffer, type, length));
}

class PinnedMemory<T extends ScalarType> implements PinnedStorage<T> {
  readonly byteOffset = 0;
  readonly #elements: ScalarArrays[T];

  constructor(
    private readonly gpu: CudaRuntime,
    readonly buffer: CudaBuffer,
    type: T,
    length: number,
  ) {
    const { buffer: memory, byteOffset } = buffer.host as Uint8Array;
    this.#elements = new arrayClass[type](memory, byteOffset, length);
  }

  get view(): ScalarArrays[T] {
    this.gpu.checkAlive();
    return this.#elements;
  }

  lend(): void {}

  /** A call that failed may have left copies under way. */
  regain(): Promise<void> {
    return this.gpu.idle("A call with a pinned array");
  }

  destroy(): void {
    // not kept for another array: whoever holds the elements may go on reading them
    this.gpu.memory.free(this.buffer);
  }
}
