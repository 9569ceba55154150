/** A batch, chunk by chunk: its columns bound, and its results brought back. */
import { type ElementType, type KeyType, lengthOf, type ValueType } from "../../element-types.js";
import type { CallOptions, ColumnInput, Destination, Input } from "../../engine.js";
import type { Scalar } from "../../scalars.js";
import { slotFormat } from "../../slot-format.js";
import { loadOverlap } from "../device/gpu.js";
import type { Choice } from "../planner.js";
import type { TableHost, TableState } from "../table/table-state.js";
import { type BoundChunk, boundChunk } from "./bound-chunk.js";
import { forEachChunk } from "./chunks.js";
import { type Chunk, type Column, loadComposites, Scratch } from "./columns.js";
import type { Pipeline, ReadBack } from "./pipeline.js";

/** The keys and values of a call. */
export interface Batch<K extends KeyType, V extends ValueType> {
  keys: Input<K>;
  values?: Input<V> | null;
  /** Bytes that an element takes in the widest range that is bound. */
  bytes?: number;
  /** What the planner chooses for so many of its elements now. */
  plan: (count: number) => Promise<Choice>;
}

/** What a batch is for: a table, or a sketch. */
export interface BatchTarget extends Pick<TableState, "spec" | "runCall" | "submitAhead"> {
  readonly host: Pick<TableHost, "gpu" | "pacer" | "hostChunk" | "kernels">;
}

/** Bytes of a binding that partitioning takes for a word of an element, at most: the word, and what pages have room for besides. */
const PARTITION_BYTES = 6;
/** Elements of a chunk of a large batch, whatever speed was seen: some milliseconds on a large GPU, below a second on a small one. */
export const BULK_CHUNK = 2 ** 27;

/**
 * Runs `run` on a batch chunk by chunk. Chunks of host memory overlap where there are several.
 * @param output where the call's results go.
 */
export async function eachChunk<K extends KeyType, V extends ValueType>(
  state: BatchTarget,
  operation: string,
  batch: Batch<K, V>,
  call: CallOptions,
  output: Destination,
  run: (chunk: BoundChunk, choice: Choice, readBack: ReadBack) => Promise<unknown>,
): Promise<void> {
  const { gpu, pacer, hostChunk } = state.host;
  const { keys, values, plan } = batch;
  const { keyWords, valueWords } = slotFormat(state.spec);
  const bytes = Math.max(batch.bytes ?? 4, PARTITION_BYTES * Math.max(2, keyWords + valueWords));
  const length = lengthOf(keys);
  gpu.checkAlive();
  // what the GPU copies by itself needs no small chunks to overlap
  const crosses = [keys, values, call.where, output].flat().some(copiedByHost);
  const host = crosses ? hostChunk : undefined;
  const bindable = gpu.device.limits.maxStorageBufferBindingSize / bytes;
  // a batch to partition is taken in large pieces: what that costs for the table's pages is paid once a piece
  const most = Math.min(length, BULK_CHUNK);
  const first = await plan(most);
  const bulk = first.strategy === "direct" || gpu.software ? undefined : BULK_CHUNK;
  const limits = { operation, bindable, host, bulk };
  const bind = (chunk: Chunk, scratch: Scratch) => bindColumns(state, batch, call, chunk, scratch);
  let pipeline: Pipeline<BoundChunk> | null = null;
  // a table fills up from chunk to chunk: each is planned when its turn comes
  const work = async (bound: BoundChunk, readBack: ReadBack) => {
    const isPlanned = bound.first === 0 && bound.count === most;
    return run(bound, isPlanned ? first : await plan(bound.count), readBack);
  };
  const each = async (chunk: Chunk, next: Chunk | null) => {
    call.log?.beginChunk();
    if (next !== null) pipeline ??= new (await loadOverlap()).Pipeline(gpu, bind);
    if (pipeline) return pipeline.run(chunk, next, work);
    const scratch = new Scratch(gpu);
    try {
      await work(await bind(chunk, scratch), (reads, step) => step(reads));
    } finally {
      scratch.release();
    }
  };
  // a chunk's time sets the pace of the next: loading is not to be part of it
  if (crosses) await gpu.uploadsOf(length * 4);
  try {
    await state.runCall(call.log, () => forEachChunk(pacer, limits, length, call, each));
  } finally {
    await (pipeline as Pipeline<BoundChunk> | null)?.close();
  }
}

function copiedByHost(column: unknown): boolean {
  return column === "host" || ArrayBuffer.isView(column);
}

async function bindColumns<K extends KeyType, V extends ValueType>(
  state: BatchTarget,
  { keys, values }: Batch<K, V>,
  call: CallOptions,
  chunk: Chunk,
  scratch: Scratch,
): Promise<BoundChunk> {
  const { keyScalars, valueScalars } = slotFormat(state.spec);
  const columns = {
    keys: await bindElements(state, keyScalars, keys, chunk, scratch),
    values: values ? await bindElements(state, valueScalars, values, chunk, scratch) : undefined,
    mask: call.where && (await scratch.input("u8", call.where, chunk)),
  };
  return boundChunk(chunk, scratch, columns, call);
}

/** Binds keys or values: the words of each next to each other. */
export async function bindElements<T extends ElementType>(
  state: BatchTarget,
  scalars: readonly Scalar[],
  elements: Input<T>,
  chunk: Chunk,
  scratch: Scratch,
): Promise<Column> {
  if (!Array.isArray(elements)) return scratch.input(scalars[0], elements as ColumnInput<Scalar>, chunk);
  return (await loadComposites()).bindColumns(state, scalars, elements, chunk, scratch);
}
