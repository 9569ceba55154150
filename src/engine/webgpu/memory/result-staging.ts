/**
 * The staging memory in which results come to the host. One small buffer is kept, never given up and nobody's own: submissions that
 * bring back little, as counters, take turns with it when there is no memory, so that what is half done can be finished.
 */
import { LimitError } from "../../../errors.js";
import type { BufferPool } from "./buffer-pool.js";

/** Bytes of the buffer that is kept: a table's counters, the timestamps of a traced submission, and as much again. */
export const KEPT_BYTES = 4096;

/** A staging buffer in use. */
export interface Staged {
  readonly buffer: GPUBuffer;
  release(): void;
}

export class ResultStaging {
  #kept: GPUBuffer | undefined;
  /** The kept buffer's last user is done. */
  #free: Promise<void> = Promise.resolve();

  constructor(private readonly pool: BufferPool) {}

  keep(buffer: GPUBuffer): void {
    this.#kept = buffer;
  }

  /** @throws LimitError when there is no memory for so many bytes. */
  async acquire(bytes: number): Promise<Staged> {
    try {
      const buffer = await this.pool.acquire(bytes);
      return { buffer, release: () => this.pool.release(buffer) };
    } catch (error) {
      const kept = this.#kept;
      if (!(error instanceof LimitError) || kept === undefined || bytes > KEPT_BYTES) throw error;
      const before = this.#free;
      let release = () => {};
      this.#free = new Promise((resolve) => {
        release = resolve;
      });
      await before;
      return { buffer: kept, release };
    }
  }
}
