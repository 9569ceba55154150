/**
 * The threads that look strings up. A batch goes chunk by chunk through shared memory, where all threads take pieces of
 * it; what is new among it the calling thread puts in afterwards, in input order, so results do not depend on threads.
 */
import type { Allocation } from "../../../host/memory.js";
import type { TaskKind } from "../../../host/pool.js";
import { takingTurns } from "../../../host/turns.js";
import type { CpuEngine } from "../cpu-engine.js";
import { TABLE_JOBS } from "../table/table-jobs.js";
import { runStringJob, type StringJob, type StringResult } from "./string-job.js";
import type { Strings, StringTable } from "./string-table.js";

/** Bytes of a chunk's strings at most: some milliseconds of a thread's time. */
const MOST_BYTES = 2 ** 24;

/** A chunk that was looked up: its strings' numbers, NO_NUMBER where they have none, and their hashes. */
export interface LookedUp {
  readonly absent: number;
  readonly hashes: Uint32Array;
  /** The chunk's strings as they were looked up. */
  readonly chunk: Strings;
}

const STRING_JOBS: TaskKind<StringJob, StringResult> = {
  name: "strings",
  script: () => import("./string-worker.ts?worker-source"),
  companion: TABLE_JOBS,
};

export class StringThreads {
  /** One chunk at a time has memory. */
  readonly #inTurn = takingTurns();

  constructor(private readonly engine: CpuEngine) {}

  /** Where the chunk ends that begins at `from` and is worth several threads; `from` itself where none is. */
  chunkEnd({ offsets }: Strings, from: number, length: number): number {
    const { chunk, lookUpFrom } = this.engine.tuning;
    if (this.engine.host.threads === 1) return from;
    let end = Math.min(length, from + chunk);
    while (end - from >= lookUpFrom && offsets[end] - offsets[from] > MOST_BYTES) {
      end = from + Math.floor((end - from) / 2);
    }
    return end - from < lookUpFrom ? from : end;
  }

  /** Looks up elements from..to, of one chunk. Hashes and strings hold until `use` ends. */
  async lookUp<R>(
    table: StringTable,
    strings: Strings,
    numbers: Uint32Array,
    from: number,
    to: number,
    use: (lookedUp: LookedUp) => Promise<R>,
  ): Promise<R> {
    return this.#inTurn(async () => {
      const length = to - from;
      const made: Allocation[] = [];
      const room = (bytes: number) => {
        const allocation = this.engine.buffers.allocate(bytes, false);
        made.push(allocation);
        return allocation.buffer;
      };
      try {
        const hashes = new Uint32Array(room(4 * length), 0, length);
        const { share, grain } = this.engine.tuning;
        const job: StringJob = {
          table,
          strings: inShared(strings, from, to, room),
          length,
          grain,
          hashes,
          numbers: numbers.subarray(from, to),
        };
        const helpers = Math.ceil(length / share) - 1;
        const results = await this.engine.host.share(STRING_JOBS, job, helpers, (next) =>
          runStringJob(job, next),
        );
        const { buffer, length: chunkBytes } = job.strings.bytes;
        const chunk = { ...job.strings, view: new DataView(buffer, 0, chunkBytes) };
        return await use({ absent: results.reduce((sum, { absent }) => sum + absent, 0), hashes, chunk });
      } finally {
        for (const allocation of made) allocation.release();
      }
    });
  }
}

/** Elements from..to in shared memory. */
function inShared(
  { offsets, bytes, where }: Strings,
  from: number,
  to: number,
  room: (bytes: number) => ArrayBufferLike,
): StringJob["strings"] {
  const first = offsets[from];
  const length = offsets[to] - first;
  const chunkBytes = new Uint8Array(room(length), 0, length);
  chunkBytes.set(bytes.subarray(first, first + length));
  const chunkOffsets = new Uint32Array(room(4 * (to - from + 1)), 0, to - from + 1);
  for (let i = from; i <= to; i++) chunkOffsets[i - from] = offsets[i] - first;
  if (where === null) return { offsets: chunkOffsets, bytes: chunkBytes, where };
  const chunkWhere = new Uint8Array(room(to - from), 0, to - from);
  chunkWhere.set(where.subarray(from, to));
  return { offsets: chunkOffsets, bytes: chunkBytes, where: chunkWhere };
}

const known = new WeakMap<CpuEngine, StringThreads>();

export function stringThreads(engine: CpuEngine): StringThreads {
  let threads = known.get(engine);
  if (threads === undefined) {
    threads = new StringThreads(engine);
    known.set(engine, threads);
  }
  return threads;
}
