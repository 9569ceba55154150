/**
 * Columns that io made (columns.ts: one batch each, perhaps a dictionary of one batch) as plain data, for another thread. Types hold
 * functions, which cannot be posted: those of strings are told by name, others the receiver knows.
 */
import {
  type Batch,
  binary,
  type Column,
  type DataType,
  largeBinary,
  largeUtf8,
  Type,
  type TypedArray,
  utf8,
} from "@uwdata/flechette";
import { columnOf, dictionaryColumn } from "../columns.js";

const TYPES = { utf8, largeUtf8, binary, largeBinary };

/** A column as plain data. */
export interface PackedColumn {
  readonly kind: keyof typeof TYPES | "dictionary" | "fixed";
  readonly length: number;
  readonly nullCount: number;
  readonly validity: Uint8Array<ArrayBuffer>;
  readonly values: TypedArray;
  /** Of strings. */
  readonly offsets?: TypedArray;
  /** Of codes. */
  readonly dictionary?: PackedColumn;
}

type AnyBatch = Batch<unknown> & { readonly dictionary: Column<unknown> };

const KINDS: Partial<Record<number, keyof typeof TYPES>> = {
  [Type.Utf8]: "utf8",
  [Type.LargeUtf8]: "largeUtf8",
  [Type.Binary]: "binary",
  [Type.LargeBinary]: "largeBinary",
};

export function packedColumn({ data, type }: Column<unknown>): PackedColumn {
  const [batch] = data as unknown as AnyBatch[];
  const { length, nullCount, validity, values, offsets } = batch;
  const common = {
    length,
    nullCount,
    validity: validity as Uint8Array<ArrayBuffer>,
    values: values as TypedArray,
  };
  if (type.typeId === Type.Dictionary) {
    return { kind: "dictionary", ...common, dictionary: packedColumn(batch.dictionary) };
  }
  const kind = KINDS[type.typeId];
  return kind === undefined
    ? { kind: "fixed", ...common }
    : { kind, ...common, offsets: offsets as TypedArray };
}

/** What holds a column's values. */
export function viewsOf({
  validity,
  values,
  offsets,
  dictionary,
}: PackedColumn): (ArrayBufferView | undefined)[] {
  return [validity, values, offsets, ...(dictionary ? viewsOf(dictionary) : [])];
}

/** @param type of a column that is neither of strings nor of codes */
export function unpackedColumn(packed: PackedColumn, type: DataType): Column<unknown> {
  const { kind, length: rows, nullCount: count, validity: bitmap, values, offsets, dictionary } = packed;
  const nulls = { rows, count, bitmap };
  if (dictionary) return dictionaryColumn(values as Int32Array, unpackedColumn(dictionary, type), nulls);
  if (kind === "fixed" || kind === "dictionary") return columnOf(type, nulls, { values });
  return columnOf(TYPES[kind](), nulls, { offsets, values });
}
