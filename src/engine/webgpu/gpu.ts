/**
 * Gpu: a GPUDevice with the manners the engine needs. It allocates with typed errors, submits work inside error scopes,
 * brings results back through pooled staging buffers, and makes every wait end when the device is lost.
 * It knows nothing of tables.
 */
import { DeviceLostError, EngineError, LimitError } from "../../errors.js";
import { BufferPool, bufferSize } from "./buffer-pool.js";
import { BufferUsage, MAP_MODE_READ } from "./gpu-flags.js";

/** A piece of a buffer that a submission brings back to the host. */
export interface Readback {
  buffer: GPUBuffer;
  /** Bytes into `buffer`, a multiple of 4. */
  offset: number;
  /** Where the bytes go. Any length; the buffer must reach to the next multiple of 4. */
  into: Uint8Array;
}

const errorFilters = ["validation", "internal", "out-of-memory"] as const;

/** Whole words. Bytes may be more than 2^31, so no bit operations. */
export const align4 = (bytes: number): number => Math.ceil(bytes / 4) * 4;

export class Gpu {
  readonly device: GPUDevice;
  /** True when the GPU is emulated on the CPU: work is cut finer. */
  readonly software: boolean;
  /** Working memory of one call. */
  readonly scratch: BufferPool;
  /** The memory of device arrays: a destroyed array's goes to the next one of its size. */
  readonly arrays: BufferPool;
  /** Resolves when the device is gone, by loss or destroy. */
  readonly lost: Promise<{ reason: string; message: string }>;
  readonly #owned: boolean;
  readonly #staging: BufferPool;
  readonly #buffers = new Set<GPUBuffer>();
  readonly #waiting = new Set<(error: DeviceLostError) => void>();
  #loss: { reason: string; message: string } | undefined;
  #announceLoss!: (loss: { reason: string; message: string }) => void;

  /** @param owned true when destroy() is to destroy the GPUDevice too. */
  constructor(device: GPUDevice, { software, owned }: { software: boolean; owned: boolean }) {
    this.device = device;
    this.software = software;
    this.#owned = owned;
    this.lost = new Promise((resolve) => {
      this.#announceLoss = resolve;
    });
    const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = BufferUsage;
    const keep = software ? 2 ** 27 : 2 ** 32;
    const pool = (label: string, fit: "exact" | "loose", usage: number) =>
      new BufferPool(
        fit,
        keep,
        device.limits.maxBufferSize,
        (bytes) => this.allocate(label, bytes, usage),
        this.free,
      );
    this.scratch = pool("scratch", "loose", STORAGE | COPY_SRC | COPY_DST);
    this.arrays = pool("array", "exact", STORAGE | COPY_SRC | COPY_DST);
    this.#staging = pool("staging", "loose", MAP_READ | COPY_DST);
    void device.lost.then((info) => this.#lose(info.reason ?? "unknown", info.message));
  }

  /** A new zeroed buffer. @throws LimitError when it is larger than the device allows or has memory for. */
  async allocate(label: string, bytes: number, usage: number): Promise<GPUBuffer> {
    this.checkAlive();
    const { maxBufferSize } = this.device.limits;
    if (bytes > maxBufferSize) {
      throw new LimitError(
        "maxBufferSize",
        bytes,
        maxBufferSize,
        "Use smaller tables or batches, or several of them.",
      );
    }
    const buffer =
      (await this.#tryAllocate(label, bytes, usage)) ?? (await this.#allocateAfterTrim(label, bytes, usage));
    if (buffer) return buffer;
    throw new LimitError(
      "memory",
      bytes,
      Number.NaN,
      "Free other tables and device arrays, or use smaller ones.",
    );
  }

  /** Undefined when the GPU is out of memory. */
  async #tryAllocate(label: string, bytes: number, usage: number): Promise<GPUBuffer | undefined> {
    const { result: buffer, errors } = this.#inScopes(["validation", "out-of-memory"], () =>
      this.device.createBuffer({ label, size: bufferSize(bytes), usage }),
    );
    const [memory, validation] = await this.guard(errors);
    if (memory) return undefined;
    if (validation) throw new EngineError(`Allocating ${label} failed: ${validation.message}`);
    this.#buffers.add(buffer);
    return buffer;
  }

  /** Frees what the pools keep, and tries once more. */
  async #allocateAfterTrim(label: string, bytes: number, usage: number): Promise<GPUBuffer | undefined> {
    const freed = this.scratch.trim() + this.arrays.trim() + this.#staging.trim();
    if (freed === 0) return undefined;
    await this.guard(this.device.queue.onSubmittedWorkDone());
    return this.#tryAllocate(label, bytes, usage);
  }

  /** Destroys a buffer of `allocate`. */
  readonly free = (buffer: GPUBuffer): void => {
    if (this.#buffers.delete(buffer)) buffer.destroy();
  };

  /** Copies host memory into a buffer, before anything submitted later. `offset` is a multiple of 4. */
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
    this.checkAlive();
    const bytes = reads.reduce((sum, read) => sum + align4(read.into.length), 0);
    const staging = bytes > 0 ? await this.#staging.acquire(bytes) : null;
    try {
      this.checkAlive();
      const errors = this.#submitScoped(label, record, reads, staging);
      const mapped = staging ? staging.mapAsync(MAP_MODE_READ, 0, bytes) : undefined;
      // both are awaited together: a refused submission must not leave the mapping without a handler
      const [found] = await this.guard(
        Promise.all([errors, mapped?.catch((error) => this.#mapFailed(errors, error))]),
      );
      const error = found.find((each) => each !== null);
      if (error) throw new EngineError(`${label} failed: ${error.message}`);
      if (staging) unpack(staging.getMappedRange(0, bytes), reads);
    } finally {
      if (staging) {
        if (!this.#loss) staging.unmap();
        this.#staging.release(staging);
      }
    }
  }

  /** Brings any number of bytes to the host, in pieces. `offset` and the buffer's end are as in Readback. */
  async read(label: string, { buffer, offset, into }: Readback): Promise<void> {
    for (let at = 0; at < into.length; at += READ_BYTES) {
      const piece = into.subarray(at, at + READ_BYTES);
      await this.submit(label, () => {}, [{ buffer, offset: offset + at, into: piece }]);
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
      record(encoder);
      let at = 0;
      for (const { buffer, offset, into } of reads) {
        if (staging && into.length > 0)
          encoder.copyBufferToBuffer(buffer, offset, staging, at, align4(into.length));
        at += align4(into.length);
      }
      this.device.queue.submit([encoder.finish()]);
    };
    return this.#inScopes(errorFilters, recordAndSubmit).errors;
  }

  /**
   * Runs `work` inside error scopes; answers with the error of each, innermost first. Scopes are a stack of the device's:
   * they close in the same turn in which they opened, also when `work` throws.
   */
  #inScopes<T>(
    filters: readonly GPUErrorFilter[],
    work: () => T,
  ): { result: T; errors: Promise<(GPUError | null)[]> } {
    for (const filter of filters) this.device.pushErrorScope(filter);
    try {
      return { result: work(), errors: Promise.all(filters.map(() => this.device.popErrorScope())) };
    } catch (error) {
      for (const _ of filters) this.device.popErrorScope().catch(() => {});
      throw error;
    }
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
    for (const pool of [this.scratch, this.arrays, this.#staging]) pool.trim();
    for (const buffer of this.#buffers) buffer.destroy();
    this.#buffers.clear();
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

/** Bytes of one writeBuffer call: Dawn stages each in one piece of host memory. */
const WRITE_BYTES = 2 ** 26;
/** Bytes that are brought back at once: a staging buffer of this size is kept for the next ones. */
const READ_BYTES = 2 ** 26;

/** WebGPU implementations differ on shared memory as a source: it is copied. */
function plain(piece: Uint8Array): Uint8Array<ArrayBuffer> {
  return piece.buffer instanceof ArrayBuffer ? (piece as Uint8Array<ArrayBuffer>) : new Uint8Array(piece);
}

function unpack(mapped: ArrayBuffer, reads: readonly Readback[]): void {
  let at = 0;
  for (const { into } of reads) {
    into.set(new Uint8Array(mapped, at, into.length));
    at += align4(into.length);
  }
}
