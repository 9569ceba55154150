/**
 * Chunks of a batch on several threads. Loaded with the first chunk that is shared: see sharing.ts.
 *
 * Look-ups change nothing, so threads take pieces of the input and write results by element number.
 *
 * Changes go in two jobs. The first hashes the chunk and sorts it by range of slots, stably. In the second
 * each range is owned by whoever takes it: the owner goes through the elements whose home lies there in input
 * order, and reads and writes only slots of the range. An element whose chain leads past the range's end
 * before it is decided is deferred untouched, and the calling thread does the deferred ones afterwards, on the
 * whole table. So are all that are left when the job takes long.
 *
 * Why this equals going through the chunk in input order. What an operation answers, and what the table holds
 * after it, is a function of the operations on each key in their order, as long as no insert is rejected for
 * lack of slots; where in its chain a key lies shows nowhere. So two things are to show.
 * 1. No insert is rejected: an insert comes here only with as many free slots (EMPTY or TOMBSTONE) as the
 *    chunk has elements.
 * 2. Elements of one key are done in input order. They share a home, hence a range and its owner, who meets
 *    them in order, and deferred ones stay in order. Left to show: once one is deferred, all later ones of that
 *    key are. When the first was deferred, the slots from home to the range's end held neither the key nor an
 *    EMPTY, and the chain's bound, maxProbe, lay beyond the end or no TOMBSTONE was there to take. Inserts and
 *    erases never make a slot EMPTY, and maxProbe only grows. Inserts make no TOMBSTONE; erases do, but an
 *    erase is decided by the key, an EMPTY or maxProbe alone. Nobody puts this key there, as all its elements
 *    are deferred, by induction. So the next one of that key leads past the end too.
 *    Where a job ends early, the rest of a range is deferred as a whole.
 *
 * The table stays valid meanwhile: an owner takes a slot only after it saw the whole chain, up to EMPTY or
 * maxProbe, and every key of a range was put there within the maxProbe at the job's start, which all owners
 * know, or by the owner itself. A key that equals a sentinel belongs to the owner of its hash's home, so its
 * side slot has one writer.
 */

import { type Arrived, newArrived, stopArrival, tellArrived } from "../../../host/arrived.js";
import type { HostPool } from "../../../host/pool.js";
import { takingTurns } from "../../../host/turns.js";
import { type ChunkInputs, SharedScratch } from "../memory/shared-scratch.js";
import type { Tuning } from "../tuning.js";
import { allocateBlock, BLOCK, type Block, type TableMemory, touchHomes, type Workspace } from "./blocks.js";
import type { Rest, SharedChunk } from "./chunks.js";
import { elementsOf, type Job, type JobResult, type Partition, runJob } from "./jobs.js";
import { runLength } from "./pace.js";
import { eraseRun, type FindColumns, type InsertColumns, insertRun, type Territory } from "./probes.js";
import type { Chunk } from "./sequential.js";
import type { Sharing } from "./sharing.js";
import { TABLE_JOBS } from "./table-jobs.js";

/** Inserts that come here reject nothing. */
const NO_BYTES = new Uint8Array(0);

const NO_REST: Rest = { length: 0, step: () => 0 };

/** Does elements `from..to` of a block on the whole table; returns where it stopped. */
type Change = (block: Block, from: number, to: number) => number;

/** The threads of an engine as containers' operations see them. */
export class Parallel {
  readonly #host: HostPool;
  readonly #workspace: Workspace;
  /** One call at a time uses the scratch memory. */
  readonly #inTurn = takingTurns();
  readonly #sharing: Sharing;
  readonly #tuning: Tuning;
  readonly #scratch: SharedScratch;

  /** @param workspace the calling thread's. */
  constructor(host: HostPool, sharing: Sharing, workspace: Workspace) {
    this.#host = host;
    this.#workspace = workspace;
    this.#sharing = sharing;
    this.#tuning = sharing.tuning;
    this.#scratch = new SharedScratch(sharing.tuning);
  }

  /** As HostPool. */
  warmUp(workers?: number): Promise<void> {
    return this.#host.warmUp([TABLE_JOBS], workers);
  }

  /** Looks a chunk up. */
  find(table: TableMemory, maxProbe: number, chunk: Chunk, columns: FindColumns): Promise<SharedChunk> {
    return this.#inTurn(async () => {
      const { keys, where, bring } = this.#scratch.inputs(chunk);
      const found = this.#scratch.output("flags", columns.found, chunk, 0);
      const values = this.#scratch.output("results", columns.values, chunk, columns.missing);
      const arriving = this.#tuning.grain;
      const grain = Math.min(arriving, runLength(maxProbe));
      const pieces = Math.ceil(keys.length / grain);
      const { missing } = columns;
      const job = {
        kind: "find",
        table,
        maxProbe,
        keys,
        where,
        length: keys.length,
        grain,
        missing,
        found,
        values,
        arrived: bring && newArrived(Math.ceil(keys.length / arriving)),
        arriving,
        done: new Uint8Array(new SharedArrayBuffer(pieces)),
      } as const;
      let copied = 0;
      const copyBack = (end: number) => {
        const [from, to] = [copied * grain, Math.min(keys.length, end * grain)];
        if (from >= to) return;
        chunk.checkInputs?.();
        this.#scratch.copyBack(found, columns.found, chunk, from, to);
        this.#scratch.copyBack(values, columns.values, chunk, from, to);
        copied = end;
      };
      // the calling thread copies what is done while workers go on
      const copyDone = () => {
        let end = copied;
        while (end < pieces && Atomics.load(job.done, end) === 1) end++;
        copyBack(end);
      };
      const first = () => bringAll(job.arrived, bring, arriving, keys.length);
      const results = await this.#run(job, keys.length, first, copyDone);
      const taken = Math.min(pieces, piecesTaken(results));
      copyBack(taken);
      return { to: Math.min(chunk.to, chunk.from + taken * grain), rest: NO_REST };
    });
  }

  /** Inserts a chunk; the table must have as many free slots as the chunk has elements. */
  insert(at: Territory, chunk: Chunk, columns: InsertColumns): Promise<SharedChunk> {
    return this.#inTurn(async () => {
      let { values } = columns;
      const partition = await this.#sort(at.table, chunk, () => {
        values = this.#scratch.input("values", columns.values, chunk);
      });
      const flags = this.#scratch.output("flags", columns.flags, chunk, 0);
      const stored = this.#scratch.output("results", columns.stored, chunk, 0);
      const local = { values, rule: columns.rule, flags, stored, rejected: NO_BYTES };
      const { table } = at;
      const job = { kind: "insert", table, maxProbe: at.counters.maxProbe, partition, ...local } as const;
      const results = await this.#run(job, chunk.to - chunk.from);
      for (const result of results) add(at, result);
      this.#scratch.copyBack(flags, columns.flags, chunk);
      this.#scratch.copyBack(stored, columns.stored, chunk);
      const end = table.slotCount * table.words;
      const change: Change = (block, from, to) => insertRun(at, columns, block, from, to, end);
      return { to: chunk.to, rest: restOf(at, chunk, partition, results, change) };
    });
  }

  /** Erases a chunk. */
  erase(at: Territory, chunk: Chunk): Promise<SharedChunk> {
    return this.#inTurn(async () => {
      const { table } = at;
      const partition = await this.#sort(table, chunk);
      const results = await this.#run(
        { kind: "erase", table, maxProbe: at.counters.maxProbe, partition },
        chunk.to - chunk.from,
      );
      for (const result of results) add(at, result);
      const end = table.slotCount * table.words;
      const change: Change = (block, from, to) => {
        eraseRun(at, block, from, to, end);
        return to;
      };
      return { to: chunk.to, rest: restOf(at, chunk, partition, results, change) };
    });
  }

  /**
   * Hashes a chunk and sorts it by range.
   * @param meanwhile what the calling thread does before it takes part
   */
  async #sort(table: TableMemory, chunk: Chunk, meanwhile = () => {}): Promise<Partition> {
    const { keys, where, bring } = this.#scratch.inputs(chunk);
    const partition = this.#scratch.partition(keys.length, table.slotCount * table.words);
    const { slices, sliceLength } = partition;
    const arrived = bring && newArrived(slices);
    const job = { kind: "partition", table, keys, where, length: keys.length, partition, arrived } as const;
    const results = await this.#run(job, keys.length, () => {
      bringAll(arrived, bring, sliceLength, keys.length);
      meanwhile();
    });
    this.#sharing.noteWorkers(results.length > 1);
    return partition;
  }

  /**
   * @param first what the calling thread does before it takes part
   * @param between what it does after each of its pieces
   */
  #run(job: Job, elements: number, first: () => void = () => {}, between?: () => void): Promise<JobResult[]> {
    const helpers = Math.ceil(elements / this.#tuning.share) - 1;
    return this.#host.share(TABLE_JOBS, job, helpers, async (next) => {
      first();
      return runJob(job, next, this.#workspace, between);
    });
  }
}

/** Brings the elements of all pieces, `length` each, if they are not there. */
function bringAll(arrived: Arrived | null, bring: ChunkInputs["bring"], length: number, total: number): void {
  if (arrived === null) return;
  try {
    for (let piece = 0; piece < arrived.length; piece++) {
      bring?.(piece * length, Math.min(total, (piece + 1) * length));
      tellArrived(arrived, piece);
    }
  } catch (error) {
    stopArrival(arrived);
    throw error;
  }
}

/** Pieces of a job that were taken, where it ended early. */
function piecesTaken(results: readonly JobResult[]): number {
  return Math.min(...results.map(({ taken }) => taken));
}

/**
 * The elements of a changed chunk that are left to do: those that were deferred, in each thread's order, and those of
 * ranges that nobody took. They are copied, because the next chunk of any table takes the shared memory.
 */
function restOf(
  { table, counters }: Territory,
  chunk: Chunk,
  partition: Partition,
  results: readonly JobResult[],
  change: Change,
): Rest {
  const left = [...untaken(partition, piecesTaken(results))];
  let length = 0;
  for (const { deferred } of results) length += deferred.length;
  for (const [from, to] of left) length += to - from;
  if (length === 0) return NO_REST;

  const block = allocateBlock(length);
  let count = 0;
  const take = (position: number) => {
    block.key[count] = partition.block.key[position];
    block.home[count] = partition.block.home[position];
    block.element[count++] = chunk.from + partition.block.element[position];
  };
  for (const { deferred } of results) deferred.forEach(take);
  for (const [from, to] of left) for (let position = from; position < to; position++) take(position);

  const step = (from: number) => {
    const to = Math.min(length, from + Math.min(BLOCK, runLength(counters.maxProbe)));
    touchHomes(block, table, from, to);
    return change(block, from, to);
  };
  return { length, step };
}

/** Where elements are whose range nobody took, range by range, in input order within one. */
function* untaken(partition: Partition, taken: number): Generator<[number, number]> {
  for (let range = taken; range < partition.ranges; range++) {
    for (let slice = 0; slice < partition.slices; slice++) yield elementsOf(partition, range, slice);
  }
}

/** Adds what one thread did to the table's and the call's counts. */
function add(to: Territory, { counters, tally }: JobResult): void {
  to.counters.mainLive += counters.mainLive;
  to.counters.sideLive += counters.sideLive;
  to.counters.tombstones += counters.tombstones;
  to.counters.maxProbe = Math.max(to.counters.maxProbe, counters.maxProbe);
  to.tally.inserted += tally.inserted;
  to.tally.existing += tally.existing;
  to.tally.rejected += tally.rejected;
  to.tally.erased += tally.erased;
}
