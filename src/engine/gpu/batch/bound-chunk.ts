/**
 * A chunk of a batch with its columns bound: a value of one shape. What a strategy makes of it is another chunk; none
 * is changed.
 */
import type { GroupSize } from "../../plan.js";
import type { PlanLog } from "../../plan-log.js";
import type { Chunk, Column, Scratch } from "./columns.js";
import { WorklistMemory } from "./worklist-memory.js";

export interface BoundChunk extends Chunk {
  readonly scratch: Scratch;
  readonly keys: Column;
  readonly values: Column | undefined;
  /** A byte an element: those whose byte is 0 are left out. */
  readonly mask: Column | undefined;
  /** Looked at between rounds, where stopping loses nothing. */
  readonly signal: AbortSignal | undefined;
  /** Slots that probes look at in one step; what suits the table's load unless told. */
  readonly groupSize: GroupSize | undefined;
  /**
   * The elements are in the order of their partitions: home slots shifted right by this. 0 when they are in any order.
   */
  readonly partitionShift: number;
  readonly worklists: WorklistMemory;
  readonly log: PlanLog | undefined;
}

export function boundChunk(
  { first, count }: Chunk,
  scratch: Scratch,
  columns: { readonly keys: Column; readonly values?: Column; readonly mask?: Column },
  call: Partial<Pick<BoundChunk, "signal" | "groupSize" | "log">> = {},
): BoundChunk {
  return {
    first,
    count,
    scratch,
    keys: columns.keys,
    values: columns.values,
    mask: columns.mask,
    signal: call.signal,
    groupSize: call.groupSize,
    partitionShift: 0,
    worklists: new WorklistMemory(scratch),
    log: call.log,
  };
}

/** Where an operation leaves what it answers for each element of a chunk. */
export interface ResultColumns {
  /** The value found, or stored now. */
  readonly values?: Column | undefined;
  /** A byte: 1 if it was found, or inserted its key. */
  readonly flags?: Column | undefined;
}
