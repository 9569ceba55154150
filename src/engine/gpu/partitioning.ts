/**
 * Bringing the keys of a batch into the order of a table's slots, or of a filter's blocks: what an engine may offer to
 * lists and sketches. Where it does not, they take elements as they come.
 */
import type { TableSpec } from "../layout.js";
import type { BoundChunk } from "./batch/bound-chunk.js";
import type { Submissions } from "./call.js";
import type { GpuHost } from "./host.js";
import type { Range, Readback, Recorder } from "./runtime.js";

/** Items are keys alone, or pairs. */
export type ItemKind = "key" | "pair";

/** Neighbouring slots: those of partition i are slots i << shift on. */
export interface SlotPartitions {
  readonly shift: number;
  readonly count: number;
}

/** What is partitioned for: a table, or what has slots like one. */
export interface Splitting {
  readonly host: GpuHost;
  readonly spec: TableSpec;
  readonly submissions: Submissions;
}

/** Items by page, once `record` was submitted. */
export interface StagedItems {
  readonly kind: ItemKind;
  readonly items: Range;
  /** Items that `items` has room for. */
  readonly length: number;
  readonly pages: number;
  /** Items that a page has room for; 0 where pages lie one after another. */
  readonly room: number;
  /** How many items each page has; where they lie one after another, where each begins, and the end. */
  readonly ranges: Range;
  /** Records what follows the first multisplit. */
  record(recorder: Recorder): void;
  /** Is to come back with that submission; then `lost` tells whether a page had too little room. */
  readonly reads: readonly Readback[];
  lost(): boolean;
}

export interface Partitioning {
  /** Partitions that one pass makes at full speed. */
  readonly FEW_PARTITIONS: number;
  /**
   * Submits keys in the order of partitions: `selected` elements of `keys`. @throws LimitError when there is too little
   * memory
   */
  splitByPartition(
    splitting: Splitting,
    chunk: BoundChunk,
    partitions: SlotPartitions,
    how: { readonly kind: "key"; readonly put: "columns" },
  ): Promise<{ readonly keys: Range; readonly selected: number }>;
  /**
   * Stages a chunk's items by page of a table.
   * @param keys distinct keys that the chunk has at most
   * @throws LimitError when there are too many pages, or for one binding
   */
  stageItems(splitting: Splitting, chunk: BoundChunk, kind: ItemKind, keys: number): Promise<StagedItems>;
}
