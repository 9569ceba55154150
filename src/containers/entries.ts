/**
 * Going through a table's entries: columns are brought to the host a chunk at a time, so that visiting a table never
 * needs a whole copy there.
 */
import { DeviceArray } from "../engine/device-array.js";
import {
  type ArraysOf,
  columnsOf,
  type ElementOf,
  type ElementType,
  elementsOf,
  lengthOf,
  type ValueType,
} from "../engine/element-types.js";
import type { TableSpec } from "../engine/layout.js";
import type { ScalarArrays, ScalarType } from "../engine/scalars.js";
import { Utf8Column } from "../engine/utf8-column.js";
import type { ContainerKey, KeyColumn, KeyOf } from "./key-types.js";

/** Elements of each column that are on the host at once, unless told. */
const CHUNK = 1 << 20;

/** All entries of a table, as device arrays; with keys that are strings on the host. Sets have no values. */
export interface AllEntries {
  readonly keys: unknown;
  readonly values?: unknown;
}

/** Entries on the host. */
export interface Entries<K extends ContainerKey, V extends ValueType> {
  keys: KeyColumn<K>;
  /** Of maps only. */
  values: ArraysOf<V>;
}

type Column = ScalarArrays[ScalarType];

/** Yields pieces of `chunk` entries, and destroys the device arrays at the end, also after a break or throw. */
export async function* readEntries<K extends ContainerKey, V extends ValueType>(
  { key, value }: TableSpec,
  { keys, values }: AllEntries,
  chunk = CHUNK,
): AsyncGenerator<Entries<K, V>, void, undefined> {
  const keyColumns = columnsOf(keys as DeviceArray | Utf8Column);
  const valueColumns = value === null ? [] : columnsOf(values as DeviceArray | Column);
  for await (const pieces of readInChunks([...keyColumns, ...valueColumns], chunk)) {
    const k = elementsOf(key, pieces.slice(0, keyColumns.length));
    const v = value === null ? null : elementsOf(value, pieces.slice(keyColumns.length));
    yield (v === null ? { keys: k } : { keys: k, values: v }) as Entries<K, V>;
  }
}

/** Calls `visit(value, key)` for every entry; sets have no values. */
export async function visitEntries<K extends ContainerKey, V extends ValueType>(
  spec: TableSpec,
  all: AllEntries,
  visit: (value: ElementOf<V>, key: KeyOf<K>) => void,
): Promise<void> {
  for await (const { keys, values } of readEntries<K, V>(spec, all)) {
    const key = elementAt<KeyOf<K>>(keys);
    const value = elementAt<ElementOf<V>>(values);
    const length = lengthOf(keys as ArraysOf<ElementType> | Utf8Column);
    for (let i = 0; i < length; i++) visit(value(i), key(i));
  }
}

/** Reads one element after another: of a composite lists, of strings each, of nothing undefined. */
function elementAt<E>(elements: unknown): (i: number) => E {
  if (Array.isArray(elements)) return (i) => elements.map((column) => column[i]) as E;
  const list = elements instanceof Utf8Column ? elements.toArray() : ((elements ?? []) as ArrayLike<unknown>);
  return (i) => list[i] as E;
}

/** What entries are read from: device arrays, or what is on the host already. */
type Source = DeviceArray | Column | Utf8Column;
type PieceOf<S extends Source> = S extends DeviceArray<infer T> ? ScalarArrays[T] : S;

/**
 * Yields equally long pieces of columns of one length, and destroys those on a device at the end, also after a break or
 * throw.
 */
export async function* readInChunks<S extends Source>(
  columns: readonly S[],
  chunk = CHUNK,
): AsyncGenerator<PieceOf<S>[]> {
  try {
    const length = columns[0].length;
    for (let start = 0; start < length; start += chunk) {
      const end = Math.min(start + chunk, length);
      yield await Promise.all(columns.map((column) => pieceOf(column, start, end) as PieceOf<S>));
    }
  } finally {
    for (const column of columns) if (column instanceof DeviceArray) column.destroy();
  }
}

function pieceOf(column: Source, start: number, end: number): unknown {
  if (column instanceof DeviceArray) return column.read(start, end);
  if (!(column instanceof Utf8Column)) return column.subarray(start, end);
  return new Utf8Column(column.offsets.subarray(start, end + 1), column.bytes);
}
