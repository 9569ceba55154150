/** The GPUs of one device, and the ways between them. */
import {
  type DeviceArray,
  type GpuBuffer,
  gpuArray,
  type Range,
  type ScalarType,
  type Scratch,
} from "warpmap/engine";
import type { CudaContext } from "../driver/context.js";
import { addressOf } from "../runtime/memory.js";
import type { CudaHost } from "../table/table-state.js";

/**
 * Waits for all; then throws the first error, if there was one: nothing goes on behind it.
 * @param giveUp what becomes of other results then
 */
export async function settled<T>(
  work: readonly Promise<T>[],
  giveUp: (result: T) => void = () => {},
): Promise<T[]> {
  const results = await Promise.allSettled(work);
  const failed = results.find((result) => result.status === "rejected");
  if (failed) {
    for (const result of results) if (result.status === "fulfilled") giveUp(result.value);
    throw failed.reason;
  }
  return results.map((result) => (result as PromiseFulfilledResult<T>).value);
}

/** A place in a GPU's memory. */
interface Place {
  readonly gpu: number;
  readonly buffer: GpuBuffer;
  /** Bytes. */
  readonly offset: number;
}

export class Gpus {
  /** Whether a GPU (the first index) reads and writes the memory of another by itself. */
  readonly #reach: readonly (readonly boolean[])[];

  /** @param peers whether memory of others may be read and written directly; tests do without */
  constructor(
    readonly hosts: readonly CudaHost[],
    peers = true,
  ) {
    this.#reach = hosts.map((from) =>
      hosts.map((to) => from === to || (peers && from.gpu.context.reach(to.gpu.context))),
    );
  }

  get count(): number {
    return this.hosts.length;
  }

  context(gpu: number): CudaContext {
    return this.hosts[gpu].gpu.context;
  }

  reaches(from: number, to: number): boolean {
    return this.#reach[from][to];
  }

  /** Memory of a GPU as an array, which stays its owner's. */
  view<T extends ScalarType>(
    gpu: number,
    type: T,
    length: number,
    { buffer, offset = 0 }: Range,
  ): DeviceArray<T> {
    const { engine, gpu: runtime } = this.hosts[gpu];
    return gpuArray(engine, runtime, type, length, { buffer, byteOffset: offset, owned: false });
  }

  /** Puts a copy between memory of two GPUs on the stream of the GPU `on`, which begins as a submission of its. */
  copy(on: number, from: Place, to: Place, bytes: number): void {
    const [source, target] = [from, to].map(({ buffer, offset }) => addressOf({ buffer, offset }));
    this.context(on).copyBetween(this.context(from.gpu), source, this.context(to.gpu), target, bytes);
  }

  /** What is submitted to any of the GPUs later runs after all that was submitted to any by now. */
  fence(): void {
    const all = this.hosts.map(({ gpu }) => gpu.context);
    for (const context of all) all[0].after(context);
    for (const context of all) context.after(all[0]);
  }

  get areAlive(): boolean {
    return this.hosts.every(({ gpu }) => !gpu.context.isLost);
  }

  /** Gives scratch memory back that other GPUs may still work on. */
  release(scratch: readonly Scratch[]): void {
    if (this.areAlive) this.fence();
    for (const each of scratch) each.release();
  }
}
