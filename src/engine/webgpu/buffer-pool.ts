/** Keeps freed GPU buffers of one kind for the next call that wants one, up to a number of bytes. */
export class BufferPool {
  readonly #free: GPUBuffer[] = [];
  #freeBytes = 0;

  /** @param keepBytes most bytes of buffers that are kept while nobody uses them. */
  constructor(
    private readonly keepBytes: number,
    private readonly allocate: (bytes: number) => Promise<GPUBuffer>,
    private readonly destroy: (buffer: GPUBuffer) => void,
  ) {}

  /** A buffer of at least `bytes` bytes, its contents unspecified. */
  async acquire(bytes: number): Promise<GPUBuffer> {
    let best = -1;
    for (let i = 0; i < this.#free.length; i++) {
      const { size } = this.#free[i];
      if (size >= bytes && size <= 4 * bytes + SMALL && (best < 0 || size < this.#free[best].size)) best = i;
    }
    if (best < 0) return this.allocate(roundUp(bytes));
    const [buffer] = this.#free.splice(best, 1);
    this.#freeBytes -= buffer.size;
    return buffer;
  }

  release(buffer: GPUBuffer): void {
    this.#free.push(buffer);
    this.#freeBytes += buffer.size;
    while (this.#freeBytes > this.keepBytes) {
      const oldest = this.#free.shift() as GPUBuffer;
      this.#freeBytes -= oldest.size;
      this.destroy(oldest);
    }
  }
}

const SMALL = 2 ** 16;

/** Sizes that many requests share: powers of two up to 16 MiB, multiples of 16 MiB above. */
function roundUp(bytes: number): number {
  const step = 2 ** 24;
  if (bytes > step) return Math.ceil(bytes / step) * step;
  return Math.max(256, 2 ** Math.ceil(Math.log2(bytes)));
}
