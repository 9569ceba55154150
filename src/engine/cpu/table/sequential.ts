/** Chunks of a batch on the calling thread alone, in input order, block by block. */
import { BLOCK, type Block, fillBlock, type TableMemory, touchHomes } from "./blocks.js";
import type { FullTable } from "./full-table.js";
import {
  eraseRun,
  type FindColumns,
  findRun,
  type InsertColumns,
  insertRun,
  type Territory,
} from "./probes.js";

/** The keys of a call. */
export interface Batch {
  /** The keys' 32-bit words: as many for each element as a key of the table has. */
  readonly keys: Uint32Array;
  /** Elements whose byte is 0 are left out; null for none. */
  readonly where: Uint8Array | null;
  /** Elements. */
  readonly length: number;
}

/** Elements `from..to` of a batch, less those that `where` leaves out. */
export interface Chunk extends Pick<Batch, "keys" | "where"> {
  readonly from: number;
  readonly to: number;
}

/** Looks a chunk up. */
export function findChunk(
  table: TableMemory,
  maxProbe: number,
  chunk: Chunk,
  columns: FindColumns,
  block: Block,
): void {
  eachBlock(table, chunk, block, (count) => findRun(table, maxProbe, columns, block, 0, count));
}

/** Inserts a chunk. `full` is that of the call. */
export function insertChunk(
  at: Territory,
  chunk: Chunk,
  columns: InsertColumns,
  block: Block,
  full: FullTable,
): void {
  const end = at.table.slotCount * at.table.words;
  eachBlock(at.table, chunk, block, (count) => {
    insertRun(at, columns, block, 0, full.rejectAbsent(block, count), end);
  });
}

/** Erases a chunk. */
export function eraseChunk(at: Territory, chunk: Chunk, block: Block): void {
  const end = at.table.slotCount * at.table.words;
  eachBlock(at.table, chunk, block, (count) => eraseRun(at, block, 0, count, end));
}

function eachBlock(table: TableMemory, chunk: Chunk, block: Block, probe: (count: number) => void): void {
  for (let from = chunk.from; from < chunk.to; from += BLOCK) {
    const count = fillBlock(block, table, chunk.keys, chunk.where, from, Math.min(chunk.to, from + BLOCK));
    touchHomes(block, table, 0, count);
    probe(count);
  }
}
