/** Entries of a container on the host: in pieces, and one after the other. Loaded by the first call that asks. */
import type { DeviceArray } from "../engine/device-array.js";
import {
  type ArraysOf,
  columnsOf,
  type ElementOf,
  type ElementType,
  elementsOf,
  type KeyType,
  lengthOf,
  type ValueType,
} from "../engine/element-types.js";
import type { TableSpec } from "../engine/layout.js";
import type { ScalarArrays, ScalarType } from "../engine/scalars.js";
import { readInChunks } from "./read-in-chunks.js";

/** All entries of a table, as device arrays; sets have no values. */
export interface AllEntries {
  readonly keys: unknown;
  readonly values?: unknown;
}

/** Entries on the host. */
export interface Entries<K extends KeyType, V extends ValueType> {
  keys: ArraysOf<K>;
  /** Of maps only. */
  values: ArraysOf<V>;
}

/** Yields pieces of `chunk` entries, and destroys the device arrays at the end, also after a break or throw. */
export async function* readEntries<K extends KeyType, V extends ValueType>(
  { key, value }: TableSpec,
  { keys, values }: AllEntries,
  chunk?: number,
): AsyncGenerator<Entries<K, V>, void, undefined> {
  const keyColumns = columnsOf<DeviceArray>(keys as DeviceArray);
  const columns = value === null ? [] : columnsOf<DeviceArray>(values as DeviceArray);
  for await (const pieces of readInChunks([...keyColumns, ...columns], chunk)) {
    const k = elementsOf(key, pieces.slice(0, keyColumns.length));
    const v = value === null ? null : elementsOf(value, pieces.slice(keyColumns.length));
    yield (v === null ? { keys: k } : { keys: k, values: v }) as Entries<K, V>;
  }
}

/** Calls `visit(value, key)` for every entry; in sets the value is the key. */
export async function visitEntries<K extends KeyType, V extends ValueType>(
  spec: TableSpec,
  all: AllEntries,
  visit: (value: ElementOf<V>, key: ElementOf<K>) => void,
): Promise<void> {
  for await (const { keys, values } of readEntries<K, V>(spec, all)) {
    const key = elementAt<K>(keys);
    const value =
      values === undefined ? (key as unknown as (i: number) => ElementOf<V>) : elementAt<V>(values);
    const length = lengthOf(keys as ArraysOf<ElementType>);
    for (let i = 0; i < length; i++) visit(value(i), key(i));
  }
}

/** Reads one element after another: of a composite lists. */
function elementAt<T extends ElementType>(elements: ArraysOf<T>): (i: number) => ElementOf<T> {
  const columns = columnsOf<ScalarArrays[ScalarType]>(elements as ScalarArrays[ScalarType]);
  if (Array.isArray(elements)) {
    return (i) => columns.map((column) => column[i]) as ElementOf<ElementType> as ElementOf<T>;
  }
  const [column] = columns;
  return (i) => column[i] as ElementOf<T>;
}
