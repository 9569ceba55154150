/**
 * The cpu engine: tables and operations in TypeScript on typed arrays, on the calling thread and, for large
 * batches, on workers over shared memory. It is the oracle for other engines: results are those of going
 * through a batch in input order.
 */
import type { Memory } from "../../host/memory.js";
import { HostPool } from "../../host/pool.js";
import { inNode, machineThreads } from "../../host/runtime.js";
import type { DeviceArray } from "../device-array.js";
import type { Dictionary, DictionarySpec } from "../dictionary.js";
import type { KeyType, ValueType } from "../element-types.js";
import type { BulkDefaults, DeviceMemoryOptions, Engine, EngineInfo, MemoryUse, Table } from "../engine.js";
import { checkSlots, type TableSpec } from "../layout.js";
import { lazily } from "../lazily.js";
import type { PinnedArray, PinnedUse } from "../pinned-array.js";
import { processSeed } from "../process-seed.js";
import type { RowOperations } from "../row-operations.js";
import { asBytes, type ScalarArrays, type ScalarType } from "../scalars.js";
import type { SketchOperations } from "../sketch-operations.js";
import { isWide, slotFormat, tableBytes } from "../slot-format.js";
import type { EngineTraits } from "../traits.js";
import type { ListOperations } from "../value-lists.js";
import { CpuTable } from "./cpu-table.js";
import { newDeviceArray, newPinnedArray } from "./memory/storage.js";
import { newWorkspace } from "./table/blocks.js";
import { Sharing } from "./table/sharing.js";
import { type Tuning, tuningFor } from "./tuning.js";

/** Options of {@link openCpuEngine}. */
export interface CpuEngineOptions extends BulkDefaults {
  /** Threads to use, the calling one included. Default: as many as the machine runs at once. */
  threads?: number;
  memory?: DeviceMemoryOptions;
  /** @internal Threads of another engine to work on, in place of `threads` of its own. */
  host?: HostPool;
  /** Of hashes that no result shows. Default: the process's. */
  seed?: number;
  /** @internal Sizes for tests. */
  tuning?: Partial<Tuning>;
}

/** How long opening waits in browsers for a first worker. One that comes later is still used. */
const WORKER_START_MS = 2000;

/** What tables of wide slots need. */
const loadWide = lazily(() => import("./table/wide-loops.js"));

/** Most 32-bit words of a typed array that home slots can be numbered in. */
const MAX_WORDS = 2 ** 32 - 1;

/** JavaScript's numbers are 64-bit floats; its atomics of 64 bits are those of BigInts, which no loop uses. */
const TRAITS: EngineTraits = {
  maxBinding: MAX_WORDS * 4,
  atomics64: false,
  float64: true,
  subgroupSize: 0,
  needsBoundedDispatch: false,
  isEmulated: false,
};

/** Opens a cpu engine. Costs nothing; worker threads start with the first batch that is large enough for them. */
export async function openCpuEngine(options: CpuEngineOptions = {}): Promise<Engine> {
  const { threads = options.host?.threads ?? machineThreads(), strategy, groupSize, memory } = options;
  const tuning = { ...tuningFor(threads), ...options.tuning };
  const { host = new HostPool({ threads, keep: memory?.keep, rowsPerThread: tuning.rows.share }) } = options;
  const engine = new CpuEngine(host, tuning, { strategy, groupSize }, options.seed);
  // Browsers tell only afterwards that a policy forbids workers; info must not promise them before.
  if (!inNode()) await Promise.race([engine.sharing.warmUp(1).catch(() => {}), delay(WORKER_START_MS)]);
  return engine;
}

export class CpuEngine implements Engine {
  readonly lost: Promise<{ reason: string; message: string }>;
  readonly traits = TRAITS;
  /** What of its tables' work is shared. */
  readonly sharing: Sharing;
  readonly buffers: Memory;
  /** The calling thread's. */
  readonly workspace = newWorkspace();
  readonly rows = lazily<RowOperations>(async () => (await import("./rows/cpu-rows.js")).operationsOf(this));
  readonly sketches = lazily<SketchOperations>(async () =>
    (await import("./sketches/cpu-sketches.js")).operationsOf(this),
  );
  readonly lists = lazily<ListOperations>(async () =>
    (await import("./lists/list-operations.js")).operationsOf(this),
  );
  #resolveLost: (loss: { reason: string; message: string }) => void = () => {};

  constructor(
    readonly host: HostPool,
    readonly tuning: Tuning,
    readonly defaults: BulkDefaults = {},
    readonly hashSeed: number = processSeed(),
  ) {
    this.sharing = new Sharing(host, tuning, this.workspace);
    this.buffers = host.memory;
    this.lost = new Promise((resolve) => {
      this.#resolveLost = resolve;
    });
  }

  get info(): EngineInfo {
    const { threads, refusal } = this.host;
    const why = refusal === null ? "" : ` (${refusal})`;
    return {
      backend: "cpu",
      name: `CPU, ${threads} ${threads === 1 ? "thread" : "threads"}${why}`,
      software: false,
      threads,
      hardware: {},
      limits: { maxTableBytes: MAX_WORDS * 4 },
      features: this.buffers.shared ? ["shared-memory"] : [],
    };
  }

  get memory(): MemoryUse {
    return this.buffers.use;
  }

  trim(): number {
    return this.buffers.trim();
  }

  /** True until destroy. */
  readonly alive = (): boolean => !this.host.isDestroyed;

  /** Throws DeviceLostError once the engine is destroyed. */
  guard(): void {
    this.host.guard();
  }

  async upload<T extends ScalarType>(type: T, data: ScalarArrays[T]): Promise<DeviceArray<T>> {
    this.guard();
    const array = this.newArray(type, data.length, false);
    asBytes(array.storage.host as ScalarArrays[T]).set(asBytes(data));
    return array;
  }

  async allocate<T extends ScalarType>(type: T, length: number): Promise<DeviceArray<T>> {
    this.guard();
    return this.newArray(type, length, true);
  }

  async pin<T extends ScalarType, U extends PinnedUse>(
    type: T,
    length: number,
    use: U,
  ): Promise<PinnedArray<T, U>> {
    this.guard();
    return newPinnedArray(this, this.newArray(type, length, true), use);
  }

  async createTable<K extends KeyType, V extends ValueType>(spec: TableSpec): Promise<Table<K, V>> {
    this.guard();
    const format = slotFormat(spec);
    const { slotWords, sideSlots } = format;
    const mostSlots = Math.floor(MAX_WORDS / slotWords) - sideSlots;
    checkSlots(spec.slots, mostSlots);
    const loops = isWide(format) ? new (await loadWide()).WideLoops(format) : undefined;
    this.guard();
    const table = new CpuTable<K, V>(this, spec, this.buffers.allocate(tableBytes(spec), false), loops);
    await table.clear();
    return table;
  }

  async dictionary(spec: DictionarySpec): Promise<Dictionary> {
    const { CpuDictionary } = await import("./strings/cpu-dictionary.js");
    this.guard();
    return new CpuDictionary(this, spec);
  }

  /** Starts the threads. */
  async prepare(): Promise<void> {
    this.guard();
    await this.sharing.warmUp();
    this.guard();
  }

  destroy(): void {
    this.host.destroy();
    this.buffers.discardAll();
    this.#resolveLost({ reason: "destroyed", message: "destroy was called" });
  }

  newArray<T extends ScalarType>(type: T, length: number, zeroed: boolean): DeviceArray<T> {
    return newDeviceArray(this, this.alive, this.buffers, type, length, zeroed);
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
