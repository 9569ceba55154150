import type { GpuBuffer } from "../runtime.js";
import type { Scratch } from "./columns.js";

/** The memory of a chunk's worklists, which its runs share one after another. */
export class WorklistMemory {
  #buffer: GpuBuffer | undefined;

  constructor(private readonly scratch: Scratch) {}

  /** A buffer of at least `bytes` bytes. To be called before anything that could leave too little memory for it. */
  async reserve(bytes: number): Promise<GpuBuffer> {
    if (!this.#buffer || this.#buffer.size < bytes) this.#buffer = await this.scratch.buffer(bytes);
    return this.#buffer;
  }
}
