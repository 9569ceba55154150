/**
 * The chunks of one call, overlapped: while one is worked on, the next one's columns are uploaded and the results of
 * the one before are copied out. The work itself stays one chunk after another, and a call whose batch is one chunk has
 * nothing to overlap. Read-ahead takes memory that is to spare only, and gives it up when an allocation elsewhere
 * fails: with too little memory for two chunks they go one after the other.
 */
import { LimitError } from "../../../errors.js";
import type { GpuRuntime, Readback } from "../runtime.js";
import { type Chunk, Scratch } from "./columns.js";

/** Brings results of a chunk back: with the submission of `step`, or later when another chunk follows. */
export type ReadBack = (
  reads: readonly Readback[],
  step: (now: readonly Readback[]) => Promise<unknown>,
) => Promise<unknown>;

/** Binds a chunk's input columns, with memory of `columns`; `scratch` is for the work on it. */
type Bind<T> = (chunk: Chunk, columns: Scratch, scratch: Scratch) => Promise<T>;

/** A chunk's bound columns, and its memory. */
interface Bound<T> {
  bound: T;
  columns: Scratch;
  scratch: Scratch;
}

export class Pipeline<T> {
  #ahead: ReadAhead<T> | null = null;
  #readsAhead = true;
  /** Settles when the results of the chunk before are in the call's arrays. */
  #results: Promise<void> = Promise.resolve();

  constructor(
    private readonly gpu: GpuRuntime,
    private readonly bind: Bind<T>,
  ) {}

  /** Works on a chunk, while `next` is read ahead. After the last chunk all results are there. */
  async run(
    chunk: Chunk,
    next: Chunk | null,
    work: (bound: T, readBack: ReadBack) => Promise<unknown>,
  ): Promise<void> {
    const { bound, columns, scratch } = await this.#columnsOf(chunk);
    try {
      const working = work(bound, next ? (reads, step) => this.#readBackLater(reads, step) : readBackAtOnce);
      if (next && this.#readsAhead) this.#ahead = new ReadAhead(this.gpu, this.bind, next);
      await working;
      if (next === null) await this.#results;
    } finally {
      if (columns !== scratch) columns.release();
      if (next && this.gpu.lanes) this.#releaseBehindResults(scratch);
      else scratch.release();
    }
  }

  /** Gives memory back once results that a lane brings to the host are there. */
  #releaseBehindResults(scratch: Scratch): void {
    const done = this.#results.catch(() => {}).then(() => scratch.release());
    void done.then(this.gpu.memory.lend(() => done));
  }

  /** Ends what is under way, after an error; nothing is after the last chunk. */
  async close(): Promise<void> {
    await this.#ahead?.giveUp();
    await this.#results.catch(() => {});
  }

  async #columnsOf(chunk: Chunk): Promise<Bound<T>> {
    const ahead = this.#ahead;
    this.#ahead = null;
    const made = await ahead?.take();
    if (made) return made;
    // it was given up once for want of memory, and would be again
    if (ahead) this.#readsAhead = false;
    const scratch = new Scratch(this.gpu);
    try {
      return { bound: await this.bind(chunk, scratch, scratch), columns: scratch, scratch };
    } catch (error) {
      scratch.release();
      throw error;
    }
  }

  /** Does `step`, then begins to bring the results back. They may take until the next chunk's do. */
  async #readBackLater(reads: readonly Readback[], step: (now: readonly Readback[]) => Promise<unknown>) {
    await step([]);
    if (reads.length === 0) return;
    await this.#results;
    const { down = this.gpu } = this.gpu.lanes ?? {};
    down.after?.(this.gpu);
    const { arrived } = await down.begin("results", () => {}, reads);
    this.#results = arrived;
  }
}

const readBackAtOnce: ReadBack = (reads, step) => step(reads);

/** The columns of a chunk that follows, on their way to the GPU. Whoever makes it takes it or gives it up. */
class ReadAhead<T> {
  readonly #stop = new AbortController();
  readonly #up: GpuRuntime;
  readonly #columns: Scratch;
  readonly #scratch: Scratch;
  /** Null when there was too little memory, or it was given up. */
  readonly #bound: Promise<T | null>;
  readonly #endLoan: () => void;

  constructor(
    private readonly gpu: GpuRuntime,
    bind: Bind<T>,
    chunk: Chunk,
  ) {
    this.#up = gpu.lanes?.up ?? gpu;
    this.#columns = new Scratch(this.#up, this.#stop.signal);
    this.#scratch = new Scratch(gpu);
    this.#bound = this.#fill(bind, chunk);
    // a failure is told by take(), which may come later or never
    this.#bound.catch(() => {});
    this.#endLoan = gpu.memory.lend(() => this.giveUp());
  }

  async #fill(bind: Bind<T>, chunk: Chunk): Promise<T | null> {
    try {
      return await bind(chunk, this.#columns, this.#scratch);
    } catch (error) {
      this.#release();
      if (error instanceof LimitError || this.#stop.signal.aborted) return null;
      throw error;
    }
  }

  /** The columns, once they are bound; null when they are not going to be. */
  async take(): Promise<Bound<T> | null> {
    if (this.#stop.signal.aborted) return null;
    this.#endLoan();
    // what is still to be bound is needed now
    this.#columns.ahead = undefined;
    const bound = await this.#bound;
    this.#join();
    return bound === null ? null : { bound, columns: this.#columns, scratch: this.#scratch };
  }

  /** Has the work that follows wait for the columns. */
  #join(): void {
    this.gpu.after?.(this.#up);
  }

  /** What was copied ahead may be on its way: whoever frees its memory does so behind that. */
  #release(): void {
    this.#join();
    this.#columns.release();
  }

  /** Stops, and gives the memory back. */
  async giveUp(): Promise<void> {
    this.#endLoan();
    this.#stop.abort();
    await this.#bound.catch(() => {});
    this.#release();
  }
}
