/**
 * The threads that work on rows: joins, groups and gathers. A job goes to the workers and the calling thread, which
 * lets the event loop run between its pieces. Without an engine, or with one thread, the calling thread does all of it.
 */
import { Memory } from "../../../host/memory.js";
import type { TaskKind } from "../../../host/pool.js";
import { RowMemory } from "../../../host/row-memory.js";
import { COLUMN_JOBS } from "../../../host/share-columns.js";
import { type Pause, takePiecesHere, type WorkResult } from "../../../host/work.js";
import { processSeed } from "../../process-seed.js";
import type { CpuEngine } from "../cpu-engine.js";
import { type RowTuning, rowTuning } from "../tuning.js";
import { openRowJob, type RowJob } from "./row-jobs.js";
import script from "./row-worker.ts?worker-source";

export const ROW_JOBS: TaskKind<RowJob, WorkResult> = {
  name: "rows",
  script: async () => ({ default: script }),
  companion: COLUMN_JOBS,
};

export class RowThreads {
  /**
   * @param engine whose threads and memory are used; null for the calling thread alone
   * @param own memory of the calling thread alone; null: new one each time
   */
  constructor(
    readonly engine: CpuEngine | null,
    readonly tuning: RowTuning,
    readonly own: Memory | null = null,
  ) {}

  /** Of the hashes of rows. */
  get seed(): number {
    return this.engine?.hashSeed ?? processSeed();
  }

  /** Threads that may share a job, the calling one included. */
  get count(): number {
    return this.engine?.host.threads ?? 1;
  }

  /** @throws DeviceLostError once the engine is destroyed */
  guard(): void {
    this.engine?.guard();
  }

  /** Memory for an operation on so many rows: shared if they are worth more than one thread. */
  memory(rows: number): RowMemory {
    return new RowMemory(this.engine?.host ?? null, rows, this.own);
  }

  /** The same for what nobody needs once it is released: memory that was freed comes first. */
  work(rows: number): RowMemory {
    const host = this.engine?.host ?? null;
    return new RowMemory(host, rows, host?.threads === 1 ? host.memory : this.own);
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
  ): Promise<WorkResult[]> {
    const own = async (next: Int32Array) => {
      await first();
      return takePiecesHere(openRowJob(job), next, pause);
    };
    const host = this.engine?.host;
    return host ? host.share(ROW_JOBS, job, helpers, own) : own(new Int32Array(1)).then((result) => [result]);
  }
}

/** Bytes that a thread that works alone keeps for the next time, in buffers of so many at least. */
const KEPT_BYTES = 2 ** 25;
const LEAST_KEPT_BYTES = 2 ** 16;

/** The calling thread, where others are at work of their own. */
export const aloneThread = new RowThreads(
  null,
  rowTuning,
  new Memory(false, () => {}, KEPT_BYTES, LEAST_KEPT_BYTES),
);

export const rowThreads = (engine: CpuEngine): RowThreads => new RowThreads(engine, engine.tuning.rows);
