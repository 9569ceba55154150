/**
 * Pinned arrays on the GPU: buffers that are mapped while the host has them and unmapped while calls do, which is all
 * that WebGPU asks for. Columns are copied from them and results to them by the GPU (columns.ts, results.ts). Loaded by
 * the first `device.pinned`.
 */
import { EngineError, LimitError, WarpmapError } from "../../../errors.js";
import type { Engine } from "../../engine.js";
import type { GpuRuntime } from "../../gpu/runtime.js";
import { PinnedArray, type PinnedStorage, type PinnedUse } from "../../pinned-array.js";
import { arrayClass, asBytes, type ScalarArrays, type ScalarType, scalarBytes } from "../../scalars.js";
import { BufferUsage, MAP_MODE_READ, MAP_MODE_WRITE } from "../device/gpu-flags.js";
import { native } from "../device/recorder.js";

/** A zeroed pinned array, mapped. @throws LimitError when it is larger than the device or the host allows. */
export async function pin<T extends ScalarType, U extends PinnedUse>(
  engine: Engine,
  gpu: GpuRuntime,
  type: T,
  length: number,
  use: U,
): Promise<PinnedArray<T, U>> {
  const { MAP_WRITE, COPY_SRC, MAP_READ, COPY_DST } = BufferUsage;
  const usage = use === "upload" ? MAP_WRITE | COPY_SRC : MAP_READ | COPY_DST;
  const bytes = length * scalarBytes[type];
  const kept = gpu.memory.takeKept({ bytes, usage });
  const buffer = native(kept ?? (await gpu.memory.allocate("pinned", bytes, usage)));
  const mode = use === "upload" ? MAP_MODE_WRITE : MAP_MODE_READ;
  const memory = new MappedMemory(gpu, buffer, mode, type, length);
  try {
    // new memory is zero
    await (kept ? memory.clear() : memory.regain());
    return PinnedArray.of(engine, type, length, use, memory);
  } catch (error) {
    // what does not map is of no use to the next one
    gpu.memory.free(buffer);
    if (error instanceof WarpmapError && !(error instanceof EngineError)) throw error;
    throw new LimitError("memory", bytes, Number.NaN, "Use smaller pinned arrays, or several.", {
      cause: error,
    });
  }
}

class MappedMemory<T extends ScalarType> implements PinnedStorage<T> {
  readonly byteOffset = 0;
  #view: ScalarArrays[T] | null = null;
  /** Grows when the memory changes hands: a mapping that was asked for before that is not wanted any more. */
  #turn = 0;

  constructor(
    private readonly gpu: GpuRuntime,
    readonly buffer: GPUBuffer,
    private readonly mode: number,
    private readonly type: T,
    private readonly length: number,
  ) {}

  get view(): ScalarArrays[T] | null {
    this.gpu.checkAlive();
    return this.#view;
  }

  lend(): void {
    this.#changeHands();
    this.buffer.unmap();
  }

  async regain(): Promise<void> {
    const turn = this.#changeHands();
    try {
      await this.gpu.guard(this.buffer.mapAsync(this.mode));
      if (turn !== this.#turn) return;
      this.#view = new arrayClass[this.type](this.buffer.getMappedRange(), 0, this.length);
    } catch (error) {
      if (turn !== this.#turn) return;
      if (error instanceof WarpmapError) throw error;
      throw new EngineError(`Mapping a pinned array failed: ${String(error)}`, { cause: error });
    }
  }

  /** Zeroes memory that was another array's, and maps it. */
  async clear(): Promise<void> {
    if (this.mode === MAP_MODE_READ)
      await this.gpu.submit("clear", (recorder) => recorder.clear(this.buffer));
    await this.regain();
    if (this.mode === MAP_MODE_WRITE && this.#view) asBytes(this.#view).fill(0);
  }

  destroy(): void {
    this.lend();
    this.gpu.memory.release(this.buffer);
  }

  #changeHands(): number {
    this.#view = null;
    return ++this.#turn;
  }
}
