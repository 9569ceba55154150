/**
 * A batch of elements that several GPUs have, and that other GPUs' tables own by their keys: each GPU puts its own into
 * the order of the owners and writes their columns into the owners' memory; results come back the same way. Where one
 * GPU cannot reach another's memory, the driver copies what was put together.
 */
import {
  type ColumnInput,
  DeviceArray,
  type GpuBuffer,
  getOrMake,
  PinnedArray,
  placeOf,
  type Range,
  type Readback,
  type Recorder,
  type Scalar,
  type ScalarType,
  Scratch,
  scalarBytes,
  scalarWords,
} from "warpmap/engine";
import { firstOn } from "../table/partitions.js";
import { blocksFor } from "../table/table-state.js";
import { type Gpus, settled } from "./gpus.js";
import { ownerKernels } from "./owner-kernels.js";
import { overlaps, piecesOf, type Span } from "./pieces.js";

/** A column that is part of a key. */
export interface KeyPart {
  readonly column: ColumnInput;
  /** Of the column's elements: a key has one, or of words several. */
  readonly type: Scalar;
  readonly each?: number;
}

/** Elements that one GPU reads. */
interface Source extends Span {
  /** Their numbers, by owner. */
  readonly order: Range;
  /** How many of them each owner gets, and where they begin in `order`. */
  readonly counts: readonly number[];
  readonly starts: readonly number[];
}

/** Elements, or rows of a table, of a GPU in a round: 128 MiB a column of 4 bytes. */
export const ROUND = 2 ** 25;

/** One round of work, and the memory that it takes. */
interface Round {
  /** @param isDone no stream works on it any more */
  release(isDone?: boolean): void;
}

/** What a round's work is made of. */
interface RoundWork<R extends Round> {
  /** Brings elements to their owners, by the streams of `on`. */
  exchange(round: number, on: Gpus): Promise<R>;
  /** What each GPU does with its own. It may answer what brings results back. */
  work(round: R): Promise<(() => Promise<void>) | undefined>;
  /** Called when the round is done. */
  done?(round: R): void;
}

/**
 * Works in rounds. Where there are several, each is exchanged by other streams while the one before it is worked on and
 * results of the one before that go back; a round that begins has all that it reads, and what is given back nobody uses.
 */
export async function inRounds<R extends Round>(
  gpus: Gpus,
  rounds: number,
  { exchange, work, done }: RoundWork<R>,
): Promise<void> {
  const on = rounds > 1 ? gpus.lanes : gpus;
  const open = new Set<R>();
  const ahead = async (i: number) => {
    if (i >= rounds) return undefined;
    const round = await exchange(i, on);
    open.add(round);
    if (on !== gpus) await on.arrived();
    return round;
  };
  const behind = async (round: R | undefined, goBack: (() => Promise<void>) | undefined) => {
    if (!round) return;
    await goBack?.();
    if (goBack && on !== gpus) await on.arrived();
    round.release(on !== gpus);
    open.delete(round);
    done?.(round);
  };
  // what is read was written by these streams
  if (on !== gpus) gpus.fence();
  try {
    let before: R | undefined;
    let goBack: (() => Promise<void>) | undefined;
    let now = await ahead(0);
    for (let i = 0; now || before; i++) {
      const [next, answer] = await settled<unknown>([
        ahead(i + 1),
        now && work(now),
        behind(before, goBack),
      ] as Promise<unknown>[]);
      // results are there for the streams that bring them back
      if (on !== gpus) on.after(gpus);
      [before, goBack, now] = [now, answer as typeof goBack, next as R | undefined];
    }
  } finally {
    if (on !== gpus) gpus.fence();
    for (const round of open) round.release();
  }
}

/** What plans say of exchanges. */
export function exchangeRemark(
  moved: number,
  total: number,
  what: string,
  gpus: number,
  rounds: number,
): string {
  const went = `${moved} of ${total} ${what} went to another of ${gpus} GPUs`;
  return rounds === 1 ? went : `${went} in ${rounds} rounds, each while the one before it was worked on`;
}

/** Prefix sums. */
export function startsOf(counts: readonly number[]): number[] {
  let sum = 0;
  return counts.map((count) => {
    sum += count;
    return sum - count;
  });
}

/** A batch in the order of the owners of its elements, and of an owner's by chunks: equal keys are in the same one. */
export class SortedBatch {
  private constructor(
    private readonly gpus: Gpus,
    private readonly sources: readonly Source[],
    private readonly inputs: Inputs,
    private readonly scratch: readonly Scratch[],
    private readonly chunks: number,
  ) {}

  /** Finds the owners of keys. */
  static async of(gpus: Gpus, spans: readonly Span[], batch: Batch, chunks = 1): Promise<SortedBatch> {
    const scratch = scratchOf(gpus);
    try {
      const inputs = new Inputs(gpus, spans, scratch);
      const sort = (span: Span, s: number) =>
        sortByOwner(gpus, span, scratch[span.gpu], batch, {
          chunks,
          inputOf: async (type, column, each) => (await inputs.of(type, column, each))[s],
        });
      return new SortedBatch(gpus, await settled(spans.map(sort)), inputs, scratch, chunks);
    } catch (error) {
      gpus.release(scratch);
      throw error;
    }
  }

  /** A chunk's elements, to be exchanged by the streams of `on`. */
  exchange(chunk = 0, on = this.gpus, scratch: readonly Scratch[] = scratchOf(on)): Exchange {
    const ofChunk = (of: readonly number[]) =>
      this.gpus.hosts.map((_, owner) => of[owner * this.chunks + chunk]);
    const sources = this.sources.map((source) => ({
      ...source,
      counts: ofChunk(source.counts),
      starts: ofChunk(source.starts),
    }));
    return new Exchange(on, sources, scratch, this.inputs);
  }

  /** All elements, with which the batch is given back. */
  whole(): Exchange {
    return this.exchange(0, this.gpus, this.scratch);
  }

  release(): void {
    this.gpus.release(this.scratch);
  }
}

const scratchOf = (gpus: Gpus): Scratch[] => gpus.hosts.map(({ gpu }) => new Scratch(gpu));

/** Columns in the memory of the GPUs that have a batch, brought there once. */
class Inputs {
  readonly #known = new Map<ColumnInput, Promise<readonly Range[]>>();

  constructor(
    private readonly gpus: Gpus,
    private readonly spans: readonly Span[],
    private readonly scratch: readonly Scratch[],
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
}

export class Exchange {
  /** Elements that each owner gets, and all of them. */
  readonly counts: readonly number[];
  readonly total: number;
  /** Elements that another GPU gets than the one that had them. */
  readonly moved: number;
  /** Where the elements of each source (the first index) begin among an owner's. */
  readonly #bases: readonly (readonly number[])[];

  /** @param gpus whose streams do it */
  constructor(
    readonly gpus: Gpus,
    private readonly sources: readonly Source[],
    /** Memory of each GPU. */
    private readonly scratch: readonly Scratch[],
    /** Columns of the sources in their memory. */
    private readonly inputs: Inputs,
  ) {
    const owners = gpus.hosts.map((_, owner) => owner);
    const received = owners.map((owner) => sources.map(({ counts }) => counts[owner]));
    const starts = received.map(startsOf);
    this.#bases = sources.map((_, s) => owners.map((owner) => starts[owner][s]));
    this.counts = received.map((counts) => counts.reduce((sum, count) => sum + count, 0));
    this.total = this.counts.reduce((sum, count) => sum + count, 0);
    this.moved = sources.reduce(
      (sum, { gpu, counts }) =>
        sum + counts.reduce((all, count, owner) => all + (owner === gpu ? 0 : count), 0),
      0,
    );
  }

  /**
   * The elements of a column at their owners, those of each in the order of the batch.
   * @param each elements of the column that are one of the batch
   */
  async deliver<T extends ScalarType>(type: T, column: ColumnInput<T>, each = 1): Promise<DeviceArray<T>[]> {
    return this.#gather(type, each, await this.inputs.of(type, column as ColumnInput, each, this.gpus));
  }

  /** The numbers of the elements in the batch, at their owners. */
  async numbers(): Promise<DeviceArray<"u32">[]> {
    return this.#gather("u32", 1, []);
  }

  async #gather<T extends ScalarType>(
    type: T,
    each: number,
    inputs: readonly Range[],
  ): Promise<DeviceArray<T>[]> {
    const { gpus, scratch, counts } = this;
    const bytes = scalarBytes[type] * each;
    const buffers = await settled(counts.map((count, owner) => scratch[owner].buffer(count * bytes + 4)));
    await settled(
      this.sources.map(async (source, s) => {
        const { gpu } = gpus.hosts[source.gpu];
        const gather = await gpu.compile(ownerKernels.gather, {});
        const between = await this.#between(source, bytes);
        for (const owner of this.#owners(source)) gpus.context(source.gpu).after(gpus.context(owner));
        await gpu.submit("exchange", (recorder) => {
          for (const owner of this.#owners(source)) {
            const [FROM, COUNT] = [source.starts[owner], source.counts[owner]];
            const to = { buffer: buffers[owner], offset: this.#bases[s][owner] * bytes };
            const isCopied = between && !gpus.reaches(source.gpu, owner);
            const at = isCopied ? { buffer: between, offset: FROM * bytes } : to;
            const bindings = { order: source.order, column: inputs[s], to: at };
            const params = { COUNT, FROM, BYTES: bytes, BASE: source.first };
            recorder.dispatch(gather, bindings, params, blocksFor(COUNT));
            if (isCopied)
              gpus.copy(source.gpu, { ...at, gpu: source.gpu }, { ...to, gpu: owner }, COUNT * bytes);
          }
        });
        for (const owner of this.#owners(source)) gpus.context(owner).after(gpus.context(source.gpu));
      }),
    );
    return counts.map((count, owner) => gpus.view(owner, type, count * each, { buffer: buffers[owner] }));
  }

  /**
   * Brings a column of results from the owners to where the elements came from.
   * @param results in the order of `deliver`; null where an owner has none
   * @param to for each source the place of its first element
   * @param absent the words of what elements without an owner get
   * @param reads from these places, when all is there
   */
  async bringBack(
    type: ScalarType,
    results: readonly (DeviceArray | null)[],
    to: readonly Range[],
    absent: readonly number[],
    reads: readonly (readonly Readback[])[],
  ): Promise<void> {
    const { gpus } = this;
    const bytes = scalarBytes[type];
    await settled(
      this.sources.map(async (source, s) => {
        const { gpu } = gpus.hosts[source.gpu];
        const [scatter, fill] = await Promise.all([
          gpu.compile(ownerKernels.scatter, {}),
          gpu.compile(ownerKernels.fill, {}),
        ]);
        const between = await this.#between(source, bytes);
        const selected = source.counts.reduce((sum, count) => sum + count, 0);
        for (const owner of this.#owners(source)) gpus.context(source.gpu).after(gpus.context(owner));
        const record: Parameters<typeof gpu.submit>[1] = (recorder) => {
          if (selected < source.count) {
            const [LOW, HIGH = 0] = absent;
            const params = { COUNT: source.count, BYTES: bytes, LOW, HIGH };
            recorder.dispatch(fill, { to: to[s] }, params, blocksFor(source.count));
          }
          for (const owner of this.#owners(source)) {
            const [FROM, COUNT] = [source.starts[owner], source.counts[owner]];
            const from = rangeOf(results[owner] as DeviceArray, this.#bases[s][owner] * bytes);
            const isCopied = between && !gpus.reaches(source.gpu, owner);
            const column = isCopied ? { buffer: between, offset: FROM * bytes } : from;
            if (isCopied)
              gpus.copy(source.gpu, { ...from, gpu: owner }, { ...column, gpu: source.gpu }, COUNT * bytes);
            const bindings = { order: source.order, column, to: to[s] };
            recorder.dispatch(scatter, bindings, { COUNT, FROM, BYTES: bytes }, blocksFor(COUNT));
          }
        };
        await gpu.submit("exchange", record, reads[s]);
        for (const owner of this.#owners(source)) gpus.context(owner).after(gpus.context(source.gpu));
      }),
    );
  }

  /** Memory of an owner for a column of its elements, zeroed. */
  async column<T extends ScalarType>(type: T, owner: number): Promise<DeviceArray<T>> {
    const count = this.counts[owner];
    const buffer = await this.scratch[owner].buffer(count * scalarBytes[type] + 4);
    await this.gpus.hosts[owner].gpu.submit("zero", (recorder) => recorder.clear(buffer));
    return this.gpus.view(owner, type, count, { buffer });
  }

  /** Memory of a GPU for the time of this exchange. */
  scratchOf(gpu: number): Scratch {
    return this.scratch[gpu];
  }

  /** @param isDone no stream works on its memory any more */
  release(isDone?: boolean): void {
    this.gpus.release(this.scratch, isDone);
  }

  /** Owners of some of a source's elements. */
  #owners({ counts }: Source): number[] {
    return counts.flatMap((count, owner) => (count > 0 ? [owner] : []));
  }

  /** Memory for what goes through copies of the driver. */
  async #between(source: Source, bytes: number): Promise<GpuBuffer | undefined> {
    const { gpus } = this;
    const reachesAll = gpus.hosts.every((_, owner) => gpus.reaches(source.gpu, owner));
    return reachesAll ? undefined : this.scratch[source.gpu].buffer(source.count * bytes + 4);
  }
}

/** Keys of a batch, and its mask: elements that it leaves out have no owner. */
interface Batch {
  readonly keys: readonly KeyPart[];
  readonly seed: number;
  readonly where?: ColumnInput<"u8"> | undefined;
}

/** Finds the owners of a GPU's elements, and puts their numbers into the order of these. */
async function sortByOwner(
  gpus: Gpus,
  span: Span,
  scratch: Scratch,
  { keys, seed, where }: Batch,
  {
    chunks,
    inputOf,
  }: { chunks: number; inputOf: (type: ScalarType, column: ColumnInput, each?: number) => Promise<Range> },
): Promise<Source> {
  const { gpu } = gpus.hosts[span.gpu];
  const { count: COUNT } = span;
  const OWNERS = gpus.count * chunks;
  const columns = await settled(keys.map(({ column, type, each }) => inputOf(type, column, each)));
  const mask = where && (await inputOf("u8", where as ColumnInput));
  const blocks = blocksFor(COUNT);
  const buffer = async (words: number): Promise<Range> => ({ buffer: await scratch.buffer(4 * words + 4) });
  const [hashes, order] = [await buffer(COUNT), await buffer(COUNT)];
  const [counted, starts] = [await buffer(OWNERS * blocks), await buffer(OWNERS + 1)];
  const [hash, count, offsets, place] = await Promise.all([
    gpu.compile(ownerKernels.hash, {}),
    gpu.compile(ownerKernels.count, {}),
    gpu.compile(ownerKernels.offsets, { WORKGROUP: 1024 } as never),
    gpu.compile(ownerKernels.place, {}),
  ]);
  const into = new Uint8Array(4 * (OWNERS + 1));
  await gpu.submit(
    "owners",
    (recorder) => {
      columns.forEach((column, i) => {
        const { type, each = 1 } = keys[i];
        const [WORDS, FLOAT] = [scalarWords[type] * each, Number(type[0] === "f")];
        const params = { COUNT, WORDS, FLOAT, FIRST: Number(i === 0), SEED: seed };
        recorder.dispatch(hash, { column, hashes }, params, blocks);
      });
      recorder.dispatch(count, { hashes, mask, counts: counted }, { COUNT, OWNERS }, blocks);
      recorder.dispatch(offsets, { counts: counted, starts }, { OWNERS, BLOCKS: blocks }, 1);
      recorder.dispatch(place, { hashes, mask, counts: counted, order }, { COUNT, OWNERS }, blocks);
    },
    [{ buffer: starts.buffer, offset: 0, into }],
  );
  const ends = Array.from(new Uint32Array(into.buffer));
  const counts = ends.slice(1).map((end, owner) => end - ends[owner]);
  return { ...span, order, counts, starts: ends.slice(0, -1) };
}

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
