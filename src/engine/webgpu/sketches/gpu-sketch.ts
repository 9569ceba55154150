/** A sketch on the GPU: its buffer, and how calls submit their chunks. Words of it only go one way, so any order of writers does. */

import type { CallOptions, ColumnInput } from "../../engine.js";
import type { TableSpec } from "../../layout.js";
import type { PlanLog } from "../../plan-log.js";
import type { BasicType } from "../../scalars.js";
import type { Combination, EngineSketch } from "../../sketch-operations.js";
import type { BatchTarget } from "../batch/batches.js";
import { STORAGE_USAGE } from "../device/gpu-flags.js";
import { type Submitter, withSubmitter } from "../device/submitter.js";
import type { Readback } from "../memory/readback.js";
import type { TableHost } from "../table/table-state.js";
import { combineKernel } from "./sketch-kernels.js";

/** Workgroups of combine.wgsl, which strides over the sketch. */
const COMBINE_WORKGROUPS = 1024;

/** Memory for a sketch, its contents unspecified. @throws LimitError when it is larger than a binding, or than there is memory. */
export async function sketchBuffer({ gpu }: TableHost, bytes: number): Promise<GPUBuffer> {
  gpu.checkBinding(bytes, "Use a smaller capacity, more false positives, or several filters.");
  return gpu.memory.acquire("sketch", { bytes, usage: STORAGE_USAGE });
}

export abstract class GpuSketch<K extends BasicType> implements EngineSketch<K>, BatchTarget {
  #freed = false;
  /** Of the call that is under way. */
  #submitter: Submitter;
  /** Submissions of `submitAhead` that nobody has waited for. */
  readonly #ahead: Promise<void>[] = [];

  /** @param spec the key's type, and as slots what a hash is scaled to. */
  constructor(
    readonly host: TableHost,
    readonly spec: TableSpec & { readonly key: K },
    protected readonly buffer: GPUBuffer,
    /** Bytes of the buffer that the sketch takes: a multiple of 16. */
    protected readonly bufferBytes: number,
  ) {
    this.#submitter = host.gpu;
  }

  abstract readonly bytes: number;
  abstract add(keys: ColumnInput<K>, call: CallOptions): Promise<void>;
  abstract read(into: Uint8Array): Promise<void>;
  protected abstract howOf(combination: Combination): number;

  async combine(other: EngineSketch<K>, combination: Combination): Promise<void> {
    const { gpu, kernels } = this.host;
    const kernel = await kernels.compile(combineKernel, { HOW: this.howOf(combination) });
    const { range: into } = this;
    const bindings = { into, other: (other as GpuSketch<K>).range };
    const workgroups = Math.min(COMBINE_WORKGROUPS, Math.ceil(into.size / 16 / 256));
    await gpu.submit("combine", (encoder) => kernel.record(encoder, bindings, {}, workgroups));
  }

  async clear(): Promise<void> {
    await this.host.gpu.submit("clear", (encoder) => encoder.clearBuffer(this.buffer, 0, this.bufferBytes));
  }

  /** Takes the words of another buffer. */
  protected async copyFrom(other: GPUBuffer): Promise<void> {
    await this.host.gpu.submit("copy", (encoder) =>
      encoder.copyBufferToBuffer(other, 0, this.buffer, 0, this.bufferBytes),
    );
  }

  /** The sketch as a binding. */
  protected get range(): { buffer: GPUBuffer; offset: number; size: number } {
    return { buffer: this.buffer, offset: 0, size: this.bufferBytes };
  }

  /** Runs a call's work; with a log, what it submits is timed into that. */
  runCall<T>(log: PlanLog | undefined, work: () => Promise<T>): Promise<T> {
    const { gpu } = this.host;
    return withSubmitter(gpu, log, async (submitter) => {
      this.#submitter = submitter;
      try {
        const answer = await work();
        await this.#aheadAccepted();
        return answer;
      } finally {
        this.#ahead.length = 0;
        this.#submitter = gpu;
      }
    });
  }

  /** Submits what comes before the next `submit` of the call, without waiting. */
  async submitAhead(label: string, record: (encoder: GPUCommandEncoder) => void): Promise<void> {
    const { arrived } = await this.#submitter.begin(label, record, []);
    this.#ahead.push(arrived);
  }

  /** Submits, and waits until the GPU has done it: the pace of chunks follows from how long they take. */
  protected async submit(
    label: string,
    reads: readonly Readback[],
    record: (encoder: GPUCommandEncoder) => void,
  ): Promise<void> {
    await this.#aheadAccepted();
    const waits = { buffer: this.buffer, offset: 0, into: new Uint8Array(4) };
    await this.#submitter.submit(label, record, [waits, ...reads]);
  }

  async #aheadAccepted(): Promise<void> {
    if (this.#ahead.length > 0) await Promise.all(this.#ahead.splice(0));
  }

  destroy(): void {
    if (this.#freed) return;
    this.#freed = true;
    this.host.gpu.memory.release(this.buffer);
  }
}
