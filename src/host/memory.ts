/**
 * Memory of a pool and of the cpu engine: shared when workers can use it, else private. Allocations are counted
 * references, because JavaScript cannot free memory, only reuse it: freed buffers are kept, up to a bound, for the calls
 * that come. Others are left to the garbage collector, which may take long over shared memory, as it weighs nothing
 * there (60 tables of 256 MiB made and dropped in a row held 15 GiB).
 *
 * Invariant: a buffer is in at most one living allocation, and is not reused while an operation retains it.
 */
import { LimitError } from "../errors.js";

/** Smaller buffers are not kept: a new one costs less than the search. */
const SMALLEST_REUSED_BYTES = 2 ** 20;
/** Allocations of at least this size are compared with the memory that the process may still take. */
const SMALLEST_CHECKED_BYTES = 2 ** 26;
/** Bytes of freed buffers that are kept, unless told: a join of 2^25 rows on both sides takes as many. */
const KEPT_BYTES = 2 ** 30;
const SMALLER_TABLE = "Use a smaller capacity or a higher load factor, or work in smaller parts.";

/** A buffer with a count of its users. Starts with one, who must `release` it. */
export class Allocation {
  #users = 1;
  #buffer: ArrayBufferLike | null;
  readonly #freed: (buffer: ArrayBufferLike) => void;

  /** Made by Memory. `bytes` may be less than the buffer has. */
  constructor(
    buffer: ArrayBufferLike,
    readonly bytes: number,
    freed: (buffer: ArrayBufferLike) => void,
  ) {
    this.#buffer = buffer;
    this.#freed = freed;
  }

  get buffer(): ArrayBufferLike {
    if (this.#buffer === null) throw new Error("warpmap: memory used after it was freed");
    return this.#buffer;
  }

  /** Keeps the buffer until the same caller's release. */
  retain(): void {
    this.#users++;
  }

  release(): void {
    if (--this.#users > 0 || this.#buffer === null) return;
    const buffer = this.#buffer;
    this.#buffer = null;
    this.#freed(buffer);
  }

  /** Lets go of the buffer whatever the count. */
  discard(): void {
    this.#buffer = null;
  }
}

/** All memory of one pool. */
export class Memory {
  readonly shared: boolean;
  readonly #onDropped: (bytes: number) => void;
  readonly #living = new Set<WeakRef<Allocation>>();
  /** Freed longest ago first. */
  #reusable: ArrayBufferLike[] = [];
  #inUse = 0;
  #peak = 0;

  /**
   * @param onDropped told of bytes that are kept no more
   * @param keep bytes of freed buffers that are offered again at most.
   * @param smallest of these
   */
  constructor(
    shared: boolean,
    onDropped: (bytes: number) => void,
    private readonly keep = KEPT_BYTES,
    private readonly smallest = SMALLEST_REUSED_BYTES,
  ) {
    this.shared = shared;
    this.#onDropped = onDropped;
  }

  /** Bytes of the buffers in use, and of those that are kept. */
  get use() {
    const kept = this.#reusable.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const inUse = this.#inUse;
    return { held: inUse + kept, inUse, kept, peak: this.#peak, keep: this.keep };
  }

  /** Keeps no more than the last `most` bytes of freed buffers. Answers the bytes of the others. */
  trim(most = 0): number {
    const { kept } = this.use;
    let dropped = 0;
    while (kept - dropped > most) dropped += this.#reusable.shift()?.byteLength ?? 0;
    if (dropped > 0) this.#onDropped(dropped);
    return dropped;
  }

  /**
   * At least `bytes` bytes. Filled with zeros if `zeroed`, else with anything.
   * @param fix what the caller can do where there is no memory for it
   * @throws LimitError
   */
  allocate(bytes: number, zeroed: boolean, fix = SMALLER_TABLE): Allocation {
    const reused = this.#takeReusable(bytes);
    if (reused !== undefined && zeroed) new Uint8Array(reused).fill(0);
    const buffer = reused ?? newBuffer(bytes, this.shared, fix);
    const allocation = new Allocation(buffer, bytes, (freed) => {
      this.#living.delete(reference);
      this.#inUse -= freed.byteLength;
      if (freed.byteLength < this.smallest) return;
      this.#reusable.push(freed);
      this.trim(Math.min(this.keep, this.#peak));
    });
    this.#inUse += buffer.byteLength;
    this.#peak = Math.max(this.#peak, this.#inUse);
    const reference = new WeakRef(allocation);
    this.#living.add(reference);
    return allocation;
  }

  /** Lets go of everything, in use or not. */
  discardAll(): void {
    for (const reference of this.#living) reference.deref()?.discard();
    this.#living.clear();
    this.#reusable = [];
    this.#inUse = 0;
  }

  /** The smallest freed buffer that `bytes` fills to at least half. */
  #takeReusable(bytes: number): ArrayBufferLike | undefined {
    if (bytes < this.smallest) return undefined;
    let best: ArrayBufferLike | undefined;
    for (const buffer of this.#reusable) {
      if (buffer.byteLength < bytes || buffer.byteLength > 2 * bytes) continue;
      if (best === undefined || buffer.byteLength < best.byteLength) best = buffer;
    }
    this.#reusable = this.#reusable.filter((buffer) => buffer !== best);
    return best;
  }
}

/** A new zeroed buffer, or a LimitError that says how much there is. */
export function newBuffer(bytes: number, shared: boolean, fix = SMALLER_TABLE): ArrayBufferLike {
  // Systems that overcommit grant any size and kill the process later, so ask first where the runtime can
  // tell.
  const have = bytes >= SMALLEST_CHECKED_BYTES ? availableBytes() : Number.NaN;
  if (bytes > have) throw new LimitError("memory", bytes, have, fix);
  try {
    return shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
  } catch (error) {
    if (error instanceof RangeError) throw new LimitError("memory", bytes, have, fix, { cause: error });
    throw error;
  }
}

/**
 * What the machine or container has and this process does not hold yet; NaN where the runtime does not say.
 */
function availableBytes(): number {
  if (typeof process === "undefined" || typeof process.getBuiltinModule !== "function") return Number.NaN;
  const limit = process.constrainedMemory?.() || Number.POSITIVE_INFINITY;
  return Math.max(
    0,
    Math.min(limit, process.getBuiltinModule("node:os").totalmem()) - process.memoryUsage.rss(),
  );
}
