/**
 * What an aggregate gives for every group, as a chunk of the answer's type. ../aggregates.ts says which types go in and
 * come out; `checkAggregated` refuses the others before anything is grouped.
 */
import { batchType, type DataType, decimal, type Field, float64, int64, list, Type } from "@uwdata/flechette";
import { typeName, valueType } from "../../arrow/arrow-types.js";
import { type Validity, validityOf } from "../../arrow/bitmaps.js";
import { asBytes, type BatchClass, type Chunk } from "../../arrow/chunk.js";
import { bitmapBytes, setBit } from "../../bitmaps.js";
import { LimitError, ValidationError } from "../../errors.js";
import type { Aggregate, AggregateName } from "../aggregates.js";
import { isKeyType } from "../keys/key-types.js";
import { unitOf } from "./numbers.js";
import { type PlacedValues, quantileOf } from "./quantiles.js";
import type { StateName, States } from "./states.js";
import { meansOf, type Sums, writeWords } from "./sums.js";

/** What an aggregate is made of. */
export const NEEDS: { readonly [Name in AggregateName]: readonly StateName[] } = {
  count: ["counts"],
  countDistinct: ["distinct"],
  approxCountDistinct: ["registers"],
  sum: ["sums", "counts"],
  mean: ["sums", "counts"],
  var: ["moments"],
  std: ["moments"],
  median: ["values"],
  quantile: ["values"],
  min: ["least"],
  max: ["greatest"],
  first: ["first"],
  last: ["last"],
};

const SUMMED: readonly number[] = [Type.Null, Type.Bool, Type.Int, Type.Decimal, Type.Float];
const OF_NUMBERS: readonly AggregateName[] = ["sum", "mean", "var", "std", "median", "quantile"];
const COMPARED: readonly AggregateName[] = ["min", "max", "countDistinct", "approxCountDistinct"];

/** @throws ValidationError when the aggregate does not take columns of this type */
export function checkAggregated(name: AggregateName, field: Field): void {
  const summed = OF_NUMBERS.includes(name);
  const compared = COMPARED.includes(name);
  if (summed ? SUMMED.includes(valueType(field.type).typeId) : !compared || isKeyType(field.type)) return;
  throw new ValidationError(
    `There is no ${name} of column "${field.name}", of type ${typeName(field.type)}.`,
    summed
      ? `A ${name} is of booleans, integers, decimals and floats.`
      : "Values are compared of booleans, numbers, decimals, dates, times, timestamps, durations, strings, binary, or dictionaries of these.",
  );
}

/** A column as its aggregates need to know it. */
export interface AggregatedColumn {
  readonly field: Field;
  /** How its values read, where they read in a way of their own. */
  readonly batchClass: BatchClass | null;
  readonly groups: number;
  /** States of the kinds that its aggregates need. */
  readonly states: States;
  /** The values of each group side by side. */
  readonly placed: () => PlacedValues;
}

/** The answer's values, one a group. @throws LimitError when a sum of decimals has more digits than a decimal */
export function aggregateChunk(aggregate: Aggregate, column: AggregatedColumn): Chunk {
  const { states, groups } = column;
  switch (aggregate.name) {
    case "count":
      return countChunk(states.counts);
    case "countDistinct": {
      const counts = new Float64Array(groups);
      const { rowGroups } = states.distinct;
      for (let i = 0; i < rowGroups.length; i++) counts[rowGroups[i]]++;
      return countChunk(counts);
    }
    case "approxCountDistinct":
      return countChunk(states.registers.estimates());
    case "sum":
      return sumChunk(column);
    case "mean": {
      const unit = unitOf(valueType(column.field.type));
      const { counts, sums } = states;
      return floatChunk(meansOf(sums, counts, unit), nonEmpty(counts));
    }
    case "var":
    case "std":
      return varianceChunk(aggregate, column);
    case "median":
    case "quantile":
      return quantileChunk(aggregate.name === "median" ? 0.5 : (aggregate.at ?? []), column.placed(), groups);
    case "min":
      return states.least.contiguous();
    case "max":
      return states.greatest.contiguous();
    case "first":
      return states.first.contiguous();
    case "last":
      return states.last.contiguous();
  }
}

/** Reads as numbers: rows are fewer than 2^53. */
export const COUNT_BATCH = batchType(int64(), { useBigInt: false }) as BatchClass;

/** Counts as int64. */
export function countChunk(counts: Float64Array): Chunk {
  const words = new Uint32Array(2 * counts.length);
  writeWords(counts, words, 2);
  return fixedChunk(int64(), asBytes(words), null, COUNT_BATCH);
}

/** Null where a group has no values. */
function sumChunk({ field, batchClass, groups, states: { sums, counts } }: AggregatedColumn): Chunk {
  const validity = nonEmpty(counts);
  if (valueType(field.type).typeId === Type.Float) {
    return floatChunk(sums.toNumbers(), validity);
  }
  const { type: sumType, reading } = sumTypeOf(field.type, batchClass);
  const size = sumType.bitWidth / 32;
  const words = new Uint32Array(size * groups);
  writeSums(sums, words, sumType, field.name);
  return fixedChunk(sumType, asBytes(words), validity, reading);
}

type SumType = ReturnType<typeof sumTypeOf>["type"];

function writeSums(sums: Sums, words: Uint32Array, type: SumType, name: string): void {
  const size = type.bitWidth / 32;
  const digits = type.typeId === Type.Decimal ? type.precision : null;
  let wrong = sums.write(words, size);
  if (digits !== null) {
    const fits = havingDigits(size, digits);
    for (let group = 0; group < sums.groups && wrong < 0; group++)
      if (!fits(words, size * group)) wrong = group;
  }
  if (wrong < 0) return;
  throw new LimitError(
    "decimal digits",
    (digits ?? 0) + 1,
    digits ?? 0,
    `A sum of "${name}" outgrows ${typeName(type)}: cast the column to decimal256 or float64.`,
  );
}

/** The type of a column's sums, and how they read: as the column where both are decimals of the same reading. */
export function sumTypeOf(columnType: DataType, batchClass: BatchClass | null) {
  const type = valueType(columnType);
  if (type.typeId === Type.Decimal) {
    const wide = type.bitWidth === 256;
    const sumType = wide ? decimal(76, type.scale, 256) : decimal(38, type.scale, 128);
    const readsAlike = type === columnType && type.bitWidth > 32;
    return { type: sumType, reading: readsAlike ? batchClass : null };
  }
  if (type.typeId === Type.Int && type.bitWidth === 64) {
    const sumType = decimal(38, 0, 128);
    return { type: sumType, reading: batchType(sumType, { useDecimalInt: true }) as BatchClass };
  }
  return { type: int64(), reading: null };
}

/** Says whether integers of `size` words have no more than some decimal digits. */
function havingDigits(size: number, digits: number): (words: Uint32Array, at: number) => boolean {
  const limit = 10n ** BigInt(digits);
  const mostTop = Number(limit >> BigInt(32 * (size - 1)));
  return (words, at) => {
    const top = words[at + size - 1] | 0;
    if (Math.abs(top) + 1 < mostTop) return true;
    let value = BigInt(top);
    for (let k = size - 2; k >= 0; k--) value = (value << 32n) + BigInt(words[at + k]);
    return value < limit && value > -limit;
  };
}

/** Null where a group has too few values. */
function varianceChunk({ name, population = false }: Aggregate, { field, states }: AggregatedColumn): Chunk {
  const { moments } = states;
  const variances = moments.variances(population, unitOf(valueType(field.type)));
  const validity = withValues(moments.counts, population ? 1 : 2);
  return floatChunk(name === "std" ? variances.map(Math.sqrt) : variances, validity);
}

/** One number a group, or as many as `at` has as a list; null where a group has no values. */
function quantileChunk(at: number | readonly number[], placed: PlacedValues, groups: number): Chunk {
  const { starts } = placed;
  const counts = Float64Array.from({ length: groups }, (_, group) => starts[group + 1] - starts[group]);
  const validity = nonEmpty(counts);
  const parts = typeof at === "number" ? [at] : at;
  const numbers = new Float64Array(groups * parts.length);
  for (let group = 0; group < groups; group++) {
    if (counts[group] === 0) continue;
    for (const [i, part] of parts.entries())
      numbers[group * parts.length + i] = quantileOf(placed, group, part);
  }
  if (typeof at === "number") return floatChunk(numbers, validity);
  const offsets = Uint32Array.from({ length: groups + 1 }, (_, group) => group * parts.length);
  const child = floatChunk(numbers, null);
  return {
    layout: "list",
    type: list(float64()),
    length: groups,
    validity,
    batchClass: null,
    offsets,
    child,
  };
}

function floatChunk(numbers: Float64Array, validity: Validity | null): Chunk {
  return fixedChunk(float64(), asBytes(numbers), validity);
}

function fixedChunk(
  type: DataType & { readonly bitWidth?: number },
  data: Uint8Array,
  validity: Validity | null,
  batchClass: BatchClass | null = null,
): Chunk {
  const width = type.bitWidth === undefined ? 8 : type.bitWidth / 8;
  return {
    layout: "fixed",
    type,
    width,
    data,
    length: data.byteLength / width,
    validity,
    batchClass,
  };
}

/** The validity of groups that have values. */
export function nonEmpty(counts: Float64Array): Validity | null {
  return withValues(counts, 1);
}

/** The validity of groups that have so many values at least. */
function withValues(counts: Float64Array, least: number): Validity | null {
  const groups = counts.length;
  let valid = 0;
  while (valid < groups && counts[valid] >= least) valid++;
  if (valid === groups) return null;
  const bits = new Uint8Array(bitmapBytes(groups));
  for (let group = 0; group < groups; group++) if (counts[group] >= least) setBit(bits, group);
  return validityOf(bits, groups);
}
