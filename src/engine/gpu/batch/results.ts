/**
 * Results of a whole call: typed or pinned arrays that chunks are read back into, or device arrays that kernels write.
 * Kernels write the words of an element next to each other; those of a composite are then split into its columns.
 */
import { LimitError } from "../../../errors.js";
import { DeviceArray } from "../../device-array.js";
import type { ElementType } from "../../element-types.js";
import type { ColumnOutput, ColumnTarget, Destination, Missing, Output, Placement } from "../../engine.js";
import { PinnedArray } from "../../pinned-array.js";
import {
  allocateUnfilled,
  asBytes,
  firstOf,
  type ScalarArrays,
  type ScalarType,
  scalarBytes,
} from "../../scalars.js";
import type { GpuHost } from "../host.js";
import type { Readback } from "../runtime.js";
import {
  bindAt,
  type Chunk,
  type Column,
  loadComposites,
  newArray,
  placeOf,
  type Scratch,
} from "./columns.js";

export type ResultHost = Pick<GpuHost, "engine" | "gpu">;

/** Elements whose byte in `flags` is 0, and the element that stands for them. */
export interface Absent {
  readonly flags: Column;
  readonly missing: Missing;
}

/** A result of one chunk. */
export interface BoundResult {
  /** Where kernels write its elements. */
  readonly column: Column;
  /** Splits the first `count` elements into columns, where they are of several, and reads back. */
  readonly split?: (count: number, reads: readonly Readback[], absent?: Absent) => Promise<void>;
  /**
   * What has to be read back when this is done: the elements of these, or nothing when the result stays on the device.
   */
  readback(written: Chunk): Readback[];
}

/** A result column of a whole call, on the host or on the device. */
export class ResultColumn {
  private constructor(
    private readonly type: ScalarType,
    readonly output: ColumnOutput,
  ) {}

  static async create(
    { engine, gpu }: ResultHost,
    type: ScalarType,
    length: number,
    to: Placement | ColumnTarget,
  ): Promise<ResultColumn> {
    if (to === "host") return new ResultColumn(type, hostArray(type, length));
    if (to === "device") return new ResultColumn(type, await newArray(engine, gpu, type, length));
    return new ResultColumn(type, to instanceof PinnedArray ? to : firstOf(to, length));
  }

  async bind(scratch: Scratch, { first, count }: Chunk): Promise<BoundResult> {
    const { output } = this;
    const bytes = scalarBytes[this.type];
    const at = output instanceof DeviceArray ? placeOf(output) : null;
    const column = at
      ? bindAt(at.buffer, at.byteOffset + first * bytes, count * bytes)
      : await scratch.hostColumn(this.type, count);
    return { column, readback: (written) => this.#readback(column, written) };
  }

  #readback(column: Column, { first, count }: Chunk): Readback[] {
    const { output } = this;
    if (output instanceof DeviceArray) return [];
    const [offset, length] = [first * scalarBytes[this.type], count * scalarBytes[this.type]];
    const into =
      output instanceof PinnedArray
        ? { buffer: placeOf(output).buffer, offset, length }
        : asBytes(output).subarray(offset, offset + length);
    return [{ buffer: column.range.buffer, offset: (column.range.offset ?? 0) + column.shift * 4, into }];
  }

  discard(): void {
    if (this.output instanceof DeviceArray) this.output.destroy();
  }
}

function hostArray<T extends ScalarType>(type: T, length: number): ScalarArrays[T] {
  try {
    return allocateUnfilled(type, length);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const bytes = length * scalarBytes[type];
    const fix = 'Take them with { output: "device" }, and read pieces.';
    throw new LimitError("memory", bytes, Number.NaN, fix, { cause: error });
  }
}

/** A result of a whole call: elements of one type. */
export interface Result<T extends ElementType> {
  /** As the caller gets it. */
  readonly output: Output<T>;
  /** Memory for a chunk's elements. */
  bind(scratch: Scratch, chunk: Chunk): Promise<BoundResult>;
  /** Gives device results up, when the call failed. */
  discard(): void;
}

/** A result, or null where a call has none. */
type ResultOrNull<T extends ElementType | null> = T extends ElementType ? Result<T> : null;

export class Results<A extends ElementType, B extends ElementType | null> {
  constructor(readonly columns: readonly [Result<A>, ResultOrNull<B>]) {}

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

/** Makes two results, or one where the second type is null. When a column cannot be made, the others are given up. */
export async function resultColumns<A extends ElementType, B extends ElementType | null>(
  host: ResultHost,
  length: number,
  to: Destination,
  types: readonly [A, B],
): Promise<Results<A, B>> {
  const made: ResultColumn[] = [];
  const column = async (type: ScalarType) => {
    const target = typeof to === "string" ? to : to[made.length];
    made.push(await ResultColumn.create(host, type, length, target));
    return made[made.length - 1];
  };
  const create = async (type: ElementType | null) => {
    if (type === null) return null;
    if (typeof type === "string") return column(type);
    return (await loadComposites()).compositeResult(host, type, column);
  };
  try {
    const [first, second] = [await create(types[0]), await create(types[1])];
    return new Results<A, B>([first, second] as never);
  } catch (error) {
    for (const column of made) column.discard();
    throw error;
  }
}
