/**
 * Works on a chunk by a partitioned strategy, or the next simpler one where that does not do: pages, partitions,
 * direct.
 */
import type { BoundChunk } from "../../gpu/batch/bound-chunk.js";
import type { Choice } from "../../gpu/planner.js";
import { reserveWorklists } from "../direct/further-rounds.js";
import type { Strategies } from "../operations.js";
import type { TableState } from "../table/table-state.js";
import { pageLevels } from "./page-layout.js";
import { lookupLevels } from "./page-lookups.js";
import { Partitioner } from "./partitioner.js";
import { cachePartitions } from "./partitions.js";

/** Runs the strategy that the planner chose; notes in the chunk's log what was done. */
export async function runPartitioned<A, R>(
  { looksUp, direct, partitions, pages }: Strategies<A, R>,
  state: TableState,
  chunk: BoundChunk,
  { strategy, reason }: Choice,
  args: A,
): Promise<R> {
  const { log } = chunk;
  await reserveWorklists(state, chunk);
  const byPage = strategy === "pages";
  const shape = shapeOf(state, byPage, looksUp);
  log?.correctChunk({ strategy: "partitioned", reason, ...shape });
  if (byPage && pages) {
    const done = await pages(state, chunk, args);
    if (done !== null) return done;
    log?.correctChunk({ ...shapeOf(state, false), reason: "pages would be too many or too full" });
  }
  const done = await partitions(state, chunk, args);
  if (done !== null) return done;
  log?.correctChunk({ strategy: "direct", reason: "there is too little memory", partitions: 1, pages: 0 });
  return direct(state, chunk, args);
}

/** How many partitions, and pages if there are to be any, a table falls into. */
function shapeOf(state: TableState, byPage: boolean, looksUp = false): { partitions: number; pages: number } {
  if (!byPage) return { partitions: cachePartitions(state).count, pages: 0 };
  const { pages, partitions } = looksUp
    ? lookupLevels(state)
    : pageLevels(state.spec.slots, Partitioner.of(state).pageShift);
  return { partitions: partitions.count, pages };
}
