/**
 * The memory of one GPU: allocation with typed errors, and the order in which memory is given up when there is too little.
 * First what pools keep unused; then what others have only to save time (`lend`).
 */
import { EngineError, LimitError } from "../../../errors.js";
import { inErrorScopes } from "../device/error-scopes.js";
import type { Gpu } from "../device/gpu.js";
import { BufferPool, bufferSize } from "./buffer-pool.js";

/** How an allocation goes about a GPU that is out of memory. */
export interface AllocateOptions {
  /** The memory only saves time: nothing is given up for it. */
  spare?: boolean;
}

/** The staging buffers of a GPU's uploads. */
export interface Staging {
  /** Bytes of each, a multiple of 8. */
  readonly bytes: number;
  /** How many there are at most. */
  readonly count: number;
}

/**
 * One is being written, the other read by the GPU or on its way back to the host. On an H100 rings of 1, 4, 16 and 64 MiB pieces
 * brought 6.4, 8.3, 9.3 and 8.0 GB/s, and no more with three or four of them.
 */
export const STAGING: Staging = { bytes: 2 ** 24, count: 2 };

type Allocate = (bytes: number, options?: AllocateOptions) => Promise<GPUBuffer>;

export class GpuMemory {
  readonly #buffers = new Set<GPUBuffer>();
  readonly #pools: BufferPool[] = [];
  readonly #lenders = new Set<() => Promise<unknown>>();

  constructor(private readonly gpu: Gpu) {}

  /** A pool whose unused buffers are freed when there is too little memory. */
  pool(fit: "exact" | "loose", keepBytes: number, allocate: Allocate): BufferPool {
    const { maxBufferSize } = this.gpu.device.limits;
    const pool = new BufferPool(fit, keepBytes, maxBufferSize, allocate, this.free);
    this.#pools.push(pool);
    return pool;
  }

  /** A new zeroed buffer. @throws LimitError when it is larger than the device allows or has memory for. */
  async allocate(
    label: string,
    bytes: number,
    usage: number,
    { spare = false }: AllocateOptions = {},
  ): Promise<GPUBuffer> {
    this.gpu.checkAlive();
    const { maxBufferSize } = this.gpu.device.limits;
    if (bytes > maxBufferSize) {
      throw new LimitError(
        "maxBufferSize",
        bytes,
        maxBufferSize,
        "Use smaller tables or batches, or several of them.",
      );
    }
    const attempt = () => this.#tryAllocate(label, bytes, usage);
    const buffer = (await attempt()) ?? (spare ? undefined : await this.#retry(attempt));
    if (buffer) return buffer;
    throw new LimitError(
      "memory",
      bytes,
      Number.NaN,
      "Free other tables and device arrays, or use smaller ones.",
    );
  }

  /** Undefined when the GPU is out of memory. */
  async #tryAllocate(label: string, bytes: number, usage: number): Promise<GPUBuffer | undefined> {
    const { device } = this.gpu;
    const { result: buffer, errors } = inErrorScopes(device, ["validation", "out-of-memory"], () =>
      device.createBuffer({ label, size: bufferSize(bytes), usage }),
    );
    const [memory, validation] = await this.gpu.guard(errors);
    if (memory) return undefined;
    if (validation) throw new EngineError(`Allocating ${label} failed: ${validation.message}`);
    this.#buffers.add(buffer);
    return buffer;
  }

  async #retry(attempt: () => Promise<GPUBuffer | undefined>): Promise<GPUBuffer | undefined> {
    return (await this.#afterTrim(attempt)) ?? (await this.#afterLoans(attempt));
  }

  /** Frees what the pools keep, and tries again. */
  async #afterTrim(attempt: () => Promise<GPUBuffer | undefined>): Promise<GPUBuffer | undefined> {
    const freed = this.#pools.reduce((sum, pool) => sum + pool.trim(), 0);
    if (freed === 0) return undefined;
    await this.gpu.guard(this.gpu.device.queue.onSubmittedWorkDone());
    return attempt();
  }

  async #afterLoans(attempt: () => Promise<GPUBuffer | undefined>): Promise<GPUBuffer | undefined> {
    await this.gpu.guard(Promise.all([...this.#lenders].map((giveUp) => giveUp())));
    return this.#afterTrim(attempt);
  }

  /**
   * Registers memory that its user can do without, or soon will: `giveUp` is called when there is too little, and resolves
   * when the memory is back in its pool. It must not wait for an allocation that is not spare, since that may be waiting
   * for it. The answer ends the registration.
   */
  lend(giveUp: () => Promise<unknown>): () => void {
    this.#lenders.add(giveUp);
    return () => this.#lenders.delete(giveUp);
  }

  /** Destroys a buffer of `allocate`. */
  readonly free = (buffer: GPUBuffer): void => {
    if (this.#buffers.delete(buffer)) buffer.destroy();
  };

  /** Destroys every buffer. */
  destroy(): void {
    for (const pool of this.#pools) pool.trim();
    for (const buffer of this.#buffers) buffer.destroy();
    this.#buffers.clear();
  }
}
