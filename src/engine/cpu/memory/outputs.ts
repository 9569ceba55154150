/** The result columns of one operation, on the host, on the device, or in arrays of the caller. */
import { newBuffer } from "../../../host/memory.js";
import type { DeviceArray } from "../../device-array.js";
import { type ElementType, elementsOf, scalarsOf } from "../../element-types.js";
import type { ColumnOutput, ColumnTarget, Destination, Missing, Output } from "../../engine.js";
import { PinnedArray } from "../../pinned-array.js";
import {
  arrayClass,
  asBits,
  asBytes,
  firstOf,
  type Scalar,
  type ScalarArrays,
  type ScalarType,
  scalarBytes,
  wordsOf,
} from "../../scalars.js";
import type { CpuEngine } from "../cpu-engine.js";
import type { Columns } from "../table/sequential.js";

export interface OutputColumn<T extends ScalarType> {
  readonly output: ColumnOutput<T>;
  readonly array: ScalarArrays[T];
}

export interface ElementColumns<T extends ElementType> {
  readonly output: Output<T>;
  readonly bits: Columns;
}

/** The words of an element, column by column. */
export function elementWords(type: ElementType, element: Missing): number[][] {
  const elements = typeof type === "string" ? [element] : element;
  return scalarsOf<ScalarType>(type).map((scalar, i) =>
    wordsOf(scalar as Scalar, (elements as readonly (number | bigint)[])[i]),
  );
}

export class Outputs {
  readonly #deviceArrays: DeviceArray[] = [];
  #made = 0;

  constructor(
    private readonly engine: CpuEngine,
    private readonly to: Destination,
  ) {}

  /**
   * The operation's next column, in the order of its targets: a new one, or the next of them. Every element of it has
   * the 32-bit words `fill`; it is zero unless told.
   */
  make<T extends ScalarType>(type: T, length: number, fill?: readonly number[]): OutputColumn<T> {
    const to = this.to;
    if (typeof to !== "string") return inTarget(to[this.#made++] as ColumnTarget<T>, length, fill);
    const column = to === "host" ? this.#onHost(type, length) : this.#onDevice(type, length);
    if (fill) fillWords(column.array, fill);
    return column;
  }

  /** Columns for elements of a type; every element is `fill`, or zero. */
  makeFor<T extends ElementType>(type: T, length: number, fill?: Missing): ElementColumns<T> {
    const scalars = scalarsOf<ScalarType>(type);
    const fills = fill === undefined ? undefined : elementWords(type, fill);
    const columns = scalars.map((scalar, i) => this.make(scalar, length, fills?.[i]));
    return {
      output: elementsOf<ColumnOutput>(
        type,
        columns.map(({ output }) => output as ColumnOutput),
      ) as Output<T>,
      bits: columns.map(({ array }) => asBits(array)),
    };
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
    const output = this.engine.newArray(type, length, true);
    this.#deviceArrays.push(output as unknown as DeviceArray);
    return { output, array: output.storage.host as ScalarArrays[T] };
  }
}

function inTarget<T extends ScalarType>(
  output: ColumnTarget<T>,
  length: number,
  fill?: readonly number[],
): OutputColumn<T> {
  const whole = output instanceof PinnedArray ? (output.storage.view as ScalarArrays[T]) : output;
  const array = firstOf<T>(whole, length);
  // what was there before is no result: elements that an operation leaves out are not written again
  if (fill) fillWords(array, fill);
  else asBytes(array).fill(0);
  return { output: output instanceof PinnedArray ? output : array, array };
}

/** Gives every element the same 32-bit words. */
function fillWords(array: ScalarArrays[ScalarType], words: readonly number[]): void {
  const bits = asBits(array);
  if (words.every((word) => word === words[0])) bits.fill(words[0]);
  else for (let i = 0; i < bits.length; i++) bits[i] = words[i % words.length];
}
