/** Columns that operations on rows answer: device arrays of the engine's pool, as kernels bind them. */
import type { DeviceArray } from "../../device-array.js";
import { newArray, placeOf } from "../batch/columns.js";
import type { GpuHost } from "../host.js";
import { bufferSize } from "../memory/buffer-pool.js";
import type { Range } from "../runtime.js";

/** A result column, and what kernels bind of it. */
export interface ResultColumn {
  readonly array: DeviceArray<"u32">;
  readonly range: Range;
}

/** The result columns of one call. When it fails, `destroy` gives them back. */
export class ResultColumns {
  readonly #arrays: DeviceArray<"u32">[] = [];

  constructor(private readonly host: GpuHost) {}

  async add(length: number): Promise<ResultColumn> {
    return this.take(await newArray(this.host.engine, this.host.gpu, "u32", length));
  }

  /** Makes an array that another call has answered one of these. */
  take(array: DeviceArray<"u32">): ResultColumn {
    this.#arrays.push(array);
    // the buffer may be larger than a binding
    return { array, range: { buffer: placeOf(array).buffer, size: bufferSize(array.length * 4) } };
  }

  /** Gives one back that is no result. */
  drop({ array }: ResultColumn): void {
    this.#arrays.splice(this.#arrays.indexOf(array), 1);
    array.destroy();
  }

  destroy(): void {
    for (const array of this.#arrays) array.destroy();
  }
}
