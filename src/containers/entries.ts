/** Going through a table's entries: columns are brought to the host a chunk at a time, so that visiting a table never needs a whole copy there. */
import type { DeviceArray } from "../engine/device-array.js";
import type { ElementOf, ScalarArrays, ScalarType, ValueType } from "../engine/scalars.js";
import { Utf8Column } from "../engine/utf8-column.js";
import { checkEntries, type EntriesOptions } from "./arguments.js";
import type { ContainerKey, KeyColumn, KeyOf } from "./key-types.js";

/** Elements of each column that are on the host at once, unless told. */
const CHUNK = 1 << 20;

/** A map or a set. */
interface Entries<K extends ContainerKey> {
  readonly keyType: K;
  retrieveAll(options?: { output: "device" }): Promise<unknown>;
}

/** Some entries: keys, and values of a map. */
interface Piece<K extends ContainerKey, V extends ValueType> {
  keys: KeyColumn<K>;
  values: ScalarArrays[V];
}

type Columns = readonly DeviceArray[];

/** Yields all entries in pieces, from a copy on the device, which ends with the loop; strings from a copy on the host. */
export async function* readEntries<K extends ContainerKey, V extends ValueType>(
  container: Entries<K>,
  options: EntriesOptions = {},
): AsyncGenerator<Piece<K, V>, void, undefined> {
  const chunk = checkEntries(options) ?? CHUNK;
  if (container.keyType === "utf8") {
    yield* slices(await container.retrieveAll(), chunk) as Generator<Piece<K, V>>;
    return;
  }
  const entries = (await container.retrieveAll({ output: "device" })) as Record<string, DeviceArray>;
  const names = Object.keys(entries);
  for await (const columns of readInChunks(Object.values(entries) as Columns, chunk)) {
    yield Object.fromEntries(names.map((name, i) => [name, columns[i]])) as unknown as Piece<K, V>;
  }
}

/** Calls `visit` for every entry. */
export async function visitEntries<K extends ContainerKey, V extends ValueType>(
  container: Entries<K>,
  visit: (value: ElementOf<V>, key: KeyOf<K>) => void,
): Promise<void> {
  for await (const { keys, values } of readEntries<K, V>(container)) {
    const list = (keys instanceof Utf8Column ? keys.toArray() : keys) as unknown as ArrayLike<KeyOf<K>>;
    for (let i = 0; i < list.length; i++) visit(values?.[i] as ElementOf<V>, list[i]);
  }
}

/** Pieces of columns on the host. */
function* slices(entries: unknown, chunk: number): Generator<{ keys: Utf8Column; values: unknown }> {
  const { keys, values } = entries as { keys: Utf8Column; values?: ScalarArrays[ValueType] };
  const { offsets, bytes, length } = keys;
  for (let start = 0; start < length; start += chunk) {
    const end = Math.min(length, start + chunk);
    const piece = new Utf8Column(offsets.subarray(start, end + 1), bytes);
    yield { keys: piece, ...(values && { values: values.subarray(start, end) }) } as {
      keys: Utf8Column;
      values: unknown;
    };
  }
}

/** Yields equally long pieces of columns of one length, and destroys the columns at the end, also after a break or throw. */
export async function* readInChunks<T extends ScalarType>(
  columns: readonly DeviceArray<T>[],
  chunk = CHUNK,
): AsyncGenerator<ScalarArrays[T][]> {
  try {
    const length = columns[0].length;
    for (let start = 0; start < length; start += chunk) {
      const end = Math.min(start + chunk, length);
      yield await Promise.all(columns.map((column) => column.read(start, end)));
    }
  } finally {
    for (const column of columns) column.destroy();
  }
}
