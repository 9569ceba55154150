/**
 * The staging memory in which results come to the host. One small buffer is kept, never given up and nobody's own:
 * submissions that bring back little, as counters, take turns with it when there is no memory, so that what is half
 * done can be finished.
 */
import { LimitError } from "../../../errors.js";
import type { GpuMemory } from "../../gpu/memory/gpu-memory.js";
import { BufferUsage } from "../device/gpu-flags.js";
import { native } from "../device/recorder.js";

/** Bytes of the buffer that is kept: a table's counters, the timestamps of a traced submission, and as much again. */
const KEPT_BYTES = 4096;

const STAGING_USAGE = BufferUsage.MAP_READ | BufferUsage.COPY_DST;

export interface Staged {
  readonly buffer: GPUBuffer;
  release(): void;
}

export class ResultStaging {
  #kept: GPUBuffer | undefined;
  /** The kept buffer's last user is done. */
  #free: Promise<void> = Promise.resolve();

  constructor(private readonly memory: GpuMemory) {}

  async open(): Promise<void> {
    this.#kept = native(await this.memory.allocate("kept staging", KEPT_BYTES, STAGING_USAGE));
  }

  /** @throws LimitError when there is no memory for so many bytes. */
  async acquire(bytes: number): Promise<Staged> {
    try {
      const buffer = await this.memory.acquire("staging", { bytes, usage: STAGING_USAGE, brief: true });
      return { buffer: native(buffer), release: () => this.memory.release(buffer) };
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
