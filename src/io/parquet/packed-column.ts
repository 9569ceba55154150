/**
 * Columns that io made (columns.ts: one batch each, perhaps a dictionary of one batch) as plain data, for another
 * thread. Types hold functions, which cannot be posted: those of strings and timestamps are told, others the receiver
 * knows.
 */
import {
  type Batch,
  binary,
  type Column,
  type DataType,
  largeBinary,
  largeUtf8,
  type TimeUnit_,
  Type,
  type TypedArray,
  timestamp,
  utf8,
} from "@uwdata/flechette";
import { withChildren } from "../../arrow/arrow-types.js";
import { columnOf, dictionaryColumn } from "../columns.js";

const TYPES = { utf8, largeUtf8, binary, largeBinary };

/** A column as plain data. */
export interface PackedColumn {
  readonly kind: keyof typeof TYPES | "dictionary" | "other";
  readonly length: number;
  readonly nullCount: number;
  readonly validity: Uint8Array<ArrayBuffer>;
  readonly values?: TypedArray;
  /** Of strings and lists. */
  readonly offsets?: TypedArray;
  /** Of timestamps without a zone. */
  readonly unit?: TimeUnit_;
  /** Of codes. */
  readonly dictionary?: PackedColumn;
  /** Of lists, maps and structs. */
  readonly children?: readonly PackedColumn[];
}

type AnyBatch = Batch<unknown> & { readonly dictionary: Column<unknown> };

const KINDS: Partial<Record<number, keyof typeof TYPES>> = {
  [Type.Utf8]: "utf8",
  [Type.LargeUtf8]: "largeUtf8",
  [Type.Binary]: "binary",
  [Type.LargeBinary]: "largeBinary",
};

export function packedColumn({ data }: Column<unknown>): PackedColumn {
  return packedBatch(data[0] as AnyBatch);
}

function packedBatch(batch: AnyBatch): PackedColumn {
  const { length, nullCount, validity, values, offsets, type, children, dictionary } = batch;
  const isDictionary = type.typeId === Type.Dictionary;
  return {
    kind: isDictionary ? "dictionary" : (KINDS[type.typeId] ?? "other"),
    length,
    nullCount,
    validity: validity as Uint8Array<ArrayBuffer>,
    values: values as TypedArray | undefined,
    offsets: offsets as TypedArray | undefined,
    unit: type.typeId === Type.Timestamp && !type.timezone ? type.unit : undefined,
    dictionary: isDictionary ? packedColumn(dictionary) : undefined,
    children: children?.map((child) => packedBatch(child as AnyBatch)),
  };
}

/** What holds a column's values. */
export function viewsOf(packed: PackedColumn): (ArrayBufferView | undefined)[] {
  const { validity, values, offsets, dictionary, children = [] } = packed;
  return [
    validity,
    values,
    offsets,
    ...(dictionary ? viewsOf(dictionary) : []),
    ...children.flatMap(viewsOf),
  ];
}

/** @param type of a column that is neither of strings nor of codes, and of what is in it */
export function unpackedColumn(packed: PackedColumn, type: DataType): Column<unknown> {
  const { kind, length: rows, nullCount: count, validity: bitmap, values, offsets } = packed;
  const { dictionary, children, unit } = packed;
  const nulls = { rows, count, bitmap };
  if (dictionary) return dictionaryColumn(values as Int32Array, unpackedColumn(dictionary, type), nulls);
  if (kind !== "other" && kind !== "dictionary") return columnOf(TYPES[kind](), nulls, { offsets, values });
  if (children === undefined) {
    return columnOf(unit === undefined ? type : timestamp(unit, null), nulls, { values });
  }
  const fields = (type as { readonly children: readonly { readonly type: DataType }[] }).children;
  const batches = children.map((child, i) => unpackedColumn(child, fields[i].type).data[0]);
  const own = withChildren(
    type,
    batches.map((batch) => batch.type),
  );
  return columnOf(own, nulls, { offsets, children: batches });
}
