/**
 * The cuda engine: arrays, tables, row operations, lists, sketches and dictionaries on an NVIDIA GPU.
 */
import {
  type BareEngine,
  type BulkCall,
  type BulkDefaults,
  type DeviceArray,
  type Dictionary,
  type DictionarySpec,
  type EngineInfo,
  type EngineRequest,
  filling,
  type GpuHost,
  HOST_CHUNK,
  type Interop,
  type KeyType,
  type ListOperations,
  lazily,
  loadArrays,
  loadLists,
  loadRows,
  loadSketches,
  loadStrings,
  type MemoryUse,
  Pacer,
  type PinnedUse,
  processSeed,
  type RowOperations,
  type ScalarArrays,
  type ScalarType,
  type SketchOperations,
  type Table,
  type TableSpec,
  type ValueType,
} from "warpmap/engine";
import type { Loss } from "./driver/context.js";
import type { CudaRuntime } from "./runtime/cuda-runtime.js";
import { interopOf } from "./runtime/interop.js";
import { pin } from "./runtime/pinned.js";
import { CudaTable } from "./table/cuda-table.js";
import { type CudaHost, TableState } from "./table/table-state.js";

/** Elements of an operation's first chunk, while its speed is unknown: less than a millisecond on a GPU. */
const FIRST_CHUNK = { emulated: 2 ** 19, hardware: 2 ** 22 };

/** What the engine is opened with; `tuning` is for tests. */
export type CudaRequest = EngineRequest & { readonly tuning?: GpuHost["tuning"] };

export class CudaEngine implements BareEngine {
  readonly lost: Promise<{ reason: string; message: string }>;
  readonly traits: CudaRuntime["traits"];
  readonly defaults: BulkDefaults;
  readonly hashSeed: number;
  readonly rows = lazily<RowOperations>(async () => (await loadRows()).operationsOf(this.tableHost));
  readonly lists = lazily<ListOperations>(async () => (await loadLists()).operationsOf(this.tableHost));
  readonly sketches = lazily<SketchOperations>(async () =>
    (await loadSketches()).operationsOf(this.tableHost),
  );
  readonly interop: Interop;
  /** What its levels need of it. */
  readonly tableHost: CudaHost;

  constructor(
    private readonly gpu: CudaRuntime,
    readonly info: EngineInfo,
    { strategy, groupSize, seed = processSeed(), tuning = {} }: CudaRequest,
  ) {
    this.lost = gpu.lost;
    this.traits = gpu.traits;
    this.defaults = { strategy, groupSize };
    this.hashSeed = seed;
    this.tableHost = {
      // once its levels are complete, which is before anyone has it
      engine: this as never,
      gpu,
      pacer: new Pacer(FIRST_CHUNK[gpu.traits.isEmulated ? "emulated" : "hardware"]),
      tuning,
      hostChunk: tuning.hostChunk ?? HOST_CHUNK,
      maxTableBinding: gpu.traits.maxBuffer,
    };
    this.interop = interopOf(this.tableHost);
  }

  get memory(): MemoryUse {
    return this.gpu.memory.use;
  }

  trim(): number {
    return this.gpu.memory.trim();
  }

  async upload<T extends ScalarType>(type: T, data: ScalarArrays[T]): Promise<DeviceArray<T>> {
    return (await loadArrays()).uploadArray(this.tableHost.engine, this.gpu, type, data);
  }

  async allocate<T extends ScalarType>(type: T, length: number): Promise<DeviceArray<T>> {
    return (await loadArrays()).zeroedArray(this.tableHost.engine, this.gpu, type, length);
  }

  pin<T extends ScalarType, U extends PinnedUse>(type: T, length: number, use: U) {
    return pin(this.tableHost.engine, this.gpu, type, length, use);
  }

  async dictionary(spec: DictionarySpec): Promise<Dictionary> {
    return (await loadStrings()).GpuDictionary.create(this.tableHost, spec);
  }

  async createTable<K extends KeyType, V extends ValueType>(spec: TableSpec): Promise<Table<K, V>> {
    return new CudaTable<K, V>(await TableState.create(this.tableHost, spec));
  }

  /** Nothing is compiled while a program runs. */
  async prepare(_spec: TableSpec, _entries: number, _calls: readonly BulkCall[]): Promise<void> {
    this.gpu.checkAlive();
    await filling(this.gpu, 0);
  }

  /** @param loss what calls that are under way are told */
  destroy(loss?: Loss): void {
    this.gpu.destroy(loss);
  }
}
