/**
 * Columns as they are added up, in integers of some words: integers as they are, and floats as multiples of the lowest
 * bit that any value of the column has (addends.wgsl). So sums are exact, and rounded once. A pass over the column
 * tells how many words its values take, where their type does not.
 */
import { LimitError } from "../../../errors.js";
import type { DeviceValues } from "../../device-columns.js";
import type { NumberColumn, Reduction } from "../../reductions.js";
import type { RowParams } from "../groups/row-kernels.js";
import type { RowRun } from "../groups/row-run.js";
import { dataOf, paramsOf } from "./column-params.js";
import { surveyValuesKernel } from "./reduce-kernels.js";

/** Words that values may take: those of any float32 and decimal, and of float64 of magnitudes 70 decimal digits apart. */
const MOST_WORDS = 9;
/** Integers of so many words are not surveyed. */
const NARROW_WORDS = 2;
/** Rows that an invocation looks at. */
const SURVEY_ITEMS = 16;
/** As of survey-values.wgsl. */
const MOST_PLACES = 4096;
const TOLD_BYTES = 12;
/** By bits of a float: a number of place p is a multiple of 2^(p − PLACES), halves being moved to the upper end. */
const PLACES: { readonly [bits: number]: number } = { 16: 41, 32: 150, 64: 1075 };
const EXPONENT_BIAS = 1023;

/** A column that is added up. */
export interface Summand extends NumberColumn {
  /** Of an integer that holds any of its values. A sum has a word more. */
  readonly words: number;
  /** Bits of the greatest one's magnitude, at most. */
  readonly bits: number;
  /** Words of a group's state. */
  readonly stride: number;
  /** For addends.wgsl, total.wgsl and finish-doubles.wgsl. */
  readonly params: RowParams;
  /** Some floats are infinite or NaN. */
  readonly isSpecial: boolean;
}

/** The same before its values are surveyed. */
export interface PendingSummand extends NumberColumn {
  /** It waits for nothing. */
  readonly isTold: boolean;
  /**
   * To be called once something was waited for, unless `isTold`.
   * @throws LimitError for floats of magnitudes too far apart
   */
  told(): Summand;
}

/** Columns that are added up, by their values. */
export type Summands = ReadonlyMap<DeviceValues | null, PendingSummand>;

interface Told {
  readonly bits: number;
  readonly lowest: number;
  readonly isSpecial: boolean;
}

/**
 * The columns that sums and means are asked for of. Passes over them go along with the next submission; what they tell
 * is known once that was waited for.
 */
export async function summandsOf(
  run: RowRun,
  rows: number,
  reductions: readonly Reduction[],
): Promise<Summands> {
  const summands = new Map<DeviceValues | null, PendingSummand>();
  for (const reduction of reductions) {
    if (reduction.kind !== "sum" && reduction.kind !== "mean") continue;
    const { column, form } = reduction;
    if (summands.has(column.values)) continue;
    const { words, bits } = paramsOf(column, form);
    const isSurveyed = rows > 0 && (form === "float" || words > NARROW_WORDS);
    const told = isSurveyed
      ? await survey(run, rows, { column, form })
      : () => ({ bits, lowest: 0, isSpecial: false });
    let made: Summand | undefined;
    const once = () => {
      made ??= summandOf({ column, form }, told());
      return made;
    };
    summands.set(column.values, { column, form, isTold: !isSurveyed, told: once });
  }
  return summands;
}

function summandOf({ column, form }: NumberColumn, { bits, lowest, isSpecial }: Told): Summand {
  const params = paramsOf(column, form);
  const isFloat = form === "float";
  const signed = Math.max(1, Math.ceil((bits + 1) / 32));
  // the sign takes a bit more, but where the type has it
  const words = isFloat ? signed : Math.min(signed, params.words);
  if (words > MOST_WORDS)
    throw new LimitError("bits of added floats", bits, 32 * MOST_WORDS - 1, "The host adds them up.");
  const exponent = isFloat ? lowest - PLACES[params.bits] + EXPONENT_BIAS : EXPONENT_BIAS;
  const stride = words + 2 + Number(isSpecial);
  return { column, form, words, bits, stride, isSpecial, params: { ...params, stride, lowest, exponent } };
}

/** Bits that values take above their lowest place, but for a sign, and where that is. */
async function survey(run: RowRun, rows: number, { column, form }: NumberColumn): Promise<() => Told> {
  const FLOATS = form === "float";
  const validity = column.validity ? await run.bind(column.validity) : undefined;
  const told = await run.range(TOLD_BYTES);
  const bindings = { data: await run.bind(dataOf(column)), validity, told };
  const params = { ...paramsOf(column, form), items: SURVEY_ITEMS };
  run.queue((recorder) => recorder.clear(told.buffer, 0, told.size));
  const options = { items: SURVEY_ITEMS, waits: false };
  await run.over(surveyValuesKernel, { FLOATS }, rows, bindings, params, options);
  const into = new Uint8Array(TOLD_BYTES);
  run.queueRead({ buffer: told.buffer, offset: 0, into });
  return () => {
    const [above, below, special] = new Uint32Array(into.buffer);
    const lowest = below > 0 ? MOST_PLACES - below : 0;
    return { bits: above - lowest, lowest, isSpecial: special > 0 };
  };
}

/** What kernels over a summand are compiled with; without one they count. */
export function constantsOf(summand: Summand | null): { readonly WORDS: number; readonly FLOATS: boolean } {
  return { WORDS: summand?.words ?? 1, FLOATS: summand?.form === "float" };
}
