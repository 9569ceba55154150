/**
 * A batch of elements that several GPUs have, each GPU's own in the order of the GPUs that own their keys: what an
 * exchange begins with. Keys that very many elements have can be told apart: their elements stay where they are, or go to
 * all GPUs.
 */
import { asBytes, type ColumnInput, type Range, type Scalar, Scratch, scalarWords } from "warpmap/engine";
import { BUSY_BLOCKS, blocksFor } from "../table/table-state.js";
import { Exchange, type Source } from "./exchange.js";
import { type Gpus, settled } from "./gpus.js";
import type { HotHashes } from "./hot-keys.js";
import { Inputs } from "./inputs.js";
import { ownerKernels } from "./owner-kernels.js";
import type { Span } from "./pieces.js";

/** Bins that elements are sorted into at most: as kernels/owners.cu. */
export const MOST_BINS = 65;
/** Warps of a block: each has a share of the elements. */
const WARPS = 8;

export interface KeyPart {
  readonly column: ColumnInput;
  /** Of the column's elements: a key has one, or of words several. */
  readonly type: Scalar;
  readonly each?: number;
}

/** Keys of a batch, and its mask: elements that it leaves out have no owner. */
interface Batch {
  readonly keys: readonly KeyPart[];
  readonly seed: number;
  readonly where?: ColumnInput<"u8"> | undefined;
}

/** Elements of a GPU: their hashes, and which of them are selected. */
interface Hashed extends Span {
  readonly hashes: Range;
  readonly mask: Range | undefined;
}

interface HashedColumn {
  readonly column: Range;
  readonly params: {
    readonly WORDS: number;
    readonly FLOAT: number;
    readonly FIRST: number;
    readonly SEED: number;
  };
}

/** A batch in the order of the owners of its elements, and of an owner's by chunks: equal keys are in the same one. */
export class SortedBatch {
  private constructor(
    private readonly gpus: Gpus,
    private readonly hashed: readonly Hashed[],
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
      const columns = await settled(
        batch.keys.map(({ column, type, each }) => inputs.of(type, column, each)),
      );
      const masks = batch.where && (await inputs.of("u8", batch.where as ColumnInput));
      const hashed: Hashed[] = [];
      const sources = await settled(
        spans.map(async (span, s) => {
          const own = hashedColumns(
            batch,
            columns.map((column) => column[s]),
          );
          const hashes = await hashesOf(gpus, span, scratch[span.gpu], own.slice(0, -1));
          hashed[s] = { ...span, hashes, mask: masks?.[s] };
          return sort(gpus, hashed[s], scratch[span.gpu], chunks, { last: own.at(-1) });
        }),
      );
      return new SortedBatch(gpus, hashed, sources, inputs, scratch, chunks);
    } catch (error) {
      gpus.release(scratch);
      throw error;
    }
  }

  /** How many elements each GPU owns. */
  get owned(): number[] {
    const sum = (owner: number) =>
      this.sources.reduce((all, { counts }) => all + total(this.#own(counts, owner)), 0);
    return this.gpus.hosts.map((_, owner) => sum(owner));
  }

  #own(of: readonly number[], owner: number): readonly number[] {
    return of.slice(owner * this.chunks, (owner + 1) * this.chunks);
  }

  /** The same batch, which this one gives up, with elements of hot keys in other places. */
  async split(hot: HotHashes): Promise<SortedBatch> {
    const { gpus, hashed, inputs, scratch, chunks } = this;
    const sources = await settled(hashed.map((each) => sort(gpus, each, scratch[each.gpu], chunks, { hot })));
    return new SortedBatch(gpus, hashed, sources, inputs, scratch, chunks);
  }

  /** A chunk's elements, to be exchanged by the streams of `on`. */
  exchange(chunk: number, on: Gpus, scratch: readonly Scratch[] = scratchOf(on)): Exchange {
    const { gpus, chunks } = this;
    const ofChunk = (of: readonly number[]) => gpus.hosts.map((_, owner) => of[owner * chunks + chunk]);
    const all = gpus.count * chunks + chunk;
    const sources = this.sources.map((source) => ({
      ...source,
      counts: ofChunk(source.counts),
      starts: ofChunk(source.starts),
      ofAll: { FROM: source.starts[all] ?? 0, COUNT: source.counts[all] ?? 0 },
    }));
    return new Exchange(on, sources, scratch, this.inputs);
  }

  /** All elements of a batch of one chunk, with which the batch is given back. */
  whole(): Exchange {
    return this.exchange(0, this.gpus, this.scratch);
  }

  release(): void {
    this.gpus.release(this.scratch);
  }
}

export const scratchOf = (gpus: Gpus): Scratch[] => gpus.hosts.map(({ gpu }) => new Scratch(gpu));
const total = (of: readonly number[]) => of.reduce((sum, count) => sum + count, 0);

export function hashedColumns(
  { keys, seed }: Omit<Batch, "where">,
  columns: readonly Range[],
): HashedColumn[] {
  return columns.map((column, i) => {
    const { type, each = 1 } = keys[i];
    const [WORDS, FLOAT] = [scalarWords[type] * each, Number(type[0] === "f")];
    return { column, params: { WORDS, FLOAT, FIRST: Number(i === 0), SEED: seed } };
  });
}

/** The hashes, by columns, by which a GPU's elements have owners. */
export async function hashesOf(
  gpus: Gpus,
  { gpu: at, count: COUNT }: Span,
  scratch: Scratch,
  columns: readonly HashedColumn[],
): Promise<Range> {
  const { gpu } = gpus.hosts[at];
  const hashes = { buffer: await scratch.buffer(4 * COUNT + 4) };
  const hash = await gpu.compile(ownerKernels.hash, {});
  await gpu.submit("owners", (recorder) => {
    for (const { column, params } of columns)
      recorder.dispatch(hash, { column, hashes }, { ...params, COUNT }, blocksFor(COUNT));
  });
  return hashes;
}

/**
 * Puts the numbers of a GPU's elements into the order of their owners; counts have those of all GPUs last.
 * @param how the column that hashes have yet to take in, if any; and hot keys
 */
async function sort(
  gpus: Gpus,
  { gpu: OWN, first, count: COUNT, hashes, mask }: Hashed,
  scratch: Scratch,
  CHUNKS: number,
  { last, hot }: { readonly last?: HashedColumn | undefined; readonly hot?: HotHashes },
): Promise<Source> {
  const { gpu } = gpus.hosts[OWN];
  const OWNERS = gpus.count * CHUNKS;
  const BINS = OWNERS + (hot ? CHUNKS : 0);
  const blocks = Math.min(blocksFor(COUNT), BUSY_BLOCKS);
  const SHARES = blocks * WARPS;
  const buffer = async (words: number): Promise<Range> => ({ buffer: await scratch.buffer(4 * words + 4) });
  const [order, counted, starts] = [await buffer(COUNT), await buffer(BINS * SHARES), await buffer(BINS + 1)];
  const listed = hot && (await buffer(hot.hashes.length));
  if (listed) gpu.write(listed.buffer, 0, asBytes(hot.hashes));
  const [count, offsets, place] = await Promise.all([
    gpu.compile(ownerKernels.count, {}),
    gpu.compile(ownerKernels.offsets, { WORKGROUP: 1024 } as never),
    gpu.compile(ownerKernels.place, {}),
  ]);
  const into = new Uint8Array(4 * (BINS + 1));
  const bindings = { hashes, mask, hot: listed, counts: counted };
  const params = { COUNT, OWNERS, CHUNKS, OWN, HOT: hot?.hashes.length ?? 0, STAYING: hot?.staying ?? 0 };
  await gpu.submit(
    "owners",
    (recorder) => {
      recorder.dispatch(count, { ...bindings, column: last?.column }, { ...params, ...last?.params }, blocks);
      recorder.dispatch(offsets, { counts: counted, starts }, { BINS, SHARES }, 1);
      recorder.dispatch(place, { ...bindings, order }, params, blocks);
    },
    [{ buffer: starts.buffer, offset: 0, into }],
  );
  const ends = Array.from(new Uint32Array(into.buffer));
  const counts = ends.slice(1).map((end, bin) => end - ends[bin]);
  return {
    gpu: OWN,
    first,
    count: COUNT,
    order,
    counts,
    starts: ends.slice(0, -1),
    ofAll: { FROM: 0, COUNT: 0 },
  };
}
