/**
 * A sketch on the GPU: its buffer, and how calls submit their chunks. Words of it only go one way, so any order of
 * writers does.
 */
import { LimitError } from "../../../errors.js";
import type { CallOptions, ColumnInput } from "../../engine.js";
import type { TableSpec } from "../../layout.js";
import type { BasicType } from "../../scalars.js";
import type { Combination, EngineSketch } from "../../sketch-operations.js";
import type { BatchTarget } from "../batch/batches.js";
import { Submissions } from "../call.js";
import type { GpuHost } from "../host.js";
import type { GpuBuffer, Readback, Recorder } from "../runtime.js";
import { combineKernel } from "./sketch-kernels.js";

/** Workgroups of combine.wgsl, which strides over the sketch. */
const COMBINE_WORKGROUPS = 1024;

const FIX = "Use a smaller capacity, more false positives, or several filters.";

/**
 * Memory for a sketch, its contents unspecified. @throws LimitError when it is larger than a table's binding, or than
 * there is memory.
 */
export async function sketchBuffer(host: GpuHost, bytes: number): Promise<GpuBuffer> {
  const { gpu, maxTableBinding: most } = host;
  if (bytes > most) throw new LimitError("maxStorageBufferBindingSize", bytes, most, FIX);
  return gpu.memory.acquire("sketch", { bytes });
}

export abstract class GpuSketch<K extends BasicType> implements EngineSketch<K>, BatchTarget {
  #freed = false;
  readonly submissions: Submissions;

  /** @param spec the key's type, and as slots what a hash is scaled to. */
  constructor(
    readonly host: GpuHost,
    readonly spec: TableSpec & { readonly key: K },
    protected readonly buffer: GpuBuffer,
    /** Bytes of the buffer that the sketch takes: a multiple of 16. */
    protected readonly bufferBytes: number,
  ) {
    this.submissions = new Submissions(host.gpu);
  }

  abstract readonly bytes: number;
  abstract add(keys: ColumnInput<K>, call: CallOptions): Promise<void>;
  abstract read(into: Uint8Array): Promise<void>;
  protected abstract howOf(combination: Combination): number;

  async combine(other: EngineSketch<K>, combination: Combination): Promise<void> {
    const { gpu } = this.host;
    const kernel = await gpu.compile(combineKernel, { HOW: this.howOf(combination) });
    const { range: into } = this;
    const bindings = { into, other: (other as GpuSketch<K>).range };
    const workgroups = Math.min(COMBINE_WORKGROUPS, Math.ceil(into.size / 16 / 256));
    await gpu.submit("combine", (recorder) => recorder.dispatch(kernel, bindings, {}, workgroups));
  }

  async clear(): Promise<void> {
    await this.host.gpu.submit("clear", (recorder) => recorder.clear(this.buffer, 0, this.bufferBytes));
  }

  /** Takes the words of another buffer. */
  protected async copyFrom(other: GpuBuffer): Promise<void> {
    await this.host.gpu.submit("copy", (recorder) =>
      recorder.copy(other, 0, this.buffer, 0, this.bufferBytes),
    );
  }

  protected get range(): { buffer: GpuBuffer; offset: number; size: number } {
    return { buffer: this.buffer, offset: 0, size: this.bufferBytes };
  }

  /** Submits, and waits until the GPU has done it: the pace of chunks follows from how long they take. */
  protected async submit(
    label: string,
    reads: readonly Readback[],
    record: (recorder: Recorder) => void,
  ): Promise<void> {
    const waits = { buffer: this.buffer, offset: 0, into: new Uint8Array(4) };
    await this.submissions.submit(label, record, [waits, ...reads]);
  }

  destroy(): void {
    if (this.#freed) return;
    this.#freed = true;
    this.host.gpu.memory.release(this.buffer);
  }
}
