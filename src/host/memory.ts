/**
 * Memory of a pool and of the cpu engine: shared when workers can use it, else private. Allocations are counted
 * references, because JavaScript cannot free memory, only reuse it: a freed buffer is offered again until the garbage
 * collector takes it, which for shared memory can be long, as it weighs nothing there (60 tables of 256 MiB made and
 * dropped in a row held 15 GiB). The collector may take none of the last freed ones, up to a bound: calls in a row reuse
 * their memory, and fresh memory costs 0.4 ms a MB.
 *
 * Invariant: a buffer is in at most one living allocation, and is not reused while an operation retains it.
 */
import { LimitError } from "../errors.js";

/** Smaller buffers are not kept: a new one costs less than the search. */
const SMALLEST_REUSED_BYTES = 2 ** 20;
/** Allocations of at least this size are compared with the memory that the process may still take. */
const SMALLEST_CHECKED_BYTES = 2 ** 26;
/** Bytes of freed buffers that the garbage collector leaves, at most: a join of 2^25 rows on both sides takes as many. */
const HELD_BYTES = 2 ** 30;
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

/** A freed buffer, to be offered again. */
interface Freed {
  readonly reference: WeakRef<ArrayBufferLike>;
  readonly bytes: number;
  /** Keeps the garbage collector away. */
  held: ArrayBufferLike | undefined;
}

/** All memory of one pool. */
export class Memory {
  readonly shared: boolean;
  readonly #onIdle: (bytes: number) => void;
  readonly #living = new Set<WeakRef<Allocation>>();
  /** Freed longest ago first. */
  #reusable: Freed[] = [];
  #inUse = 0;
  #peak = 0;

  /**
   * @param onIdle told by how much the bytes of freed buffers grow that the garbage collector may take, or shrink as
   * they are used again.
   * @param keep bytes of freed buffers that are offered again at most.
   */
  constructor(
    shared: boolean,
    onIdle: (bytes: number) => void,
    private readonly keep = Number.POSITIVE_INFINITY,
  ) {
    this.shared = shared;
    this.#onIdle = onIdle;
  }

  /** Bytes of the buffers in use, and of those that the garbage collector has left. */
  get use() {
    const kept = this.#reusable.reduce(
      (sum, { reference, bytes }) => sum + (reference.deref() ? bytes : 0),
      0,
    );
    const inUse = this.#inUse;
    return { held: inUse + kept, inUse, kept, peak: this.#peak, keep: this.keep };
  }

  /** Offers freed buffers no more, but for `most` bytes of the last ones. Answers the bytes of the others. */
  trim(most = 0): number {
    const before = this.use.kept;
    let kept = before;
    while (kept > most) {
      const [oldest] = this.#reusable.splice(0, 1);
      kept -= oldest.reference.deref() ? oldest.bytes : 0;
      this.#letGo(oldest);
    }
    return before - kept;
  }

  /** Leaves a freed buffer to the garbage collector. */
  #letGo(freed: Freed): void {
    if (freed.held === undefined) return;
    freed.held = undefined;
    this.#onIdle(freed.bytes);
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
      if (freed.byteLength < SMALLEST_REUSED_BYTES) return;
      this.#reusable.push({ reference: new WeakRef(freed), bytes: freed.byteLength, held: freed });
      this.trim(Math.min(this.keep, this.#peak));
      let held = 0;
      for (const each of [...this.#reusable].reverse()) {
        held += each.bytes;
        if (held > HELD_BYTES) this.#letGo(each);
      }
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
    if (bytes < SMALLEST_REUSED_BYTES) return undefined;
    this.#reusable = this.#reusable.filter(({ reference }) => reference.deref() !== undefined);
    let best: Freed | undefined;
    for (const freed of this.#reusable) {
      if (freed.bytes < bytes || freed.bytes > 2 * bytes) continue;
      if (best === undefined || freed.bytes < best.bytes) best = freed;
    }
    if (best === undefined) return undefined;
    this.#reusable.splice(this.#reusable.indexOf(best), 1);
    if (best.held === undefined) this.#onIdle(-best.bytes);
    return best.reference.deref();
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
