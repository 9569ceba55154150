import type { GpuBuffer } from "../runtime.js";
/**
 * GPU buffers that nobody uses, kept for whoever asks next: drivers take some 25 ms a GiB to allocate memory and as
 * long to free it, several times the work on it. What is kept was released last; it knows nothing of who uses buffers,
 * or how many there are.
 */

/** What a buffer may be taken for. */
export interface Wanted {
  readonly bytes: number;
  /** A runtime's word for what it is for; kernels unless told. */
  readonly usage?: number;
  /** The buffer is used for one call: it may be larger. Others waste less, since they last. */
  readonly brief?: boolean;
}

/** Buffers that are kept at most: each `take` looks at all of them. */
const MOST_KEPT = 1024;

/** Most bytes of a buffer for each byte asked for: of one that is used for one call, and of others. */
const LARGEST_BRIEF = 4;
const LARGEST_LASTING = 1.25;

export class BufferPool {
  /** Released longest ago first. */
  readonly #kept: GpuBuffer[] = [];
  #bytes = 0;
  /** In the order in which buffers first came. */
  readonly #numbers = new WeakMap<GpuBuffer, number>();
  #seen = 0;

  constructor(
    private readonly usageOf: (buffer: GpuBuffer) => number | undefined,
    private readonly destroy: (buffer: GpuBuffer) => void,
  ) {}

  /** Bytes of all buffers that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The smallest buffer that suits, its contents unspecified; of equal ones that which came first of all. So calls that
   * repeat find their buffers in the same places, and the bind groups that kernels keep.
   */
  take({ bytes, usage, brief = false }: Wanted): GpuBuffer | undefined {
    const largest = sizeClass(bytes) * (brief ? LARGEST_BRIEF : LARGEST_LASTING);
    let best: GpuBuffer | undefined;
    for (const buffer of this.#kept) {
      if (buffer.size < bytes || buffer.size > largest || this.usageOf(buffer) !== usage) continue;
      if (!best || this.#comesBefore(buffer, best)) best = buffer;
    }
    if (!best) return undefined;
    this.#kept.splice(this.#kept.indexOf(best), 1);
    this.#bytes -= best.size;
    return best;
  }

  #comesBefore(buffer: GpuBuffer, other: GpuBuffer): boolean {
    if (buffer.size !== other.size) return buffer.size < other.size;
    return (this.#numbers.get(buffer) as number) < (this.#numbers.get(other) as number);
  }

  /** Takes a buffer back. Work that was submitted on it still runs before any later use. */
  put(buffer: GpuBuffer): void {
    if (!this.#numbers.has(buffer)) this.#numbers.set(buffer, ++this.#seen);
    this.#kept.push(buffer);
    this.#bytes += buffer.size;
  }

  /**
   * Destroys what was released longest ago, until no more than `most` bytes, and no more buffers than are quickly
   * looked through, are kept. Answers the bytes destroyed.
   */
  shrink(most: number): number {
    const before = this.#bytes;
    while (this.#bytes > most || this.#kept.length > MOST_KEPT) {
      const oldest = this.#kept.shift() as GpuBuffer;
      this.#bytes -= oldest.size;
      this.destroy(oldest);
    }
    return before - this.#bytes;
  }
}

/** Bytes of a buffer for `bytes` bytes of data: whole words, and never none. */
export function bufferSize(bytes: number): number {
  return Math.max(16, Math.ceil(bytes / 4) * 4);
}

/** Sizes in an octave, above the smallest ones: a buffer is at most 1/32 larger than what is asked for. */
const CLASSES = 32;
const SMALLEST = 256;

/** The size of a new buffer for so many bytes: few sizes, so that later requests find theirs. */
export function sizeClass(bytes: number): number {
  if (bytes <= SMALLEST * CLASSES) return Math.max(SMALLEST, 2 ** Math.ceil(Math.log2(bytes)));
  const step = 2 ** Math.floor(Math.log2(bytes)) / CLASSES;
  return Math.ceil(bytes / step) * step;
}
