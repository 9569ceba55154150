/**
 * Groups of rows by a key of one word, many of them, with the sum of one column at most: rows are split into parts of
 * their mixed keys, twice, until a part's groups fit a workgroup's memory, where they are found and summed up. Values
 * of a word lie beside the rows, so that memory is only gone through in order, whatever the number of groups; longer
 * ones are read where their column has them.
 *
 * Parts have about the same number of rows where keys have; a survey tells where they have not, and then this is left
 * to others.
 */

import type { Reduction } from "../../reductions.js";
import type { Chunk } from "../batch/columns.js";
import { ROW_TILE, type RowParams } from "../groups/row-kernels.js";
import type { RowRun } from "../groups/row-run.js";
import type { Range, Recorder } from "../runtime.js";
import { dataOf } from "./column-params.js";
import { type KeyBindings, type Survey, surveying } from "./list-rows.js";
import { sumPartsKernel } from "./part-kernels.js";
import { kindOf, mostOfPart, mostPartBits, partsOf, splitting } from "./row-parts.js";
import type { NumberedGroups } from "./rows-by-group.js";
import { constantsOf, type PendingSummand, type Summand, type Summands } from "./summands.js";

/**
 * Rows that a part has, unless there are too few parts. On an H200, of 8,192 to 262,144, this was fastest from 2^22 to 2^28
 * rows: a workgroup takes some microseconds to begin and end a part.
 */
const PART_ROWS = { software: 128, hardware: 32768 } as const;
/**
 * Slots of a workgroup's table at most, if it has memory for them, and at least: with fewer, more workgroups run side
 * by side. The bytes of each without a sum, and groups per slot at most and at best.
 */
const SLOTS = { software: 512, hardware: 2048 } as const;
const LEAST_SLOTS = 512;
const SLOT_BYTES = 12;
const SPARE_BYTES = 512;
const MOST_LOAD = 0.8;
const LOAD = 0.5;
/** Invocations of a workgroup: as many as there may be, since a core of a GPU has memory for few workgroups. */
const INVOCATIONS = { software: 256, hardware: 1024 } as const;

/** What is summed up beside counting rows: a column of numbers. */
export interface Summed {
  readonly of: PendingSummand | null;
}

/** What some reductions ask for, if it is what this does; else null. */
export function summedOf(reductions: readonly Reduction[], summands: Summands): Summed | null {
  const [of = null, ...others] = summands.values();
  if (others.length > 0) return null;
  const isMade = ({ kind, column }: Reduction) =>
    kind === "first" || kind === "sum" || kind === "mean" || (kind === "count" && isCounted(column, of));
  return reductions.every(isMade) ? { of } : null;
}

const isCounted = (column: Reduction["column"], of: PendingSummand | null) =>
  !column?.validity || column.values === of?.column.values;

/** Whether values go along with their rows: those of a word without nulls, but for floats, which take more to add up. */
function carriedOf(of: Summand | null): Summand | null {
  return of && of.form !== "float" && of.params.words === 1 && !of.column.validity ? of : null;
}

interface Shape {
  readonly bits: number;
  readonly fine: number;
  readonly slots: number;
}

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
      const of = summed.of?.told() ?? null;
      if (told.isUneven || of?.isSpecial) return null;
      const shape = shapeOf(run, { rows, of, groups: told.groups, fine });
      return shape && run.attempt(() => sumParts(run, { ...bindings, rows, of, survey: told, shape }));
    },
  };
}

/** Null where the parts would have too many groups for a workgroup's memory. */
function shapeOf(
  run: RowRun,
  { rows, of, groups, fine }: Pick<Work, "rows" | "of"> & { readonly groups: number; readonly fine: number },
): Shape | null {
  const kind = kindOf(run);
  const { maxWorkgroupBytes: most } = run.host.gpu.traits;
  // a state's count is that of the group's rows, where no value is null
  const slotBytes = SLOT_BYTES + (of ? 4 * (of.words + 1 + Number(of.column.validity !== null)) : 0);
  let slots: number = SLOTS[kind];
  while (slots * slotBytes + SPARE_BYTES > most) slots /= 2;
  if (groups > MOST_LOAD * slots * 2 ** fine) return null;
  const wanted = Math.max(groups / (LOAD * slots), rows / PART_ROWS[kind], 4);
  const bits = Math.min(fine, Math.ceil(Math.log2(wanted)));
  while (slots > LEAST_SLOTS && groups <= (LOAD * slots * 2 ** bits) / 2) slots /= 2;
  return { bits, fine, slots };
}

interface Work extends KeyBindings {
  readonly rows: number;
  readonly of: Summand | null;
  readonly survey: Survey;
  readonly shape: Shape;
}

async function sumParts(run: RowRun, work: Work): Promise<NumberedGroups | null> {
  const { rows, keys, survey, of, shape } = work;
  const most = survey.groups;
  const [counts, firsts] = [await run.range(most * 4), await run.range(most * 4)];
  const sums = of ? await run.range(most * 4 * of.stride) : undefined;
  const carried = carriedOf(of);
  const source = { rows, keys, isWide: false, value: carried, counts: survey.counts, fine: shape.fine };
  const split = await splitting(run, source, shape.bits);
  const column = of && !carried ? await run.bind(dataOf(of.column)) : undefined;
  const validity = of?.column.validity ? await run.bind(of.column.validity) : undefined;
  const { control } = run;
  run.queue((recorder) => recorder.clear(control.buffer, 0, control.size));
  const { items, words, partStarts, params } = await split();
  const bindings = { control, partStarts, items, data: column ?? words, validity, counts, firsts, sums };
  await sumAll(run, work, bindings, [{ groups: most }, params, of?.params ?? {}]);
  const { keyGroups: groups, keysLeft } = run.counters;
  if (keysLeft > 0) return null;
  const known = { firsts, counts, countStride: 1, sums: of && sums ? { of, range: sums } : undefined };
  return { rows, groups, numbers: groups, known };
}

async function sumAll(
  run: RowRun,
  { rows, of, shape: { bits, slots } }: Work,
  bindings: { readonly [name: string]: Range | undefined },
  params: readonly RowParams[],
): Promise<void> {
  const { maxInvocations: most } = run.host.gpu.traits;
  const NULLABLE = Boolean(of?.column.validity);
  const constants = {
    SLOTS: slots,
    INVOCATIONS: Math.min(INVOCATIONS[kindOf(run)], most),
    ...constantsOf(of),
    SUMMED: of !== null,
    CARRIED: carriedOf(of) !== null,
    NULLABLE,
    VALUE_SLOTS: NULLABLE ? slots : 1,
    SUM_SLOTS: of ? slots * (of.words + 1) : 1,
  };
  const sum = await run.step(sumPartsKernel, constants, 1 / ROW_TILE);
  const onChunk = run.noting("rows are split by their keys, groups found and summed up part by part");
  const record = (recorder: Recorder, chunk: Chunk) => {
    const parts = partsOf(chunk, rows, bits);
    if (parts.count > 0) sum(recorder, bindings, parts, ...params);
  };
  await run.eachChunk("sum parts", rows, record, { onChunk });
}
