/**
 * The seam inside the cpu engine: what a table asks of the loops over its slots. narrow-loops.ts has them for keys of
 * one word with at most one word of value, on several threads; wide-loops.ts for all other formats, on the calling
 * thread. Loops keep the invariants of layout.ts and count what they do; they know nothing of columns' types, signals
 * or progress.
 */
import type { TableMemory } from "./blocks.js";
import type { ChunkWork } from "./chunks.js";
import type { InsertColumns, Territory } from "./probes.js";
import type { Collector, Measurement } from "./scan.js";
import type { Columns } from "./sequential.js";

export interface LookUpColumns {
  /** By element number: 1 if its key is there, else 0. */
  readonly found: Uint8Array;
  /** The words of each column of the value, or in sets of the key as stored. None when nobody asks. */
  readonly values: Columns;
  /** Words of each column to write as the value of keys that are not there. */
  readonly missing: readonly (readonly number[])[];
}

/** The loops over the slots of one table. `at.deferred` is null: a call works on the whole ring. */
export interface SlotLoops {
  /** How the chunks of an insert call are worked on. */
  insert(at: Territory, columns: InsertColumns<Columns>): ChunkWork;
  /** How the chunks of a look-up are worked on. */
  find(table: TableMemory, maxProbe: number, columns: LookUpColumns): ChunkWork;
  /** How the chunks of an erase are worked on. */
  erase(at: Territory): ChunkWork;
  /** Appends the entries of slots `from..to` of the probing table. Ends when the collector is full. */
  collectSlots(table: TableMemory, from: number, to: number, into: Collector): void;
  measurement(table: TableMemory): Measurement;
}
