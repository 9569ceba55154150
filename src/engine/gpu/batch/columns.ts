/**
 * Columns of a batch as kernels see them: ranges of GPU buffers. Host arrays are brought to scratch buffers and back a
 * chunk at a time, pinned ones by the GPU itself; device arrays are bound where they are.
 */
import { LimitError } from "../../../errors.js";
import { detached } from "../../../options.js";
import { type ArrayStorage, DeviceArray } from "../../device-array.js";
import type { ColumnInput, Engine } from "../../engine.js";
import { lazily } from "../../lazily.js";
import { PinnedArray } from "../../pinned-array.js";
import { asBytes, type ScalarType, scalarBytes } from "../../scalars.js";
import { align4, type GpuBuffer, type GpuRuntime, type Range } from "../runtime.js";

/** What elements of several columns need. */
export const loadComposites = lazily(() => import("./composites.js"));
/** What moves elements of device arrays to the GPU and back. */
export const loadArrays = lazily(() => import("../memory/array-elements.js"));

/** A column of one chunk: a bound range and where its first element lies in it, in 32-bit words. */
export interface Column {
  range: Range;
  shift: number;
}

/** Elements first .. first + count of a batch. `first` is a multiple of 1,024, so flag bytes start at whole words. */
export interface Chunk {
  first: number;
  count: number;
}

/** Bindings start at multiples of this (minStorageBufferOffsetAlignment's default; no device needs more). */
const BINDING_ALIGNMENT = 256;

/** Bytes of a column that takes longer to copy between host and device than to reach across, at most. */
const SMALL_COLUMN = 2 ** 16;

/** Binds `bytes` bytes of a buffer from byte `start`, a multiple of 4. */
export function bindAt(buffer: GpuBuffer, start: number, bytes: number): Column {
  const offset = Math.floor(start / BINDING_ALIGNMENT) * BINDING_ALIGNMENT;
  const size = Math.ceil((start - offset + bytes) / 4) * 4;
  return { range: { buffer, offset, size }, shift: (start - offset) / 4 };
}

/** Scratch buffers of one chunk, given back together. */
export class Scratch {
  readonly #held: GpuBuffer[] = [];

  /**
   * @param ahead there as long as the memory only saves time; uploads into it end when it is aborted
   * @param isAwaited nothing is released before it was read, by kernels or by the host: small columns may lie in memory
   * that both reach
   */
  constructor(
    readonly gpu: GpuRuntime,
    public ahead?: AbortSignal,
    private readonly isAwaited = false,
  ) {}

  /** A buffer of at least `bytes` bytes with unspecified contents. */
  async buffer(bytes: number, usage?: number): Promise<GpuBuffer> {
    const wanted = { bytes, usage, brief: true };
    const buffer = await this.gpu.memory.acquire("scratch", wanted, { spare: this.ahead !== undefined });
    this.#held.push(buffer);
    return buffer;
  }

  /** A chunk of an input column; host memory is uploaded. */
  async input<T extends ScalarType>(
    type: T,
    column: ColumnInput<T>,
    { first, count }: Chunk,
  ): Promise<Column> {
    const bytes = scalarBytes[type];
    if (column instanceof DeviceArray) {
      const { buffer, byteOffset } = placeOf(column);
      return bindAt(buffer, byteOffset + first * bytes, count * bytes);
    }
    const usage = column instanceof PinnedArray ? undefined : this.#smallUsage(count * bytes);
    const buffer = await this.buffer(count * bytes + 4, usage);
    if (column instanceof PinnedArray) {
      const { buffer: pinned } = placeOf(column);
      await this.gpu.submit("pinned", (recorder) =>
        recorder.copy(pinned, first * bytes, buffer, 0, align4(count * bytes)),
      );
      return bindAt(buffer, 0, count * bytes);
    }
    if (column.length < first + count) throw detached("A typed array was detached during a call.");
    const data = asBytes(column).subarray(first * bytes, (first + count) * bytes);
    await this.gpu.upload(buffer, 0, data, this.ahead);
    return bindAt(buffer, 0, count * bytes);
  }

  /** Unused memory of a chunk's length. */
  async column(type: ScalarType, count: number, usage?: number): Promise<Column> {
    const bytes = count * scalarBytes[type];
    return bindAt(await this.buffer(bytes + 4, usage), 0, bytes);
  }

  /** The same for results that go to the host. */
  hostColumn(type: ScalarType, count: number): Promise<Column> {
    return this.column(type, count, this.#smallUsage(count * scalarBytes[type]));
  }

  /** What a column of the host that has so many bytes may lie in. */
  #smallUsage(bytes: number): number | undefined {
    return this.isAwaited && bytes <= SMALL_COLUMN ? this.gpu.traits.hostMemory : undefined;
  }

  /** What `prepare` makes with buffers from here; null, and these given back, when the GPU has too little memory. */
  async attempt<T>(prepare: () => Promise<T>): Promise<T | null> {
    const before = this.#held.length;
    try {
      return await prepare();
    } catch (error) {
      if (!(error instanceof LimitError)) throw error;
      for (const buffer of this.#held.splice(before)) this.gpu.memory.release(buffer);
      return null;
    }
  }

  release(): void {
    for (const buffer of this.#held) this.gpu.memory.release(buffer);
    this.#held.length = 0;
  }
}

/**
 * Where an array of this engine lies. A device array's own `buffer` is for users: it takes the buffer out of the pool.
 */
export function placeOf({ storage }: DeviceArray | PinnedArray): Place {
  return storage as object as Place;
}

/** A device array with unspecified contents. */
export async function newArray<T extends ScalarType>(
  engine: Engine,
  gpu: GpuRuntime,
  type: T,
  length: number,
): Promise<DeviceArray<T>> {
  const wanted = { bytes: length * scalarBytes[type] };
  const buffer = await gpu.memory.acquire("array", wanted);
  return gpuArray(engine, gpu, type, length, { buffer, byteOffset: 0, owned: true });
}

export interface Place {
  readonly buffer: GpuBuffer;
  readonly byteOffset: number;
  /** As of ArrayStorage. */
  readonly isReadable?: boolean | undefined;
  /** Of a caller's buffer. @throws ValidationError when it cannot be copied from, or to */
  readonly checkCopy?: (way: "from" | "to", done: "read" | "written") => void;
}

/** A device array over an engine's own buffer, or over a caller's (`owned` false). */
export function gpuArray<T extends ScalarType>(
  engine: Engine,
  gpu: GpuRuntime,
  type: T,
  length: number,
  at: Place & { readonly owned: boolean },
): DeviceArray<T> {
  const { buffer, byteOffset, isReadable, owned } = at;
  const storage: ArrayStorage<T> & Place = {
    buffer,
    byteOffset,
    isReadable,
    async read(start, end) {
      return (await loadArrays()).readElements(gpu, at, type, start, end);
    },
    async write(data, start) {
      return (await loadArrays()).writeElements(gpu, at, start * scalarBytes[type], asBytes(data));
    },
    destroy() {
      if (owned) gpu.memory.release(buffer);
    },
  };
  return DeviceArray.of(engine, type, length, storage);
}
