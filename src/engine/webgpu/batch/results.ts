/** Result columns of a whole call: typed or pinned arrays that chunks are read back into, or device arrays that kernels write. */
import { LimitError } from "../../../errors.js";
import { DeviceArray } from "../../device-array.js";
import type { Destination, Engine, Output, Placement, Target } from "../../engine.js";
import { PinnedArray } from "../../pinned-array.js";
import {
  allocate,
  asBytes,
  firstOf,
  type ScalarArrays,
  type ScalarType,
  scalarBytes,
} from "../../scalars.js";
import type { Gpu } from "../device/gpu.js";
import type { Readback } from "../memory/readback.js";
import { bindAt, type Chunk, type Column, newArray, placeOf, type Scratch } from "./columns.js";

/** A result column of a whole call, on the host or on the device. */
export class ResultColumn<T extends ScalarType> {
  private constructor(
    private readonly type: T,
    readonly output: Output<T>,
  ) {}

  static async create<T extends ScalarType>(
    engine: Engine,
    gpu: Gpu,
    type: T,
    length: number,
    to: Placement | Target<T>,
  ): Promise<ResultColumn<T>> {
    if (to === "host") return new ResultColumn(type, hostArray(type, length));
    if (to === "device") return new ResultColumn(type, await newArray(engine, gpu, type, length));
    return new ResultColumn(type, to instanceof PinnedArray ? to : firstOf<T>(to, length));
  }

  /** Where a chunk's kernels write their elements. */
  async bind(scratch: Scratch, { first, count }: Chunk): Promise<Column> {
    if (!(this.output instanceof DeviceArray)) return scratch.column(this.type, count);
    const { buffer, byteOffset } = placeOf(this.output);
    const bytes = scalarBytes[this.type];
    return bindAt(buffer, byteOffset + first * bytes, count * bytes);
  }

  /** What has to be read back after a chunk: its elements, or nothing when the result stays on the device. */
  readback(column: Column, { first, count }: Chunk): Readback[] {
    const { output } = this;
    if (output instanceof DeviceArray) return [];
    const [offset, length] = [first * scalarBytes[this.type], count * scalarBytes[this.type]];
    const into =
      output instanceof PinnedArray
        ? { buffer: output.storage.buffer as GPUBuffer, offset, length }
        : asBytes(output).subarray(offset, offset + length);
    return [{ buffer: column.range.buffer, offset: (column.range.offset ?? 0) + column.shift * 4, into }];
  }

  /** Gives a device result up, when the call failed. */
  discard(): void {
    if (this.output instanceof DeviceArray) this.output.destroy();
  }
}

function hostArray<T extends ScalarType>(type: T, length: number): ScalarArrays[T] {
  try {
    return allocate(type, length);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const bytes = length * scalarBytes[type];
    const fix = 'Take the results as device arrays, with { output: "device" }, and read them in pieces.';
    throw new LimitError("memory", bytes, Number.NaN, fix, { cause: error });
  }
}

/** A column, or null where a call has none. */
type ColumnOrNull<T extends ScalarType | null> = T extends ScalarType ? ResultColumn<T> : null;

/** The result columns of one call. */
export class Results<A extends ScalarType, B extends ScalarType | null> {
  constructor(readonly columns: readonly [ResultColumn<A>, ColumnOrNull<B>]) {}

  /** Runs the call; when it throws, gives its device results up. */
  async keepUnlessThrown(call: () => Promise<void>): Promise<void> {
    try {
      await call();
    } catch (error) {
      for (const column of this.columns) column?.discard();
      throw error;
    }
  }
}

/** Makes two result columns, or one where the second type is null. When one cannot be made, the other is given up. */
export async function resultColumns<A extends ScalarType, B extends ScalarType | null>(
  { engine, gpu }: { readonly engine: Engine; readonly gpu: Gpu },
  length: number,
  to: Destination,
  [first, second]: readonly [A, B],
): Promise<Results<A, B>> {
  const create = <T extends ScalarType>(type: T, i: number) =>
    ResultColumn.create(engine, gpu, type, length, typeof to === "string" ? to : (to[i] as Target<T>));
  const a = await create(first, 0);
  try {
    const b = second === null ? null : await create(second, 1);
    return new Results<A, B>([a, b as ColumnOrNull<B>]);
  } catch (error) {
    a.discard();
    throw error;
  }
}
