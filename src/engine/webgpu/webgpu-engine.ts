/**
 * The webgpu engine: tables in GPU buffers, operations as compute kernels. This file opens it and makes arrays and
 * tables; device/gpu.ts owns the device's manners, webgpu-table.ts the operations, table/ and direct/ the probing.
 */
import type { DeviceArray } from "../device-array.js";
import type { Dictionary, DictionarySpec } from "../dictionary.js";
import type { KeyType, ValueType } from "../element-types.js";
import type {
  BulkCall,
  BulkDefaults,
  DeviceMemoryOptions,
  Engine,
  EngineInfo,
  MemoryUse,
} from "../engine.js";
import { HOST_CHUNK } from "../gpu/batch/batches.js";
import { loadArrays } from "../gpu/batch/columns.js";
import { filling } from "../gpu/fill.js";
import { Pacer } from "../gpu/pacer.js";
import type { GpuTraits } from "../gpu/runtime.js";
import type { Tuning } from "../gpu/tuning.js";
import { EMPTY, type TableSpec } from "../layout.js";
import { lazily } from "../lazily.js";
import type { Interop } from "../native.js";
import type { PinnedArray, PinnedUse } from "../pinned-array.js";
import { processSeed } from "../process-seed.js";
import type { RowOperations } from "../row-operations.js";
import type { ScalarArrays, ScalarType } from "../scalars.js";
import type { SketchOperations } from "../sketch-operations.js";
import type { EngineTraits } from "../traits.js";
import type { ListOperations } from "../value-lists.js";
import type { OpenedGpu } from "./device/adapter.js";
import { WebgpuRuntime } from "./device/webgpu-runtime.js";
import { WORKLIST_BYTES, WORKLIST_ROOM } from "./direct/worklist.js";
import { interopOf } from "./interop.js";
import { loadPartitioned } from "./planner.js";
import { kindOf } from "./table/plain-slots.js";
import { newState, type TableHost } from "./table/table-state.js";
import { WebgpuTable } from "./webgpu-table.js";

const loadPinned = lazily(() => import("./memory/pinned.js"));
const loadWarmUp = lazily(() => import("./warm-up.js"));

export interface WebgpuOptions extends BulkDefaults {
  /** The device is the caller's, and stays. */
  gpuDevice?: GPUDevice;
  memory?: DeviceMemoryOptions;
  /** Of hashes that no result shows. Default: the process's. */
  seed?: number;
  /** Kernel fragments that tests put in place of the real ones. */
  tuning?: Tuning;
}

/** Opens the engine on a GPU that was opened for it (device/adapter.ts), or is the caller's. */
export async function openWebgpuEngine(opened: OpenedGpu, options: WebgpuOptions = {}): Promise<Engine> {
  const gpu = await WebgpuRuntime.open(opened.device, {
    software: opened.software,
    owned: options.gpuDevice === undefined,
    keep: options.memory?.keep,
    staging: options.tuning?.staging,
    texts: { "direct/cas": options.tuning?.cas, "partitioned/cas-seen": options.tuning?.casSeen },
  });
  // every table's first kernel, before longer ones: drivers compile few at once
  filling(gpu, EMPTY).catch(() => {});
  return new WebgpuEngine(gpu, engineInfo(opened), options);
}

/**
 * Elements of an operation's first chunk while its speed is unknown: about 100 ms on SwiftShader, a few on a slow GPU.
 */
const FIRST_CHUNK = { software: 2 ** 19, hardware: 2 ** 22 };

/** The engine; its parts are for the operations in this folder. */
export class WebgpuEngine implements Engine {
  readonly lost: Promise<{ reason: string; message: string }>;
  readonly pacer: Pacer;
  readonly tuning: Tuning;
  readonly defaults: BulkDefaults;
  readonly hashSeed: number;
  readonly rows = lazily<RowOperations>(async () =>
    (await import("../gpu/gpu-rows.js")).operationsOf(this.tableHost),
  );
  readonly lists = lazily<ListOperations>(async () =>
    (await import("../gpu/lists/list-operations.js")).operationsOf(this.tableHost),
  );
  readonly sketches = lazily<SketchOperations>(async () =>
    (await import("../gpu/sketches/gpu-sketches.js")).operationsOf(this.tableHost),
  );
  readonly interop: Interop;
  readonly traits: EngineTraits;
  readonly #madeReady = new Set<string>();
  readonly tableHost: TableHost;

  constructor(
    readonly gpu: WebgpuRuntime,
    readonly info: EngineInfo,
    { tuning = {}, strategy, groupSize, seed = processSeed() }: WebgpuOptions,
  ) {
    this.tuning = tuning;
    this.defaults = { strategy, groupSize };
    this.hashSeed = seed;
    this.lost = gpu.lost;
    const first = gpu.traits.isEmulated ? FIRST_CHUNK.software : FIRST_CHUNK.hardware;
    this.pacer = new Pacer(first, () => gpu.compilingMs);
    const { pacer } = this;
    const sizes = tableSizes(gpu.traits, tuning);
    const partitioning = loadPartitioned;
    this.tableHost = { engine: this, gpu, pacer, tuning, partitioning, ...sizes };
    this.interop = interopOf(this);
    this.traits = { ...gpu.traits, maxBinding: sizes.maxTableBinding };
  }

  get memory(): MemoryUse {
    return this.gpu.memory.use;
  }

  trim(): number {
    return this.gpu.memory.trim();
  }

  async upload<T extends ScalarType>(type: T, data: ScalarArrays[T]): Promise<DeviceArray<T>> {
    return (await loadArrays()).uploadArray(this, this.gpu, type, data);
  }

  async allocate<T extends ScalarType>(type: T, length: number): Promise<DeviceArray<T>> {
    return (await loadArrays()).zeroedArray(this, this.gpu, type, length);
  }

  async pin<T extends ScalarType, U extends PinnedUse>(
    type: T,
    length: number,
    use: U,
  ): Promise<PinnedArray<T, U>> {
    return (await loadPinned()).pin(this, this.gpu, type, length, use);
  }

  async createTable<K extends KeyType, V extends ValueType>(spec: TableSpec, entries?: number) {
    if (entries !== undefined) this.#makeReady(spec, entries);
    return new WebgpuTable<K, V>(await newState(this.tableHost, spec));
  }

  async dictionary(spec: DictionarySpec): Promise<Dictionary> {
    return (await import("../gpu/strings/gpu-dictionary.js")).GpuDictionary.create(this.tableHost, spec);
  }

  async prepare(spec: TableSpec, entries: number, calls: readonly BulkCall[]): Promise<void> {
    this.gpu.checkAlive();
    const { warmUp } = await loadWarmUp();
    await warmUp(this.tableHost, { spec, entries }, calls, this.defaults);
  }

  /** Compiles what a new table's first calls will use, while it is created and data is uploaded. */
  #makeReady(spec: TableSpec, entries: number): void {
    // a software GPU compiles on the cores that everything else runs on
    if (this.gpu.traits.isEmulated) return;
    // constants of kernels go with powers of two of the size
    const kind = `${kindOf(spec)} ${Math.ceil(Math.log2(spec.slots))} ${Math.ceil(Math.log2(entries + 1))}`;
    if (this.#madeReady.has(kind)) return;
    this.#madeReady.add(kind);
    // the call that needs a kernel tells why it does not compile
    this.prepare(spec, entries, ["insert", "find"]).catch(() => {});
  }

  destroy(): void {
    this.gpu.destroy();
  }
}

/** What a device's limits, or a test, say about the sizes that tables work with. */
function tableSizes({ maxBinding: most }: GpuTraits, tuning: Tuning) {
  const { worklistRoom = WORKLIST_ROOM, maxTableBinding = most, hostChunk = HOST_CHUNK } = tuning;
  return {
    hostChunk,
    worklistRoom: Math.min(worklistRoom, Math.floor(most / WORKLIST_BYTES)),
    maxTableBinding: Math.min(maxTableBinding, most),
  };
}

function engineInfo({ device, name, software, hardware }: OpenedGpu): EngineInfo {
  const { limits } = device;
  return {
    backend: "webgpu",
    name,
    software,
    threads: 0,
    hardware,
    limits: {
      maxBufferSize: limits.maxBufferSize,
      maxStorageBufferBindingSize: limits.maxStorageBufferBindingSize,
      maxComputeWorkgroupStorageSize: limits.maxComputeWorkgroupStorageSize,
      maxComputeInvocationsPerWorkgroup: limits.maxComputeInvocationsPerWorkgroup,
    },
    features: [...device.features].sort(),
  };
}
