/**
 * WebgpuRuntime: GPUs through WebGPU. It allocates with typed errors, submits work inside error scopes, brings results
 * back through pooled staging buffers, and makes every wait end when the device is lost. kernels.ts compiles,
 * recorder.ts records.
 */
import { DeviceLostError, EngineError } from "../../../errors.js";
import { detached } from "../../../options.js";
import type { Constants, KernelSource } from "../../gpu/kernel-source.js";
import { type BufferSource, GpuMemory } from "../../gpu/memory/gpu-memory.js";
import type { GpuBuffer, GpuRuntime, GpuTraits, Kernel, Readback, Recording } from "../../gpu/runtime.js";
import { lazily } from "../../lazily.js";
import type { PlanLog } from "../../plan-log.js";
import { bytesOf, recordReads, unpack } from "../memory/readback.js";
import { ResultStaging, type Staged } from "../memory/result-staging.js";
import type { Uploads } from "../memory/uploads.js";
import { inErrorScopes } from "./error-scopes.js";
import { MAP_MODE_READ, STORAGE_USAGE } from "./gpu-flags.js";
import { Kernels } from "./kernels.js";
import { native, WebgpuRecorder } from "./recorder.js";
import { checkWorkgroupMemory } from "./self-test.js";
import { KernelTexts } from "./texts.js";
import type { Trace } from "./trace.js";

const loadUploads = lazily(() => import("../memory/uploads.js"));
const loadTrace = lazily(() => import("./trace.js"));

const errorFilters = ["validation", "internal", "out-of-memory"] as const;

export interface Staging {
  /** Bytes of each, a multiple of 8. */
  readonly bytes: number;
  /** How many there are at most. */
  readonly count: number;
}

/**
 * One is being written, the other read by the GPU or on its way back to the host. On an H100 rings of 1, 4, 16 and 64
 * MiB pieces brought 6.4, 8.3, 9.3 and 8.0 GB/s, and no more with three or four of them.
 */
export const STAGING: Staging = { bytes: 2 ** 24, count: 2 };

export interface GpuOptions {
  /** The GPU is emulated on the CPU. */
  readonly software: boolean;
  /** destroy() is to destroy the GPUDevice too. */
  readonly owned: boolean;
  /** Bytes of unused memory that are kept at most. */
  readonly keep?: number | undefined;
  readonly staging?: Staging | undefined;
  /** In place of texts by name: see KernelTexts. */
  readonly texts?: { readonly [name: string]: string | undefined };
}

export class WebgpuRuntime implements GpuRuntime {
  readonly device: GPUDevice;
  readonly traits: GpuTraits;
  readonly memory: GpuMemory;
  readonly lost: Promise<{ reason: string; message: string }>;
  #kernels: Kernels | undefined;
  readonly #owned: boolean;
  readonly #staging: ResultStaging;
  readonly #uploadStaging: Staging;
  #uploads: Uploads | undefined;
  readonly #waiting = new Set<(error: DeviceLostError) => void>();
  #loss: { reason: string; message: string } | undefined;
  #announceLoss!: (loss: { reason: string; message: string }) => void;

  /** A runtime that compiles nothing yet: see `open`. */
  constructor(device: GPUDevice, { software, owned, keep, staging = STAGING }: GpuOptions) {
    this.device = device;
    this.traits = traitsOf(device, software);
    this.#owned = owned;
    this.lost = new Promise((resolve) => {
      this.#announceLoss = resolve;
    });
    this.memory = new GpuMemory(bufferSource(this), keep ?? keepBytes(software));
    this.#staging = new ResultStaging(this.memory);
    this.#uploadStaging = staging;
    void device.lost.then((info) => this.#lose(info.reason ?? "unknown", info.message));
  }

  /** Allocates what submissions cannot do without, and checks the device. */
  static async open(device: GPUDevice, options: GpuOptions): Promise<WebgpuRuntime> {
    const gpu = new WebgpuRuntime(device, options);
    try {
      const [kernels] = await Promise.all([
        Kernels.open(gpu, new KernelTexts(gpu.traits.subgroupSize > 0, options.texts)),
        gpu.#staging.open(),
      ]);
      gpu.#kernels = kernels;
      await checkWorkgroupMemory(gpu);
      return gpu;
    } catch (error) {
      gpu.destroy();
      throw error;
    }
  }

  get compilingMs(): number {
    return this.#kernels?.compilingMs ?? 0;
  }

  compile<P extends string, B extends string, C extends string>(
    source: KernelSource<P, B, C>,
    constants: Constants<C>,
  ): Promise<Kernel<P, B>> {
    if (!this.#kernels) throw new EngineError("The GPU is not open yet.");
    return this.#kernels.compile(source, constants);
  }

  async timed(log: PlanLog): Promise<Trace | null> {
    return (await loadTrace()).Trace.open(this, log);
  }

  async upload(buffer: GpuBuffer, offset: number, data: Uint8Array, signal?: AbortSignal): Promise<void> {
    const { length } = data;
    const uploads = await this.prepareUploads(length);
    checkAttached(data, length);
    return uploads ? uploads.write(buffer, offset, data, signal) : this.write(buffer, offset, data);
  }

  /** What uploads of so many bytes go through, loaded by the first large one; null for writeBuffer. */
  async prepareUploads(bytes: number): Promise<Uploads | null> {
    const staging = this.#uploadStaging;
    if (bytes < staging.bytes / SMALL_FRACTION) return null;
    const { Uploads } = await loadUploads();
    this.#uploads ??= new Uploads(this, staging);
    return this.#uploads;
  }

  write(buffer: GpuBuffer, offset: number, data: Uint8Array): void {
    this.checkAlive();
    const whole = data.length - (data.length % 4);
    for (let at = 0; at < whole; at += WRITE_BYTES) {
      const piece = data.subarray(at, Math.min(at + WRITE_BYTES, whole));
      this.device.queue.writeBuffer(native(buffer), offset + at, plain(piece));
    }
    if (whole === data.length) return;
    const tail = new Uint8Array(4);
    tail.set(data.subarray(whole));
    this.device.queue.writeBuffer(native(buffer), offset + whole, tail);
  }

  async submit(label: string, record: Recording, reads: readonly Readback[] = []): Promise<void> {
    await (await this.begin(label, record, reads)).arrived;
  }

  async begin(label: string, record: Recording, reads: readonly Readback[]) {
    this.checkAlive();
    const bytes = bytesOf(reads);
    const staging = bytes > 0 ? await this.#staging.acquire(bytes) : null;
    try {
      this.checkAlive();
      const errors = this.#submitScoped(label, record, reads, staging?.buffer ?? null);
      const arrived = this.#arrive(label, errors, reads, staging && { ...staging, bytes });
      // who awaits it may fail before coming to that; and an allocation may wait for the staging memory
      const settled = arrived.catch(() => {});
      if (staging) settled.then(this.memory.lend(() => settled));
      return { arrived };
    } catch (error) {
      staging?.release();
      throw error;
    }
  }

  /** Waits for a submission, and copies what it brings back out of `staging`. */
  async #arrive(
    label: string,
    errors: Promise<(GPUError | null)[]>,
    reads: readonly Readback[],
    staging: (Staged & { bytes: number }) | null,
  ): Promise<void> {
    try {
      const mapped = staging?.buffer.mapAsync(MAP_MODE_READ, 0, staging.bytes);
      // both are awaited together: a refused submission must not leave the mapping without a handler
      const [found] = await this.guard(
        Promise.all([errors, mapped?.catch((error) => this.#mapFailed(errors, error))]),
      );
      const error = found.find((each) => each !== null);
      if (error) throw new EngineError(`${label} failed: ${error.message}`);
      if (staging) unpack(staging.buffer.getMappedRange(0, staging.bytes), reads);
    } finally {
      if (staging) {
        if (!this.#loss) staging.buffer.unmap();
        staging.release();
      }
    }
  }

  #submitScoped(
    label: string,
    record: Recording,
    reads: readonly Readback[],
    staging: GPUBuffer | null,
  ): Promise<(GPUError | null)[]> {
    const recordAndSubmit = () => {
      const encoder = this.device.createCommandEncoder({ label });
      try {
        record(new WebgpuRecorder(encoder));
      } finally {
        this.#kernels?.writeUniforms();
      }
      recordReads(encoder, reads, staging);
      this.device.queue.submit([encoder.finish()]);
    };
    return inErrorScopes(this.device, errorFilters, recordAndSubmit).errors;
  }

  /** A failed mapping is explained by the submission's own error, when it has one. */
  async #mapFailed(errors: Promise<(GPUError | null)[]>, error: unknown): Promise<void> {
    if ((await errors).every((each) => each === null)) throw error;
  }

  guard<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#loss) reject(this.#lossError());
      this.#waiting.add(reject);
      // a loss makes calls fail before it is announced: wait a turn for the announcement
      const failed = (error: unknown) => setTimeout(() => reject(this.#loss ? this.#lossError() : error), 0);
      promise.then(resolve, failed).finally(() => this.#waiting.delete(reject));
    });
  }

  /** Frees every buffer, and the device if it is owned. Idempotent. */
  destroy(): void {
    if (this.#loss) return;
    this.#lose("destroyed", "destroy() was called");
    this.memory.destroy();
    if (this.#owned) this.device.destroy();
  }

  #lose(reason: string, message: string): void {
    if (this.#loss) return;
    this.#loss = { reason, message };
    for (const reject of this.#waiting) reject(this.#lossError());
    this.#waiting.clear();
    this.#announceLoss(this.#loss);
  }

  #lossError(): DeviceLostError {
    return new DeviceLostError(this.#loss?.reason ?? "unknown", this.#loss?.message ?? "");
  }

  checkAlive(): void {
    if (this.#loss) throw this.#lossError();
  }
}

function traitsOf(device: GPUDevice, isEmulated: boolean): GpuTraits {
  const { limits, features } = device;
  const { subgroupMinSize = 4 } = (device.adapterInfo ?? {}) as { subgroupMinSize?: number };
  return {
    // kernels count the bytes of a binding with 32 bits, whatever a device allows
    maxBinding: Math.min(limits.maxStorageBufferBindingSize, 2 ** 32 - 4),
    maxBuffer: limits.maxBufferSize,
    maxWorkgroupBytes: limits.maxComputeWorkgroupStorageSize,
    maxInvocations: limits.maxComputeInvocationsPerWorkgroup,
    maxBindings: limits.maxStorageBuffersPerShaderStage,
    runsAtOnce: false,
    subgroupSize: features.has("subgroups") ? subgroupMinSize : 0,
    atomics64: false,
    float64: false,
    needsBoundedDispatch: true,
    isEmulated,
  };
}

function bufferSource(gpu: WebgpuRuntime): BufferSource {
  const { device } = gpu;
  return {
    maxBuffer: device.limits.maxBufferSize,
    checkAlive: () => gpu.checkAlive(),
    guard: (promise) => gpu.guard(promise),
    idle: () => device.queue.onSubmittedWorkDone(),
    async allocate(label, size, usage, made) {
      const { result, errors } = inErrorScopes(device, ["validation", "out-of-memory"], () =>
        device.createBuffer({ label, size, usage: usage ?? STORAGE_USAGE }),
      );
      made(result);
      const [memory, validation] = await gpu.guard(errors);
      if (!memory && !validation) return result;
      gpu.memory.free(result);
      if (validation) throw new EngineError(`Allocating ${label} failed: ${validation.message}`);
      return undefined;
    },
    free: (buffer) => native(buffer).destroy(),
  };
}

/**
 * Unused memory that is kept at most, in bytes: in Node what 2^27 pairs and all work on them take; less where the GPU
 * is shared with pages, or is the CPU.
 */
function keepBytes(software: boolean): number {
  if (software) return 2 ** 27;
  return globalThis.process?.versions?.node ? 2 ** 34 : 2 ** 30;
}

/** Uploads of less than this part of a staging buffer go through writeBuffer. */
const SMALL_FRACTION = 64;
/**
 * Bytes of one writeBuffer call: Dawn has a ring of 4 MiB pieces for them, and allocates memory for each larger one.
 */
const WRITE_BYTES = 2 ** 21;
/** @throws ValidationError when data was detached, by a transfer or as what a pinned array showed. */
export function checkAttached(data: Uint8Array, length: number): void {
  if (data.length !== length) throw detached("A typed array was detached during a call.");
}

/** WebGPU implementations differ on shared and resizable memory as a source: it is copied. */
function plain(piece: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = piece as { buffer: ArrayBufferLike & { readonly resizable?: boolean } };
  const isPlain = buffer instanceof ArrayBuffer && !buffer.resizable;
  return isPlain ? (piece as Uint8Array<ArrayBuffer>) : new Uint8Array(piece);
}
