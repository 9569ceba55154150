/** The loop of every bulk call: chunk after chunk, with abort before, pace and progress after each. */
import type { CallOptions } from "../../engine.js";
import type { Pacer } from "../pacer.js";
import type { Chunk } from "./columns.js";

/** What limits a chunk besides its time. */
export interface ChunkLimits {
  /** Name under which the speed of the operation is remembered. */
  operation: string;
  /** Elements that fit one binding. */
  bindable: number;
  /** Elements that a chunk has at most where inputs or results cross the bus: such chunks overlap. */
  host?: number;
  /** Elements of a chunk as far as there are so many and they fit, whatever speed was seen. */
  bulk?: number;
}

/**
 * Runs `run` over all chunks, one after another. Where columns cross the bus it is told which chunk comes next, so that
 * what does not depend on the one before can begin.
 */
export async function forEachChunk(
  pacer: Pacer,
  { operation, bindable, host, bulk }: ChunkLimits,
  total: number,
  call: CallOptions,
  run: (chunk: Chunk, next: Chunk | null) => Promise<void>,
): Promise<void> {
  call.signal?.throwIfAborted();
  const most = Math.min(Math.floor(bindable / 1024) * 1024, host ?? Number.POSITIVE_INFINITY);
  const chunkAt = (first: number): Chunk | null => {
    const count = Math.min(total - first, most, bulk ?? pacer.next(operation));
    return count > 0 ? { first, count } : null;
  };
  for (let chunk = chunkAt(0); chunk !== null; ) {
    call.signal?.throwIfAborted();
    const { first, count } = chunk;
    const end = first + count;
    const next = host === undefined ? null : chunkAt(end);
    const current = chunk;
    await pacer.time(operation, count, () => run(current, next));
    if (end < total) call.onProgress?.(end, total);
    chunk = next ?? chunkAt(end);
  }
  call.onProgress?.(total, total);
}
