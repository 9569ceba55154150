/**
 * Memory of one operation on rows: shared when workers take part, else private. Fresh memory is slow (the system clears
 * it page by page: 0.4 ms per MB measured, ten times what writing to it again takes), so shared memory comes from the
 * pool's stock and goes back to it.
 */
import { LimitError } from "../errors.js";
import type { Allocation, Memory } from "./memory.js";
import type { HostPool } from "./pool.js";

const FEWER_ROWS = "Work on fewer rows at a time.";

/** Arrays of elements that memory holds. */
export type Elements = Uint8Array | Uint16Array | Int32Array | Uint32Array | Float32Array | Float64Array;

export class RowMemory {
  /** True when workers may take part. */
  readonly shared: boolean;
  readonly #stock: Memory | null;
  readonly #allocations: Pick<Allocation, "release">[] = [];

  /**
   * @param host whose workers take part if the rows are worth more than one thread; null for the calling thread alone
   * @param rows of the operation
   * @param own stock of the calling thread, where it works alone
   */
  constructor(
    private readonly host: HostPool | null,
    private readonly rows: number,
    own: Memory | null = null,
  ) {
    this.shared = host !== null && host.threads > 1 && rows >= host.rowsPerThread;
    this.#stock = this.shared ? (host as HostPool).memory : own;
  }

  /** Memory of the same kind, which may be given back before this. */
  another(): RowMemory {
    const memory = new RowMemory(this.host, this.rows, this.#stock);
    this.#allocations.push(memory);
    return memory;
  }

  /** Words that hold anything. @throws LimitError with the fix when there is no memory for them */
  words(length: number, fix = FEWER_ROWS): Uint32Array {
    return new Uint32Array(this.#buffer(4 * length, false, fix), 0, length);
  }

  /** Zeroed words. @throws LimitError when there is no memory for them */
  zeroedWords(length: number): Uint32Array {
    return new Uint32Array(this.#buffer(4 * length, true), 0, length);
  }

  /** Zeroed bytes, unless told. @throws LimitError when there is no memory for them */
  bytes(length: number, zeroed = true): Uint8Array {
    return new Uint8Array(this.#buffer(length, zeroed), 0, length);
  }

  numbers(length: number): Float64Array {
    return new Float64Array(this.#buffer(8 * length, true), 0, length);
  }

  /** True when workers can read the array where it is, or there are none. */
  reaches(array: Elements): boolean {
    return !this.shared || array.buffer instanceof SharedArrayBuffer;
  }

  /** The array itself where workers can read it, else a copy. */
  reachable<A extends Uint8Array | Uint32Array>(array: A): A {
    if (this.reaches(array)) return array;
    const copy = array instanceof Uint8Array ? this.bytes(array.length, false) : this.words(array.length);
    copy.set(array);
    return copy as A;
  }

  /** Gives everything back. Arrays from here are no longer valid. */
  release(): void {
    for (const allocation of this.#allocations.splice(0)) allocation.release();
  }

  #buffer(bytes: number, zeroed: boolean, fix = FEWER_ROWS): ArrayBufferLike {
    if (this.#stock === null) return privateBuffer(bytes, fix);
    const allocation = this.#stock.allocate(bytes, zeroed, fix);
    this.#allocations.push(allocation);
    return allocation.buffer;
  }
}

function privateBuffer(bytes: number, fix: string): ArrayBuffer {
  try {
    return new ArrayBuffer(bytes);
  } catch (cause) {
    throw new LimitError("memory", bytes, Number.NaN, fix, { cause });
  }
}

/** Arrays that are needed for one chunk of rows after another: each is taken once and kept. */
export class Scratch {
  readonly #memory: RowMemory;
  readonly #kept = new Map<string, Uint32Array | Uint8Array>();

  constructor(memory: RowMemory) {
    this.#memory = memory;
  }

  /** Memory of the calling thread. */
  static own(): Scratch {
    return new Scratch(new RowMemory(null, 0));
  }

  /** `length` words that hold anything. What was taken under the same name before is no longer valid. */
  words(name: string, length: number): Uint32Array {
    let array = this.#kept.get(name) as Uint32Array | undefined;
    if (!array || array.length < length) {
      array = this.#memory.words(length);
      this.#kept.set(name, array);
    }
    return array.subarray(0, length);
  }

  /** The same for bytes. */
  bytes(name: string, length: number): Uint8Array {
    let array = this.#kept.get(name) as Uint8Array | undefined;
    if (!array || array.length < length) {
      array = this.#memory.bytes(length, false);
      this.#kept.set(name, array);
    }
    return array.subarray(0, length);
  }

  /** Room for the elements of an array. */
  like<A extends Elements>(name: string, array: A): A {
    const bytes = this.bytes(name, array.byteLength);
    const Class = array.constructor as new (buffer: ArrayBufferLike, offset: number, length: number) => A;
    return new Class(bytes.buffer, 0, array.length);
  }

  /** A copy of an array. */
  copy<A extends Elements>(name: string, array: A): A {
    const copy = this.like(name, array);
    copy.set(array);
    return copy;
  }
}
