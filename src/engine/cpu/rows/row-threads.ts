/**
 * The threads that work on rows: joins, groups and gathers. A job goes to the workers and the calling thread, which lets the
 * event loop run between its pieces. Without an engine, or with one thread, the calling thread does all of it.
 */
import { processSeed } from "../../process-seed.js";
import type { CpuEngine } from "../cpu-engine.js";
import { WorkerPool } from "../threads/pool.js";
import type { RowTuning } from "../tuning.js";
import { TURN_MS } from "./pace.js";
import { openRowJob, type RowJob } from "./row-jobs.js";
import { RowMemory } from "./row-memory.js";
import workerSource from "./row-worker.ts?worker-source";
import type { RowResult } from "./work.js";

/** Lets the event loop run; throws when the operation must not go on. */
export type Pause = () => Promise<void>;

export class RowThreads {
  readonly #engine: CpuEngine | null;
  readonly #pool: WorkerPool<RowJob, RowResult> | null = null;

  /** @param engine whose threads and memory are used; null for the calling thread alone */
  constructor(
    engine: CpuEngine | null,
    readonly tuning: RowTuning,
  ) {
    this.#engine = engine;
    if (engine === null || engine.sharing.threads === 1) return;
    this.#pool = new WorkerPool(engine.sharing.threads, { source: workerSource, run: takePieces });
    engine.addUser(this.#pool);
  }

  /** Of the hashes of rows. */
  get seed(): number {
    return this.#engine?.hashSeed ?? processSeed();
  }

  /** @throws DeviceLostError once the engine is destroyed */
  guard(): void {
    this.#engine?.guard();
  }

  /** The pool of workers, for tests. @internal */
  get pool(): WorkerPool<RowJob, RowResult> | null {
    return this.#pool;
  }

  /** Memory for an operation on so many rows: shared if they are worth more than one thread. */
  memory(rows: number): RowMemory {
    const shares = this.#pool !== null && this.#pool.threads > 1 && rows >= this.tuning.share;
    return new RowMemory(shares && this.#engine !== null ? this.#engine.buffers : null);
  }

  /**
   * Works through a job. Everything in it must be in memory that workers reach, if `helpers` is not 0.
   * @param helpers workers that may take part
   * @param first what the calling thread does first, while workers begin
   */
  run(
    job: RowJob,
    helpers: number,
    pause: Pause,
    first: () => void | Promise<void> = () => {},
  ): Promise<RowResult[]> {
    const own = async (_: RowJob, next: Int32Array) => {
      await first();
      return takePieces(job, next, pause);
    };
    const pool = this.#pool;
    if (pool === null || helpers < 1) return own(job, new Int32Array(1)).then((result) => [result]);
    return pool.exclusive(() => pool.run(job, helpers, own));
  }
}

async function takePieces(job: RowJob, next: Int32Array, pause: Pause = async () => {}): Promise<RowResult> {
  const work = openRowJob(job);
  let lastTurn = performance.now();
  for (let piece = Atomics.add(next, 0, 1); piece < work.pieces; piece = Atomics.add(next, 0, 1)) {
    for (const _ of work.run(piece)) {
      if (performance.now() - lastTurn < TURN_MS) continue;
      await pause();
      lastTurn = performance.now();
    }
  }
  return work.result();
}

const known = new WeakMap<CpuEngine, RowThreads>();

/** The threads of an engine, made on first use. */
export function rowThreads(engine: CpuEngine): RowThreads {
  let threads = known.get(engine);
  if (threads === undefined) {
    threads = new RowThreads(engine, engine.tuning.rows);
    known.set(engine, threads);
  }
  return threads;
}
