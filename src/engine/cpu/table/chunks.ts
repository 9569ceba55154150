/**
 * Long batches in chunks: between two of them timers and events run, a signal can stop the call, and progress
 * is told.
 */
import { nextTask } from "../../../host/next-task.js";
import type { CallOptions } from "../../engine.js";
import type { Plan } from "../../plan.js";
import type { PlanLog } from "../../plan-log.js";
import { BLOCK } from "./blocks.js";
import { LONG_MS } from "./pace.js";
import type { Batch, Chunk, Columns } from "./sequential.js";

/**
 * The event loop gets a turn after a chunk that ends this long after the last turn: one frame of a display.
 */
const TURN_MS = 16;

/**
 * Calls `step` from element 0 until all `total` are done (once for an empty batch). `step` works on some
 * elements from its argument on and returns where it stopped. `guard` throws when the operation must not go
 * on. Rejects with the signal's reason when aborted.
 */
export async function inChunks(
  total: number,
  call: Pick<CallOptions, "signal" | "onProgress" | "checkInputs">,
  guard: () => void,
  step: (from: number) => number | Promise<number>,
): Promise<void> {
  let done = 0;
  let lastTurn = performance.now();
  do {
    if (performance.now() - lastTurn >= TURN_MS) {
      await nextTask();
      lastTurn = performance.now();
    }
    call.signal?.throwIfAborted();
    guard();
    call.checkInputs?.();
    const stopped = step(done);
    done = typeof stopped === "number" ? stopped : await stopped;
    guard();
    call.onProgress?.(done, total);
  } while (done < total);
}

/** What became of a chunk that was shared. */
export interface SharedChunk {
  /** Where it ended: early when it took long. */
  readonly to: number;
  /** Its elements that are still to do, by the calling thread alone. */
  readonly rest: Rest;
}

/** Elements of a chunk in an order of their own. */
export interface Rest {
  readonly length: number;
  /** Does some elements from this position on; returns where it stopped. */
  readonly step: (from: number) => number;
}

/** How the chunks of a batch are worked on. */
export interface ChunkWork {
  /** Does elements of a piece of a chunk, from the first on; returns where it stopped. */
  readonly alone: (piece: Chunk<Columns>) => number;
  /** How chunks are shared with workers; absent where they are not. */
  readonly shared?: {
    /** Elements of the next chunk to share when `left` are to do; 0 to do it alone. `forced`: however few they are. */
    readonly length: (left: number, forced: boolean) => number;
    readonly run: (chunk: Chunk<Columns>) => Promise<SharedChunk>;
  };
  /** Why chunks are done alone, where it is neither the call's wish nor the batch's size. */
  readonly whyAlone?: string;
}

/**
 * `inChunks` over a batch, each chunk shared with workers or not as `work` says, unless the call names a strategy. To
 * share a chunk of changes is to sort it by ranges of slots first, so that each has one owner: the partitioned
 * strategy. Lookups are shared as they are.
 * @param aloneLength elements of a chunk that is done alone, if that is not long
 */
export function eachChunk(
  { keys, where, length: total }: Batch<Columns>,
  call: Pick<CallOptions, "signal" | "onProgress" | "strategy" | "log" | "checkInputs">,
  guard: () => void,
  aloneLength: number,
  { alone, shared, whyAlone }: ChunkWork,
): Promise<void> {
  const { strategy = "auto", log, checkInputs } = call;
  return inChunks(total, call, guard, (from) => {
    const forced = strategy === "partitioned";
    const length = strategy === "direct" || !shared ? 0 : shared.length(total - from, forced);
    const to = length > 0 ? from + length : Math.min(total, from + aloneLength);
    const start = performance.now();
    if (shared && length > 0) {
      return shared.run({ keys, where, from, to, checkInputs }).then(async (chunk) => {
        await doRest(chunk, total, call, guard);
        note(log, "partitioned", forced ? ASKED : "the batch is large enough to share", start);
        return chunk.to;
      });
    }
    const step = (done: number) => alone({ keys, where, from: done, to: Math.min(to, done + BLOCK) });
    const stopped = untilLong(from, to, step);
    note(log, "direct", strategy === "direct" ? ASKED : (whyAlone ?? SMALL), start);
    return stopped;
  });
}

/** Takes steps from `from` on until `to` is reached or they took long; returns where it stopped. */
function untilLong(from: number, to: number, step: (from: number) => number): number {
  const start = performance.now();
  let done = from;
  do done = step(done);
  while (done < to && performance.now() - start < LONG_MS);
  return done;
}

/** `inChunks` over the elements that a shared chunk left to do. */
async function doRest(
  { to, rest: { length, step } }: SharedChunk,
  total: number,
  { onProgress, ...call }: Pick<CallOptions, "signal" | "onProgress" | "checkInputs">,
  guard: () => void,
): Promise<void> {
  if (length === 0) return;
  // The end of the rest is the chunk's, which tells it.
  const tell = (done: number) => {
    if (done < length) onProgress?.(to - length + done, total);
  };
  await inChunks(length, { ...call, onProgress: tell }, guard, (from) => untilLong(from, length, step));
}

const ASKED = "it was asked for";
const SMALL = "the batch is small, or the room in the table, or there is one thread";

/** Notes a chunk that was begun at `start`. */
export function note(
  log: PlanLog | undefined,
  strategy: Plan["strategy"],
  reason: string,
  start: number,
): void {
  if (!log) return;
  log.beginChunk({ strategy, reason });
  log.add(strategy === "partitioned" ? "with workers" : "on the calling thread", performance.now() - start);
}
