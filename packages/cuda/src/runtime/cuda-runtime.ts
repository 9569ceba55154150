/**
 * CudaRuntime: a GPU through CUDA. Commands go onto one stream as they are recorded, so that each sees what was
 * submitted before it; results come back through pinned memory, and are waited for by an event.
 */
import {
  type Constants,
  detached,
  type GpuBuffer,
  GpuMemory,
  type GpuRuntime,
  type GpuTraits,
  type Kernel,
  type KernelSource,
  type PlanLog,
  type Readback,
  type Recording,
} from "warpmap/engine";
import { CudaContext, type Loss } from "../driver/context.js";
import type { GpuFacts } from "../driver/driver.js";
import { Kernels } from "./kernels.js";
import { bufferSource, type CudaBuffer, isPinned, LaneMemory, native, PINNED } from "./memory.js";
import { CudaRecorder } from "./recorder.js";
import { Trace } from "./trace.js";

/** Bytes of unused memory that are kept at most, unless told: what 2^27 pairs and all work on them take. */
const KEEP = 2 ** 34;
/** Bytes that the driver copies out of a typed array in one call: other work goes on between two. */
const PIECE = 2 ** 24;
/** Shared memory that a kernel has without asking for more. */
const STATIC_SHARED_BYTES = 49152;
/** Bytes of the least staging memory: pinning some takes as long as several small calls. */
const LEAST_STAGING = 2 ** 16;

type Lanes = { readonly up: CudaRuntime; readonly down: CudaRuntime };

export class CudaRuntime implements GpuRuntime {
  readonly traits: GpuTraits;
  readonly memory: GpuMemory;
  readonly lost: Promise<{ reason: string; message: string }>;
  /** Kernels are compiled when the package is built. */
  readonly compilingMs = 0;
  readonly #kernels: Kernels;
  readonly #recorder: CudaRecorder;
  #lanes: Lanes | undefined;

  /**
   * @param image the kernels' fat binary
   * @param main the runtime that this one is a lane of
   */
  constructor(
    readonly context: CudaContext,
    readonly facts: GpuFacts,
    image: Uint8Array | number,
    keep = KEEP,
    private readonly main?: CudaRuntime,
  ) {
    this.traits = traitsOf(facts);
    this.lost = context.lost;
    const source = bufferSource(context, facts.memory);
    this.memory = main
      ? new LaneMemory(main.memory, source, () => context.after(main.context))
      : new GpuMemory(source, keep);
    this.#kernels = new Kernels(context, image);
    this.#recorder = new CudaRecorder(context);
  }

  /** The same GPU by another stream, whose work runs beside this one's. It is to be destroyed first. */
  lane(): CudaRuntime {
    const { driver, device } = this.context;
    return new CudaRuntime(new CudaContext(driver, device, true), this.facts, this.#kernels.module, 0, this);
  }

  get lanes(): Lanes | undefined {
    if (this.main) return undefined;
    this.#lanes ??= { up: this.lane(), down: this.lane() };
    return this.#lanes;
  }

  after(other: GpuRuntime): void {
    this.context.after((other as CudaRuntime).context);
  }

  /** Resolves when all that was submitted is done, by lanes too. */
  async idle(what: string): Promise<void> {
    const { up, down } = this.#lanes ?? {};
    for (const runtime of [this, up, down]) await runtime?.context.idle(what);
  }

  async compile<P extends string, B extends string, C extends string>(
    source: KernelSource<P, B, C>,
    constants: Constants<C>,
  ): Promise<Kernel<P, B>> {
    return this.kernel(source, constants);
  }

  /** `compile`, at once. */
  kernel<P extends string, B extends string, C extends string>(
    source: KernelSource<P, B, C>,
    constants: Constants<C>,
  ): Kernel<P, B> {
    this.context.checkAlive();
    return this.#kernels.compile(source, constants);
  }

  write(buffer: GpuBuffer, offset: number, data: Uint8Array): void {
    const { host, address } = native(buffer);
    if (host) host.set(data, offset);
    else this.#copyIn(address + offset, data);
  }

  /** The driver has copied the data when this returns, unless it is pinned: see upload. */
  #copyIn(to: number, data: Uint8Array): void {
    const { api, stream } = this.context;
    const { length } = data;
    const rest = -length & 3;
    this.context.enter();
    if (length > 0) this.context.check("Uploading", api.cuMemcpyHtoDAsync_v2(to, data, length, stream));
    if (rest > 0) this.context.check("Uploading", api.cuMemsetD8Async(to + length, 0, rest, stream));
  }

  async upload(buffer: GpuBuffer, offset: number, data: Uint8Array, signal?: AbortSignal): Promise<void> {
    const { length } = data;
    for (let at = 0; at < length; at += PIECE) {
      signal?.throwIfAborted();
      if (at > 0) await new Promise((resolve) => setImmediate(resolve));
      if (data.length !== length) throw detached("A typed array was detached during a call.");
      this.write(buffer, offset + at, data.subarray(at, at + PIECE));
    }
    // the GPU reads a view of a pinned array later
    if (isPinned(data)) await this.context.arrived("Uploading");
  }

  async prepareUploads(): Promise<void> {}

  async submit(label: string, record: Recording, reads: readonly Readback[] = []): Promise<void> {
    await (await this.begin(label, record, reads)).arrived;
  }

  async begin(label: string, record: Recording, reads: readonly Readback[]) {
    this.context.checkAlive();
    const bytes = reads.reduce((sum, read) => sum + stagedBytes(read), 0);
    const staging = bytes > 0 ? await this.#staging(bytes) : undefined;
    try {
      this.context.enter();
      record(this.#recorder);
      if (reads.length === 0) return { arrived: Promise.resolve() };
      this.#copyOut(reads, staging);
      const arrived = this.#arrive(label, reads, staging);
      // who awaits it may fail before coming to that; and an allocation may wait for the staging memory
      const settled = arrived.catch(() => {});
      if (staging) void settled.then(this.memory.lend(() => settled));
      return { arrived };
    } catch (error) {
      if (staging) this.memory.release(staging);
      throw error;
    }
  }

  async #staging(bytes: number): Promise<CudaBuffer> {
    const wanted = { bytes: Math.max(bytes, LEAST_STAGING), usage: PINNED, brief: true };
    return native(await this.memory.acquire("staging", wanted));
  }

  /** Puts the copies to the host on the stream. */
  #copyOut(reads: readonly Readback[], staging: CudaBuffer | undefined): void {
    let at = 0;
    for (const read of reads) {
      const { buffer, offset, into } = read;
      const bytes = stagedBytes(read);
      const to = into instanceof Uint8Array ? staging && { buffer: staging, offset: at } : into;
      if (to && into.length > 0 && (bytes > 0 || to === into))
        this.#recorder.copy(buffer, offset, to.buffer, to.offset, into.length);
      at += bytes;
    }
  }

  /** Waits for a submission, and copies what it brings back out of `staging`. */
  async #arrive(label: string, reads: readonly Readback[], staging: CudaBuffer | undefined): Promise<void> {
    try {
      await this.context.arrived(label);
      let at = 0;
      for (const read of reads) {
        const { buffer, offset, into } = read;
        const bytes = stagedBytes(read);
        const [from, start] = bytes > 0 ? [staging?.host, at] : [native(buffer).host, offset];
        if (into instanceof Uint8Array && from) into.set(from.subarray(start, start + into.length));
        at += bytes;
      }
    } finally {
      if (staging) this.memory.release(staging);
    }
  }

  async timed(log: PlanLog): Promise<Trace> {
    return new Trace(this, log);
  }

  guard<T>(promise: Promise<T>): Promise<T> {
    return this.context.guard(promise);
  }

  checkAlive(): void {
    this.context.checkAlive();
  }

  destroy(loss?: Loss): void {
    this.#lanes?.up.destroy(loss);
    this.#lanes?.down.destroy(loss);
    this.context.destroy(() => this.memory.destroy(), loss);
  }
}

/**
 * Bytes of staging memory that a result takes, which begins where words of any size may: none where kernels write it to
 * memory of the host, or where it goes to a pinned array.
 */
function stagedBytes({ buffer, into }: Readback): number {
  const isStaged = into instanceof Uint8Array && native(buffer).host === undefined;
  return isStaged ? Math.ceil(into.length / 16) * 16 : 0;
}

function traitsOf({ memory, sharedMemory, isEmulated, readsHost }: GpuFacts): GpuTraits {
  return {
    // shared kernels count the bytes of a binding with 32 bits; those of tables do not
    maxBinding: Math.min(memory, 2 ** 32 - 256),
    maxBuffer: memory,
    maxWorkgroupBytes: STATIC_SHARED_BYTES,
    maxDynamicBytes: sharedMemory,
    maxInvocations: 1024,
    maxBindings: 64,
    runsAtOnce: true,
    subgroupSize: 32,
    atomics64: true,
    float64: true,
    needsBoundedDispatch: false,
    isEmulated,
    ...(readsHost && { hostMemory: PINNED }),
  };
}
