/** Columns in the memory of the GPUs that read them. */
import {
  type ColumnInput,
  DeviceArray,
  getOrMake,
  LimitError,
  PinnedArray,
  placeOf,
  type Range,
  type Recorder,
  type ScalarType,
  Scratch,
  scalarBytes,
} from "warpmap/engine";
import { firstOn } from "../table/partitions.js";
import { type Gpus, settled } from "./gpus.js";
import { overlaps, piecesOf, type Span } from "./pieces.js";

/** Columns in the memory of the GPUs that have a batch, brought there once. */
export class Inputs {
  readonly #known = new Map<ColumnInput, Promise<readonly Range[]>>();

  /** @param gpus whose streams bring them */
  constructor(
    private readonly gpus: Gpus,
    private readonly spans: readonly Span[],
    private readonly scratch: readonly Scratch[] = scratchOf(gpus),
  ) {}

  /** @param on GPUs that read them, by other streams perhaps */
  of(type: ScalarType, column: ColumnInput, each = 1, on = this.gpus): Promise<readonly Range[]> {
    const { gpus, spans, scratch } = this;
    return getOrMake(this.#known, column, async () => {
      const ranges = await settled(
        spans.map((span) => inputOn(gpus, scratch[span.gpu], type, column, spanOf(span, each))),
      );
      on.after(gpus);
      return ranges;
    });
  }

  /** @param isDone no stream works on their memory any more */
  release(isDone?: boolean): void {
    this.gpus.release(this.scratch, isDone);
  }
}

interface TypedColumn {
  readonly column: ColumnInput;
  readonly type: ScalarType;
}

/** Columns of rounds: those of the next one come from the host while one is exchanged. */
export class InputsAhead {
  readonly #ahead = new AbortController();
  readonly #coming: Promise<Inputs>[] = [];

  /** @param gpus whose streams bring them */
  constructor(
    private readonly gpus: Gpus,
    private readonly rounds: readonly (readonly Span[])[],
    private readonly columns: readonly TypedColumn[],
  ) {}

  /** Those of a round, which comes after the one before. @param on streams that read them */
  async of(round: number, on: Gpus): Promise<Inputs> {
    const early = this.#coming[round];
    this.#coming[round] = early
      ? early.catch((error) => {
          // ahead of its turn there was no memory for it
          if (error instanceof LimitError) return this.#come(round);
          throw error;
        })
      : this.#come(round);
    const inputs = await this.#coming[round];
    on.after(this.gpus);
    if (round + 1 < this.rounds.length) {
      this.#coming[round + 1] = this.#come(round + 1, this.#ahead.signal);
      this.#coming[round + 1].catch(() => {}); // told when its turn comes
    }
    return inputs;
  }

  /** @param ahead there where the round's turn is still to come */
  async #come(round: number, ahead?: AbortSignal): Promise<Inputs> {
    const inputs = new Inputs(this.gpus, this.rounds[round], scratchOf(this.gpus, ahead));
    try {
      await settled(this.columns.map(({ type, column }) => inputs.of(type, column)));
      return inputs;
    } catch (error) {
      inputs.release();
      throw error;
    }
  }

  /** Ends what is on its way, and gives back what no round took. */
  async end(): Promise<void> {
    this.#ahead.abort();
    for (const each of await Promise.allSettled(this.#coming)) {
      if (each.status === "fulfilled") each.value.release();
    }
  }
}

/** @param ahead as Scratch says */
export const scratchOf = ({ hosts }: Gpus, ahead?: AbortSignal): Scratch[] =>
  hosts.map(({ gpu }) => new Scratch(gpu, ahead));

/** The range of a column of which so many elements are one of the batch. */
const spanOf = ({ gpu, first, count }: Span, each = 1): Span => ({
  gpu,
  first: first * each,
  count: count * each,
});

/** A range of a column in a GPU's memory: where it is, or a copy. */
export async function inputOn<T extends ScalarType>(
  gpus: Gpus,
  scratch: Scratch,
  type: T,
  column: ColumnInput<T>,
  { gpu, first, count }: Span,
): Promise<Range> {
  const bytes = scalarBytes[type];
  if (column instanceof PinnedArray) {
    const buffer = await scratch.buffer(count * bytes + 4);
    const { buffer: pinned } = placeOf(column);
    const copy = (recorder: Recorder) => recorder.copy(pinned, first * bytes, buffer, 0, count * bytes);
    await gpus.hosts[gpu].gpu.submit("pinned", copy);
    return { buffer };
  }
  if (!(column instanceof DeviceArray)) return firstOn(await scratch.input(type, column, { first, count }));
  const parts = overlaps(piecesOf(column), first, first + count);
  const [part] = parts;
  if (parts.length === 1 && part.gpu === gpu && (part.from * bytes) % 4 === 0) {
    return firstOn(await scratch.input(type, part.array, { first: part.from, count }));
  }
  const buffer = await scratch.buffer(count * bytes + 4);
  for (const each of parts) gpus.context(gpu).after(gpus.context(each.gpu));
  await gpus.hosts[gpu].gpu.submit("collect", () => {
    for (const { gpu: of, array, from, to, first: start } of parts) {
      const target = { gpu, buffer, offset: (start + from - first) * bytes };
      if (to > from)
        gpus.copy(gpu, { gpu: of, ...rangeOf(array, from * bytes) }, target, (to - from) * bytes);
    }
  });
  for (const each of parts) gpus.context(each.gpu).after(gpus.context(gpu));
  return { buffer };
}

/** The same as an array of that GPU, which lasts as long as the memory. */
export async function arrayAt<T extends ScalarType>(
  gpus: Gpus,
  scratch: Scratch,
  type: T,
  column: ColumnInput<T>,
  span: Span,
): Promise<DeviceArray<T>> {
  return gpus.view(span.gpu, type, span.count, await inputOn(gpus, scratch, type, column, span));
}

/** An array of one GPU from a byte on. */
export function rangeOf(array: DeviceArray, byte = 0) {
  const { buffer, byteOffset } = placeOf(array);
  return { buffer, offset: byteOffset + byte };
}
