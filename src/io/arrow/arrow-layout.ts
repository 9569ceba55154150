/**
 * What the record batches of an Arrow schema consist of: the field nodes and buffers that each column takes, in order.
 * Types are checked on the way: their parameters, and the number of their children.
 */
import { Type } from "@uwdata/flechette";
import type { FieldTable, SchemaTable } from "./arrow-metadata.js";
import { FlatError } from "./flatbuffers.js";

/** What one column, or one dictionary, takes of a record batch. */
export interface Layout {
  /** Field nodes: the column and all that is nested in it. */
  readonly nodes: number;
  /** Buffers, without those of views that a batch counts itself. */
  readonly buffers: number;
  /** Columns of views: each has a number of buffers more. */
  readonly views: number;
}

const NOTHING: Layout = { nodes: 0, buffers: 0, views: 0 };

/** The layouts of a schema: of a record batch, of every column, and of the dictionaries by id. */
export interface SchemaLayout {
  readonly columns: readonly Layout[];
  readonly batch: Layout;
  /** What is nested in the values of a dictionary comes before it. */
  readonly dictionaries: ReadonlyMap<number, Layout>;
}

/** @param version of the metadata: 3 is V4, 4 is V5 @throws FlatError for a schema that cannot be */
export function layoutOf(schema: SchemaTable, version: number): SchemaLayout {
  const dictionaries = new Map<number, ValueLayout>();
  const columns = (schema.fields ?? []).map((field) => fieldLayout(field, version, dictionaries));
  return { columns, batch: sum(columns), dictionaries };
}

/** The layout of a dictionary, and the type of its values as text. */
interface ValueLayout extends Layout {
  readonly type: string;
}

function sum(layouts: readonly Layout[]): Layout {
  return layouts.reduce(
    (all, { nodes, buffers, views }) => ({
      nodes: all.nodes + nodes,
      buffers: all.buffers + buffers,
      views: all.views + views,
    }),
    NOTHING,
  );
}

function fieldLayout(field: FieldTable, version: number, dictionaries: Map<number, ValueLayout>): Layout {
  checkType(field);
  const children = (field.children ?? []).map((child) => fieldLayout(child, version, dictionaries));
  const own = valueLayout(field.typeId, field, children, version);
  if (field.dictionary === null) return own;
  const { id, indexType } = field.dictionary;
  if (indexType !== null) checkInt(indexType.bitWidth);
  const type = JSON.stringify([field.typeId, field.type, field.children]);
  const known = dictionaries.get(id);
  if (known && known.type !== type) {
    throw new FlatError("two columns of different types have one dictionary");
  }
  dictionaries.set(id, { ...own, type });
  return { nodes: 1, buffers: 2, views: 0 };
}

function valueLayout(
  typeId: number,
  field: FieldTable,
  children: readonly Layout[],
  version: number,
): Layout {
  const nested = sum(children);
  const own = (buffers: number, views = 0): Layout => ({
    nodes: 1 + nested.nodes,
    buffers: buffers + nested.buffers,
    views: views + nested.views,
  });
  switch (typeId) {
    case Type.Null:
      return { nodes: 1, buffers: 0, views: 0 };
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Binary:
    case Type.LargeBinary:
      return { nodes: 1, buffers: 3, views: 0 };
    case Type.Utf8View:
    case Type.BinaryView:
      return { nodes: 1, buffers: 2, views: 1 };
    case Type.List:
    case Type.LargeList:
    case Type.Map:
      return own(2);
    case Type.ListView:
    case Type.LargeListView:
      return own(3);
    case Type.FixedSizeList:
    case Type.Struct:
      return own(1);
    case Type.RunEndEncoded:
      return own(0);
    case Type.Union: {
      const validity = version < 4 ? 1 : 0; // before version 5 of the metadata unions had one
      return own(validity + (field.type?.mode === 1 ? 2 : 1));
    }
    default:
      return { nodes: 1, buffers: 2, views: 0 };
  }
}

/**
 * How many children a type has to have, by its number; structs and unions any number, others none: flechette drops
 * those.
 */
const CHILDREN: Readonly<Record<number, number>> = {
  [Type.List]: 1,
  [Type.LargeList]: 1,
  [Type.ListView]: 1,
  [Type.LargeListView]: 1,
  [Type.FixedSizeList]: 1,
  [Type.Map]: 1,
  [Type.RunEndEncoded]: 2,
};

const KNOWN_TYPES = new Set<number>(Object.values(Type));

function checkType(field: FieldTable): void {
  const { typeId, type } = field;
  const children = field.children ?? [];
  if (typeId === 0 || !KNOWN_TYPES.has(typeId) || type === null)
    throw new FlatError("a column has no known type");
  const hasAny = typeId === Type.Struct || typeId === Type.Union;
  if (!hasAny && children.length !== (CHILDREN[typeId] ?? 0))
    throw new FlatError("a type has other parts than it needs");
  const refuse = (wrong: boolean) => {
    if (wrong) throw new FlatError("a type has parameters that it cannot have");
  };
  switch (typeId) {
    case Type.Int:
      checkInt(type.bitWidth);
      break;
    case Type.Float:
      refuse(type.precision < 0 || type.precision > 2);
      break;
    case Type.Decimal: {
      const digits = DECIMAL_DIGITS[type.bitWidth];
      refuse(digits === undefined || type.precision < 1 || type.precision > digits);
      refuse(Math.abs(type.scale) > DECIMAL_DIGITS[256]); // flechette makes a bigint of 10 to this power
      break;
    }
    case Type.Date:
      refuse(type.unit !== 0 && type.unit !== 1);
      break;
    case Type.Time:
      refuse(type.unit < 0 || type.unit > 3 || type.bitWidth !== (type.unit < 2 ? 32 : 64));
      break;
    case Type.Timestamp:
    case Type.Duration:
      refuse(type.unit < 0 || type.unit > 3);
      break;
    case Type.Interval:
      refuse(type.unit < 0 || type.unit > 2);
      break;
    case Type.FixedSizeBinary:
      refuse(type.byteWidth < 0);
      break;
    case Type.FixedSizeList:
      refuse(type.listSize < 0);
      break;
    case Type.Map:
      refuse(children[0].typeId !== Type.Struct || children[0].children?.length !== 2);
      break;
    case Type.Union: {
      const ids = (type.typeIds ?? []).map(([id]) => id);
      const distinct = new Set(ids).size === ids.length && ids.length === children.length;
      refuse(type.mode < 0 || type.mode > 1 || !distinct || ids.some((id) => id < 0 || id > 127));
      break;
    }
  }
}

const DECIMAL_DIGITS: Readonly<Record<number, number>> = { 32: 9, 64: 18, 128: 38, 256: 76 };

function checkInt(bitWidth: number): void {
  if (![8, 16, 32, 64].includes(bitWidth))
    throw new FlatError("an integer type has a width that there is not");
}
