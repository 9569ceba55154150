/**
 * Lists, structs and maps as JSON: lists are arrays, structs and maps objects, in the order of their fields and
 * entries. Numbers keep all their digits, also those that JavaScript's have no room for; values that JSON has no form
 * of are the strings that they are elsewhere.
 */
import { type DataType, type Field, Type } from "@uwdata/flechette";

/**
 * A function from raw values (columns.ts) of a type to JSON. @param textOf the same for text, of types without children
 */
export function jsonOf(
  type: DataType,
  textOf: (type: DataType) => (value: unknown) => string,
): (value: unknown) => string {
  const orNull = (field: Field) => {
    const json = jsonOf(field.type, textOf);
    return (value: unknown) => (value === null || value === undefined ? "null" : json(value));
  };
  switch (type.typeId) {
    case Type.List:
    case Type.LargeList:
    case Type.ListView:
    case Type.LargeListView:
    case Type.FixedSizeList: {
      const element = orNull(type.children[0]);
      return (value) => `[${Array.from(value as Iterable<unknown>, element).join(",")}]`;
    }
    case Type.Struct: {
      const parts = type.children.map((field) => ({ name: field.name, json: orNull(field) }));
      return (value) => {
        const fields = value as Readonly<Record<string, unknown>>;
        return `{${parts.map(({ name, json }) => `${JSON.stringify(name)}:${json(fields[name])}`).join(",")}}`;
      };
    }
    case Type.Map: {
      const [key, item] = (type.children[0].type as { readonly children: readonly Field[] }).children;
      const [name, json] = [textOf(key.type), orNull(item)];
      return (value) => {
        const entries = Array.from(value as Iterable<readonly [unknown, unknown]>);
        return `{${entries.map(([k, v]) => `${JSON.stringify(name(k))}:${json(v)}`).join(",")}}`;
      };
    }
    case Type.Dictionary:
      return jsonOf(type.dictionary, textOf);
    case Type.Union:
    case Type.Null:
    case Type.Interval:
      return (value) => JSON.stringify(value, plainValue) ?? "null";
    default: {
      const text = textOf(type);
      const isPlain = type.typeId === Type.Bool || NUMBERS.has(type.typeId);
      return (value) => {
        const own = text(value);
        return isPlain && own !== "NaN" && !own.endsWith("Infinity") ? own : JSON.stringify(own);
      };
    }
  }
}

const NUMBERS: ReadonlySet<number> = new Set([Type.Int, Type.Float, Type.Decimal]);

function plainValue(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<unknown>);
  return value;
}
