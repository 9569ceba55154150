/**
 * Which aggregates a device computes (engine/reductions.ts), and of which type their answers are. The others are the
 * host's: those that its engine does not take; of values that are not added up or compared as they are; of values in
 * order.
 */
import { type DataType, type Field, field, float64, int64, Type } from "@uwdata/flechette";
import { typeName } from "../../arrow/arrow-types.js";
import type { BatchClass } from "../../arrow/chunk.js";
import type { SourceColumn } from "../../arrow/columns.js";
import type { ColumnReducer, NumberForm, Reduction, ReductionKind } from "../../engine/reductions.js";
import type { Aggregate, NamedAggregate } from "../aggregates.js";
import { isHeld, type TableColumn } from "../device/column-transport.js";
import { COUNT_BATCH, sumTypeOf } from "./chunks.js";
import type { GroupedSource } from "./group-states.js";
import { unitOf } from "./numbers.js";

/** Why the host has to group; undefined where a device can. */
export function whyGroupedOnHost({ keys }: GroupedSource): string | undefined {
  const other = keys.find(({ field }) => !isHeld(field.type));
  return other && `"${other.field.name}" is of type ${typeName(other.field.type)}`;
}

/** The aggregates that the device computes over the rows that it has grouped; the others are the host's. */
export function aggregatesThere(
  source: GroupedSource,
  aggregates: readonly NamedAggregate[],
  reducer: Pick<ColumnReducer, "takes">,
): ReadonlySet<NamedAggregate> {
  const there = aggregates.filter(({ aggregate }) => {
    const type = columnOf(source, aggregate)?.field.type;
    const kind = kindOf(aggregate, type);
    return kind !== undefined && (type === undefined || isHeld(type)) && reducer.takes(kind);
  });
  return new Set(there);
}

/** Aggregates as plans name them: 'sum of "price", of type float64'. */
export function namesOf(source: GroupedSource, aggregates: readonly NamedAggregate[]): string {
  const names = aggregates.map(({ aggregate }) => {
    const type = columnOf(source, aggregate)?.field.type;
    return type ? `${aggregate.name} of "${aggregate.column}", of type ${typeName(type)}` : aggregate.name;
  });
  return [...new Set(names)].join("; ");
}

/**
 * What the device is asked for, but for the column; undefined for what the host alone can answer. @param type none for
 * rows
 */
function kindOf({ name }: Aggregate, type: DataType | undefined): ReductionKind | undefined {
  if (type === undefined) return name === "count" ? { kind: "count" } : undefined;
  const form = formOf(type);
  switch (name) {
    case "first":
    case "last":
      return type.typeId === Type.Null ? undefined : { kind: name };
    case "count":
      // the values of a dictionary may be null themselves
      return type.typeId === Type.Dictionary || type.typeId === Type.Null ? undefined : { kind: name };
    case "min":
    case "max":
      return form && { kind: name === "min" ? "least" : "greatest", form };
    case "sum": {
      const isDecimal = type.typeId === Type.Decimal;
      return ADDED.includes(type.typeId) ? { kind: name, form: form as NumberForm, isDecimal } : undefined;
    }
    case "mean":
      return ADDED.includes(type.typeId)
        ? { kind: name, form: form as NumberForm, unit: unitOf(type) }
        : undefined;
    default:
      return undefined;
  }
}

/** Types whose values are added up as they are. */
const ADDED: readonly number[] = [Type.Bool, Type.Int, Type.Decimal, Type.Float];

/** How values are compared and added up; undefined for those that are no numbers of fixed width. */
function formOf(type: DataType): NumberForm | undefined {
  switch (type.typeId) {
    case Type.Bool:
      return "unsigned";
    case Type.Int:
      return type.signed ? "signed" : "unsigned";
    case Type.Decimal:
    case Type.Date:
    case Type.Time:
    case Type.Timestamp:
    case Type.Duration:
      return "signed";
    case Type.Float:
      return "float";
    default:
      return undefined;
  }
}

/** What the device is asked for. @param column of a column of the device, undefined for rows */
export function reductionOf(aggregate: Aggregate, column: TableColumn | undefined): Reduction {
  return { ...kindOf(aggregate, column?.field.type), column: column ?? null } as Reduction;
}

/** The answer's column but for its values. */
export function answerOf({ name, aggregate }: NamedAggregate, column: TableColumn | undefined) {
  const made = (
    type: DataType,
    batchClass: BatchClass | null,
    dictionary: TableColumn["dictionary"] = null,
  ): { field: Field; batchClass: BatchClass | null; dictionary: TableColumn["dictionary"] } => ({
    field: field(name, type),
    batchClass,
    dictionary,
  });
  if (column === undefined || aggregate.name === "count") return made(int64(), COUNT_BATCH);
  const isFloat = column.field.type.typeId === Type.Float;
  if (aggregate.name === "mean" || (aggregate.name === "sum" && isFloat)) return made(float64(), null);
  if (aggregate.name !== "sum") return made(column.field.type, column.batchClass, column.dictionary);
  const { type, reading } = sumTypeOf(column.field.type, column.batchClass);
  return made(type, reading);
}

/** The column of an aggregate. */
export function columnOf({ columns }: GroupedSource, { column }: Aggregate): SourceColumn | undefined {
  return column === undefined ? undefined : columns.get(column);
}
