/**
 * Rows whose groups are known to kernels, by number or by key, and what the kernels over them (group-cache.wgsl) are
 * told: how many slots a workgroup's cache has, and how many rows an invocation takes.
 */

import { ROW_TILE, type RowParams } from "../groups/row-kernels.js";
import type { GpuRuntime, Range } from "../runtime.js";
import type { addValuesKernels } from "./reduce-kernels.js";
import type { Summand } from "./summands.js";

/** Groups that have numbers. */
export interface NumberedGroups {
  readonly rows: number;
  readonly groups: number;
  /** Numbers of groups, in any order, are below this. Some may be those of no group. */
  readonly numbers: number;
  /** What is known of groups already. */
  readonly known?: KnownStates;
}

/**
 * By number, ~row of the first row, and how many rows there are, in the first of `countStride` words; 0 where there is
 * no group. And the sums of a column, as add-values makes them.
 */
interface KnownStates {
  readonly firsts: Range;
  readonly counts: Range;
  readonly countStride: number;
  readonly sums?: { readonly of: Summand; readonly range: Range } | undefined;
}

export interface RowsByGroup extends NumberedGroups {
  /** How kernels get a row's group, what they bind for that, and what they are told. */
  readonly by: keyof typeof addValuesKernels;
  readonly bindings: {
    readonly [N in "groupOf" | "keys" | "keyValidity" | "items" | "table"]?: Range | undefined;
  };
  readonly params: RowParams;
}

/** Rows that have the number of their group, which all are those of a group. */
export const numberedRows = (rows: number, groups: number, groupOf: Range): RowsByGroup => {
  return { rows, groups, numbers: groups, by: "numbers", bindings: { groupOf }, params: {} };
};

/** Bytes of a cache's slot: of raise; of add-values, with first rows, and for values of so many words, if any. */
export const RAISE_SLOT_BYTES = 8;
export const addSlotBytes = (words: number, hasFirsts: boolean) =>
  8 + 4 * Number(hasFirsts) + (words > 0 ? 4 * (words + 1) : 0);

/**
 * Slots of caches: for up to FEW groups; for more, and where launches ask for large memory and groups may be so few that
 * each has a slot; and on software GPUs, which take seconds to zero them.
 */
const SLOTS = { few: 512, many: 2048, large: 8192, software: 512 } as const;
const FEW = 256;
/**
 * Slots that a group may have. A group without a slot costs its rows an addition each in memory, at a place that many
 * want: of 1,000 groups in 2,048 slots, 9 % have none of two slots, 0.4 % none of eight. Where most groups have none,
 * more steps are in vain.
 */
const STEPS = { few: 8, many: 2 } as const;
/** Groups a slot from which most have none. */
const MANY_PER_SLOT = 4;
/** Workgroup memory that kernels use besides. */
const SPARE_BYTES = 512;
/** Slots that a group has at most: each is merged. */
export const MOST_REPLICAS = 8;
/** Workgroups that keep a large GPU busy; of large caches, of which each has a core for itself. */
const WORKGROUPS = { many: 4096, large: 2048 } as const;
/**
 * Rows that a workgroup takes, at most as many as add-values.wgsl says: more make merging cheaper, and more of a table
 * that rows are listed by is in use at a time.
 */
const ROWS = { least: 4096, most: 2 ** 15, mostLarge: 2 ** 16, mostListed: 2 ** 14 } as const;
/**
 * Invocations of a workgroup: as many as there may be, since the larger a cache, the fewer workgroups a core of a GPU
 * has memory for.
 */
const INVOCATIONS = { software: 256, hardware: 1024 } as const;

export interface CacheShape {
  readonly constants: { readonly [N in "CACHE" | "CACHE_BITS" | "STEPS" | "INVOCATIONS"]: number };
  readonly params: RowParams;
  /** For `RowRun.step`. */
  readonly items: number;
}

/**
 * The shape of a kernel's cache.
 * @param groups undefined where nobody knows
 */
export function cacheShape(
  { traits: { maxWorkgroupBytes, maxDynamicBytes, maxInvocations, isEmulated } }: GpuRuntime,
  slotBytes: number,
  { rows, by, groups }: Pick<RowsByGroup, "rows" | "by"> & { readonly groups?: number },
): CacheShape {
  const isFew = groups !== undefined && groups <= FEW;
  const isLarge = maxDynamicBytes !== undefined && by !== "items" && (groups ?? 0) <= SLOTS.large;
  let slots: number = isEmulated ? SLOTS.software : isFew ? SLOTS.few : isLarge ? SLOTS.large : SLOTS.many;
  const most = (maxDynamicBytes ?? maxWorkgroupBytes) - SPARE_BYTES;
  // where launches ask for memory, kernels list the slots that they merge
  const listBytes = maxDynamicBytes === undefined ? 0 : 2;
  while ((slots + 1) * (slotBytes + listBytes) > most) slots /= 2;
  const spare = groups === undefined ? 1 : slots / (4 * Math.max(1, groups));
  const replicas = Math.floor(Math.log2(Math.max(1, Math.min(spare, MOST_REPLICAS))));
  const wanted = isEmulated ? INVOCATIONS.software : INVOCATIONS.hardware;
  const invocations = Math.min(wanted, maxInvocations);
  const areMany = by === "items" || (groups ?? 0) > MANY_PER_SLOT * slots;
  const steps = areMany ? STEPS.many : STEPS.few;
  const mostRows = by === "items" ? ROWS.mostListed : isLarge ? ROWS.mostLarge : ROWS.most;
  const items = itemsOf(rows, invocations, mostRows, WORKGROUPS[isLarge ? "large" : "many"]);
  return {
    constants: { CACHE: slots, CACHE_BITS: Math.log2(slots), STEPS: steps, INVOCATIONS: invocations },
    params: { items, replicas },
    items: (items * invocations) / ROW_TILE,
  };
}

/** Rows that an invocation loads at once, as group-cache.wgsl says. */
const BATCH = 4;

/** Rows that an invocation takes, of kernels with a cache a multiple of BATCH. */
export function itemsOf(
  rows: number,
  invocations = ROW_TILE,
  most: number = ROWS.most,
  workgroups: number = WORKGROUPS.many,
): number {
  const wanted = Math.max(ROWS.least, Math.min(rows / workgroups, most));
  return Math.ceil(wanted / (BATCH * invocations)) * BATCH;
}
