/**
 * Keeps GPU buffers that nobody uses for the next call that wants one. Allocating and freeing large buffers costs
 * milliseconds in drivers, more than the work on them. What stays unused for a few seconds is freed.
 */
import type { AllocateOptions } from "./gpu-memory.js";

export class BufferPool {
  readonly #free: GPUBuffer[] = [];
  #freeBytes = 0;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param fit `exact`: buffers of the size asked for. `loose`: buffers may be larger, so that more requests share them.
   * @param keepBytes most bytes that are kept unused.
   * @param maxBytes the largest buffer there can be.
   */
  constructor(
    private readonly fit: "exact" | "loose",
    private readonly keepBytes: number,
    private readonly maxBytes: number,
    private readonly allocate: (bytes: number, options?: AllocateOptions) => Promise<GPUBuffer>,
    private readonly destroy: (buffer: GPUBuffer) => void,
  ) {}

  /** A buffer of at least `bytes` bytes, its contents unspecified. */
  async acquire(bytes: number, options?: AllocateOptions): Promise<GPUBuffer> {
    const rounded = this.fit === "exact" ? bufferSize(bytes) : roundUp(bytes);
    const size = rounded <= this.maxBytes ? rounded : bufferSize(bytes);
    const most = this.fit === "exact" ? size : 4 * size;
    let best = -1;
    for (let i = 0; i < this.#free.length; i++) {
      const have = this.#free[i].size;
      if (have >= size && have <= most && (best < 0 || have < this.#free[best].size)) best = i;
    }
    if (best < 0) return this.allocate(size, options);
    const [buffer] = this.#free.splice(best, 1);
    this.#freeBytes -= buffer.size;
    return buffer;
  }

  /** Takes a buffer back. Work that was submitted on it still runs before any later use. */
  release(buffer: GPUBuffer): void {
    this.#free.push(buffer);
    this.#freeBytes += buffer.size;
    while (this.#freeBytes > this.keepBytes) {
      const oldest = this.#free.shift() as GPUBuffer;
      this.#freeBytes -= oldest.size;
      this.destroy(oldest);
    }
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => this.trim(), IDLE_MS);
    // in Node a timer would keep the process alive
    (this.#idleTimer as { unref?: () => void }).unref?.();
  }

  /** Frees what is not in use. Answers the bytes freed. */
  trim(): number {
    clearTimeout(this.#idleTimer);
    const freed = this.#freeBytes;
    for (const buffer of this.#free) this.destroy(buffer);
    this.#free.length = 0;
    this.#freeBytes = 0;
    return freed;
  }
}

/** Milliseconds after the last release at which unused buffers are freed. */
const IDLE_MS = 3000;

/** Bytes of a buffer for `bytes` bytes of data: whole words, and never none. */
export function bufferSize(bytes: number): number {
  return Math.max(16, Math.ceil(bytes / 4) * 4);
}

/** Sizes that many requests share: powers of two up to 16 MiB, multiples of 16 MiB above. */
function roundUp(bytes: number): number {
  const step = 2 ** 24;
  if (bytes > step) return Math.ceil(bytes / step) * step;
  return Math.max(256, 2 ** Math.ceil(Math.log2(bytes)));
}
