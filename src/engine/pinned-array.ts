/**
 * Memory of the host that the device copies from and to by itself: CUDA calls it pinned. Columns that lie in it cross
 * the bus without a copy by the CPU. Users get pinned arrays from `device.pinned` and hand them to calls.
 *
 * Invariant: the memory belongs either to the host (`array` shows it) or to the calls that hold it, never to both.
 */
import { EngineError, ValidationError } from "../errors.js";
import type { Engine } from "./engine.js";
import type { ScalarArrays, ScalarType } from "./scalars.js";

/** What a pinned array is for: input columns of calls, or their results. */
export type PinnedUse = "upload" | "readback";

/** The engine's side of a pinned array. */
export interface PinnedStorage<T extends ScalarType> {
  /** The memory; null while calls have it. Throws DeviceLostError when it is gone. */
  readonly view: ScalarArrays[T] | null;
  /** Hands the memory to calls, and ends a `regain` that is under way. */
  lend(): void;
  /** Takes the memory back when what was submitted on it is done. */
  regain(): Promise<void>;
  destroy(): void;
}

/**
 * `length` elements of host memory that the device reads (`use` "upload") or writes ("readback") without a copy by the
 * CPU. Calls take the first as keys, values and `where`, the second as `into`. Several calls may use an upload array at
 * a time, one a readback array.
 */
export class PinnedArray<T extends ScalarType = ScalarType, U extends PinnedUse = PinnedUse> {
  /** True until destroy(). */
  #alive = true;
  /** Calls that have the memory. */
  #holds = 0;
  /** Times that the memory is on its way back. */
  #regains = 0;

  private constructor(
    /** @internal */
    readonly engine: Engine,
    readonly type: T,
    readonly length: number,
    readonly use: U,
    /** @internal */
    readonly storage: PinnedStorage<T>,
  ) {}

  /** Made by engines; users call `device.pinned`. @internal */
  static of<T extends ScalarType, U extends PinnedUse>(
    engine: Engine,
    type: T,
    length: number,
    use: U,
    storage: PinnedStorage<T>,
  ): PinnedArray<T, U> {
    return new PinnedArray(engine, type, length, use, storage);
  }

  /**
   * The elements, in place. Read this anew after every call that used the array: on webgpu each call detaches the typed
   * array that was there before it (length 0), and leaves another with the same contents. So hand calls the pinned
   * array, not this. What is read out of an upload array may come slowly: its memory is made for writing. Writes to a
   * readback array are lost.
   * @throws ValidationError while a call is using the array, from the moment it is made until its promise settles.
   * @throws EngineError when the device did not give the memory back; calls may use the array again.
   */
  get array(): ScalarArrays[T] {
    if (!this.#alive) {
      throw new ValidationError(
        "This pinned array was destroyed.",
        "Destroy it after the last use of its elements.",
      );
    }
    if (this.inUse) {
      throw new ValidationError(
        "A call is using this pinned array.",
        "Await the call, then take `array` again.",
      );
    }
    const { view } = this.storage;
    if (view === null) throw new EngineError("The memory of this pinned array could not be mapped.");
    return view;
  }

  /** True while a call is using the array. */
  get inUse(): boolean {
    return this.#alive && this.#holds + this.#regains > 0;
  }

  get destroyed(): boolean {
    return !this.#alive;
  }

  /**
   * Hands the memory to a call until the function it answers is called, also when destroy() comes before. That function
   * resolves when `array` can be read again, unless other calls hold it. @internal
   */
  hold(): () => Promise<void> {
    if (this.#holds === 0) this.storage.lend();
    this.#holds++;
    return async () => {
      this.#holds--;
      if (this.#holds > 0) return;
      if (!this.#alive) return this.storage.destroy();
      this.#regains++;
      try {
        await this.storage.regain();
      } finally {
        this.#regains--;
      }
    };
  }

  /** Frees the memory when the calls that use it have ended; what these answer in it is empty then. Idempotent. */
  destroy(): void {
    if (!this.#alive) return;
    this.#alive = false;
    if (this.#holds === 0) this.storage.destroy();
  }

  [Symbol.dispose](): void {
    this.destroy();
  }
}
