/**
 * Gpu: a GPUDevice with the manners the engine needs. It allocates with typed errors, submits work inside error scopes,
 * brings results back through pooled staging buffers, and makes every wait end when the device is lost.
 * It knows nothing of tables.
 */
import { DeviceLostError, EngineError } from "../../../errors.js";
import { detached } from "../../../options.js";
import { lazily } from "../../lazily.js";
import { GpuMemory } from "../memory/gpu-memory.js";
import { bytesOf, type Readback, recordReads, unpack } from "../memory/readback.js";
import { ResultStaging, type Staged } from "../memory/result-staging.js";
import type { Uploads } from "../memory/uploads.js";
import { inErrorScopes } from "./error-scopes.js";
import { MAP_MODE_READ } from "./gpu-flags.js";

const errorFilters = ["validation", "internal", "out-of-memory"] as const;

/** What moves host batches while the GPU works. */
export const loadOverlap = lazily(() => import("../batch/overlap.js"));

/** The staging buffers of a GPU's uploads. */
export interface Staging {
  /** Bytes of each, a multiple of 8. */
  readonly bytes: number;
  /** How many there are at most. */
  readonly count: number;
}

/**
 * One is being written, the other read by the GPU or on its way back to the host. On an H100 rings of 1, 4, 16 and 64 MiB pieces
 * brought 6.4, 8.3, 9.3 and 8.0 GB/s, and no more with three or four of them.
 */
export const STAGING: Staging = { bytes: 2 ** 24, count: 2 };

/** What a Gpu is told. */
export interface GpuOptions {
  /** The GPU is emulated on the CPU. */
  readonly software: boolean;
  /** destroy() is to destroy the GPUDevice too. */
  readonly owned: boolean;
  /** Bytes of unused memory that are kept at most. */
  readonly keep?: number | undefined;
  readonly staging?: Staging | undefined;
}

export class Gpu {
  readonly device: GPUDevice;
  /** True when the GPU is emulated on the CPU: work is cut finer. */
  readonly software: boolean;
  readonly memory: GpuMemory;
  /** Resolves when the device is gone, by loss or destroy. */
  readonly lost: Promise<{ reason: string; message: string }>;
  /** Called when commands were recorded, before they are submitted; also when recording failed. */
  beforeSubmit: () => void = () => {};
  readonly #owned: boolean;
  readonly #staging: ResultStaging;
  readonly #uploadStaging: Staging;
  #uploads: Uploads | undefined;
  readonly #waiting = new Set<(error: DeviceLostError) => void>();
  #loss: { reason: string; message: string } | undefined;
  #announceLoss!: (loss: { reason: string; message: string }) => void;

  constructor(device: GPUDevice, { software, owned, keep, staging = STAGING }: GpuOptions) {
    this.device = device;
    this.software = software;
    this.#owned = owned;
    this.lost = new Promise((resolve) => {
      this.#announceLoss = resolve;
    });
    this.memory = new GpuMemory(this, keep ?? keepBytes(software));
    this.#staging = new ResultStaging(this.memory);
    this.#uploadStaging = staging;
    void device.lost.then((info) => this.#lose(info.reason ?? "unknown", info.message));
  }

  /** Allocates what submissions cannot do without. */
  open(): Promise<void> {
    return this.#staging.open();
  }

  /**
   * Copies host memory, which may be much, into a buffer, before anything that is submitted after the answer. `offset` is a
   * multiple of 4; bytes behind the data, up to a multiple of 4, become 0.
   * @param signal ends the upload between two pieces.
   */
  async upload(buffer: GPUBuffer, offset: number, data: Uint8Array, signal?: AbortSignal): Promise<void> {
    const { length } = data;
    const uploads = await this.uploadsOf(length);
    checkAttached(data, length);
    return uploads ? uploads.write(buffer, offset, data, signal) : this.write(buffer, offset, data);
  }

  /** What uploads of so many bytes go through, loaded by the first large one; null for writeBuffer. */
  async uploadsOf(bytes: number): Promise<Uploads | null> {
    const staging = this.#uploadStaging;
    if (bytes < staging.bytes / SMALL_FRACTION) return null;
    const { Uploads } = await loadOverlap();
    this.#uploads ??= new Uploads(this, staging);
    return this.#uploads;
  }

  /** Copies a little host memory into a buffer, before anything submitted later. `offset` is a multiple of 4. */
  write(buffer: GPUBuffer, offset: number, data: Uint8Array): void {
    this.checkAlive();
    const whole = data.length - (data.length % 4);
    for (let at = 0; at < whole; at += WRITE_BYTES) {
      const piece = data.subarray(at, Math.min(at + WRITE_BYTES, whole));
      this.device.queue.writeBuffer(buffer, offset + at, plain(piece));
    }
    if (whole === data.length) return;
    const tail = new Uint8Array(4);
    tail.set(data.subarray(whole));
    this.device.queue.writeBuffer(buffer, offset + whole, tail);
  }

  /**
   * Records commands, submits them, and brings `reads` back; resolves when these have arrived, or without any when the
   * commands were accepted.
   */
  async submit(
    label: string,
    record: (encoder: GPUCommandEncoder) => void,
    reads: readonly Readback[] = [],
  ): Promise<void> {
    const { arrived } = await this.begin(label, record, reads);
    await arrived;
  }

  /** As `submit`, but resolves when the commands are submitted; `arrived` resolves as `submit` does. */
  async begin(
    label: string,
    record: (encoder: GPUCommandEncoder) => void,
    reads: readonly Readback[],
  ): Promise<{ arrived: Promise<void> }> {
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
    record: (encoder: GPUCommandEncoder) => void,
    reads: readonly Readback[],
    staging: GPUBuffer | null,
  ): Promise<(GPUError | null)[]> {
    const recordAndSubmit = () => {
      const encoder = this.device.createCommandEncoder({ label });
      try {
        record(encoder);
      } finally {
        this.beforeSubmit();
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

  /** Waits for `promise`, but no longer than the device lives. */
  guard<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#loss) reject(this.#lossError());
      this.#waiting.add(reject);
      promise.then(
        (value) => {
          this.#waiting.delete(reject);
          resolve(value);
        },
        (error: unknown) => {
          // a loss makes calls fail before it is announced: wait a turn for the announcement
          setTimeout(() => {
            this.#waiting.delete(reject);
            reject(this.#loss ? this.#lossError() : error);
          }, 0);
        },
      );
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

  /** @throws DeviceLostError when the device is gone. */
  checkAlive(): void {
    if (this.#loss) throw this.#lossError();
  }
}

/** Unused memory that is kept at most, in bytes: in Node what 2^27 pairs and all work on them take; less where the GPU is shared with pages, or is the CPU. */
function keepBytes(software: boolean): number {
  if (software) return 2 ** 27;
  return globalThis.process?.versions?.node ? 2 ** 34 : 2 ** 30;
}

/** Uploads of less than this part of a staging buffer go through writeBuffer. */
const SMALL_FRACTION = 64;
/** Bytes of one writeBuffer call: Dawn has a ring of 4 MiB pieces for them, and allocates memory for each larger one. */
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
