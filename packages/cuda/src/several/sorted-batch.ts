/**
 * A batch of elements that several GPUs have, each GPU's own in the order of the GPUs that own their keys: what an
 * exchange begins with. Keys that very many elements have can be told apart: their elements stay where they are, or go to
 * all GPUs.
 */
import {
  asBytes,
  type ColumnInput,
  type Range,
  type Scalar,
  type Scratch,
  scalarWords,
} from "warpmap/engine";
import { blocksFor } from "../table/table-state.js";
import { type Bin, Exchange, type SortedTiles, type Source } from "./exchange.js";
import { type Gpus, settled } from "./gpus.js";
import type { HotHashes } from "./hot-keys.js";
import { Inputs, scratchOf } from "./inputs.js";
import { ownerKernels, SORT_BLOCKS, TILE, TILE_THREADS } from "./owner-kernels.js";
import type { Span } from "./pieces.js";

/** Bins that elements are sorted into at most: as kernels/owners.cu. */
export const MOST_BINS = 65;

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

/** Elements of a GPU: the hashes of all columns of their keys but the last, that one, and which of them are selected. */
interface Hashed extends Span {
  readonly hashes: Range | undefined;
  readonly last: HashedColumn;
  readonly mask: Range | undefined;
}

/** A GPU's elements by bin: those of all GPUs last. */
interface Sorted extends Span {
  readonly sorted: SortedTiles;
  readonly bins: readonly Bin[];
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
    private readonly sources: readonly Sorted[],
    private readonly inputs: Inputs,
    private readonly scratch: readonly Scratch[],
    private readonly chunks: number,
  ) {}

  /**
   * Finds the owners of keys.
   * @param arrived columns of the batch that were brought before
   */
  static async of(
    gpus: Gpus,
    spans: readonly Span[],
    batch: Batch,
    chunks = 1,
    arrived?: Inputs,
  ): Promise<SortedBatch> {
    const scratch = scratchOf(gpus);
    try {
      const inputs = arrived ?? new Inputs(gpus, spans, scratch);
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
          const others = own.slice(0, -1);
          const hashes =
            others.length > 0 ? await hashesOf(gpus, span, scratch[span.gpu], others) : undefined;
          hashed[s] = { ...span, hashes, last: own.at(-1) as HashedColumn, mask: masks?.[s] };
          return sort(gpus, hashed[s], scratch[span.gpu], chunks);
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
    const { gpus, sources, chunks } = this;
    return gpus.hosts.map((_, owner) => {
      const own = sources.flatMap(({ bins }) => bins.slice(owner * chunks, (owner + 1) * chunks));
      return own.reduce((sum, { count }) => sum + count, 0);
    });
  }

  /** The same batch, which this one gives up, with elements of hot keys in other places. */
  async split(hot: HotHashes): Promise<SortedBatch> {
    const { gpus, hashed, inputs, scratch, chunks } = this;
    const sources = await settled(hashed.map((each) => sort(gpus, each, scratch[each.gpu], chunks, hot)));
    return new SortedBatch(gpus, hashed, sources, inputs, scratch, chunks);
  }

  /** A chunk's elements, to be exchanged by the streams of `on`. */
  exchange(chunk: number, on: Gpus, scratch: readonly Scratch[] = scratchOf(on)): Exchange {
    const { gpus, chunks } = this;
    const sources = this.sources.map(({ bins, ...source }): Source => {
      const owned = gpus.hosts.map((_, owner) => bins[owner * chunks + chunk]);
      return { ...source, owned, ofAll: bins[gpus.count * chunks + chunk] };
    });
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

/** Sorts a GPU's elements by bin: the chunks of each owner, and with hot keys those of all. */
async function sort(
  gpus: Gpus,
  { gpu: OWN, first, count: COUNT, hashes, last, mask }: Hashed,
  scratch: Scratch,
  CHUNKS: number,
  hot?: HotHashes,
): Promise<Sorted> {
  const { gpu } = gpus.hosts[OWN];
  const OWNERS = gpus.count * CHUNKS;
  const BINS = OWNERS + (hot ? CHUNKS : 0);
  const tiles = Math.ceil(COUNT / TILE);
  const buffer = async (words: number, usage?: number): Promise<Range> => ({
    buffer: await scratch.buffer(4 * words + 4, usage),
  });
  const sorted = {
    order: await buffer(COUNT / 2),
    counts: await buffer(BINS * tiles),
    begins: await buffer(BINS * tiles),
  };
  // where the host reads it: a copy would wait for those of results that go back
  const starts = await buffer(BINS, gpu.traits.hostMemory);
  const listed = hot && (await buffer(hot.hashes.length));
  if (listed) gpu.write(listed.buffer, 0, asBytes(hot.hashes));
  const [sort, offsets] = await Promise.all([
    gpu.compile(ownerKernels.sort, { WORKGROUP: TILE_THREADS } as never),
    gpu.compile(ownerKernels.offsets, { WORKGROUP: 1024 } as never),
  ]);
  const into = new Uint8Array(4 * (BINS + 1));
  const { column, params } = last;
  const bindings = { ...sorted, column, hashes, mask, hot: listed };
  const bins = { OWNERS, CHUNKS, OWN, HOT: hot?.hashes.length ?? 0, STAYING: hot?.staying ?? 0 };
  await gpu.submit(
    "owners",
    (recorder) => {
      recorder.dispatch(sort, bindings, { ...params, ...bins, COUNT }, Math.min(SORT_BLOCKS, tiles));
      recorder.dispatch(offsets, { counts: sorted.counts, starts }, { BINS, SHARES: tiles }, 1);
    },
    [{ buffer: starts.buffer, offset: 0, into }],
  );
  const ends = Array.from(new Uint32Array(into.buffer));
  const counted = ends
    .slice(0, -1)
    .map((start, bin) => ({ bin, first: start, count: ends[bin + 1] - start }));
  return { gpu: OWN, first, count: COUNT, sorted, bins: counted };
}
