/**
 * A batch of elements that several GPUs have, and that other GPUs' tables own by their keys: each GPU puts its own into
 * the order of the owners and writes their columns into the owners' memory; results come back the same way. Where one
 * GPU cannot reach another's memory, the driver copies what was put together.
 */
import {
  type ColumnInput,
  type DeviceArray,
  type GpuBuffer,
  getOrMake,
  type Kernel,
  type KernelSource,
  type Range,
  type Readback,
  type Recorder,
  type ScalarType,
  type Scratch,
  scalarBytes,
} from "warpmap/engine";
import { addressOf } from "../runtime/memory.js";
import { blocksFor } from "../table/table-state.js";
import { type Gpus, settled } from "./gpus.js";
import { type Inputs, rangeOf, scratchOf } from "./inputs.js";
import { MOVE_BLOCKS, ownerKernels, TILE, TILE_THREADS } from "./owner-kernels.js";
import type { Span } from "./pieces.js";

/** Elements that one GPU reads. */
export interface Source extends Span {
  readonly sorted: SortedTiles;
  /** Those that each owner gets. */
  readonly owned: readonly Bin[];
  /** Those that all owners get besides: of rows alone, which nothing comes back of. */
  readonly ofAll: Bin | undefined;
}

/** What kernels/owners.cu makes: the elements of each tile by bin, and how many they are. */
export interface SortedTiles {
  readonly order: Range;
  readonly counts: Range;
  readonly begins: Range;
}

/** A bin's elements, one after another where all are in the order of bins. */
export interface Bin {
  readonly bin: number;
  readonly first: number;
  readonly count: number;
}

/** Prefix sums. */
export function startsOf(counts: readonly number[]): number[] {
  let sum = 0;
  return counts.map((count) => {
    sum += count;
    return sum - count;
  });
}

interface Memory {
  readonly buffer: GpuBuffer;
  readonly offset: number;
}

/** Elements of a source that an owner has: in its memory, and where the source's GPU reads and writes them. */
interface Part extends Bin {
  readonly owner: number;
  readonly there: Memory;
  readonly at: Memory;
}

/** A column whose elements go to their owners, or of results that come back. */
interface Moving<P extends string, B extends string> {
  /** Of an element. */
  readonly bytes: number;
  /** Where an owner's elements begin. */
  readonly there: (owner: number) => Memory;
  readonly record: (recorder: Recorder, move: Move<P, B>) => void;
}

type MovingBy<K> = K extends KernelSource<infer P, infer B, never> ? Moving<P, B> : never;

/** What a source does with a column. */
interface Move<P extends string, B extends string> {
  readonly source: Source;
  readonly s: number;
  readonly parts: readonly Part[];
  readonly kernel: Kernel<P, B>;
  readonly bindings: SortedTiles & {
    /** The parts, as kernels read them. */
    readonly segments: Range;
  };
  readonly params: { readonly TILES: number; readonly SEGMENTS: number; readonly BYTES: number };
  readonly blocks: number;
}

/** A column of results, as it comes back from the owners. */
export interface ResultColumn {
  readonly type: ScalarType;
  /** In the order of `deliver`; null where an owner has none. */
  readonly results: readonly (DeviceArray | null)[];
  /** For each source the place of its first element. */
  readonly to: readonly Range[];
  /** The words of what elements without an owner get. */
  readonly absent: readonly number[];
}

/** What brings results to where a batch's elements came from. */
export interface WayBack {
  /** Memory of a GPU until it is released. @param on whose streams write it */
  scratchOf(gpu: number, on: Gpus): Scratch;
  /**
   * @param reads of each source, when all is there
   * @param on whose streams do it
   */
  bringBack(
    columns: readonly ResultColumn[],
    reads: readonly (readonly Readback[])[],
    on: Gpus,
  ): Promise<void>;
}

/** Bytes of a part as kernels read it. */
const SEGMENT_BYTES = 16;

function segmentsOf(parts: readonly Part[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(SEGMENT_BYTES * parts.length));
  for (const [i, { at, bin }] of parts.entries()) {
    bytes.setBigUint64(SEGMENT_BYTES * i, BigInt(addressOf(at)), true);
    bytes.setUint32(SEGMENT_BYTES * i + 8, bin, true);
  }
  return new Uint8Array(bytes.buffer);
}

export class Exchange implements WayBack {
  /** Elements that each owner gets, and all of them. */
  readonly counts: readonly number[];
  readonly total: number;
  /** Elements that another GPU gets than the one that had them. */
  readonly moved: number;
  /** Where the elements of each source (the first index) begin among an owner's. */
  readonly #bases: readonly (readonly number[])[];
  /** Memory of each GPU, by whose streams write it. */
  readonly #scratch: Map<Gpus, readonly Scratch[]>;

  /** @param gpus whose streams bring elements to their owners */
  constructor(
    private readonly gpus: Gpus,
    private readonly sources: readonly Source[],
    scratch: readonly Scratch[],
    /** Columns of the sources in their memory. */
    private readonly inputs: Inputs,
  ) {
    this.#scratch = new Map([[gpus, scratch]]);
    const owners = gpus.hosts.map((_, owner) => owner);
    const received = owners.map((owner) =>
      sources.map(({ owned, ofAll }) => owned[owner].count + (ofAll?.count ?? 0)),
    );
    const starts = received.map(startsOf);
    this.#bases = sources.map((_, s) => owners.map((owner) => starts[owner][s]));
    this.counts = received.map((counts) => counts.reduce((sum, count) => sum + count, 0));
    this.total = this.counts.reduce((sum, count) => sum + count, 0);
    this.moved = sources.reduce(
      (sum, { gpu, owned, ofAll }) =>
        sum + owned.reduce((all, { count }, owner) => all + (owner === gpu ? 0 : count), ofAll?.count ?? 0),
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
    const { gpus, counts } = this;
    const bytes = scalarBytes[type] * each;
    const buffers = await settled(
      counts.map((count, owner) => this.scratchOf(owner).buffer(count * bytes + 4)),
    );
    const column: MovingBy<typeof ownerKernels.send> = {
      bytes,
      there: (owner) => ({ buffer: buffers[owner], offset: 0 }),
      record(recorder, { source, s, ...move }) {
        const params = { ...move.params, BASE: source.first };
        recorder.dispatch(move.kernel, { ...move.bindings, column: inputs[s] }, params, move.blocks);
        for (const { owner, at, there, count } of move.parts)
          if (at !== there)
            gpus.copy(source.gpu, { ...at, gpu: source.gpu }, { ...there, gpu: owner }, count * bytes);
      },
    };
    await this.#submit(gpus, ownerKernels.send, [column]);
    return counts.map((count, owner) => gpus.view(owner, type, count * each, { buffer: buffers[owner] }));
  }

  async bringBack(
    columns: readonly ResultColumn[],
    reads: readonly (readonly Readback[])[],
    on: Gpus,
  ): Promise<void> {
    const filling = await settled(on.hosts.map(({ gpu }) => gpu.compile(ownerKernels.fill, {})));
    const moving = columns.map(({ type, results, to, absent }): MovingBy<typeof ownerKernels.take> => {
      const bytes = scalarBytes[type];
      return {
        bytes,
        there: (owner) => rangeOf(results[owner] as DeviceArray),
        record(recorder, { source, s, ...move }) {
          if (source.owned.reduce((sum, { count }) => sum + count, 0) < source.count) {
            const [LOW, HIGH = 0] = absent;
            const params = { COUNT: source.count, BYTES: bytes, LOW, HIGH };
            recorder.dispatch(filling[source.gpu], { to: to[s] }, params, blocksFor(source.count));
          }
          for (const { owner, at, there, count } of move.parts)
            if (at !== there)
              on.copy(source.gpu, { ...there, gpu: owner }, { ...at, gpu: source.gpu }, count * bytes);
          recorder.dispatch(move.kernel, { ...move.bindings, to: to[s] }, move.params, move.blocks);
        },
      };
    });
    await this.#submit(on, ownerKernels.take, moving, reads);
  }

  /** Has all sources do at once what is recorded of each column, between what all GPUs do before and after. */
  async #submit<P extends string, B extends string>(
    on: Gpus,
    kernelSource: KernelSource<P, B, never>,
    columns: readonly Moving<P, B>[],
    reads: readonly (readonly Readback[])[] = [],
  ): Promise<void> {
    const moves = await settled(this.sources.map((_, s) => this.#movesOf(on, s, kernelSource, columns)));
    on.meet();
    const arrivals: Promise<void>[] = [];
    try {
      await settled(
        moves.map(async (own, s) => {
          const { gpu } = on.hosts[this.sources[s].gpu];
          const recording = (recorder: Recorder) => {
            for (const [c, move] of own.entries()) columns[c].record(recorder, move);
          };
          arrivals.push((await gpu.begin("exchange", recording, reads[s] ?? [])).arrived);
        }),
      );
      on.meet();
    } finally {
      // nothing is read any more when an error is told
      await Promise.allSettled(arrivals);
    }
    await settled(arrivals);
  }

  /** What a source does with each column. */
  async #movesOf<P extends string, B extends string>(
    on: Gpus,
    s: number,
    kernelSource: KernelSource<P, B, never>,
    columns: readonly Moving<P, B>[],
  ): Promise<Move<P, B>[]> {
    const source = this.sources[s];
    const { gpu } = on.hosts[source.gpu];
    const parts: Part[][] = [];
    for (const { bytes, there } of columns)
      parts.push(this.#partsOf(source, s, bytes, there, await this.#between(on, source, bytes)));
    const segments = segmentsOf(parts.flat());
    const buffer = await this.scratchOf(source.gpu, on).buffer(segments.length + 4);
    gpu.write(buffer, 0, segments);
    const starts = startsOf(parts.map(({ length }) => length));
    const TILES = Math.ceil(source.count / TILE);
    const kernel = await gpu.compile(kernelSource, { WORKGROUP: TILE_THREADS } as never);
    return parts.map((own, c) => ({
      ...{ source, s, kernel, parts: own },
      bindings: { ...source.sorted, segments: { buffer, offset: SEGMENT_BYTES * starts[c] } },
      params: { TILES, SEGMENTS: own.length, BYTES: columns[c].bytes },
      blocks: own.length === 0 ? 0 : Math.min(MOVE_BLOCKS[on.isLane ? "beside" : "alone"], TILES),
    }));
  }

  /** A source's elements by owner, the next GPU's first: so the GPUs send to different ones. */
  #partsOf(
    source: Source,
    s: number,
    bytes: number,
    there: (owner: number) => Memory,
    between: GpuBuffer | undefined,
  ): Part[] {
    const { gpus } = this;
    const parts = this.#owners(source).flatMap((owner) => {
      const { buffer, offset } = there(owner);
      let place = this.#bases[s][owner];
      return [source.owned[owner], ...(source.ofAll ? [source.ofAll] : [])].map((bin): Part => {
        const own = { buffer, offset: offset + place * bytes };
        place += bin.count;
        const isCopied = between && !gpus.reaches(source.gpu, owner);
        return {
          owner,
          ...bin,
          there: own,
          at: isCopied ? { buffer: between, offset: bin.first * bytes } : own,
        };
      });
    });
    const turn = ({ owner }: Part) => (owner - source.gpu - 1 + gpus.count) % gpus.count;
    return parts.filter(({ count }) => count > 0).sort((a, b) => turn(a) - turn(b));
  }

  /** Memory of an owner for a column of its elements, zeroed. */
  async column<T extends ScalarType>(type: T, owner: number): Promise<DeviceArray<T>> {
    const count = this.counts[owner];
    const buffer = await this.scratchOf(owner).buffer(count * scalarBytes[type] + 4);
    await this.gpus.hosts[owner].gpu.submit("zero", (recorder) => recorder.clear(buffer));
    return this.gpus.view(owner, type, count, { buffer });
  }

  /** Memory of a GPU for the time of this exchange. @param on whose streams write it */
  scratchOf(gpu: number, on = this.gpus): Scratch {
    return getOrMake(this.#scratch, on, () => scratchOf(on))[gpu];
  }

  /** @param isDone no stream works on its memory any more */
  release(isDone?: boolean): void {
    this.gpus.release([...this.#scratch.values()].flat(), isDone);
  }

  /** Owners of some of a source's elements. */
  #owners({ owned, ofAll }: Source): number[] {
    return owned.flatMap(({ count }, owner) => (count + (ofAll?.count ?? 0) > 0 ? [owner] : []));
  }

  /** Memory for what goes through copies of the driver. */
  async #between(on: Gpus, source: Source, bytes: number): Promise<GpuBuffer | undefined> {
    const reachesAll = on.hosts.every((_, owner) => on.reaches(source.gpu, owner));
    return reachesAll ? undefined : this.scratchOf(source.gpu, on).buffer(source.count * bytes + 4);
  }
}
