/** Result columns of a call on several GPUs: on the host, in pinned memory, or in pieces where the batch's elements are. */
import {
  allocateUnfilled,
  asBytes,
  type ColumnOutput,
  type ColumnTarget,
  type Destination,
  DeviceArray,
  type Engine,
  firstOf,
  LimitError,
  newArray,
  PinnedArray,
  placeOf,
  type Range,
  type Readback,
  type ScalarArrays,
  type ScalarType,
  type Scratch,
  scalarBytes,
} from "warpmap/engine";
import type { WayBack } from "./exchange.js";
import { type Gpus, settled } from "./gpus.js";
import { cutArray, overlaps, piecesOf, type Span } from "./pieces.js";

/** What parts of the engine of several GPUs need of it. */
export interface SeveralHost {
  readonly engine: Engine;
  readonly gpus: Gpus;
  /** Of the hash that says who owns a key. */
  readonly seed: number;
  /** Slots of one GPU's table at most, for tests. */
  readonly mostSlots?: number | undefined;
  /** Sizes below which one GPU does the work; elements of a GPU in a round. Tests have their own. */
  readonly least: {
    readonly bytes?: number;
    readonly slots?: number;
    readonly rows?: number;
    /** Bytes of a side of a join that goes to all GPUs, at most. */
    readonly broadcast?: number;
    readonly round?: number;
    /** Rows of a GPU from which its own survey tells whether groups are few. */
    readonly surveyed?: number;
    /** Rows of a GPU for each group, from which on it groups them itself. */
    readonly ofGroup?: number;
  };
}

export class Columns {
  private constructor(
    private readonly host: SeveralHost,
    private readonly types: readonly ScalarType[],
    readonly outputs: readonly ColumnOutput[],
  ) {}

  /** @param spans where the elements of the results belong */
  static async create(
    host: SeveralHost,
    to: Destination,
    types: readonly ScalarType[],
    spans: readonly Span[],
  ): Promise<Columns> {
    const length = spans.reduce((sum, { count }) => sum + count, 0);
    const outputs: ColumnOutput[] = [];
    try {
      for (const [c, type] of types.entries()) {
        if (to === "device") {
          const make = ({ gpu, count }: Span) => {
            const { engine, gpu: runtime } = host.gpus.hosts[gpu];
            return newArray(engine, runtime, type, count);
          };
          const all = spans.length > 0 ? spans : [{ gpu: 0, first: 0, count: 0 }];
          outputs.push((await cutArray(host.engine, type, all, make)) as ColumnOutput);
        } else {
          const target = to === "host" ? hostColumn(type, length) : to[c];
          outputs.push(
            target instanceof PinnedArray ? target : firstOf(target as ScalarArrays["u8"], length),
          );
        }
      }
    } catch (error) {
      new Columns(host, types, outputs).#discard();
      throw error;
    }
    return new Columns(host, types, outputs);
  }

  /** Columns that are there. */
  static over(host: SeveralHost, arrays: readonly DeviceArray[]): Columns {
    return new Columns(
      host,
      arrays.map(({ type }) => type),
      arrays,
    );
  }

  /** Runs the call; when it throws, gives device results up. */
  async keepUnlessThrown(call: () => Promise<void>): Promise<void> {
    try {
      await call();
    } catch (error) {
      this.#discard();
      throw error;
    }
  }

  #discard(): void {
    for (const output of this.outputs) if (output instanceof DeviceArray) output.destroy();
  }

  /**
   * Takes a round's results in.
   * @param results of each column by owner
   * @param absent for each column the words of what elements without an owner get
   * @param on whose streams do it
   */
  async bringBack(
    exchange: WayBack,
    spans: readonly Span[],
    results: readonly (readonly (DeviceArray | null)[])[],
    absent: readonly (readonly number[])[],
    on: Gpus,
  ): Promise<void> {
    const bring = async (numbers: readonly number[]) => {
      const places = await settled(
        spans.map((span) =>
          settled(numbers.map((c) => this.#placeOf(c, span, exchange.scratchOf(span.gpu, on)))),
        ),
      );
      const columns = numbers.map((c, i) => ({
        ...{ type: this.types[c], results: results[c], absent: absent[c] },
        to: places.map((columns) => columns[i].at),
      }));
      const reads = places.map((columns) => columns.flatMap((place) => place.reads));
      await exchange.bringBack(columns, reads, on);
      for (const [i, c] of numbers.entries())
        await settled(spans.map((span, s) => this.#distribute(on, c, span, columns[i].to[s])));
    };
    const isStaged = (c: number) =>
      !(this.outputs[c] instanceof DeviceArray || this.outputs[c] instanceof PinnedArray);
    const numbers = [...this.outputs.keys()];
    // typed arrays come by way of pinned memory: that of one column at a time
    for (const some of [numbers.filter((c) => !isStaged(c)), ...numbers.filter(isStaged).map((c) => [c])])
      if (some.length > 0) await bring(some);
  }

  /** Where a range of a column comes first on its GPU, and what brings it from there to the host. */
  async #placeOf(c: number, span: Span, scratch: Scratch): Promise<Place> {
    const at = this.#inPlace(c, span);
    if (at) return { at, reads: [] };
    const buffer = await scratch.buffer(span.count * scalarBytes[this.types[c]] + 4);
    return { at: { buffer }, reads: this.#readsOf(c, span, { buffer }) };
  }

  /** Takes whole columns in, which lie on the GPUs of the spans. */
  async take(spans: readonly Span[], columns: readonly (readonly DeviceArray[])[]): Promise<void> {
    const takeSpan = async (span: Span, c: number) => {
      const { buffer, byteOffset: offset } = placeOf(columns[span.gpu][c]);
      const reads = this.#readsOf(c, span, { buffer, offset });
      if (span.count > 0) await this.host.gpus.hosts[span.gpu].gpu.submit("read", () => {}, reads);
    };
    await settled(this.types.flatMap((_, c) => spans.map((span) => takeSpan(span, c))));
  }

  /** Writes a range of all columns, device arrays, from arrays of a GPU. */
  async put(span: Span, columns: readonly DeviceArray[]): Promise<void> {
    for (const [c, column] of columns.entries()) {
      const { buffer, byteOffset: offset } = placeOf(column);
      await this.#distribute(this.host.gpus, c, span, { buffer, offset });
    }
  }

  /** Where a range of a column is, when it lies on the GPU of the span as a whole. */
  #inPlace(c: number, { gpu, first, count }: Span): Range | null {
    const output = this.outputs[c];
    if (!(output instanceof DeviceArray)) return null;
    const [part, ...others] = overlaps(piecesOf(output), first, first + count);
    if (part.gpu !== gpu || others.length > 0) return null;
    const { buffer, byteOffset } = placeOf(part.array);
    return { buffer, offset: byteOffset + part.from * scalarBytes[this.types[c]] };
  }

  /** Brings a range to the pieces where it belongs, when these are not where `#inPlace` says. */
  async #distribute(gpus: Gpus, c: number, span: Span, from: Range): Promise<void> {
    const output = this.outputs[c];
    if (!(output instanceof DeviceArray) || this.#inPlace(c, span)) return;
    const bytes = scalarBytes[this.types[c]];
    for (const part of overlaps(piecesOf(output), span.first, span.first + span.count)) {
      const { buffer, byteOffset } = placeOf(part.array);
      gpus.context(span.gpu).after(gpus.context(part.gpu));
      await gpus.hosts[span.gpu].gpu.submit("distribute", () =>
        gpus.copy(
          span.gpu,
          {
            gpu: span.gpu,
            buffer: from.buffer,
            offset: (from.offset ?? 0) + (part.first + part.from - span.first) * bytes,
          },
          { gpu: part.gpu, buffer, offset: byteOffset + part.from * bytes },
          (part.to - part.from) * bytes,
        ),
      );
      gpus.context(part.gpu).after(gpus.context(span.gpu));
    }
  }

  /** What brings a range of a column from a GPU to the host. */
  #readsOf(c: number, { first, count }: Span, { buffer, offset = 0 }: Range): Readback[] {
    const output = this.outputs[c];
    if (output instanceof DeviceArray) return [];
    const bytes = scalarBytes[this.types[c]];
    const [start, length] = [first * bytes, count * bytes];
    const into =
      output instanceof PinnedArray
        ? { buffer: placeOf(output).buffer, offset: start, length }
        : asBytes(output).subarray(start, start + length);
    return [{ buffer, offset, into }];
  }
}

/** A new column on the host. @throws LimitError when JavaScript has none that is as long */
function hostColumn(type: ScalarType, length: number): ColumnTarget {
  try {
    return allocateUnfilled(type, length) as ColumnTarget;
  } catch (cause) {
    const fix = 'Ask for output "device", and read that in pieces; or make calls with fewer elements.';
    throw new LimitError("memory", length * scalarBytes[type], Number.NaN, fix, { cause });
  }
}

interface Place {
  readonly at: Range;
  readonly reads: Readback[];
}
