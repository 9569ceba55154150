/**
 * Arrays that live where an engine works. Users get them from `device.upload`, `device.wrap` and `{ output: "device"
 * }`, hand them back as inputs without a copy, and read them when they want host memory.
 */
import { ValidationError } from "../errors.js";
import type { Engine } from "./engine.js";
import type { NativeTypes } from "./native.js";
import { type ScalarArrays, type ScalarType, scalarTypeOf } from "./scalars.js";
import { keepWhenDropped, whenDropped } from "./when-dropped.js";

/** The engine's side of a device array. */
export interface ArrayStorage<T extends ScalarType> {
  /** Bytes before the first element, in memory that is a caller's. */
  readonly byteOffset?: number;
  /** False for a caller's memory that elements cannot be read back from. */
  readonly isReadable?: boolean | undefined;
  /** The typed array under it, on engines that work in host memory. */
  readonly host?: ScalarArrays[T];
  /** A copy of elements start..end in host memory. */
  read(start: number, end: number): Promise<ScalarArrays[T]>;
  /** Overwrites elements from `start` on; resolves when `data` may change. */
  write(data: ScalarArrays[T], start: number): Promise<void>;
  destroy(): void;
}

/** `length` elements of one scalar type in the memory of one engine. */
export class DeviceArray<T extends ScalarType = ScalarType> {
  /** True until destroy(). */
  #alive = true;
  /** Calls that still need the memory. */
  #holds = 0;

  private constructor(
    /** @internal */
    readonly engine: Engine,
    readonly type: T,
    readonly length: number,
    /** @internal */
    readonly storage: ArrayStorage<T>,
  ) {}

  /** Made by engines; users call `device.upload` or `device.wrap`. @internal */
  static of<T extends ScalarType>(
    engine: Engine,
    type: T,
    length: number,
    storage: ArrayStorage<T>,
  ): DeviceArray<T> {
    return new DeviceArray(engine, type, length, storage);
  }

  /** Has the memory freed when a user drops the array. @internal */
  freeWhenDropped(): this {
    const { storage } = this;
    whenDropped(this, () => storage.destroy());
    return this;
  }

  /**
   * The WebGPU buffer that holds the elements, for your own kernels; undefined on other engines. Elements start at
   * `byteOffset`.
   */
  get buffer(): NativeTypes["buffer"] | undefined {
    keepWhenDropped(this);
    return this.engine.interop?.buffers?.bufferOf(this);
  }

  /**
   * The address of the first element on the device, for other libraries and your own kernels; undefined on engines
   * whose memory has none for programs. It is good until `destroy`. Work of a call that was not awaited may be under
   * way on it, and that of others must be done before a call uses the array.
   * @throws ValidationError after destroy()
   */
  get pointer(): bigint | undefined {
    keepWhenDropped(this);
    return this.engine.interop?.pointerOf?.(this);
  }

  /** Bytes before the first element in `buffer`. */
  get byteOffset(): number {
    return this.storage.byteOffset ?? 0;
  }

  get destroyed(): boolean {
    return !this.#alive;
  }

  /** A copy of the elements `start` to `end` (all, unless told) in host memory. Costs one transfer. */
  async read(start = 0, end = this.length): Promise<ScalarArrays[T]> {
    return this.#use(start, end, () => this.storage.read(start, end));
  }

  /**
   * Overwrites the elements from `start` on with those of a typed array. Leave `data` unchanged until the promise
   * resolves. Await the calls that use this array before writing: they may see either elements.
   * @throws ValidationError when `data` is of another type, or does not fit; nothing was written then.
   */
  async write(data: ScalarArrays[T], start = 0): Promise<void> {
    if (scalarTypeOf(data) !== this.type) {
      throw new ValidationError(
        `write was not given a typed array of ${this.type}, as the elements of this array are.`,
        "Give what read() answers, with other elements.",
      );
    }
    return this.#use(start, start + data.length, () => this.storage.write(data, start));
  }

  async #use<R>(start: number, end: number, work: () => Promise<R>): Promise<R> {
    if (!this.#alive) {
      throw new ValidationError("This device array was destroyed.", "Use it before destroy().");
    }
    const isRange = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end;
    if (!isRange || end > this.length) {
      throw new ValidationError(
        `The range ${start}..${end} is outside the array's ${this.length} elements.`,
        "Stay within 0..length.",
      );
    }
    const release = this.hold();
    try {
      return await work();
    } finally {
      release();
    }
  }

  /**
   * Keeps the memory until the function it answers is called, also when destroy() comes before: calls that wait in a
   * queue hold their arrays. @internal
   */
  hold(): () => void {
    this.#holds++;
    return () => {
      this.#holds--;
      this.#freeUnused();
    };
  }

  /** Frees the memory when the calls that use it have ended, unless it is a caller's own wrapped buffer. Idempotent. */
  destroy(): void {
    if (!this.#alive) return;
    this.#alive = false;
    keepWhenDropped(this);
    this.#freeUnused();
  }

  #freeUnused(): void {
    if (!this.#alive && this.#holds === 0) this.storage.destroy();
  }

  [Symbol.dispose](): void {
    this.destroy();
  }
}
