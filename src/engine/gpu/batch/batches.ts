/** A batch, chunk by chunk: its columns bound, and its results brought back. */
import { type ElementType, type KeyType, lengthOf, type ValueType } from "../../element-types.js";
import type { CallOptions, ColumnInput, Destination, Input } from "../../engine.js";
import type { TableSpec } from "../../layout.js";
import { lazily } from "../../lazily.js";
import type { Scalar } from "../../scalars.js";
import { slotFormat } from "../../slot-format.js";
import type { Submissions } from "../call.js";
import type { GpuHost } from "../host.js";
import type { Choice } from "../planner.js";
import { type BoundChunk, boundChunk } from "./bound-chunk.js";
import { type Chunk, type Column, loadComposites, Scratch } from "./columns.js";
import type { ReadBack } from "./pipeline.js";

const loadLarge = lazily(() => import("./large-batches.js"));

/** The keys and values of a call. */
export interface Batch<K extends KeyType, V extends ValueType> {
  keys: Input<K>;
  values?: Input<V> | null;
  /** Bytes that an element takes in the widest range that is bound. */
  bytes?: () => Promise<number>;
  /** What the planner chooses for so many of its elements now. */
  plan: (count: number) => Promise<Choice>;
}

/** Works on a chunk, and waits until its columns are read; `readBack` brings its results back. */
export type RunChunk = (chunk: BoundChunk, choice: Choice, readBack: ReadBack) => Promise<unknown>;

export interface BatchTarget {
  readonly host: Omit<GpuHost, "engine" | "tuning">;
  readonly spec: TableSpec;
  /** Of its calls. */
  readonly submissions: Submissions;
}

/**
 * Elements of a chunk whose columns pass through staging buffers, at most: 16 MiB per 4-byte column. Two chunks are in
 * memory at once, and their upload is the time that the first one's work waits.
 */
export const HOST_CHUNK = 2 ** 22;

/** Elements of batches that are one chunk, at most: their columns go through writeBuffer. */
const SMALL_BATCH = 2 ** 16;
/** Bytes of an element in any range that is bound, at most. */
const ELEMENT_BYTES = 64;

/**
 * Runs `run` on a batch chunk by chunk: a small one is a chunk, unless that takes long; large-batches.ts has all.
 * @param output where the call's results go.
 */
export async function eachChunk<K extends KeyType, V extends ValueType>(
  state: BatchTarget,
  operation: string,
  batch: Batch<K, V>,
  call: CallOptions,
  output: Destination,
  run: RunChunk,
): Promise<void> {
  const { gpu, pacer, hostChunk } = state.host;
  const count = lengthOf(batch.keys);
  gpu.checkAlive();
  const bindable = gpu.traits.maxBinding / ELEMENT_BYTES;
  if (count > Math.min(SMALL_BATCH, hostChunk, bindable, pacer.next(operation))) {
    return (await loadLarge()).eachLargeChunk(state, operation, batch, call, output, run);
  }
  const choice = await batch.plan(count);
  await state.submissions.run(call.log, async () => {
    call.signal?.throwIfAborted();
    if (count === 0) return;
    const work = (bound: BoundChunk, readBack: ReadBack) => run(bound, choice, readBack);
    await pacer.time(operation, count, () => runChunk(state, batch, call, { first: 0, count }, work));
  });
  call.onProgress?.(count, count);
}

/** Binds a chunk's columns, and works on them: `work` waits for the kernels that it submits. */
export async function runChunk<K extends KeyType, V extends ValueType>(
  state: BatchTarget,
  batch: Batch<K, V>,
  call: CallOptions,
  chunk: Chunk,
  work: (bound: BoundChunk, readBack: ReadBack) => Promise<unknown>,
): Promise<void> {
  call.log?.beginChunk();
  const scratch = new Scratch(state.host.gpu, undefined, true);
  try {
    await work(await bindColumns(state, batch, call, chunk, scratch), (reads, step) => step(reads));
  } finally {
    scratch.release();
  }
}

/** Binds the columns of a chunk, which `scratch` holds. @param work holds what else is needed for it */
export async function bindColumns<K extends KeyType, V extends ValueType>(
  state: BatchTarget,
  { keys, values }: Batch<K, V>,
  call: CallOptions,
  chunk: Chunk,
  scratch: Scratch,
  work = scratch,
): Promise<BoundChunk> {
  const { keyScalars, valueScalars } = slotFormat(state.spec);
  const columns = {
    keys: await bindElements(state, keyScalars, keys, chunk, scratch),
    values: values ? await bindElements(state, valueScalars, values, chunk, scratch) : undefined,
    mask: call.where && (await scratch.input("u8", call.where, chunk)),
  };
  return boundChunk(chunk, work, columns, call);
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
