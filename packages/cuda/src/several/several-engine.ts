/**
 * Several GPUs behind one device. Large tables are shared by the hash of their keys, large arrays lie in equal pieces;
 * small ones, and what is not shared, are the first GPU's, whose engine does with them what it does alone.
 */
import {
  type BareEngine,
  type BulkCall,
  Carrier,
  type DeviceArray,
  type Dictionary,
  type DictionarySpec,
  type EngineInfo,
  type Interop,
  type KeyType,
  type ListOperations,
  lazily,
  type MemoryUse,
  PinnedArray,
  type PinnedStorage,
  type PinnedUse,
  type Place,
  placeOf,
  processSeed,
  type RowOperations,
  type ScalarArrays,
  type ScalarType,
  Scratch,
  type SketchOperations,
  scalarBytes,
  type Table,
  type TableSpec,
  type ValueType,
} from "warpmap/engine";
import type { CudaEngine, CudaRequest } from "../cuda-engine.js";
import type { Loss } from "../driver/context.js";
import { Gpus, settled } from "./gpus.js";
import { arrayAt, rangeOf } from "./inputs.js";
import { OneGpuTable } from "./one-gpu-table.js";
import { arrayOn, cutArray, isOnFirstGpu, piecesOf, type Span, spansOf } from "./pieces.js";
import type { SeveralHost } from "./results.js";
import { severalInterop } from "./several-interop.js";
import { severalRows } from "./several-rows.js";
import { severalSketches } from "./several-sketches.js";
import { SeveralTable } from "./several-table.js";

/**
 * Slots of a table below which one GPU has it all: calls on it wait for no exchange. As measured on two H200, by batches of
 * half as many keys (bench/several-crossovers.mjs).
 */
const SHARED_SLOTS = 2 ** 26;

/** Slots that a table has for each GPU at most: as many as a hash of 32 bits has values. */
const SLOTS_EACH = 2 ** 32;

/** Sizes from which on work is shared, for tests. */
export interface SeveralTuning {
  readonly least?: SeveralHost["least"];
  /** Slots of one GPU's table at most. */
  readonly mostSlots?: number;
  /** False: as if no GPU could reach another's memory. */
  readonly peers?: boolean;
}

export class SeveralEngine implements BareEngine {
  readonly lost: Promise<{ reason: string; message: string }>;
  readonly traits: CudaEngine["traits"];
  readonly defaults: CudaEngine["defaults"];
  readonly hashSeed: number;
  readonly rows = lazily<RowOperations>(async () => {
    const parts = await Promise.all(this.engines.map((engine) => engine.rows()));
    return severalRows(this.#host, this.#carrier.show(parts[0]), parts);
  });
  readonly lists = lazily<ListOperations>(async () => this.#carrier.show(await this.#first.lists()));
  readonly sketches = lazily<SketchOperations>(async () =>
    severalSketches(this.#host, await Promise.all(this.engines.map((engine) => engine.sketches()))),
  );
  readonly interop: Interop;
  readonly #gpus: Gpus;
  readonly #first: CudaEngine;
  readonly #host: SeveralHost;
  readonly #carrier: Carrier;

  /** @param engines of the GPUs, one at least, which this one destroys */
  constructor(
    readonly engines: readonly CudaEngine[],
    readonly info: EngineInfo,
    { seed = processSeed(), least = {}, mostSlots, peers }: Pick<CudaRequest, "seed"> & SeveralTuning,
  ) {
    [this.#first] = engines;
    const { traits, defaults } = this.#first;
    this.traits = { ...traits, maxSlots: engines.length * (mostSlots ?? SLOTS_EACH) };
    this.defaults = defaults;
    this.hashSeed = seed;
    this.#gpus = new Gpus(
      engines.map(({ tableHost }) => tableHost),
      peers,
    );
    // once its levels are complete, which is before anyone has it
    const engine = this as never;
    this.#host = { engine, gpus: this.#gpus, seed, least, mostSlots };
    this.#carrier = new Carrier({
      there: (array) => this.#onFirst(array),
      pinned: (array) => array,
      back: async (array, isLast) => arrayOn(engine, 0, isLast ? array : borrowed(this.#gpus, array)),
    });
    this.interop = severalInterop(this.#host, engines);
    // a GPU that is lost ends them all
    this.lost = Promise.race(engines.map((each) => each.lost));
    void this.lost.then((loss) => this.destroy(loss));
  }

  get memory(): MemoryUse {
    const all = this.engines.map(({ memory }) => memory);
    const sum = (of: keyof MemoryUse) => all.reduce((total, memory) => total + memory[of], 0);
    return {
      held: sum("held"),
      inUse: sum("inUse"),
      kept: sum("kept"),
      peak: sum("peak"),
      keep: sum("keep"),
    };
  }

  trim(): number {
    return this.engines.reduce((bytes, engine) => bytes + engine.trim(), 0);
  }

  upload<T extends ScalarType>(type: T, data: ScalarArrays[T]): Promise<DeviceArray<T>> {
    return this.#cut(type, data.length, ({ gpu, first, count }) => {
      const piece = data.length === count ? data : data.subarray(first, first + count);
      return this.engines[gpu].upload(type, piece as ScalarArrays[T]);
    });
  }

  allocate<T extends ScalarType>(type: T, length: number): Promise<DeviceArray<T>> {
    return this.#cut(type, length, ({ gpu, count }) => this.engines[gpu].allocate(type, count));
  }

  #cut<T extends ScalarType>(type: T, length: number, make: (span: Span) => Promise<DeviceArray<T>>) {
    const { engine, gpus, least } = this.#host;
    return cutArray(engine, type, spansOf(length, scalarBytes[type], gpus.count, least.bytes), make);
  }

  /** Registered with the driver for all GPUs. */
  async pin<T extends ScalarType, U extends PinnedUse>(type: T, length: number, use: U) {
    const { storage } = await this.#first.pin(type, length, use);
    const gpus = this.#gpus;
    const { buffer } = placeOf({ storage } as never);
    const shared: PinnedStorage<T> & Place = {
      buffer,
      byteOffset: 0,
      get view() {
        return storage.view;
      },
      lend: () => storage.lend(),
      async regain() {
        const busy = gpus.hosts.filter(({ gpu }) => gpu.context.isBusy);
        await settled(busy.map(({ gpu }) => gpu.context.idle("A call with a pinned array")));
      },
      destroy: () => storage.destroy(),
    };
    return PinnedArray.of(this.#host.engine, type, length, use, shared);
  }

  async createTable<K extends KeyType, V extends ValueType>(spec: TableSpec): Promise<Table<K, V>> {
    const { least } = this.#host;
    if (spec.slots >= (least.slots ?? SHARED_SLOTS)) return SeveralTable.create(this.#host, spec);
    return OneGpuTable.createOn(this.#host, (array) => this.#onFirst(array), spec);
  }

  async dictionary(spec: DictionarySpec): Promise<Dictionary> {
    return this.#carrier.show(await this.#first.dictionary(spec));
  }

  async prepare(spec: TableSpec, entries: number, calls: readonly BulkCall[]): Promise<void> {
    await settled(this.engines.map((engine) => engine.prepare(spec, entries, calls)));
  }

  /** An array on the first GPU: the piece that it is, or a copy of all pieces. */
  async #onFirst(array: DeviceArray): Promise<{ array: DeviceArray; free?: () => void }> {
    if (isOnFirstGpu(array)) return { array: piecesOf(array)[0].array };
    const { type, length } = array;
    const gpus = this.#gpus;
    const scratch = [new Scratch(gpus.hosts[0].gpu)];
    try {
      const all = await arrayAt(gpus, scratch[0], type, array, { gpu: 0, first: 0, count: length });
      return { array: all, free: () => gpus.release(scratch) };
    } catch (error) {
      gpus.release(scratch);
      throw error;
    }
  }

  /** @param loss what calls that are under way are told */
  destroy(loss?: Loss): void {
    // no GPU works any more on what another one frees
    if (!loss) this.#gpus.fence();
    this.#gpus.destroy(loss);
    for (const engine of this.engines) engine.destroy(loss);
  }
}

/** An array of the first GPU that stays its owner's. */
const borrowed = <T extends ScalarType>(gpus: Gpus, array: DeviceArray<T>): DeviceArray<T> =>
  gpus.view(0, array.type, array.length, rangeOf(array as DeviceArray));
