/**
 * Tables for join tests: columns of logical values, turned into flechette and apache-arrow tables in one batch or several,
 * as slices of longer columns, or dictionary-encoded. Buffers are laid out here, not by the libraries' builders.
 */
import * as flechette from "@uwdata/flechette";
import * as apache from "apache-arrow";
import type { ArrowTable } from "../../../src/relational/index.js";
import type { Logical } from "./buffers.js";
import type { Kind } from "./kinds.js";
import { exactReading } from "./reading.js";

export interface TestColumn {
  readonly name: string;
  readonly kind: Kind;
  readonly values: readonly (Logical | null)[];
  /** Dictionary-encode it. */
  readonly dictionary?: boolean;
}

export interface TestTable {
  readonly columns: readonly TestColumn[];
  readonly rows: number;
}

export function testTable(columns: readonly TestColumn[]): TestTable {
  return { columns, rows: columns[0].values.length };
}

/** Ways of handing a table over. */
export interface Form {
  readonly library: "flechette" | "apache";
  /** Rows per batch; all in one when left out. */
  readonly batchRows?: number;
  /** apache only: each batch is a slice that starts this many rows into a longer one. */
  readonly slicedBy?: number;
}

export const forms: readonly Form[] = [
  { library: "flechette" },
  { library: "flechette", batchRows: 7 },
  { library: "apache" },
  { library: "apache", batchRows: 13 },
  { library: "apache", batchRows: 11, slicedBy: 3 },
  { library: "apache", slicedBy: 8 },
];

export function formName({ library, batchRows, slicedBy }: Form): string {
  return `${library}${batchRows ? ` in batches of ${batchRows}` : ""}${slicedBy ? ` sliced by ${slicedBy}` : ""}`;
}

export function arrowTable(table: TestTable, form: Form = { library: "flechette" }): ArrowTable {
  const batchRows = form.batchRows ?? Math.max(1, table.rows);
  const starts = Array.from(
    { length: Math.max(1, Math.ceil(table.rows / batchRows)) },
    (_, i) => i * batchRows,
  );
  const cut = (column: TestColumn) => starts.map((start) => column.values.slice(start, start + batchRows));
  return form.library === "flechette"
    ? flechetteTable(table, cut)
    : apacheTable(table, cut, form.slicedBy ?? 0);
}

type Cut = (column: TestColumn) => (Logical | null)[][];

function flechetteTable(table: TestTable, cut: Cut): flechette.Table {
  return flechette.tableFromColumns(
    table.columns.map((column) => [column.name, flechetteColumn(column, cut(column))]),
  );
}

function flechetteColumn(column: TestColumn, parts: (Logical | null)[][]): flechette.Column<unknown> {
  const { kind } = column;
  if (!column.dictionary)
    return new flechette.Column(
      parts.map((part) => flechetteBatch(kind, part)),
      kind.type,
    );
  const { values, codes } = dictionaryOf(column, parts);
  const indices = isWide(column) ? flechette.int32() : flechette.int16();
  const type = flechette.dictionary(kind.type, indices);
  const dictionary = new flechette.Column([flechetteBatch(kind, values)], kind.type);
  return new flechette.Column(
    codes.map((part) => {
      const Batch = flechette.batchType(type, exactReading);
      return new Batch({
        ...validity(part),
        type,
        values: codesOf(column, part),
      }).setDictionary(dictionary);
    }),
    type,
  );
}

function flechetteBatch(kind: Kind, values: readonly (Logical | null)[]): flechette.Batch<unknown> {
  const Batch = flechette.batchType(kind.type, exactReading);
  return new Batch({ ...validity(values), type: kind.type, ...kind.encode(values) });
}

function validity(values: readonly unknown[]) {
  const bits = new Uint8Array(Math.ceil(values.length / 8));
  let nullCount = 0;
  values.forEach((value, i) => {
    if (value === null) nullCount++;
    else bits[i >> 3] |= 1 << (i & 7);
  });
  return { length: values.length, nullCount, validity: nullCount > 0 ? bits : new Uint8Array(0) };
}

/** Half of all columns have codes of 32 bits, which devices compare where no value of the dictionary is null. */
const isWide = ({ values }: TestColumn) => values.length % 2 === 0;

function codesOf(column: TestColumn, codes: readonly (number | null)[]): Int16Array | Int32Array {
  const plain = codes.map((code) => code ?? 0);
  return isWide(column) ? Int32Array.from(plain) : Int16Array.from(plain);
}

/** Distinct values (and, of narrow codes, a null) and the codes of each part. */
function dictionaryOf(column: TestColumn, parts: (Logical | null)[][]) {
  const keys = new Map<string, number>();
  const values: (Logical | null)[] = [];
  const codes = parts.map((part) =>
    part.map((value, i) => {
      // every other null is a null code, the others point to a null value
      if (value === null && (i % 2 === 0 || isWide(column))) return null;
      const key = value === null ? "null" : `:${column.kind.text(value)}`;
      if (!keys.has(key)) keys.set(key, values.push(value) - 1);
      return keys.get(key) as number;
    }),
  );
  return { values, codes };
}

function apacheTable(table: TestTable, cut: Cut, slicedBy: number): apache.Table {
  const columns = table.columns.map((column) => [column.name, apacheVector(column, cut(column), slicedBy)]);
  return new apache.Table(Object.fromEntries(columns));
}

function apacheVector(column: TestColumn, parts: (Logical | null)[][], slicedBy: number): apache.Vector {
  const { kind } = column;
  if (!kind.apacheType) throw new Error(`apache-arrow has no ${kind.name}`);
  if (!column.dictionary) {
    return new apache.Vector(
      parts.map((part) => sliced(part, slicedBy, (padded) => apacheData(kind, padded))),
    );
  }
  const { values, codes } = dictionaryOf(column, parts);
  const dictionary = new apache.Vector([apacheData(kind, values)]);
  const indices = isWide(column) ? new apache.Int32() : new apache.Int16();
  const type = new apache.Dictionary(kind.apacheType, indices);
  return new apache.Vector(
    codes.map((part) =>
      sliced(part, slicedBy, (padded) => {
        const { nullCount, validity: nullBitmap, length } = validity(padded);
        const data = codesOf(column, padded);
        return apache.makeData({ type, length, nullCount, nullBitmap, data, dictionary });
      }),
    ),
  );
}

/** The middle of a longer batch, with other rows before and after. */
function sliced<T>(part: T[], by: number, make: (values: T[]) => apache.Data): apache.Data {
  if (by === 0 || part.length === 0) return make(part);
  const padding = Array.from({ length: by }, (_, i) => part[(i * 5 + 1) % part.length]);
  return make([...padding, ...part, ...padding]).slice(by, part.length);
}

function apacheData(kind: Kind, values: readonly (Logical | null)[]): apache.Data {
  const { nullCount, validity: nullBitmap, length } = validity(values);
  const { values: data, offsets: valueOffsets, data: variadicBuffers } = kind.encode(values);
  const words = kind.name.startsWith("decimal") ? new Uint32Array(data.buffer) : data;
  const props = {
    type: kind.apacheType,
    length,
    nullCount,
    nullBitmap,
    data: words,
    views: words,
    valueOffsets,
    variadicBuffers,
  };
  return apache.makeData(props as never);
}
