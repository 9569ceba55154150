/**
 * Groups of rows by a key of one word, many of them, with the sum of one column at most: rows are split into parts of
 * their mixed keys, twice, with their values beside them, until a part's groups fit a workgroup's memory, where they
 * are found and summed up. So memory is only gone through in order, whatever the number of groups.
 *
 * Parts have about the same number of rows where keys have; a survey tells where they have not, and then this is left
 * to others.
 */

import type { DeviceColumn } from "../../device-columns.js";
import type { NumberColumn, Reduction } from "../../reductions.js";
import type { Chunk } from "../batch/columns.js";
import { ROW_TILE, type RowParams } from "../groups/row-kernels.js";
import type { RowRun } from "../groups/row-run.js";
import type { Range, Recorder } from "../runtime.js";
import { type KeyBindings, type Survey, surveying } from "./list-rows.js";
import { sumPartsKernel } from "./part-kernels.js";
import { kindOf, mostOfPart, mostPartBits, partsOf, splitRows } from "./row-parts.js";
import type { NumberedGroups } from "./rows-by-group.js";

/** Rows that a part has, unless there are too few parts. */
const PART_ROWS = { software: 128, hardware: 8192 } as const;
/**
 * Slots of a workgroup's table, if it has memory for them, the bytes of each with a sum, and groups per slot at most
 * and at best.
 */
const SLOTS = { software: 512, hardware: 2048 } as const;
const SLOT_BYTES = 20;
const SPARE_BYTES = 512;
const MOST_LOAD = 0.8;
const LOAD = 0.5;
/** Invocations of a workgroup: as many as there may be, since a core of a GPU has memory for few workgroups. */
const INVOCATIONS = { software: 256, hardware: 1024 } as const;

/** What is summed up beside counting rows: a column without nulls, of a word at most. */
export interface Summed {
  readonly of: NumberColumn | null;
}

/** What some reductions ask for, if it is what this does; else null. */
export function summedOf(reductions: readonly Reduction[]): Summed | null {
  let of: NumberColumn | null = null;
  for (const reduction of reductions) {
    const { kind } = reduction;
    if (kind === "first" || (kind === "count" && !reduction.column?.validity)) continue;
    if (kind !== "sum" && kind !== "mean") return null;
    if (!isShort(reduction.column) || (of && of.column.values !== reduction.column.values)) return null;
    of = reduction;
  }
  return { of };
}

function isShort({ values, validity }: DeviceColumn): boolean {
  if (validity !== null) return false;
  return values?.kind === "bits" || (values?.kind === "fixed" && values.width <= 4);
}

interface Shape {
  readonly bits: number;
  readonly fine: number;
  readonly slots: number;
}

/** See `preparing`. */
export interface Prepared {
  /** A pass over the keys, right behind an attempt to count few groups: it does nothing where that has gone well. */
  survey(): Promise<void>;
  /** Groups, numbered and summed up; null where they are too many or too uneven, or the GPU has too little memory. */
  sum(): Promise<NumberedGroups | null>;
}

/** Prepares the survey of the keys, and what follows if groups are not few. */
export async function preparing(
  run: RowRun,
  bindings: KeyBindings,
  rows: number,
  summed: Summed,
): Promise<Prepared> {
  const fine = mostPartBits(run);
  const options = { bits: fine, most: mostOfPart(rows, fine), isBehind: true };
  const surveyed = await surveying(run, bindings, rows, options);
  return {
    survey: () => surveyed.survey(),
    async sum() {
      const told = surveyed.told();
      const shape = told.isUneven ? null : shapeOf(run, rows, told.groups, fine);
      return shape && run.attempt(() => sumParts(run, { ...bindings, rows, summed, survey: told, shape }));
    },
  };
}

/** Null where the parts would have too many groups for a workgroup's memory. */
function shapeOf(run: RowRun, rows: number, groups: number, fine: number): Shape | null {
  const kind = kindOf(run);
  const { maxWorkgroupBytes: most } = run.host.gpu.traits;
  let slots: number = SLOTS[kind];
  while (slots * SLOT_BYTES + SPARE_BYTES > most) slots /= 2;
  if (groups > MOST_LOAD * slots * 2 ** fine) return null;
  const wanted = Math.max(groups / (LOAD * slots), rows / PART_ROWS[kind], 4);
  return { bits: Math.min(fine, Math.ceil(Math.log2(wanted))), fine, slots };
}

interface Work extends KeyBindings {
  readonly rows: number;
  readonly summed: Summed;
  readonly survey: Survey;
  readonly shape: Shape;
}

async function sumParts(run: RowRun, work: Work): Promise<NumberedGroups | null> {
  const { rows, keys, survey, summed, shape } = work;
  const most = survey.groups;
  const [counts, firsts] = [await run.range(most * 4), await run.range(most * 4)];
  const sums = summed.of ? await run.range(most * 16) : undefined;
  const { control } = run;
  await run.submit("clear", (recorder) => recorder.clear(control.buffer, 0, control.size));
  const source = { rows, keys, isWide: false, value: summed.of, counts: survey.counts, fine: shape.fine };
  const { items, words, partStarts, params } = await splitRows(run, source, shape.bits);
  const bindings = { control, partStarts, items, words, counts, firsts, sums };
  await sumAll(run, work, bindings, { ...params, groups: most });
  const { keyGroups: groups, keysLeft } = run.counters;
  if (keysLeft > 0) return null;
  const known = { firsts, counts, sums: summed.of && sums ? { of: summed.of, range: sums } : undefined };
  return { rows, groups, numbers: groups, known };
}

async function sumAll(
  run: RowRun,
  { rows, summed, shape: { bits, slots } }: Work,
  bindings: { readonly [name: string]: Range | undefined },
  params: RowParams,
): Promise<void> {
  const VALUED = summed.of !== null;
  const { maxInvocations: most } = run.host.gpu.traits;
  const invocations = Math.min(INVOCATIONS[kindOf(run)], most);
  const constants = { SLOTS: slots, SUMMED_SLOTS: VALUED ? slots : 1, INVOCATIONS: invocations, VALUED };
  const sum = await run.step(sumPartsKernel, constants, 1 / ROW_TILE);
  const onChunk = run.noting("rows are split by their keys, groups found and summed up part by part");
  const record = (recorder: Recorder, chunk: Chunk) => {
    const parts = partsOf(chunk, rows, bits);
    if (parts.count > 0) sum(recorder, bindings, { ...params, ...parts });
  };
  await run.eachChunk("sum parts", rows, record, { onChunk });
}
