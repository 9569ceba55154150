/**
 * A sketch of the cpu engine: its memory, and how a batch becomes chunks whose pieces threads share (sketch-jobs.ts). Without workers the
 * calling thread does the same jobs alone.
 */
import { ValidationError } from "../../../errors.js";
import type { Allocation } from "../../../host/memory.js";
import { nextTask } from "../../../host/next-task.js";
import { type RowMemory, Scratch } from "../../../host/row-memory.js";
import type { WorkResult } from "../../../host/work.js";
import type { CallOptions, ColumnInput } from "../../engine.js";
import type { BasicType } from "../../scalars.js";
import { type KeyColumn, keyColumn } from "../../sketch-format.js";
import type { Combination, EngineSketch } from "../../sketch-operations.js";
import type { CpuEngine } from "../cpu-engine.js";
import { Inputs } from "../memory/storage.js";
import type { RowJob } from "../rows/row-jobs.js";
import { rowThreads } from "../rows/row-threads.js";
import { inChunks, note } from "../table/chunks.js";

/** A chunk of keys in memory that the threads reach which work on it. */
export interface KeyChunk {
  readonly keys: KeyColumn;
  readonly where: Uint8Array;
  readonly from: number;
  readonly count: number;
  readonly grain: number;
  readonly memory: RowMemory;
  /** Memory for what passes from one job of the chunk to the next. */
  readonly scratch: Scratch;
  run(job: RowJob): Promise<WorkResult[]>;
}

const NO_MASK = new Uint8Array(0);

/** Bytes of a filter that are gone over at once: some milliseconds of work. */
const PIECE_BYTES = 2 ** 24;

export abstract class CpuSketch<K extends BasicType> implements EngineSketch<K> {
  #destroyed = false;

  /** Takes over `allocation`. */
  protected constructor(
    protected readonly engine: CpuEngine,
    protected readonly key: K,
    private readonly allocation: Allocation,
  ) {}

  abstract add(keys: ColumnInput<K>, call: CallOptions): Promise<void>;

  /** Some bytes of the contents take in those of another sketch. */
  protected abstract take(own: Uint8Array, other: Uint8Array, how: Combination): void;

  get bytes(): number {
    return this.allocation.bytes;
  }

  /** The contents as they are in memory. */
  protected get contents(): Uint8Array {
    this.guard();
    return new Uint8Array(this.allocation.buffer, 0, this.allocation.bytes);
  }

  combine(other: EngineSketch<K>, how: Combination): Promise<void> {
    const theirs = (other as CpuSketch<K>).contents;
    return this.overContents((own, from, to) => this.take(own, theirs.subarray(from, to), how));
  }

  clear(): Promise<void> {
    return this.overContents((own) => own.fill(0));
  }

  read(into: Uint8Array): Promise<void> {
    return this.overContents((own, from) => into.set(own, from));
  }

  /** Replaces the contents. Frees the memory when it fails. */
  async write(from: Uint8Array): Promise<void> {
    try {
      await this.overContents((own, start, end) => own.set(from.subarray(start, end)));
    } catch (error) {
      this.destroy();
      throw error;
    }
  }

  /** Goes over the contents in pieces, between which the event loop runs. */
  private overContents(work: (own: Uint8Array, from: number, to: number) => void): Promise<void> {
    const { contents } = this;
    return inChunks(contents.length, {}, this.guard, (from) => {
      const to = Math.min(contents.length, from + PIECE_BYTES);
      work(contents.subarray(from, to), from, to);
      return to;
    });
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.allocation.release();
  }

  protected readonly guard = (): void => {
    this.engine.guard();
    if (this.#destroyed) {
      throw new ValidationError(
        "The sketch was destroyed.",
        "Await running calls before destroying what they work on.",
      );
    }
  };

  /** Works on the keys of a call chunk by chunk. */
  protected async eachChunk(
    keys: ColumnInput<K>,
    call: CallOptions,
    work: (chunk: KeyChunk) => Promise<void>,
  ): Promise<void> {
    const { engine, guard } = this;
    guard();
    const { tuning } = engine;
    const threads = rowThreads(engine);
    const { length } = keys;
    const memory = threads.memory(call.strategy === "direct" ? 0 : length);
    const inputs = new Inputs(engine);
    this.allocation.retain();
    try {
      const column = keyColumn(this.key, inputs.bits(keys));
      const where = call.where ? inputs.mask(call.where) : NO_MASK;
      const scratch = new Scratch(memory);
      const pause = async () => {
        await nextTask();
        call.signal?.throwIfAborted();
        guard();
      };
      await inChunks(length, call, guard, async (from) => {
        const start = performance.now();
        const count = Math.min(length - from, tuning.chunk);
        const share = memory.shared ? Math.ceil(count / tuning.share) : 1;
        await work({
          ...reachable(memory, scratch, column, where, from, count),
          from,
          count,
          grain: tuning.grain,
          memory,
          scratch,
          run: (job) => threads.run(job, share - 1, pause),
        });
        if (memory.shared) note(call.log, "partitioned", "the batch is large enough to share", start);
        else note(call.log, "direct", "the batch is small, or there is one thread", start);
        return from + count;
      });
    } finally {
      this.allocation.release();
      inputs.release();
      memory.release();
    }
  }
}

/** A chunk's keys and mask in memory that all threads reach. */
function reachable(
  memory: RowMemory,
  scratch: Scratch,
  { words, width, float }: KeyColumn,
  where: Uint8Array,
  from: number,
  count: number,
): Pick<KeyChunk, "keys" | "where"> {
  const keys = words.subarray(from * width, (from + count) * width);
  const mask = where.subarray(from, from + count);
  return {
    keys: { words: memory.reaches(keys) ? keys : scratch.copy("keys", keys), width, float },
    where: mask.length === 0 || memory.reaches(mask) ? mask : scratch.copy("where", mask),
  };
}
