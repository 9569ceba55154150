/** Batches of several chunks, or of one that may take long. Loaded by the first such. */
import { type KeyType, lengthOf, type ValueType } from "../../element-types.js";
import type { CallOptions, Destination } from "../../engine.js";
import { PinnedArray } from "../../pinned-array.js";
import { slotFormat } from "../../slot-format.js";
import { type Batch, type BatchTarget, bindColumns, type RunChunk, runChunk } from "./batches.js";
import type { BoundChunk } from "./bound-chunk.js";
import { forEachChunk } from "./chunks.js";
import type { Chunk, Scratch } from "./columns.js";
import { Pipeline, type ReadBack } from "./pipeline.js";

/**
 * Bytes of a binding that partitioning takes for a word of an element, at most: the word, and what pages have room for
 * besides.
 */
const PARTITION_BYTES = 6;
/**
 * Elements of a chunk of a large batch, whatever speed was seen: some milliseconds on a large GPU, below a second on a
 * small one.
 */
export const BULK_CHUNK = 2 ** 27;

/**
 * Chunks of host memory that one of pinned columns is as long as. Results come back from the end of the first one on;
 * without any, tables take what is large at less cost.
 */
const HOST_CHUNKS = { withResults: 2, without: 8 } as const;

/**
 * Runs `run` on a batch chunk by chunk. Chunks of host memory overlap where there are several.
 * @param output where the call's results go.
 */
export async function eachLargeChunk<K extends KeyType, V extends ValueType>(
  state: BatchTarget,
  operation: string,
  batch: Batch<K, V>,
  call: CallOptions,
  output: Destination,
  run: RunChunk,
): Promise<void> {
  const { gpu, pacer, hostChunk } = state.host;
  const { keys, values, plan } = batch;
  const { keyWords, valueWords } = slotFormat(state.spec);
  const bytes = Math.max((await batch.bytes?.()) ?? 4, PARTITION_BYTES * Math.max(2, keyWords + valueWords));
  const length = lengthOf(keys);
  gpu.checkAlive();
  const columns = [keys, values, call.where, output].flat();
  const crosses = columns.some(copiedByHost);
  // what the GPU copies by itself overlaps where there are lanes for it
  const isPinned = (column: unknown) => column instanceof PinnedArray;
  const chunks = HOST_CHUNKS[[output].flat().some(isPinned) ? "withResults" : "without"];
  const pinned = columns.some(isPinned) && gpu.lanes ? chunks * hostChunk : undefined;
  const host = crosses ? hostChunk : pinned;
  const bindable = gpu.traits.maxBinding / bytes;
  // a batch to partition is taken in large pieces: what that costs for the table's pages is paid once a piece
  const most = Math.min(length, BULK_CHUNK);
  const first = await plan(most);
  const bulk = first.strategy === "direct" || gpu.traits.isEmulated ? undefined : BULK_CHUNK;
  const limits = { operation, bindable, host, bulk };
  const bind = (chunk: Chunk, held: Scratch, work: Scratch) =>
    bindColumns(state, batch, call, chunk, held, work);
  let pipeline: Pipeline<BoundChunk> | null = null;
  // a table fills up from chunk to chunk: each is planned when its turn comes
  const work = async (bound: BoundChunk, readBack: ReadBack) => {
    const isPlanned = bound.first === 0 && bound.count === most;
    return run(bound, isPlanned ? first : await plan(bound.count), readBack);
  };
  const each = async (chunk: Chunk, next: Chunk | null) => {
    if (next !== null) pipeline ??= new Pipeline(gpu, bind);
    if (pipeline === null) return runChunk(state, batch, call, chunk, work);
    call.log?.beginChunk();
    return pipeline.run(chunk, next, work);
  };
  // a chunk's time sets the pace of the next: loading is not to be part of it
  if (crosses) await gpu.prepareUploads(length * 4);
  try {
    await state.submissions.run(call.log, () => forEachChunk(pacer, limits, length, call, each));
  } finally {
    await (pipeline as Pipeline<BoundChunk> | null)?.close();
  }
}

function copiedByHost(column: unknown): boolean {
  return column === "host" || ArrayBuffer.isView(column);
}
