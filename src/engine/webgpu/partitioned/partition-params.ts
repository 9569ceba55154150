/** What the dispatches of the partition kernels are told, and what a device is told apart by. */
import type { ItemKind } from "../../gpu/partitioning.js";
import type { SlotFormat } from "../../slot-format.js";

/** What a dispatch is told. Shifts are where a column's first element lies in its binding, in 32-bit words. */
export const partitionParams = [
  /** Slots of the table, side slots not counted. */
  "slots",
  /** The table's seed. */
  "seed",
  /** Elements of the chunk. */
  "count",
  "keyShift",
  "valueShift",
  "maskShift",
  "flagShift",
  /** A home slot shifted right by this is its partition; how many there are. */
  "partitionShift",
  "partitions",
  /** A power of two. */
  "pagesPerPartition",
  /**
   * Items that a page of the staging memory has room for; 0 when pages are whole partitions and lie one after another.
   */
  "pageRoom",
  /** Pages that this dispatch works on, and the first slot of the table binding. */
  "firstPage",
  "pages",
  "windowFirst",
  /** Elements that the fallback columns or the worklist have room for. */
  "fallbackRoom",
  /** Overflow propagation: how many pages before its own the overflow comes from, and how many there are at most. */
  "propagation",
  "propagations",
  /** Bit pattern of the value for absent keys, or for fresh slots of an insertOrApply; its second word. */
  "fill",
  "fillHigh",
  /** Not 0: items have flags, beside the values that tell absent keys. */
  "flagged",
  /** No key is this many slots or more after its home. */
  "maxProbe",
  /** Slots behind the window's last one that are bound. */
  "behind",
] as const;

export type PartitionParam = (typeof partitionParams)[number];

export function itemWords({ keyWords, valueWords }: SlotFormat, kind: ItemKind): number {
  return kind === "pair" ? keyWords + valueWords : keyWords;
}

/** Words of what tiles hold at most of an item of one kind, and of the result that comes back for it. */
export function tileWords(format: SlotFormat, kind: ItemKind): number {
  return Math.max(itemWords(format, kind), format.valueWords);
}

/** What an invocation of a page's kernel takes: constants, so that arrays of such lengths stay in registers. */
export type PerInvocation = {
  readonly ITEMS: number;
  /** Slots that it holds. */
  readonly HELD: number;
  /** Slots that it looks at in one step of a probe. */
  readonly STEP: number;
};
