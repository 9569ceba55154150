/** The result columns of one operation, on the host or on the device. */
import type { DeviceArray } from "../device-array.js";
import type { Output, Placement } from "../engine.js";
import { arrayClass, asBits, type ScalarArrays, type ScalarType, scalarBytes } from "../scalars.js";
import type { CpuEngine } from "./cpu-engine.js";
import { newBuffer } from "./memory.js";

/** One result column: what the caller gets, and the array to write to. */
export interface OutputColumn<T extends ScalarType> {
  readonly output: Output<T>;
  readonly array: ScalarArrays[T];
}

export class Outputs {
  readonly #engine: CpuEngine;
  readonly #placement: Placement;
  readonly #deviceArrays: DeviceArray[] = [];

  constructor(engine: CpuEngine, placement: Placement) {
    this.#engine = engine;
    this.#placement = placement;
  }

  /** A new column, every element of it the 32-bit pattern (or byte) `fill`. */
  make<T extends ScalarType>(type: T, length: number, fill: number): OutputColumn<T> {
    const column = this.#placement === "host" ? this.#onHost(type, length) : this.#onDevice(type, length);
    if (fill !== 0) asBits(column.array).fill(fill);
    return column;
  }

  /** Runs `work`; when it throws, nobody will ever see the columns, so they are freed. */
  async keepUnlessThrown<R>(work: () => Promise<R>): Promise<R> {
    try {
      return await work();
    } catch (error) {
      for (const array of this.#deviceArrays) array.destroy();
      throw error;
    }
  }

  #onHost<T extends ScalarType>(type: T, length: number): OutputColumn<T> {
    const array = new arrayClass[type](newBuffer(length * scalarBytes[type], false), 0, length);
    return { output: array, array };
  }

  #onDevice<T extends ScalarType>(type: T, length: number): OutputColumn<T> {
    const output = this.#engine.newArray(type, length, true);
    this.#deviceArrays.push(output as unknown as DeviceArray);
    return { output, array: output.storage.host as ScalarArrays[T] };
  }
}
