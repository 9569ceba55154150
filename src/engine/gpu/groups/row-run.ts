/**
 * One call over rows on the GPU: its memory, counters, chunks, progress and times. The operations on rows
 * (group-rows.ts, ../join/match.ts) say what to record; this says how it is submitted, waited for, timed and stopped.
 *
 * Submissions run in their order. Only those that read the counters back are waited for: a wait takes as long as the
 * GPU works on a million rows. Of steps that nobody waits for some are queued, and go along with the next submission
 * (`eachChunk`, unless submissions cost nothing), and some are submitted, so that the GPU begins (`dispatch`). However the call ends, its memory is
 * given back.
 */
import type { Words } from "../../device-columns.js";
import { type Keying, keyingOf } from "../../hash-seed.js";
import type { ChunkPlan } from "../../plan.js";
import type { GroupCall } from "../../row-groups.js";
import { forEachChunk } from "../batch/chunks.js";
import { type Chunk, placeOf, Scratch } from "../batch/columns.js";
import { Submissions } from "../call.js";
import { checkBinding as checkGpuBinding } from "../check-binding.js";
import type { GpuHost } from "../host.js";
import type { Constants, KernelSource } from "../kernel-source.js";
import {
  type Bindings,
  type GpuRuntime,
  type Kernel,
  paramOf,
  type Range,
  type Readback,
  type Recorder,
  type Recording,
} from "../runtime.js";
import { ROW_TILE, type RowParams, rowCounters } from "./row-kernels.js";
import type { RecordLayout } from "./row-records.js";
import { type ScanStep, scanKernels } from "./scan.js";

/** Counters before a call. */
const NONE = rowCounters.read(new Uint8Array(rowCounters.bytes));

/** Elements of a step that is not worth waiting for. */
const AT_ONCE = { software: 2 ** 22, hardware: 2 ** 24 } as const;

export interface RowWork {
  readonly call: GroupCall;
  readonly layout: RecordLayout;
  /** Rows of all sides. */
  readonly rows: number;
  /** Times that `eachChunk` goes over all of them, for progress. */
  readonly passes: number;
}

/** Records a step's commands over a chunk. */
export type RecordChunk = (recorder: Recorder, chunk: Chunk) => void;

export interface StepOptions {
  readonly isPass?: boolean;
  readonly waits?: boolean;
  readonly onChunk?: (() => void) | undefined;
}

export interface OverOptions extends StepOptions {
  /** Rows that an invocation takes. */
  readonly items?: number;
  /** The name under which the pacer remembers the kernel's speed: its label unless told. */
  readonly operation?: string;
  readonly dispatched?: boolean;
}

/**
 * Records one dispatch of a kernel; `count` says over how many invocations. Of several objects of parameters the first
 * that has a value counts.
 */
export type RowStep<B extends string> = (
  recorder: Recorder,
  bindings: Bindings<B>,
  ...params: RowParams[]
) => void;

/**
 * Runs a call's work. Its memory is given back, and its submissions are timed into its log.
 * @param kept takes the call's memory in place of that; whoever made it gives it back
 */
export async function runRows<T>(
  host: GpuHost,
  work: RowWork,
  operation: (run: RowRun) => Promise<T>,
  kept?: Scratch,
): Promise<T> {
  const { gpu } = host;
  const { signal, log } = work.call;
  signal?.throwIfAborted();
  gpu.checkAlive();
  const scratch = kept ?? new Scratch(gpu);
  try {
    const submissions = new Submissions(gpu);
    return await submissions.run(log, async () => {
      const control = await scratch.buffer(rowCounters.bytes);
      gpu.write(control, 0, new Uint8Array(rowCounters.bytes));
      const run = new RowRun(host, work, scratch, submissions, { buffer: control, size: rowCounters.bytes });
      const answer = await operation(run);
      await run.end();
      return answer;
    });
  } finally {
    if (kept === undefined) scratch.release();
  }
}

/** @throws LimitError when a range of so many bytes is larger than a binding. */
export function checkBinding(gpu: GpuRuntime, bytes: number): void {
  checkGpuBinding(gpu, bytes, "Use fewer rows at a time, or the cpu backend.");
}

export class RowRun {
  /** As of the last submission that was waited for. */
  counters = NONE;
  /** What goes before the next submission. */
  readonly #queued: Recording[] = [];
  /** What is read along with the next submission that is waited for. */
  readonly #reads: Readback[] = [];
  /** Kernels that the next submission needs, and how many of them are being compiled. */
  readonly #kernels: Promise<unknown>[] = [];
  #compiling = 0;
  /** Rows of all passes that are done, and of those that were reported. */
  #done = 0;
  #reported = 0;
  /** What all kernels are told. */
  readonly #shared: RowParams;

  constructor(
    readonly host: GpuHost,
    private readonly work: RowWork,
    private readonly scratch: Scratch,
    private readonly submissions: Submissions,
    readonly control: Range,
  ) {
    this.keying = keyingOf(host.engine.hashSeed);
    const { rowWords, plainWords, nullWords } = work.layout;
    this.#shared = { rowWords, plainWords, nullWords, nullsEqual: Number(work.call.nullsEqual) };
  }

  /** What words of rows are hashed as. Another table's rows are looked up with those of that table. */
  keying: Keying;

  /** Times that the seed was given up. */
  reseeded = 0;

  /** Goes on with a seed that nobody knows, and with counters of 0. */
  reseed(): void {
    this.reseeded++;
    this.keying = keyingOf(crypto.getRandomValues(new Uint32Array(1))[0]);
    this.counters = NONE;
    this.queue((recorder) => recorder.clear(this.control.buffer, 0, rowCounters.bytes));
  }

  get layout(): RecordLayout {
    return this.work.layout;
  }

  get nullsEqual(): boolean {
    return this.work.call.nullsEqual;
  }

  /** Memory of the call, with unspecified contents, as a binding. Its size is a multiple of 16 bytes. */
  async range(bytes: number): Promise<Range> {
    const size = Math.max(16, Math.ceil(bytes / 16) * 16);
    checkBinding(this.host.gpu, size);
    return { buffer: await this.scratch.buffer(size), offset: 0, size };
  }

  /** What `prepare` answers; null, and its memory given back, where it throws a LimitError: before it queues. */
  attempt<T>(prepare: () => Promise<T>): Promise<T | null> {
    return this.scratch.attempt(prepare);
  }

  /**
   * Elements of a device array as a binding, `count` from `first` on (all, unless told): a copy where a binding cannot
   * begin.
   */
  async bind(words: Words, first = 0, count = words.length - first): Promise<Range> {
    const { buffer, byteOffset } = placeOf(words);
    const offset = byteOffset + first * 4;
    const size = Math.max(4, count * 4);
    checkBinding(this.host.gpu, size);
    if (offset % 256 === 0) return { buffer, offset, size };
    const copy = await this.scratch.buffer(size);
    await this.submit("copy", (recorder) => recorder.copy(buffer, offset, copy, 0, count * 4));
    return { buffer: copy, size };
  }

  /**
   * What records a kernel's dispatches, in submissions of this run. The kernel is compiled until the first of them, side
   * by side with others.
   * @param items rows that an invocation takes
   */
  async step<B extends string, C extends string>(
    source: KernelSource<keyof RowParams, B, C>,
    constants: Constants<C>,
    items = 1,
  ): Promise<RowStep<B>> {
    let kernel: Kernel | undefined;
    this.#compiling++;
    const compiled = this.host.gpu.compile(source, constants).then((made) => {
      kernel = made;
      this.#compiling--;
    });
    compiled.catch(() => {}); // the submission throws it
    this.#kernels.push(compiled);
    return (recorder, bindings, ...params) => {
      const workgroups = Math.ceil(paramOf(params, "count") / (ROW_TILE * items));
      params.push(this.keying, this.#shared);
      recorder.dispatch(kernel as Kernel, bindings, params, workgroups);
    };
  }

  /** Has kernels compiled beside those of the next submission: later ones need them. */
  compileAhead(sources: readonly KernelSource[], constants: Constants): void {
    // else they are looked up when they run
    if (this.host.gpu.traits.runsAtOnce) return;
    for (const source of sources) this.host.gpu.compile(source, constants).catch(() => {});
  }

  scanStep(kernel: keyof typeof scanKernels): Promise<ScanStep> {
    return this.step(scanKernels[kernel], {});
  }

  /**
   * Puts commands before the next submission. Until then no memory that they use may be given back, or be written by
   * the host.
   */
  queue(record: Recording): void {
    this.#queued.push(record);
  }

  /** Has memory read back with the next submission that is waited for. */
  queueRead(read: Readback): void {
    this.#reads.push(read);
  }

  async flush(label: string): Promise<void> {
    if (this.#queued.length > 0) await this.submit(label, () => {});
  }

  /** Waits for the kernels of all steps. */
  async #compiled(): Promise<void> {
    while (this.#kernels.length > 0) await Promise.all(this.#kernels.splice(0));
  }

  /** Submits without waiting. When it is refused, the next `submitAndWait` throws, or the call's end. */
  async submit(label: string, record: Recording): Promise<void> {
    if (this.#kernels.length > 0) await this.#compiled();
    await this.submissions.ahead(label, this.#withQueued(record));
  }

  /** Submits, waits, and reads the counters back, and what else is asked for. */
  async submitAndWait(label: string, record: Recording, reads: readonly Readback[] = []): Promise<void> {
    if (this.#kernels.length > 0) await this.#compiled();
    const into = new Uint8Array(rowCounters.bytes);
    const all = [{ buffer: this.control.buffer, offset: 0, into }, ...this.#reads.splice(0), ...reads];
    await this.submissions.submitNow(label, this.#withQueued(record), all);
    this.counters = rowCounters.read(into);
  }

  #withQueued(record: Recording): Recording {
    return (recorder) => {
      for (const each of this.#queued.splice(0)) each(recorder);
      record(recorder);
    };
  }

  /** Waits until all submissions are accepted. */
  accepted(): Promise<void> {
    return this.submissions.accepted();
  }

  /** @throws the signal's reason when the call is aborted. */
  checkSignal(): void {
    this.work.call.signal?.throwIfAborted();
  }

  /** Tells the caller what a survey has found. @throws what the caller does */
  surveyed(groups: number): void {
    this.work.call.onSurvey?.(groups);
  }

  /** Notes chunks of the batch in the call's plan, one for each of `eachChunk`. */
  noting(reason: ChunkPlan["reason"]): () => void {
    return () => this.work.call.log?.beginChunk({ strategy: "direct", groupSize: 1, reason });
  }

  /**
   * Records a step over `rows` rows in chunks of about 100 ms, and waits for each; looks at the signal before each.
   * @param operation the name under which the pacer remembers the step's speed
   * @param options.isPass whether the call's progress counts it
   * @param options.waits false: where one chunk does, it is queued, and the counters do not have it yet
   */
  async eachChunk(
    operation: string,
    rows: number,
    record: RecordChunk,
    options: StepOptions = {},
  ): Promise<void> {
    const { isPass = true, waits = true, onChunk } = options;
    const { signal } = this.work.call;
    if (!waits && rows <= this.host.pacer.next(operation)) {
      this.checkSignal();
      onChunk?.();
      const all: Recording = (recorder) => record(recorder, { first: 0, count: rows });
      if (rows > 0 && this.host.gpu.traits.runsAtOnce) await this.submit(operation, all);
      else if (rows > 0) this.queue(all);
    } else {
      const onProgress = isPass ? (done: number) => this.#report(this.#done + done) : undefined;
      const limits = { operation, bindable: Number.POSITIVE_INFINITY };
      await forEachChunk(this.host.pacer, limits, rows, { signal, onProgress }, async (chunk) => {
        onChunk?.();
        await this.submitAndWait(operation, (recorder) => record(recorder, chunk));
      });
    }
    if (isPass) this.#done += rows;
  }

  /**
   * A kernel over `count` rows, compiled and recorded: by `eachChunk`, as no pass unless told, or by `dispatch`.
   * @param params of all chunks
   */
  async over<B extends string, C extends string>(
    source: KernelSource<keyof RowParams, B, C>,
    constants: Constants<C>,
    count: number,
    bindings: Bindings<B>,
    params: RowParams = {},
    { items, operation = source.label, dispatched, ...options }: OverOptions = {},
  ): Promise<void> {
    const step = await this.step(source, constants, items);
    const record: RecordChunk = (recorder, chunk) => step(recorder, bindings, chunk, params);
    if (dispatched) return this.dispatch(operation, count, record);
    return this.eachChunk(operation, count, record, { isPass: false, ...options });
  }

  /**
   * A step that is submitted, or queued while kernels are compiled, and that nobody waits for where it is short; a longer
   * one goes chunk by chunk. Its memory is the call's until the end.
   */
  async dispatch(operation: string, count: number, record: RecordChunk): Promise<void> {
    const kind = this.host.gpu.traits.isEmulated ? "software" : "hardware";
    const atOnce = Math.max(AT_ONCE[kind], this.host.pacer.next(operation));
    if (count > atOnce) return this.eachChunk(operation, count, record, { isPass: false });
    if (count === 0) return;
    const whole: Recording = (recorder) => record(recorder, { first: 0, count });
    if (this.#compiling > 0) this.queue(whole);
    else await this.submit(operation, whole);
  }

  /** Waits for what was submitted to be accepted, at the call's end. */
  async end(): Promise<void> {
    await this.flush("last step");
    await this.accepted();
    if (this.#reported < this.#done) this.#report(this.#done);
  }

  /** Reports all rows as done, where there was nothing to go over. */
  finish(): void {
    this.#report(this.work.rows * this.work.passes);
  }

  #report(done: number): void {
    this.#reported = done;
    const { call, rows, passes } = this.work;
    // passes that were begun anew count twice
    call.onProgress?.(Math.min(rows, Math.floor(done / passes)), rows);
  }
}
