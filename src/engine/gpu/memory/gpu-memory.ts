/**
 * The memory of one GPU. Buffers that are released are kept in one pool and handed out again, up to a bound; when there
 * is too little memory they are freed, and then what others have only to save time (`lend`). Allocation has typed
 * errors.
 *
 * What is kept never exceeds the bound, nor by much twice what was once in use at the same time: a program with small
 * tables keeps little, and one that makes the same calls again allocates nothing, though their memory was not all in
 * use at once.
 */
import { LimitError } from "../../../errors.js";
import type { MemoryUse } from "../../engine.js";
import type { GpuBuffer } from "../runtime.js";
import { BufferPool, bufferSize, sizeClass, type Wanted } from "./buffer-pool.js";

/** Bytes that are kept whatever was in use. */
const LEAST_KEPT = 2 ** 26;

export interface BufferSource {
  /** Bytes of the largest buffer. */
  readonly maxBuffer: number;
  /**
   * A buffer, memory of the host zeroed; undefined when there is too little. `usage` is the runtime's own word for what
   * it is for; kernels unless told.
   * @param made is told of it as soon as there is something to free
   */
  allocate(
    label: string,
    bytes: number,
    usage: number | undefined,
    made: (buffer: GpuBuffer) => void,
  ): Promise<GpuBuffer | undefined>;
  free(buffer: GpuBuffer): void;
  /** Resolves when the GPU has done what was submitted. */
  idle(): Promise<unknown>;
  guard<T>(promise: Promise<T>): Promise<T>;
  checkAlive(): void;
}

/** How an allocation goes about a GPU that is out of memory. */
export interface AllocateOptions {
  /** The memory only saves time: nothing is given up for it. */
  spare?: boolean;
}

export class GpuMemory {
  /** With what they may be used for. */
  readonly #buffers = new Map<GpuBuffer, number | undefined>();
  readonly #pools: BufferPool[] = [];
  readonly #pool = this.newPool();
  readonly #shared = new WeakSet<GpuBuffer>();
  readonly #lenders = new Set<() => Promise<unknown>>();
  #held = 0;
  /** Most bytes that were in use at once. */
  #peak = 0;

  /** @param keep bytes of unused buffers that are kept at most. */
  constructor(
    private readonly source: BufferSource,
    private readonly keep: number,
  ) {}

  /** Bytes of the buffers that there are. */
  get use(): MemoryUse {
    const kept = this.#keptBytes;
    return { held: this.#held, inUse: this.#held - kept, kept, peak: this.#peak, keep: this.keep };
  }

  /**
   * A buffer of at least so many bytes, its contents unspecified, until `release`. @throws LimitError as `allocate`.
   */
  acquire(label: string, wanted: Wanted, options?: AllocateOptions): GpuBuffer | Promise<GpuBuffer> {
    return this.takeKept(wanted) ?? this.allocate(label, wanted.bytes, wanted.usage, options);
  }

  /** The same of what is kept, in a pool of newPool perhaps; undefined when nothing of it suits. */
  takeKept(wanted: Wanted, pool = this.#pool): GpuBuffer | undefined {
    this.source.checkAlive();
    const buffer = pool.take(wanted);
    if (buffer) this.#noteUse();
    return buffer;
  }

  /** Takes a buffer of `acquire` back. Work that was submitted on it still runs before any later use. */
  release(buffer: GpuBuffer): void {
    if (this.#shared.has(buffer)) this.free(buffer);
    else this.putKept(this.#pool, buffer);
  }

  /** Puts an unused buffer into a pool, and frees what is over the bound. */
  putKept(pool: BufferPool, buffer: GpuBuffer): void {
    if (!this.#buffers.has(buffer)) return;
    pool.put(buffer);
    const most = Math.min(this.keep, LEAST_KEPT + 2 * this.#peak);
    for (const each of this.#pools) each.shrink(Math.max(0, most - (this.#keptBytes - each.bytes)));
  }

  /**
   * Users' own kernels were given the buffer: it is freed in the end, not kept, so that an old bind group reaches
   * nobody else's memory.
   */
  share(buffer: GpuBuffer): void {
    this.#shared.add(buffer);
  }

  /** Frees what is kept. Answers the bytes freed. */
  trim(): number {
    return this.#pools.reduce((sum, pool) => sum + pool.shrink(0), 0);
  }

  /** A pool of its own for buffers that only one user can take, as mapped ones: it is trimmed with all others. */
  newPool(): BufferPool {
    const pool = new BufferPool(
      (buffer) => this.#buffers.get(buffer),
      (buffer) => this.free(buffer),
    );
    this.#pools.push(pool);
    return pool;
  }

  get #keptBytes(): number {
    return this.#pools.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /**
   * A new buffer of at least so many bytes, as its source makes it. @throws LimitError when it is larger than the device
   * allows or has memory for.
   */
  async allocate(
    label: string,
    bytes: number,
    usage?: number,
    { spare = false }: AllocateOptions = {},
  ): Promise<GpuBuffer> {
    this.source.checkAlive();
    const { maxBuffer } = this.source;
    if (bytes > maxBuffer) {
      throw new LimitError(
        "maxBufferSize",
        bytes,
        maxBuffer,
        "Use smaller tables or batches, or several of them.",
      );
    }
    const rounded = sizeClass(bytes);
    const size = rounded <= maxBuffer ? rounded : bufferSize(bytes);
    const attempt = () =>
      this.source.allocate(label, size, usage, (buffer) => {
        this.#buffers.set(buffer, usage);
        this.#held += buffer.size;
      });
    const buffer = (await attempt()) ?? (spare ? undefined : await this.#retry(attempt));
    this.#noteUse();
    if (buffer) return buffer;
    throw new LimitError("memory", bytes, Number.NaN, "Free tables and device arrays, or use smaller ones.");
  }

  #noteUse(): void {
    this.#peak = Math.max(this.#peak, this.#held - this.#keptBytes);
  }

  /** Frees what is kept and tries again, then what others lend. */
  async #retry(attempt: () => Promise<GpuBuffer | undefined>): Promise<GpuBuffer | undefined> {
    const giveUpLoans = () => this.source.guard(Promise.all([...this.#lenders].map((giveUp) => giveUp())));
    for (const giveUp of [null, giveUpLoans]) {
      const held = this.#held;
      await giveUp?.();
      this.trim();
      if (this.#held === held) continue;
      await this.source.guard(this.source.idle());
      const buffer = await attempt();
      if (buffer) return buffer;
    }
    return undefined;
  }

  /**
   * Registers memory that its user can do without, or soon will: `giveUp` is called when there is too little, and
   * resolves when the memory was released or freed. It must not wait for an allocation that is not spare, since that
   * may be waiting for it. The answer ends the registration.
   */
  lend(giveUp: () => Promise<unknown>): () => void {
    this.#lenders.add(giveUp);
    return () => this.#lenders.delete(giveUp);
  }

  free(buffer: GpuBuffer): void {
    if (!this.#buffers.delete(buffer)) return;
    this.#held -= buffer.size;
    this.source.free(buffer);
  }

  destroy(): void {
    this.trim();
    for (const buffer of this.#buffers.keys()) this.free(buffer);
  }
}
