/**
 * Jobs: work on one chunk of a batch that several threads share. A job is plain data in shared memory.
 * Threads take pieces of it from a counter until none is left, so a thread that comes late, or never, costs
 * nothing. Which thread works on which piece never shows in a result; parallel.ts says why.
 *
 * A job that takes long ends early, so that the event loop gets its turn whatever the keys: the first thread to see it
 * leaves no piece to take. Pieces of a look-up that were taken are finished. Elements of a change that were taken but
 * not done are deferred.
 */
import { type Arrived, isThere } from "../../../host/arrived.js";
import { endJob, isEnded } from "../../../host/protocol.js";
import {
  allocateBlock,
  type Block,
  fillBlock,
  type TableMemory,
  touchHomes,
  type Workspace,
} from "./blocks.js";
import { runLength, Stopwatch } from "./pace.js";
import { type Counters, eraseRun, insertRun, newTally, type Tally } from "./probes.js";
import { findChunk } from "./sequential.js";

export interface FindJob {
  readonly kind: "find";
  readonly table: TableMemory;
  readonly maxProbe: number;
  readonly keys: Uint32Array;
  readonly where: Uint8Array | null;
  readonly length: number;
  readonly grain: number;
  readonly missing: number;
  readonly found: Uint8Array;
  readonly values: Uint32Array;
  /** Words for `arriving` elements each: a piece, or some. */
  readonly arrived: Arrived | null;
  readonly arriving: number;
  /** By piece: 1 once it is done. */
  readonly done: Uint8Array;
}

/** How a chunk is laid out by the range of slots that owns each element. */
export interface Partition {
  /**
   * Elements of the chunk in slices of `sliceLength`; in each slice they are sorted by range, and stay in
   * input order within one.
   */
  readonly block: Block;
  readonly slices: number;
  readonly sliceLength: number;
  /** Ranges of slots. Range r owns the words from r × 2^shift up to the next range or the table's end. */
  readonly ranges: number;
  readonly shift: number;
  /**
   * slices × (ranges + 1): where each range starts in each slice's part of the block, and where the last one
   * ends.
   */
  readonly starts: Uint32Array;
}

/** Hash a chunk and sort it by range; a piece is a slice. */
export interface PartitionJob {
  readonly kind: "partition";
  readonly table: TableMemory;
  readonly keys: Uint32Array;
  readonly where: Uint8Array | null;
  readonly length: number;
  readonly partition: Partition;
  readonly arrived: Arrived | null;
}

/** Insert a sorted chunk; a piece is a range. */
export interface InsertJob {
  readonly kind: "insert";
  readonly table: TableMemory;
  readonly maxProbe: number;
  readonly partition: Partition;
  readonly values: Uint32Array;
  readonly rule: number;
  readonly flags: Uint8Array;
  readonly stored: Uint32Array;
  /** Of length 0: a job rejects nothing. */
  readonly rejected: Uint8Array;
}

/** Erase a sorted chunk; a piece is a range. */
export interface EraseJob {
  readonly kind: "erase";
  readonly table: TableMemory;
  readonly maxProbe: number;
  readonly partition: Partition;
}

export type Job = FindJob | PartitionJob | InsertJob | EraseJob;

/** What one thread did of a job. */
export interface JobResult {
  /** Changes to the table's counts; `maxProbe` is the new bound. */
  readonly counters: Counters;
  readonly tally: Tally;
  /**
   * Positions in the partition's block of elements that are left to do, in the order in which this thread met
   * them.
   */
  readonly deferred: number[];
  /**
   * If this thread ended the job early, how many pieces had been asked for by all threads, else Infinity. Two threads
   * may end it at once; the smaller number is the right one.
   */
  readonly taken: number;
}

/**
 * Takes pieces of a job until none is left. `next` holds the number of the next piece.
 * @param between called after each piece
 */
export function runJob(
  job: Job,
  next: Int32Array,
  workspace: Workspace,
  between: () => void = () => {},
): JobResult {
  const result: JobResult & { taken: number } = {
    counters: {
      mainLive: 0,
      sideLive: 0,
      tombstones: 0,
      maxProbe: job.kind === "partition" ? 0 : job.maxProbe,
    },
    tally: newTally(),
    deferred: [],
    taken: Number.POSITIVE_INFINITY,
  };
  const pieces = pieceCount(job);
  const watch = new Stopwatch();
  const isOver = (slots: number): boolean => {
    if (!watch.isDue(slots)) return false;
    if (isEnded(next)) return true;
    if (!watch.isLong) return false;
    result.taken = endJob(next);
    return true;
  };
  for (let piece = Atomics.add(next, 0, 1); piece < pieces; piece = Atomics.add(next, 0, 1)) {
    if (!isPieceThere(job, piece)) break;
    if (job.kind === "find") {
      findPiece(job, piece, workspace);
      Atomics.store(job.done, piece, 1);
      isOver(job.grain * job.maxProbe);
    } else if (job.kind === "partition") sortSlice(job, piece, workspace);
    else changeRange(job, piece, result, isOver);
    between();
  }
  return result;
}

/** Waits for a piece's input; false when it will not come. */
function isPieceThere(job: Job, piece: number): boolean {
  if (job.kind === "partition") return job.arrived === null || isThere(job.arrived, piece);
  if (job.kind !== "find" || job.arrived === null) return true;
  return isThere(job.arrived, Math.floor((piece * job.grain) / job.arriving));
}

function pieceCount(job: Job): number {
  if (job.kind === "find") return Math.ceil(job.length / job.grain);
  return job.kind === "partition" ? job.partition.slices : job.partition.ranges;
}

function findPiece(job: FindJob, piece: number, { block }: Workspace): void {
  const { table, maxProbe, keys, where } = job;
  const from = piece * job.grain;
  findChunk(table, maxProbe, { keys, where, from, to: Math.min(job.length, from + job.grain) }, job, block);
}

/** A stable counting sort of one slice by range. */
function sortSlice(job: PartitionJob, slice: number, workspace: Workspace): void {
  const { ranges, shift, starts, sliceLength, block } = job.partition;
  if (workspace.slice.key.length < sliceLength) workspace.slice = allocateBlock(sliceLength);
  const { key, home, element } = workspace.slice;
  const base = slice * sliceLength;
  const count = fillBlock(
    workspace.slice,
    job.table,
    job.keys,
    job.where,
    base,
    Math.min(job.length, base + sliceLength),
  );

  const places = new Uint32Array(ranges);
  for (let i = 0; i < count; i++) places[home[i] >>> shift]++;
  let place = base;
  for (let range = 0; range < ranges; range++) {
    const elements = places[range];
    places[range] = place;
    starts[slice * (ranges + 1) + range] = place;
    place += elements;
  }
  starts[slice * (ranges + 1) + ranges] = place;

  for (let i = 0; i < count; i++) {
    const w = home[i];
    const to = places[w >>> shift]++;
    block.key[to] = key[i];
    block.home[to] = w;
    block.element[to] = element[i];
  }
}

/** @param isOver counts slots that may have been looked at; true when the job is to end. */
function changeRange(
  job: InsertJob | EraseJob,
  range: number,
  result: JobResult,
  isOver: (slots: number) => boolean,
): void {
  const { block, slices, shift } = job.partition;
  const { slotCount, words } = job.table;
  const end = Math.min(slotCount * words, (range + 1) * 2 ** shift);
  const at = { table: job.table, ...result };
  let over = false;
  for (let slice = 0; slice < slices; slice++) {
    let [from, to] = elementsOf(job.partition, range, slice);
    if (!over) touchHomes(block, job.table, from, to);
    while (!over && from < to) {
      const { maxProbe } = at.counters;
      let stopped = Math.min(to, from + runLength(maxProbe));
      if (job.kind === "insert") stopped = insertRun(at, job, block, from, stopped, end);
      else eraseRun(at, block, from, stopped, end);
      over = isOver((stopped - from) * at.counters.maxProbe);
      from = stopped;
    }
    for (; from < to; from++) at.deferred.push(from);
  }
}

/** Where the elements of a range are in a slice's part of the block: from one position up to another. */
export function elementsOf({ ranges, starts }: Partition, range: number, slice: number): [number, number] {
  const at = slice * (ranges + 1) + range;
  return [starts[at], starts[at + 1]];
}
