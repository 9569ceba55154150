/**
 * One call over lists on the GPU: its memory, counters, kernels and chunks. gpu-lists.ts and its neighbours say what
 * is recorded; this says how it is submitted and waited for. However the call ends, its memory is given back.
 */
import type { DeviceArray } from "../../device-array.js";
import type { CallOptions, ColumnInput } from "../../engine.js";
import { type ScalarType, scalarBytes } from "../../scalars.js";
import { forEachChunk } from "../batch/chunks.js";
import { type Chunk, type Column, newArray, placeOf, Scratch } from "../batch/columns.js";
import { Submissions } from "../call.js";
import { checkBinding as checkGpuBinding } from "../check-binding.js";
import { type Scanner, type ScanStep, scanKernels } from "../groups/scan.js";
import type { GpuHost } from "../host.js";
import type { Constants, KernelSource } from "../kernel-source.js";
import type { Bindings, GpuRuntime, Range, Readback, Recorder, Recording } from "../runtime.js";
import { type ListParams, listCounters, TILE } from "./list-kernels.js";

/** Records one dispatch over `count` elements. */
export type ListStep<B extends string> = (
  recorder: Recorder,
  bindings: Bindings<B>,
  params: ListParams,
) => void;

type Counters = ReturnType<typeof listCounters.read>;
const zeros = new Uint8Array(listCounters.bytes);

/** Runs a call's work; with a log its submissions are timed into it. */
export async function runLists<T>(
  host: GpuHost,
  { log }: Pick<CallOptions, "log">,
  operation: (run: ListRun) => Promise<T>,
): Promise<T> {
  const { gpu } = host;
  gpu.checkAlive();
  const scratch = new Scratch(gpu);
  try {
    const submissions = new Submissions(gpu);
    return await submissions.run(log, async () => {
      const control = { buffer: await scratch.buffer(listCounters.bytes), size: listCounters.bytes };
      return operation(new ListRun(host, scratch, submissions, control));
    });
  } finally {
    scratch.release();
  }
}

export class ListRun implements Scanner {
  constructor(
    readonly host: GpuHost,
    /** Memory until the call ends. */
    readonly scratch: Scratch,
    readonly submissions: Submissions,
    readonly control: Range,
  ) {}

  /** Memory of the call, with unspecified contents, as a binding. */
  async range(bytes: number): Promise<Range> {
    const size = Math.max(16, Math.ceil(bytes / 16) * 16);
    checkBinding(this.host.gpu, size);
    return { buffer: await this.scratch.buffer(size), offset: 0, size };
  }

  /** What records a kernel's dispatches, whose workgroups take `tile` elements each. */
  async step<B extends string, C extends string>(
    source: KernelSource<keyof ListParams, B, C>,
    constants: Constants<C>,
    tile = TILE,
  ): Promise<ListStep<B>> {
    const kernel = await this.host.gpu.compile(source, constants);
    return (recorder, bindings, params) =>
      recorder.dispatch(kernel, bindings, params, Math.ceil((params.count ?? 0) / tile));
  }

  /** The same of a kernel whose workgroups find their elements by their place in a grid, x and y. */
  async gridStep<B extends string, C extends string>(
    source: KernelSource<keyof ListParams, B, C>,
    constants: Constants<C>,
    grid: readonly [number, number],
  ): Promise<ListStep<B>> {
    const kernel = await this.host.gpu.compile(source, constants);
    return (recorder, bindings, params) => recorder.dispatch(kernel, bindings, params, grid);
  }

  scanStep(kernel: keyof typeof scanKernels): Promise<ScanStep> {
    return this.step(scanKernels[kernel], {});
  }

  /** Submits, waits, and brings back what is asked for. */
  submit(label: string, record: Recording, reads: readonly Readback[] = []): Promise<void> {
    return this.submissions.submit(label, record, reads);
  }

  /** The same with zeroed counters; answers them. */
  async counted(
    label: string,
    record: (recorder: Recorder) => void,
    reads: readonly Readback[] = [],
  ): Promise<Counters> {
    const into = new Uint8Array(listCounters.bytes);
    this.host.gpu.write(this.control.buffer, 0, zeros);
    await this.submit(label, record, [{ buffer: this.control.buffer, offset: 0, into }, ...reads]);
    return listCounters.read(into);
  }

  /**
   * Goes over elements in chunks of about 100 ms. Each has memory of its own.
   * @param crosses whether columns or results cross the bus
   */
  eachChunk(
    operation: string,
    elements: number,
    call: Pick<CallOptions, "signal" | "onProgress">,
    run: (chunk: Chunk, scratch: Scratch) => Promise<unknown>,
    crosses = false,
  ): Promise<void> {
    const { gpu, pacer, hostChunk } = this.host;
    const bindable = Math.floor(gpu.traits.maxBinding / BYTES) - 1024;
    const limits = { operation, bindable, host: crosses ? hostChunk : undefined };
    return forEachChunk(pacer, limits, elements, call, async (chunk) => {
      const scratch = new Scratch(gpu);
      try {
        await run(chunk, scratch);
      } finally {
        scratch.release();
      }
    });
  }
}

/** A copy of a column in the GPU's memory. */
export async function copied<T extends ScalarType>(
  { engine, gpu }: GpuHost,
  type: T,
  input: ColumnInput<T>,
): Promise<DeviceArray<T>> {
  if (ArrayBuffer.isView(input)) return engine.upload(type, input);
  const column = await newArray(engine, gpu, type, input.length);
  try {
    const bytes = Math.ceil((input.length * scalarBytes[type]) / 4) * 4;
    const from = placeOf(input);
    await gpu.submit("copy", (recorder) => {
      const { buffer } = placeOf(column);
      if (bytes > 0) recorder.copy(from.buffer, from.byteOffset, buffer, 0, bytes);
    });
    return column;
  } catch (error) {
    column.destroy();
    throw error;
  }
}

/** Bytes of the widest element that is bound by chunk. */
const BYTES = 8;

/** What a kernel gets for a column that it does not use. */
export const NO_COLUMN = { range: undefined, shift: 0 } as unknown as Column;

/** @throws LimitError when so many bytes cannot be bound at once */
export function checkBinding(gpu: GpuRuntime, bytes: number): void {
  checkGpuBinding(gpu, bytes, "Use fewer entries or elements at a time, or the cpu backend.");
}
