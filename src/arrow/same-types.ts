/**
 * Whether columns of batches that come one after the other are of one type, all through: chunks of such types can be
 * put together.
 */
import { type DataType, type Field, IntervalUnit, Type } from "@uwdata/flechette";
import { ValidationError } from "../errors.js";
import { typeName } from "./arrow-types.js";

/**
 * Checks that a column is of the type that it was of before: all parameters are the same, and so are its children. What
 * the elements of lists and the entries of maps are called, codes of dictionaries, what may be null and metadata are of
 * no account.
 * @param side what to call the column's table in messages, or "" where there is one only
 * @throws ValidationError that names both types
 */
export function checkSameType({ name, type }: Field, before: DataType, side: string): void {
  const [now, had] = [fullTypeName(type), fullTypeName(before)];
  if (now === had) return;
  const where = side === "" ? "" : ` of the ${side} table`;
  throw new ValidationError(
    `Column "${name}"${where} is of type ${now} in this batch, and of type ${had} in the ones before.`,
    "Give all batches columns of the same types: typed arrays, or Arrow columns.",
  );
}

const INTERVALS: Readonly<Record<number, string>> = {
  [IntervalUnit.YEAR_MONTH]: "months",
  [IntervalUnit.DAY_TIME]: "day, ms",
  [IntervalUnit.MONTH_DAY_NANO]: "month, day, ns",
};

/**
 * What a type and its children are called: types of different names differ, and others do not. `struct<"at": date32>`,
 * `list<int8>`.
 */
function fullTypeName(type: DataType): string {
  const own = typeName(type);
  switch (type.typeId) {
    case Type.Dictionary:
      return `dictionary of ${fullTypeName(type.dictionary)}`;
    case Type.Interval:
      return `${own}[${INTERVALS[type.unit]}]`;
    case Type.FixedSizeList:
      return `${own}(${type.stride})${elements(type.children)}`;
    case Type.Map: {
      const { children } = type.children[0].type as { readonly children: readonly Field[] };
      return own + elements(children);
    }
    case Type.Struct:
      return own + named(type.children);
    case Type.Union:
      return `${type.mode === 0 ? "sparse" : "dense"} ${own}(${type.typeIds.join(", ")})${named(type.children)}`;
    default:
      return "children" in type ? own + elements(type.children) : own;
  }
}

function elements(children: readonly Field[]): string {
  return `<${children.map(({ type }) => fullTypeName(type)).join(", ")}>`;
}

/** Names in quotes, so that none looks like a type. */
function named(children: readonly Field[]): string {
  return `<${children.map(({ name, type }) => `${JSON.stringify(name)}: ${fullTypeName(type)}`).join(", ")}>`;
}
