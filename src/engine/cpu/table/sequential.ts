/**
 * Chunks of a batch on one thread, in input order, block by block. Each function does one run of its chunk, from the
 * first element on, and returns where it stopped.
 */
import type { CallOptions } from "../../engine.js";
import { BLOCK, type Block, fillBlock, type TableMemory, touchHomes } from "./blocks.js";
import type { FullTable } from "./full-table.js";
import { runLength } from "./pace.js";
import {
  eraseRun,
  type FindColumns,
  findRun,
  type InsertColumns,
  insertRun,
  type Territory,
} from "./probes.js";

/** The 32-bit words of elements, column by column. */
export type Columns = readonly Uint32Array[];

/** The keys of a call, K as the loops of the table take them. */
export interface Batch<K = Uint32Array> {
  /** The keys' 32-bit words: of their only column, or of each. */
  readonly keys: K;
  /** Elements whose byte is 0 are left out; null for none. */
  readonly where: Uint8Array | null;
  /** Elements. */
  readonly length: number;
}

/** Elements `from..to` of a batch, less those that `where` leaves out. */
export interface Chunk<K = Uint32Array> extends Pick<Batch<K>, "keys" | "where"> {
  readonly from: number;
  readonly to: number;
  /**
   * Of chunks that are shared: asked before columns are read or written, for the caller may have taken them away since.
   */
  readonly checkInputs?: CallOptions["checkInputs"];
}

export function findChunk(
  table: TableMemory,
  maxProbe: number,
  chunk: Chunk,
  columns: FindColumns,
  block: Block,
): number {
  return eachBlock(table, chunk, maxProbe, block, (count) => {
    findRun(table, maxProbe, columns, block, 0, count);
    return count;
  });
}

export function insertChunk(
  at: Territory,
  chunk: Chunk,
  columns: InsertColumns,
  block: Block,
  full: FullTable,
): number {
  if (!full.isReady()) return chunk.from;
  const end = at.table.slotCount * at.table.words;
  return eachBlock(at.table, chunk, at.counters.maxProbe, block, (count) => {
    const left = full.rejectAbsent(block, count);
    // Stops early only where a key was placed, so in a table that was not full: nothing is rejected twice.
    const stopped = insertRun(at, columns, block, 0, left, end);
    return stopped < left ? stopped : count;
  });
}

export function eraseChunk(at: Territory, chunk: Chunk, block: Block): number {
  const end = at.table.slotCount * at.table.words;
  return eachBlock(at.table, chunk, at.counters.maxProbe, block, (count) => {
    eraseRun(at, block, 0, count, end);
    return count;
  });
}

function eachBlock(
  table: TableMemory,
  chunk: Chunk,
  maxProbe: number,
  block: Block,
  probe: (count: number) => number,
): number {
  const to = Math.min(chunk.to, chunk.from + runLength(maxProbe));
  for (let from = chunk.from; from < to; from += BLOCK) {
    const count = fillBlock(block, table, chunk.keys, chunk.where, from, Math.min(to, from + BLOCK));
    touchHomes(block, table, 0, count);
    const stopped = probe(count);
    if (stopped < count) return block.element[stopped];
  }
  return to;
}
