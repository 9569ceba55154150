/**
 * Sorting a large batch by partition of its keys' home slots (kernels/partition.cu), so that the kernels of a table
 * meet the slots that they probe in the GPU's cache. Which elements are equal, and what becomes of them, stays as it
 * is.
 */
import {
  type BoundChunk,
  type CallOptions,
  type Column,
  fragment,
  kernelSource,
  type Range,
  type Readback,
  read,
  readWrite,
} from "warpmap/engine";
import { slotsBytes } from "./formats.js";
import { constantsOf } from "./kernels.js";
import type { TableState } from "./table-state.js";

/** Tables up to this size stay in the caches of GPUs: all of their accesses are local already. */
const CACHED_BYTES = 2 ** 26;
/** Elements below which sorting does not pay. */
const LEAST_SORTED = 2 ** 20;
/** Bytes of a table that a partition has, about: several of them fit the cache at once. */
const PARTITION_BYTES = 2 ** 23;
/** Powers of two of the number of partitions. */
const [LEAST_BITS, MOST_BITS] = [5, 11];
/** Elements of a tile, and threads that work on it. */
const TILE = 8192;
const WORKGROUP = 1024;
/** Blocks of a kernel whose blocks go on to the end of the batch: two for each multiprocessor of the largest GPUs. */
const PERSISTENT = 264;

/** How a call goes about a batch of so many elements. */
export function planFor(state: TableState, count: number, { strategy, where }: CallOptions) {
  const direct = (reason: string) => ({ strategy: "direct", reason }) as const;
  if (strategy === "direct") return direct("it was asked for");
  if (state.format.kind === "wide") return direct("slots of wide keys and values are not partitioned");
  if (typeof state.spec.hash !== "string") return direct("the hash function is JavaScript");
  if (where) return direct("a mask is given");
  if (sharedBytes(state.format) > state.host.gpu.facts.sharedMemory)
    return direct("the GPU has too little shared memory to sort elements of that size");
  if (strategy === "partitioned") return { strategy: "partitions", reason: "it was asked for" } as const;
  if (slotsBytes(state.spec) <= CACHED_BYTES) return direct("the table fits the cache");
  if (count < LEAST_SORTED) return direct("the batch is small");
  return { strategy: "partitions", reason: "table and batch are large" } as const;
}

/** Shared memory of a tile of elements and of counts of partitions, at most. */
function sharedBytes({ keyWords, valueWords }: TableState["format"], bits = MOST_BITS): number {
  return TILE * 4 * (keyWords + valueWords) + 8 * 2 ** bits;
}

const constants = ["HASH", "MULTIPLIER", "OFFSET", "FLOATS32", "FLOATS64"] as const;

/** The kernels by the words of a key and of a value. */
export const partitionKernels = {
  count: (keyWords: number) =>
    kernelSource(
      `partition_count_${keyWords}`,
      ["COUNT", "BITS"],
      [fragment("", { bindings: { keys: read(), mask: read(), cursors: readWrite() }, constants })],
    ),
  offsets: kernelSource(
    "partition_offsets",
    ["BITS"],
    [fragment("", { bindings: { cursors: readWrite() } })],
  ),
  scatter: (keyWords: number, valueWords: number) =>
    kernelSource(
      `partition_scatter_${keyWords}_${valueWords}`,
      ["COUNT", "BITS"],
      [
        fragment("", {
          bindings: {
            keys: read(),
            values: read(),
            mask: read(),
            cursors: readWrite(),
            sortedKeys: readWrite(),
            sortedValues: readWrite(),
            places: readWrite(),
            runs: readWrite(),
            runStarts: readWrite(),
          },
          constants,
        }),
      ],
    ),
  gather: (valueWords: number) =>
    kernelSource(
      `partition_gather_${valueWords}`,
      ["COUNT", "MISSING", "MISSING_HIGH", "BITS"],
      [
        fragment("", {
          bindings: {
            places: read(),
            runs: read(),
            runStarts: read(),
            sortedValues: read(),
            sortedFound: read(),
            values: readWrite(),
            found: readWrite(),
          },
        }),
      ],
    ),
};

/** A chunk in the order of partitions. */
export interface Sorted {
  readonly keys: Range;
  readonly values: Range | undefined;
  /** Elements between those of a block and those whose slots an insert asks for ahead: those of a partition. */
  readonly AHEAD: number;
  /** Where each element went, for `unsort`. */
  readonly places: { readonly places: Range; readonly runs: Range; readonly runStarts: Range } | undefined;
  readonly bits: number;
}

/**
 * Submits the sorting of a chunk; null where the GPU has too little memory for it.
 * @param remembers results are to come back in the order of the batch
 */
export function sortByPartition(
  state: TableState,
  chunk: BoundChunk,
  remembers: boolean,
): Promise<Sorted | null> {
  return chunk.scratch.attempt(async () => {
    const { host, format, submissions, spec } = state;
    const { count, scratch, keys, values } = chunk;
    const { gpu } = host;
    const { keyWords } = format;
    const valueWords = values ? format.valueWords : 0;
    const ratio = Math.ceil(Math.log2(slotsBytes(spec) / PARTITION_BYTES));
    const bits = Math.min(MOST_BITS, Math.max(LEAST_BITS, ratio));
    const tiles = Math.ceil(count / TILE);
    const column = async (bytes: number): Promise<Range> => ({ buffer: await scratch.buffer(bytes) });
    const cursors = await column(4 << MOST_BITS);
    const sortedKeys = await column(count * keyWords * 4);
    const sortedValues = valueWords > 0 ? await column(count * valueWords * 4) : undefined;
    const places = remembers
      ? {
          places: await column(count * 2),
          runs: await column(tiles * 4 * 2 ** bits),
          runStarts: await column(tiles * 2 * 2 ** bits),
        }
      : undefined;
    const how = { ...constantsOf(spec), WORKGROUP };
    const SHARED_BYTES = sharedBytes({ ...format, valueWords }, bits);
    const [counting, offsets, scattering] = await Promise.all([
      gpu.compile(partitionKernels.count(keyWords), how),
      gpu.compile(partitionKernels.offsets, { WORKGROUP } as never),
      gpu.compile(partitionKernels.scatter(keyWords, valueWords), { ...how, SHARED_BYTES } as never),
    ]);
    const from = { keys: firstOn(keys), values: values && firstOn(values) };
    const params = { COUNT: count, BITS: bits };
    await submissions.ahead("partition", (recorder) => {
      recorder.clear(cursors.buffer, 0, 4 << MOST_BITS);
      recorder.dispatch(counting, { keys: from.keys, cursors }, params, Math.min(PERSISTENT, tiles));
      recorder.dispatch(offsets, { cursors }, { BITS: bits }, 1);
      recorder.dispatch(scattering, { ...from, cursors, sortedKeys, sortedValues, ...places }, params, tiles);
    });
    const AHEAD = Math.floor(count / 2 ** bits);
    chunk.log?.correctChunk({ strategy: "partitioned", reason: REASON, partitions: 2 ** bits });
    return { keys: sortedKeys, values: sortedValues, AHEAD, places, bits };
  });
}

/** What plans say of chunks that were sorted. */
const REASON = "table and batch are large, so that slots are met in the cache";

/** Results of a sorted chunk, and the columns of the batch that they go to. */
export interface Unsorting {
  readonly sortedValues: Range | undefined;
  readonly sortedFound: Range;
  readonly values: Range | undefined;
  readonly found: Range | undefined;
}

/** Brings results into the order of the batch, and reads them back. */
export async function unsort(
  state: TableState,
  { places, bits }: Sorted,
  count: number,
  columns: Unsorting,
  reads: readonly Readback[],
): Promise<void> {
  const valueWords = columns.values ? state.format.valueWords || state.format.keyWords : 1;
  const SHARED_BYTES = TILE * (4 * valueWords + 1);
  const kernel = await state.host.gpu.compile(partitionKernels.gather(valueWords), {
    WORKGROUP,
    SHARED_BYTES,
  } as never);
  const params = { COUNT: count, BITS: bits };
  const blocks = Math.ceil(count / TILE);
  await state.look(
    "gather",
    (recorder) => recorder.dispatch(kernel, { ...places, ...columns }, params, blocks),
    reads,
  );
}

/** A column from its first element on. */
export function firstOn({
  range: { buffer, offset = 0, size = buffer.size - offset },
  shift,
}: Column): Range {
  return { buffer, offset: offset + shift * 4, size: size - shift * 4 };
}
