/** The GPUs of one device, and the ways between them. */
import type { Scratch } from "warpmap/engine";
import type { CudaContext } from "../driver/context.js";
import type { CudaHost } from "../table/table-state.js";

/** Waits for all; then throws the first error, if there was one: nothing goes on behind it. */
export async function settled<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(work);
  for (const result of results) if (result.status === "rejected") throw result.reason;
  return results.map((result) => (result as PromiseFulfilledResult<T>).value);
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

  /** What is submitted to any of the GPUs later runs after all that was submitted to any by now. */
  fence(): void {
    for (let to = 0; to < this.count; to++) {
      for (let from = 0; from < this.count; from++) this.context(to).after(this.context(from));
    }
  }

  /** Gives scratch memory back that other GPUs may still work on. */
  release(scratch: readonly Scratch[]): void {
    const isAlive = this.hosts.every(({ gpu }) => !gpu.context.isLost);
    if (isAlive) this.fence();
    for (const each of scratch) each.release();
  }
}
