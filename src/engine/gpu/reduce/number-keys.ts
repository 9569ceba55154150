/**
 * Groups of rows by a key that may be null, of one word or of two that lie in a range of 2^32: every group gets a slot
 * of a table (key-slots.wgsl), which is its number, in the pass that counts its rows, finds its first one and adds up
 * one column (add-values.wgsl). No number is written for a row: later passes find a row's group by its key again: row
 * after row where groups are few, and listed in the order of the table (list-rows.ts) where they are many.
 */
import type { DeviceKeys } from "../../device-columns.js";
import { ROW_TILE, type RowParams } from "../groups/row-kernels.js";
import type { RowRun } from "../groups/row-run.js";
import { bindKeys, narrowKeys, oneWord } from "../groups/word-keys.js";
import { dataOf } from "./column-params.js";
import { type KeyBindings, listRows, surveyKeys } from "./list-rows.js";
import { countKeysKernels, sampleKeysKernel } from "./reduce-kernels.js";
import {
  addSlotBytes,
  cacheShape,
  MOST_REPLICAS,
  type NumberedGroups,
  type RowsByGroup,
} from "./rows-by-group.js";
import { preparing, type Summed } from "./sum-parts.js";
import { constantsOf, type PendingSummand, type Summands } from "./summands.js";

/** Slots of the table: more groups than caches have slots are numbered another way. */
const FEW_SLOTS = 4096;
/** Slots at least, for short inputs: key-slots.wgsl needs two. */
const LEAST_SLOTS = 256;
/** Steps of a probe: longer ones mean that there are too many groups. */
const FEW_STEPS = 32;
const MANY_STEPS = 1024;
/** At least, for the groups that a survey has told. */
const SLOTS_PER_GROUP = 1.5;
/**
 * Rows from which a survey pays, and groups from which a list does: at 1.5 to 3 slots a group, their sums then take 24
 * to 48 MiB, about as much as the cache of a large GPU holds.
 */
const MANY = { leastRows: 2 ** 22, leastGroups: 2 ** 20 } as const;
/** Bytes of a group's least state. */
const LEAST_STATE = 16;
/** Rows from which a sample is to tell that groups are not few. */
const LEAST_SAMPLED = 2 ** 14;

/** Rows from which keys of two words are made words of, where they fit: that is waited for. */
const LEAST_NARROWED = 2 ** 21;

/** Key columns that do not fit words. Should one have changed, it only takes the longer way. */
const wide = new WeakSet<object>();

/** Keys of one word each, which are equal where the keys are; null where they have more. */
export async function wordKeysOf(run: RowRun, keys: DeviceKeys): Promise<KeyBindings | null> {
  const { rows } = keys;
  const column = oneWord(keys);
  if (!column || rows === 0) return null;
  const isWide = column.width === 2;
  const least = run.host.tuning.narrowedKeys?.leastRows ?? LEAST_NARROWED;
  if (isWide && (rows < least || wide.has(column.data))) return null;
  const bound = await bindKeys(run, column, rows);
  if (!isWide) return bound.bindings;
  const narrowed = await narrowKeys(run, bound);
  if (narrowed === null) wide.add(column.data);
  return narrowed && { ...bound.bindings, keys: narrowed };
}

/**
 * Numbers the groups of rows: few ones in a table that is small, many ones in a table whose size a survey tells. Null
 * where rows are to be numbered by their records. One to four passes over the rows.
 */
export async function numberKeys(
  run: RowRun,
  bindings: KeyBindings,
  rows: number,
  { summands, summed }: { readonly summands: Summands; readonly summed: Summed | null },
): Promise<NumberedGroups | RowsByGroup | null> {
  const { tuning } = run.host;
  const keyNullable = Number(bindings.keyValidity !== undefined);
  const slots = tuning.fewGroupSlots ?? Math.min(FEW_SLOTS, Math.max(LEAST_SLOTS, powerOfTwo(2 * rows)));
  const inOrder = { rows, by: "keys", bindings } as const;
  const { leastRows, leastGroups } = tuning.manyGroups ?? MANY;
  const isSummed = summed && keyNullable === 0 && rows >= leastRows;
  const parts = isSummed ? await preparing(run, bindings, rows, summed) : null;
  const few = await countKeys(
    run,
    inOrder,
    { keyNullable, ...tableOf(slots, FEW_STEPS) },
    {
      what: "groups are few, and",
      behind: parts?.survey,
      summands: [...summands.values()].filter(({ isTold }) => isTold),
    },
  );
  if (few || rows < leastRows) return few;
  const byParts = await parts?.sum();
  if (byParts) return byParts;
  const survey = await surveyKeys(run, bindings, rows);
  if (survey.groups < leastGroups) return null;
  const params = { keyNullable, ...tableOf(powerOfTwo(SLOTS_PER_GROUP * survey.groups), MANY_STEPS) };
  const states = Array.from(summands.values(), (summand) => 4 * summand.told().stride);
  if (!isBindable(run, Math.max(LEAST_STATE, ...states) * (params.slots + 1), rows)) return null;
  const items = await listRows(run, bindings, survey, rows, params);
  return countKeys(run, { rows, by: "items", bindings: { items } }, params, {
    what: "rows are sorted by their keys, groups",
    summands: [...summands.values()],
  });
}

/** Whether states of so many bytes and lists of so many rows can be bound. */
function isBindable({ host }: RowRun, states: number, rows: number): boolean {
  const { maxBinding, maxBuffer } = host.gpu.traits;
  return Math.max(states, rows * 8) <= Math.min(maxBinding, maxBuffer);
}

const tableOf = (slots: number, steps: number) => ({
  slots,
  slotBits: Math.log2(slots),
  steps: Math.min(steps, slots / 2),
});

interface Counting {
  /** For the plan. */
  readonly what: string;
  /** A pass that is submitted along with it, and waited for. */
  readonly behind?: (() => Promise<void>) | undefined;
  /** Columns of which one is added up on the way, where that is as good as a pass of its own. */
  readonly summands: readonly PendingSummand[];
}

/**
 * Gives groups slots, counts their rows and finds their first ones; null where there are more groups than slots. A pass
 * over the rows.
 */
async function countKeys(
  run: RowRun,
  rowsBy: CountedRows,
  params: RowParams & { readonly slots: number },
  { what, behind, summands }: Counting,
): Promise<RowsByGroup | null> {
  const { rows, by, bindings } = rowsBy;
  const { slots } = params;
  const { of, shape } = shapeOf(run, rowsBy, summands);
  const countStride = of?.stride ?? 1;
  const table = await run.range(slots * 4);
  const counts = await run.range((slots + 1) * 4 * countStride);
  const firsts = await run.range((slots + 1) * 4);
  run.queue((recorder) => {
    for (const { buffer, size } of [table, counts, firsts, run.control]) recorder.clear(buffer, 0, size);
  });
  if (by === "keys" && rows >= LEAST_SAMPLED) {
    const sample = await run.step(sampleKeysKernel, {});
    const { CACHE: groups } = shape.constants;
    const all = { total: rows, count: ROW_TILE, groups, replicas: Math.log2(MOST_REPLICAS) };
    run.queue((recorder) => sample(recorder, { keys: bindings.keys, control: run.control }, all, params));
  }
  const { WORDS, FLOATS } = constantsOf(of);
  const constants = { ...shape.constants, WORDS, FLOATS, SUMMED: of !== null, FIRSTS: true };
  const count = await run.step(countKeysKernels[by], constants, shape.items);
  const data = of ? await run.bind(dataOf(of.column)) : undefined;
  const all = { ...bindings, table, states: counts, firsts, data, control: run.control };
  const told = [shape.params, params, { stride: countStride }, of?.params ?? {}];
  const onChunk = run.noting(`${what} found by their keys`);
  await run.eachChunk("count keys", rows, (recorder, chunk) => count(recorder, all, chunk, ...told), {
    onChunk,
    waits: behind === undefined,
  });
  await behind?.();
  const { keyGroups, keyNulls, keysLeft } = run.counters;
  if (keysLeft > 0) return null;
  const known = { firsts, counts, countStride, sums: of ? { of, range: counts } : undefined };
  const groups = keyGroups + keyNulls;
  return { rows, groups, numbers: slots + 1, by, bindings: { ...bindings, table }, params, known };
}

type CountedRows = Pick<RowsByGroup, "rows" | "bindings"> & { readonly by: "keys" | "items" };

/** What is added up while rows are counted: nothing for which a workgroup's cache would have fewer slots. */
function shapeOf({ host: { gpu } }: RowRun, rows: CountedRows, summands: readonly PendingSummand[]) {
  const counting = cacheShape(gpu, addSlotBytes(0, true), rows);
  for (const pending of summands) {
    const of = pending.column.validity === null ? pending.told() : null;
    if (of === null || of.isSpecial) continue;
    const shape = cacheShape(gpu, addSlotBytes(of.words, true), rows);
    if (shape.constants.CACHE === counting.constants.CACHE) return { of, shape };
  }
  return { of: null, shape: counting };
}

const powerOfTwo = (least: number) => 2 ** Math.ceil(Math.log2(least));
