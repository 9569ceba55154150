/**
 * Sorting a large batch by partition of its keys' home slots (kernels/partition.cu), so that the kernels of a table
 * meet the slots that they probe in the GPU's cache, or in shared memory (windows.ts). Which elements are equal, and what
 * becomes of them, stays as it is.
 */
import {
  type BoundChunk,
  type CallOptions,
  type Column,
  fragment,
  kernelSource,
  type Range,
  type Readback,
  type Recording,
  read,
  readWrite,
  type Scratch,
} from "warpmap/engine";
import type { CudaRuntime } from "../runtime/cuda-runtime.js";
import { madeOnce } from "./kernels.js";
import type { TableState } from "./table-state.js";
import { isFilled, type SortedWindows, windowsFor } from "./windows.js";

/** Tables up to this size stay in the caches of GPUs: all of their accesses are local already. */
export const CACHED_BYTES = 2 ** 26;
/** Elements below which sorting does not pay. */
const LEAST_SORTED = 2 ** 20;
/** The same for look-ups, and for their share of the table's slots. Tuned on an H200 by bench/kernels.cu. */
const [LEAST_FOUND, LEAST_FOUND_SHARE] = [2 ** 25, 1 / 8];
/** Bytes of a table that a partition has, about: several of them fit the cache at once. */
const PARTITION_BYTES = 2 ** 23;
/** Powers of two of the number of partitions. */
const [LEAST_BITS, MOST_BITS] = [5, 11];
/** Elements of a tile, and threads that work on it; threads of the kernels that count. */
const TILE = 8192;
const WORKGROUP = 512;
const COUNTING = 1024;
/** Blocks of a kernel whose blocks go on to the end of the batch: two for each multiprocessor of the largest GPUs. */
const PERSISTENT = 264;

/** What a call does to slots. */
export type TableCall = "insert" | "find" | "erase";

/** How a call goes about a batch of so many elements. */
export function planFor(
  state: TableState,
  operation: TableCall,
  count: number,
  { strategy, where }: CallOptions,
) {
  const direct = (reason: string) => ({ strategy: "direct", reason }) as const;
  if (strategy === "direct") return direct("it was asked for");
  if (state.format.kind === "wide") return direct("slots of wide keys and values are not partitioned");
  if (typeof state.spec.hash !== "string") return direct("the hash function is JavaScript");
  if (where) return direct("a mask is given");
  if (sharedBytes(state.format) > state.host.gpu.facts.sharedMemory)
    return direct("the GPU has too little shared memory to sort elements of that size");
  if (strategy === "partitioned") return { strategy: "partitions", reason: "it was asked for" } as const;
  if (state.slotsBytes <= CACHED_BYTES) return direct("the table fits the cache");
  const isShort = operation === "find" && !isFilled(state);
  const least = isShort ? Math.max(LEAST_FOUND, state.spec.slots * LEAST_FOUND_SHARE) : LEAST_SORTED;
  const hasWindows = operation !== "find" || isShort || windowsFor(state, operation, count);
  if (count < least || !hasWindows) return direct("the batch is small");
  return { strategy: "partitions", reason: "table and batch are large" } as const;
}

type Words = Pick<TableState["format"], "keyWords" | "valueWords">;

/** Shared memory of a tile of elements and of counts of partitions, at most. */
function sharedBytes({ keyWords, valueWords }: Words, bits = MOST_BITS): number {
  return TILE * 4 * (keyWords + valueWords) + 8 * 2 ** bits + 4;
}

const constants = ["HASH", "MULTIPLIER", "OFFSET", "FLOATS32", "FLOATS64"] as const;

/** What the kernels of a table on several GPUs are told besides. */
const OWNED = ["OWNERS", "OWNER_BITS", "SEED"] as const;
const scattered = {
  ends: read(),
  keys: read(),
  values: read(),
  mask: read(),
  cursors: readWrite(),
  sortedKeys: readWrite(),
  sortedValues: readWrite(),
  places: readWrite(),
};

/** The kernels by the words of a key and of a value. */
export const partitionKernels = {
  count: madeOnce((keyWords: number) =>
    kernelSource(
      `partition_count_${keyWords}`,
      ["COUNT", "BITS"],
      [fragment("", { bindings: { keys: read(), mask: read(), cursors: readWrite() }, constants })],
    ),
  ),
  offsets: kernelSource(
    "partition_offsets",
    ["BITS", "FIRST_BITS"],
    [fragment("", { bindings: { cursors: readWrite(), firstCursors: readWrite() } })],
  ),
  scatter: madeOnce((keyWords: number, valueWords: number) =>
    kernelSource(
      `partition_scatter_${keyWords}_${valueWords}`,
      ["COUNT", "FIRST_BITS", "BITS", "TILES"],
      [fragment("", { bindings: scattered, constants })],
    ),
  ),
  countOwned: madeOnce((keyWords: number) =>
    kernelSource(
      `partition_count_owned_${keyWords}`,
      ["COUNT", "BITS", ...OWNED],
      [fragment("", { bindings: { keys: read(), mask: read(), cursors: readWrite() }, constants })],
    ),
  ),
  scatterOwned: madeOnce((keyWords: number) =>
    kernelSource(
      `partition_scatter_owned_${keyWords}`,
      ["COUNT", "FIRST_BITS", "BITS", "TILES", ...OWNED],
      [fragment("", { bindings: scattered, constants })],
    ),
  ),
  gather: madeOnce((valueWords: number) =>
    kernelSource(
      `partition_gather_${valueWords}`,
      ["COUNT", "FIRST_BITS", "MISSING", "MISSING_HIGH"],
      [
        fragment("", {
          bindings: {
            ends: read(),
            places: read(),
            sortedValues: read(),
            sortedFound: read(),
            values: readWrite(),
            found: readWrite(),
          },
        }),
      ],
    ),
  ),
};

/** What a scatter did, for the gather that brings results back. */
interface Level {
  /** Where the scatter brought the keys and values. */
  readonly keys: Range;
  readonly values: Range | undefined;
  /** The parts that it sorted, one by one; undefined: the batch as a whole. */
  readonly ends: Range | undefined;
  /** Where in `keys` each element is. */
  readonly places: Range | undefined;
  readonly params: {
    readonly COUNT: number;
    readonly FIRST_BITS: number;
    readonly BITS: number;
    readonly TILES: number;
  };
  readonly blocks: number;
}

export interface Sorted {
  readonly keys: Range;
  readonly values: Range | undefined;
  /** Elements between those of a block and those whose slots an insert asks for ahead: those of a partition. */
  readonly AHEAD: number;
  /** One, or with windows two. */
  readonly levels: readonly Level[];
  readonly windows: SortedWindows | undefined;
}

/**
 * Submits the sorting of a chunk; null where the GPU has too little memory for it.
 * @param remembers results are to come back in the order of the batch
 */
export function sortByPartition(
  state: TableState,
  chunk: BoundChunk,
  operation: TableCall,
  remembers: boolean,
): Promise<Sorted | null> {
  return chunk.scratch.attempt(async () => {
    const { host, format, submissions } = state;
    const { count, scratch, keys, values } = chunk;
    const { gpu } = host;
    const { keyWords } = format;
    const valueWords = values ? format.valueWords : 0;
    const words = { keyWords, valueWords };
    const windows = windowsFor(state, operation, count);
    const bits = windows?.bits ?? cachedBits(state.slotsBytes);
    const firstBits = windows ? Math.floor(bits / 2) : 0;
    const cursors = { buffer: await scratch.buffer(4 << bits) };
    const firstCursors = windows ? { buffer: await scratch.buffer(4 << firstBits) } : undefined;
    const levels = firstCursors ? [await newLevel(chunk, words, firstBits, remembers)] : [];
    const parts = firstCursors && { bits: firstBits, ends: firstCursors };
    levels.push(await newLevel(chunk, words, bits - firstBits, remembers, parts));
    const how = state.constants;
    const counts = { WORKGROUP: COUNTING, SHARED_BYTES: 4 << bits };
    const counting = gpu.kernel(partitionKernels.count(keyWords), { ...how, ...counts } as never);
    const offsets = gpu.kernel(partitionKernels.offsets, { WORKGROUP: COUNTING } as never);
    const scattering = levels.map(({ params }) => {
      const SHARED_BYTES = sharedBytes(words, params.BITS);
      const kernel = partitionKernels.scatter(keyWords, valueWords);
      return gpu.kernel(kernel, { ...how, WORKGROUP, SHARED_BYTES } as never);
    });
    const first = { keys: firstOn(keys), values: values && firstOn(values) };
    const blocks = Math.min(PERSISTENT, Math.ceil(count / TILE));
    await submissions.ahead("partition", (recorder) => {
      recorder.clear(cursors.buffer, 0, 4 << bits);
      recorder.dispatch(counting, { keys: first.keys, cursors }, { COUNT: count, BITS: bits }, blocks);
      recorder.dispatch(offsets, { cursors, firstCursors }, { BITS: bits, FIRST_BITS: firstBits }, 1);
      levels.forEach((to, i) => {
        const from = levels[i - 1] ?? first;
        const bindings = {
          ends: to.ends,
          keys: from.keys,
          values: from.values,
          cursors: i === levels.length - 1 ? cursors : firstCursors,
          sortedKeys: to.keys,
          sortedValues: to.values,
          places: to.places,
        };
        recorder.dispatch(scattering[i], bindings, to.params, to.blocks);
      });
    });
    const where = windows ? "in shared memory" : "in the cache";
    const reason = `table and batch are large, so that slots are met ${where}`;
    chunk.log?.correctChunk({ strategy: "partitioned", reason, partitions: 2 ** bits });
    const last = levels[levels.length - 1];
    return {
      keys: last.keys,
      values: last.values,
      AHEAD: Math.floor(count / 2 ** bits),
      levels,
      // keys of the first level were read for the last time
      windows: windows ? { ...windows, ends: cursors, list: levels[0].keys } : undefined,
    };
  });
}

/** Keys in the order of the GPUs that own them, and those of an owner by partition of its table. */
export interface SortedByOwner {
  readonly level: Level;
  /** Where the keys of each owner begin, and the last one's end. */
  readonly starts: readonly number[];
  /** Of an owner's table. */
  readonly partitions: number;
}

/**
 * Submits the sorting of a GPU's keys by owner and partition, and waits until it is known where those of each owner begin.
 * @param state of any owner's table: all have the same partitions
 */
export async function sortByOwner(
  { format, constants: how, slotsBytes }: TableState,
  gpu: CudaRuntime,
  batch: { readonly keys: Range; readonly count: number; readonly scratch: Scratch },
  { owners: OWNERS, seed: SEED }: { readonly owners: number; readonly seed: number },
): Promise<SortedByOwner> {
  const { keys, count, scratch } = batch;
  const words = { keyWords: format.keyWords, valueWords: 0 };
  const OWNER_BITS = Math.ceil(Math.log2(OWNERS));
  const BITS = Math.min(MOST_BITS, OWNER_BITS + cachedBits(slotsBytes));
  const level = await newLevel(batch, words, BITS, true);
  const cursors = { buffer: await scratch.buffer(4 << BITS) };
  // where the host reads it: a copy would wait for those of results that go back
  const begins = { buffer: await scratch.buffer(4 << OWNER_BITS, gpu.traits.hostMemory) };
  const counts = { WORKGROUP: COUNTING, SHARED_BYTES: 4 << BITS };
  const counting = gpu.kernel(partitionKernels.countOwned(words.keyWords), { ...how, ...counts } as never);
  const offsets = gpu.kernel(partitionKernels.offsets, { WORKGROUP: COUNTING } as never);
  const scatter = { WORKGROUP, SHARED_BYTES: sharedBytes(words, BITS) };
  const scattering = gpu.kernel(partitionKernels.scatterOwned(words.keyWords), {
    ...how,
    ...scatter,
  } as never);
  const owned = { OWNERS, OWNER_BITS, SEED };
  const blocks = Math.min(PERSISTENT, Math.ceil(count / TILE));
  const into = new Uint8Array(4 << OWNER_BITS);
  const counted = await gpu.begin(
    "count owners",
    (recorder) => {
      recorder.clear(cursors.buffer, 0, 4 << BITS);
      recorder.dispatch(counting, { keys, cursors }, { COUNT: count, BITS, ...owned }, blocks);
      const bindings = { cursors, firstCursors: begins };
      recorder.dispatch(offsets, bindings, { BITS, FIRST_BITS: OWNER_BITS }, 1);
    },
    [{ ...begins, offset: 0, into }],
  );
  await gpu.submit("sort by owner", (recorder) => {
    const bindings = { keys, cursors, sortedKeys: level.keys, places: level.places };
    recorder.dispatch(scattering, bindings, { ...level.params, ...owned }, level.blocks);
  });
  await counted.arrived;
  const starts = [...new Uint32Array(into.buffer).subarray(0, OWNERS), count];
  return { level, starts, partitions: 2 ** (BITS - OWNER_BITS) };
}

/** Memory for a scatter by `BITS` bits, of the whole chunk or of each part. */
async function newLevel(
  { count, scratch }: Pick<BoundChunk, "count" | "scratch">,
  { keyWords, valueWords }: Words,
  BITS: number,
  remembers: boolean,
  parts?: { readonly bits: number; readonly ends: Range },
): Promise<Level> {
  const FIRST_BITS = parts?.bits ?? 0;
  const TILES = Math.floor(Math.max(0, count - 1) / TILE / 2 ** FIRST_BITS) + 1;
  const column = async (bytes: number): Promise<Range> => ({ buffer: await scratch.buffer(bytes) });
  return {
    keys: await column(count * keyWords * 4),
    values: valueWords > 0 ? await column(count * valueWords * 4) : undefined,
    ends: parts?.ends,
    places: remembers ? await column(count * 4) : undefined,
    params: { COUNT: count, FIRST_BITS, BITS, TILES },
    blocks: TILES * 2 ** FIRST_BITS,
  };
}

/** Bits of partitions whose slots meet in the GPU's cache. */
function cachedBits(slotsBytes: number): number {
  const ratio = Math.round(Math.log2(slotsBytes / PARTITION_BYTES));
  return Math.min(MOST_BITS, Math.max(LEAST_BITS, ratio));
}

interface Results {
  readonly values: Range | undefined;
  readonly found: Range | undefined;
}

/** Results of a sorted chunk, and the columns of the batch that they go to. */
export interface Unsorting extends Results {
  readonly sortedValues: Range | undefined;
  readonly sortedFound: Range | undefined;
  /** Room for results in the order of the first of two levels. */
  readonly between: Results | undefined;
}

/** What brings results of sorted elements into the order of the batch. */
export function gathers(
  { format }: TableState,
  gpu: CudaRuntime,
  { ends, places, params }: Level,
  results: Omit<Unsorting, "between">,
): Recording {
  const valueWords = results.values ? format.valueWords || format.keyWords : 1;
  const kernel = gpu.kernel(partitionKernels.gather(valueWords), { WORKGROUP } as never);
  const blocks = Math.ceil(params.COUNT / TILE);
  return (recorder) => recorder.dispatch(kernel, { ends, places, ...results }, params, blocks);
}

/** Brings results into the order of the batch, level by level, and reads them back. */
export async function unsort(
  state: TableState,
  { levels }: Sorted,
  { between, ...columns }: Unsorting,
  reads: readonly Readback[],
): Promise<void> {
  const gather = (level: Level, results: Omit<Unsorting, "between">) =>
    gathers(state, state.host.gpu, level, results);
  const { values: sortedValues, found: sortedFound } = between ?? {};
  const steps = between
    ? [
        gather(levels[1], { ...columns, ...between }),
        gather(levels[0], { ...columns, sortedValues, sortedFound }),
      ]
    : [gather(levels[0], columns)];
  const run: Recording = (recorder) => {
    for (const step of steps) step(recorder);
  };
  await state.look("gather", run, reads);
}

/** A column from its first element on. */
export function firstOn({
  range: { buffer, offset = 0, size = buffer.size - offset },
  shift,
}: Column): Range {
  return { buffer, offset: offset + shift * 4, size: size - shift * 4 };
}
