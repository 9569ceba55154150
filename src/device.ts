/**
 * openDevice: choosing an engine and saying why. Importing this module touches no `navigator` and loads no engine;
 * both are loaded when openDevice runs, and only the one that is used.
 */
import type { TableInput } from "./arrow/table-input.js";
import type { TableToPrepare } from "./containers/prepare.js";
import type { DeviceArray } from "./engine/device-array.js";
import type {
  BackendName,
  BareEngine,
  DeviceMemoryOptions,
  Engine,
  EngineInfo,
  MemoryUse,
} from "./engine/engine.js";
import { lazily } from "./engine/lazily.js";
import type { BufferView, MemoryAt, NativeOptions, NativeTypes, TensorAt } from "./engine/native.js";
import type { PinnedArray, PinnedUse } from "./engine/pinned-array.js";
import type { GroupSize, Strategy } from "./engine/plan.js";
import { type EngineKind, engineNamed, knownEngines } from "./engine/registry.js";
import { type ScalarArrays, type ScalarType, scalarTypeOf } from "./engine/scalars.js";
import { BackendUnavailableError, type TriedBackend, ValidationError } from "./errors.js";
import type { HostPool } from "./host/pool.js";
import { checkAttached, checkCallbacks, checkOneOf, checkOptions, checkShape, describe } from "./options.js";
import type { DeviceTable, UploadTableOptions } from "./relational/device/device-table.js";
import { type SignalOption, untilAborted } from "./until-aborted.js";

/** What `openDevice` is asked for. */
export interface OpenDeviceOptions extends SignalOption, NativeOptions {
  /**
   * `auto` (default) takes a real GPU if there is one, else the CPU; an NVIDIA GPU by CUDA where the package
   * `warpmap-cuda` is installed. A named backend is that one or an error. A name besides `webgpu` and `cpu` is that of an
   * engine of the package `warpmap-NAME`.
   */
  backend?: "auto" | BackendName;
  /**
   * Threads of the CPU that work at once, the calling one included: those of the cpu engine, and those that gather and
   * aggregate beside a GPU. Default: as many as the machine runs at once. At most four times as many, or 16 if that is
   * more.
   */
  threads?: number;
  /**
   * What becomes of memory that nobody uses. `keep`: bytes that are kept for the next table, array or call, at most; by
   * default 16 GiB on a GPU in Node, 1 GiB on a page and on the cpu engine, 128 MiB on a software GPU.
   */
  memory?: DeviceMemoryOptions;
  /** Strategy of bulk calls that name none. Default `auto`. */
  strategy?: Strategy;
  /**
   * Joins, group-bys, distincts and their relatives that work at once, at least 1; the others wait in the order of
   * their calls. Default 2. Calls on containers do not wait. More answers none of them sooner (docs/recipes/server.md).
   */
  concurrency?: number;
  /** Group size of bulk calls that name none. Default: by the table's load. */
  groupSize?: GroupSize;
  /**
   * A whole number of 32 bits in place of the one that the process has drawn at random. It keys the hashes of joins,
   * group-bys, distincts and dictionaries of strings, so that keys chosen by strangers do not crowd; results do not
   * depend on it. Give one to repeat a run exactly, and no one that strangers know. Containers have seeds of their own.
   */
  seed?: number;
}

/** Facts about the device in use, and the reason it was chosen. */
export interface DeviceInfo extends EngineInfo {
  /** The former name of {@link EngineInfo.hardware}. @deprecated Write `hardware`. */
  readonly adapter: EngineInfo["hardware"];
  /** One sentence: why this engine runs and not another. */
  readonly reason: string;
}

/** The scalar type that a typed array uploads as. */
export type ScalarOf<A> = {
  [T in ScalarType]: A extends ScalarArrays[T] ? T : never;
}[ScalarType];

/**
 * Opens a device. On a page this looks at `navigator.gpu`; in Node at the optional package `webgpu`.
 * @throws BackendUnavailableError when the named backend is not there, ValidationError for wrong options.
 * @example
 * const device = await openDevice();
 * console.log(device.backend, device.info.reason);
 */
export async function openDevice(options: OpenDeviceOptions = {}): Promise<Device> {
  const checked = isPlain(options)
    ? options
    : await (await import("./device-options.js")).checkDeviceOptions(options);
  return untilAborted(
    options.signal,
    () => open(checked),
    (device) => device.destroy(),
  );
}

/** The engine that is named or chosen, or the first that is available. */
async function open(options: OpenDeviceOptions): Promise<Device> {
  const { backend = "auto" } = options;
  const chosen = engineNamed(backend);
  const asked = chosen ? [chosen] : knownEngines().map(([, kind]) => kind);
  const tried: TriedBackend[] = [];
  for (;;) {
    const kind = asked.shift() as EngineKind;
    try {
      const { engine, reason } = await kind.open(options, tried);
      return new Device(await complete(engine, options.threads), reason, options);
    } catch (error) {
      if (asked.length === 0 || !(error instanceof BackendUnavailableError)) throw error;
      tried.push(...error.tried);
    }
  }
}

/** The engine, with levels of the host in place of those that it lacks. */
async function complete(engine: BareEngine, threads?: number): Promise<Engine> {
  const { rows, lists, sketches, dictionary } = engine;
  if (rows && lists && sketches && dictionary) return engine as Engine;
  return (await import("./engine/cpu/host-levels.js")).completeLevels(engine, threads);
}

/** True in Node, Bun and Deno, which have packages of the machine's own; false on a page. */
const runsPrograms = globalThis.process?.versions?.node !== undefined;

/** True for options that need no check. */
function isPlain(options: OpenDeviceOptions): boolean {
  const { backend = "auto", ...others } = options ?? {};
  // outside of pages `auto` looks for the engines that are installed
  const isKnown = backend === "auto" ? !runsPrograms : engineNamed(backend) !== undefined;
  return isKnown && options?.constructor === Object && Object.keys(others).length === 0;
}

/** One line of `listDevices`. */
export interface DeviceListing {
  readonly backend: BackendName;
  /** True for the line that looked for a software GPU. */
  readonly software: boolean;
  readonly available: boolean;
  /** Facts about the engine when available. */
  readonly info?: DeviceInfo;
  /** Why it is not available; the reason of the choice otherwise. */
  readonly reason: string;
}

/**
 * Opens and closes every engine there could be, to say which are available and why the others are not. An engine with
 * several GPUs has a line for each.
 */
export async function listDevices(
  options: Pick<OpenDeviceOptions, "software"> = {},
): Promise<DeviceListing[]> {
  checkOptions(options, "software");
  const listings: DeviceListing[] = [];
  if (runsPrograms) await (await import("./engine/load-engine.js")).findInstalled();
  for (const [backend, kind] of knownEngines()) {
    // why there is none is told by `probe`
    const devices = (await kind.each?.().catch(() => undefined)) ?? [{}];
    for (const device of devices) listings.push(await probe({ ...device, backend }));
    const hasBoth = kind.options.split(" ").includes("software");
    if (options.software && hasBoth) listings.push(await probe({ backend, software: true }));
  }
  return listings;
}

async function probe(request: OpenDeviceOptions): Promise<DeviceListing> {
  const backend = request.backend as BackendName;
  const software = request.software === true;
  try {
    const device = await openDevice(request);
    const { info } = device;
    device.destroy();
    return { backend, software, available: true, info, reason: info.reason };
  } catch (error) {
    if (!(error instanceof BackendUnavailableError)) throw error;
    return {
      backend,
      software,
      available: false,
      reason: error.tried.map((t: TriedBackend) => t.reason).join("; "),
    };
  }
}

/** An open engine: the first argument of every container and operator. */
export class Device {
  /** Resolves when the device can no longer be used, with the reason. Never rejects. */
  readonly lost: Promise<{ reason: string; message: string }>;
  /** Operators that work at once. */
  readonly concurrency: number;
  /** The engine behind this device: what containers and operators call. Not for users. @internal */
  readonly engine: Engine;
  /** Its worker threads, for work of operators beside the engine. Not for users. @internal */
  readonly host: () => Promise<HostPool>;
  readonly #reason: string;

  /** @internal Use {@link openDevice}. */
  constructor(
    engine: Engine,
    reason: string,
    { concurrency = 2, threads }: Pick<OpenDeviceOptions, "concurrency" | "threads"> = {},
  ) {
    this.engine = engine;
    this.#reason = reason;
    this.concurrency = concurrency;
    this.lost = engine.lost;
    this.host = lazily(async () => {
      if (engine.host) return engine.host;
      const host = new (await import("./host/pool.js")).HostPool({ threads });
      void this.lost.then(() => host.destroy());
      return host;
    });
  }

  /**
   * Facts about the device as it is now. Where the platform refuses the cpu engine's threads, `threads` is 1 and `name`
   * says why: a page's content policy does so when the first one starts, with a large batch or `prepare`.
   */
  get info(): DeviceInfo {
    const { info } = this.engine;
    return { ...info, adapter: info.hardware, reason: this.#reason };
  }

  /** Which engine runs. */
  get backend(): BackendName {
    return this.engine.info.backend;
  }

  /** The WebGPU device in use, for your own kernels; undefined on other engines. */
  get gpuDevice(): NativeTypes["device"] | undefined {
    return this.engine.interop?.buffers?.device;
  }

  /** The memory that the device holds, in bytes: in use, and kept for the next table, array or call. */
  get memory(): MemoryUse {
    return this.engine.memory;
  }

  /**
   * Frees the memory that nobody uses. Answers its bytes. Later calls allocate again, which takes some 25 ms a GiB on a
   * GPU.
   */
  trim(): number {
    return this.engine.trim();
  }

  /**
   * Copies a typed array to the device. Leave `array` unchanged until the promise resolves; changes after that do not
   * reach the copy.
   */
  async upload<A extends ScalarArrays[ScalarType]>(
    array: A,
    options: SignalOption = {},
  ): Promise<DeviceArray<ScalarOf<A>>> {
    const type = scalarTypeOf(array);
    if (type === undefined) {
      throw new ValidationError(
        `upload takes a Uint32Array, Int32Array, Float32Array, Float64Array, BigUint64Array, BigInt64Array or Uint8Array, not ${describe(array)}.`,
        "Write Uint32Array.from(array), or of bigints BigUint64Array.from(array).",
      );
    }
    checkAttached("array", array);
    checkOptions(options, "signal");
    checkCallbacks({ signal: options.signal });
    const copy = await untilAborted(
      options.signal,
      () => this.engine.upload(type, array as ScalarArrays[typeof type]),
      (late) => late.destroy(),
    );
    return copy.freeWhenDropped() as unknown as DeviceArray<ScalarOf<A>>;
  }

  /**
   * Copies columns of a table to the device, for operators of warpmap/relational.
   * @throws ValidationError for a table that is none, and for columns of types that tables on a device do not hold
   */
  async uploadTable(table: TableInput, options?: UploadTableOptions): Promise<DeviceTable> {
    const { uploadTable } = await import("./relational/device/device-table.js");
    return (await uploadTable(this, table, options)).freeWhenDropped();
  }

  /** A zeroed device array. */
  async allocate<T extends ScalarType>(type: T, length: number): Promise<DeviceArray<T>> {
    checkShape(type, length);
    return (await this.engine.allocate(type, length)).freeWhenDropped();
  }

  /**
   * A zeroed array in memory of the host that the device copies from (`use` "upload": keys, values, `mask`) or to
   * ("readback": `into`) by itself, where typed arrays are copied by the CPU. Making one costs milliseconds; make a few
   * and use them again. A browser, whose GPU runs in another process, may copy all the same.
   * @throws LimitError when it is larger than the device or the host allows.
   * @example
   * const keys = await device.pinned("u32", 1 << 20, "upload");
   * keys.array.fill(7);
   */
  async pinned<T extends ScalarType, U extends PinnedUse>(
    type: T,
    length: number,
    use: U,
  ): Promise<PinnedArray<T, U>> {
    checkShape(type, length);
    checkOneOf("use", use, ["upload", "readback"]);
    return this.engine.pin(type, length, use);
  }

  /**
   * Makes ready for calls on tables, so that the first call of each kind takes no longer than the next: compiles
   * kernels on a GPU, starts threads on the cpu engine. A container that is created makes ready for inserts and finds
   * by itself, while other work goes on.
   * @throws ValidationError for wrong options, EngineError for a kernel that does not compile
   * @example
   * await device.prepare([{ key: "u32", value: "f32", capacity: 1e6, calls: ["insert", "find", "erase"] }]);
   */
  async prepare(tables: readonly TableToPrepare[]): Promise<void> {
    return (await import("./containers/prepare.js")).prepare(this.engine, tables);
  }

  /**
   * Elements of your own WebGPU buffer as a device array, without a copy. The buffer stays yours; it needs the usage
   * that lets kernels store to it, and that of a copy's source if it is read back (docs/recipes/gpu.md).
   * @throws ValidationError on other engines, or when the range or the usage does not fit.
   */
  wrap<T extends ScalarType>(buffer: NativeTypes["buffer"], view: BufferView<T>): DeviceArray<T>;
  /**
   * Memory of the GPU that another library has allocated, as a device array without a copy, on the cuda engine. The
   * memory stays the library's: `destroy` frees nothing, and it must live as long as the array is used. Its work on the
   * memory must be done before a call gets the array (docs/nvidia-servers.md).
   * `{ pointer, byteLength: 4 * count, type: "u32" }` are `count` elements.
   * @throws ValidationError on other engines, and for an address that is not of this GPU's memory or not aligned
   */
  wrap<T extends ScalarType = "u8">(memory: MemoryAt<T>): DeviceArray<T>;
  /**
   * The same for a tensor as DLPack describes it, dense and of a type that device arrays have: `{ data: pointer, shape:
   * [count], dtype: "int64" }` is a DeviceArray<"i64">.
   * @throws ValidationError besides the above for strides of anything but dense rows, and for other types and devices
   */
  wrap(tensor: TensorAt): DeviceArray;
  wrap(memory: NativeTypes["buffer"] | MemoryAt | TensorAt, view?: BufferView<ScalarType>): DeviceArray {
    const { interop } = this.engine;
    if (interop) return interop.wrap(memory, view);
    throw new ValidationError(`The ${this.backend} engine wraps no memory.`, "Upload a typed array.");
  }

  /** Ends the device: frees all its memory, ends its threads; running calls reject with DeviceLostError. Idempotent. */
  destroy(): void {
    this.engine.destroy();
  }

  get [Symbol.toStringTag](): string {
    return "Device";
  }

  [Symbol.dispose](): void {
    this.destroy();
  }
}
