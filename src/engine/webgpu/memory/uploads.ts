/**
 * Uploads through a few staging buffers that are kept and mapped again after every use. For each `queue.writeBuffer` of
 * more than 4 MiB Dawn allocates memory that the GPU can read, which takes several times as long as the copy into it;
 * memory that has staged before costs the copy alone.
 */
import { LimitError } from "../../../errors.js";
import type { BufferPool, Wanted } from "../../gpu/memory/buffer-pool.js";
import { align4, type GpuBuffer, type GpuRuntime } from "../../gpu/runtime.js";
import { BufferUsage, MAP_MODE_WRITE } from "../device/gpu-flags.js";
import { native } from "../device/recorder.js";
import { checkAttached, type Staging } from "../device/webgpu-runtime.js";

export class Uploads {
  /** Staging buffers that are mapped and not in use. */
  readonly #mapped: BufferPool;
  /** Buffers that are written, read by the GPU, or being mapped again. */
  #busy = 0;
  readonly #wanted: Wanted & { usage: number };
  readonly #returning = new Set<Promise<void>>();
  #waiting: (() => void)[] = [];

  constructor(
    private readonly gpu: GpuRuntime,
    private readonly staging: Staging,
  ) {
    this.#mapped = gpu.memory.newPool();
    this.#wanted = { bytes: staging.bytes, usage: BufferUsage.MAP_WRITE | BufferUsage.COPY_SRC };
    gpu.memory.lend(() => Promise.all(this.#returning));
  }

  /** As GpuRuntime.upload, for data of any size. */
  async write(buffer: GpuBuffer, offset: number, data: Uint8Array, signal?: AbortSignal): Promise<void> {
    const { bytes } = this.staging;
    const accepted: Promise<void>[] = [];
    const { length } = data;
    for (let at = 0; at < length; at += bytes) {
      signal?.throwIfAborted();
      const mapped = await this.#take();
      checkAttached(data, length);
      const piece = data.subarray(at, at + bytes);
      if (mapped === null) this.gpu.write(buffer, offset + at, piece);
      else accepted.push(this.#send(mapped, piece, buffer, offset + at));
    }
    await Promise.all(accepted);
  }

  /** Writes a piece and submits its copy, both at once; resolves when the copy was accepted. */
  #send(mapped: GPUBuffer, piece: Uint8Array, buffer: GpuBuffer, offset: number): Promise<void> {
    try {
      const bytes = align4(piece.length);
      try {
        const host = new Uint8Array(mapped.getMappedRange(0, bytes));
        host.set(piece);
        host.fill(0, piece.length);
      } finally {
        mapped.unmap(); // once: in Deno a second time throws
      }
      const accepted = this.gpu.submit("upload", (recorder) =>
        recorder.copy(mapped, 0, buffer, offset, bytes),
      );
      // awaited with the other pieces' at the end, which a failure before that keeps from happening
      accepted.catch(() => {});
      return accepted;
    } finally {
      this.#mapAgain(mapped);
    }
  }

  /** Takes a buffer back once the GPU has read it. */
  #mapAgain(buffer: GPUBuffer): void {
    const back = buffer.mapAsync(MAP_MODE_WRITE).then(
      () => this.gpu.memory.putKept(this.#mapped, buffer),
      () => this.gpu.memory.free(buffer),
    );
    const returning = back.then(() => {
      this.#returning.delete(returning);
      this.#notBusy();
    });
    this.#returning.add(returning);
  }

  /** A mapped buffer, as soon as there is one; null when there is no memory for any. */
  async #take(): Promise<GPUBuffer | null> {
    for (;;) {
      this.gpu.checkAlive();
      if (this.#busy < this.staging.count) {
        this.#busy++;
        try {
          const kept = this.#mapped.take(this.#wanted);
          return kept ? native(kept) : await this.#newMapped();
        } catch (error) {
          this.#busy--;
          const noneToWaitFor = this.#busy === 0;
          if (noneToWaitFor) this.#wake();
          if (!(error instanceof LimitError)) throw error;
          if (noneToWaitFor) return null;
        }
      }
      await this.gpu.guard(new Promise<void>((resolve) => this.#waiting.push(resolve)));
    }
  }

  #notBusy(): void {
    this.#busy--;
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #newMapped(): Promise<GPUBuffer> {
    const { memory } = this.gpu;
    const { bytes, usage } = this.#wanted;
    const buffer = native(await memory.allocate("upload", bytes, usage, { spare: true }));
    try {
      await this.gpu.guard(buffer.mapAsync(MAP_MODE_WRITE));
      return buffer;
    } catch (error) {
      memory.free(buffer);
      throw error;
    }
  }
}
