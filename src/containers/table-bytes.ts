/**
 * Maps and sets as bytes: `toBytes` and `fromBytes`. The entries go into the bytes, not the slots, so that any engine
 * and any kind of container reads what another one wrote. Behind what bytes-header.ts describes are the columns of the
 * keys, then (maps) those of the values, each filled up with zeros to a multiple of 8 bytes. Keys that are strings are
 * two columns: as 32-bit numbers where in the other one each begins and, behind the last, where that ends; and their
 * bytes.
 */
import type { Device } from "../device.js";
import { columnsOf, elementsOf, scalarsOf, type ValueType } from "../engine/element-types.js";
import type { ColumnTarget, Input } from "../engine/engine.js";
import { arrayClass, asBytes, type Scalar, type ScalarArrays, type ScalarType } from "../engine/scalars.js";
import { Utf8Column } from "../engine/utf8-column.js";
import { checkOptions } from "../options.js";
import {
  checkEnd,
  checkShape,
  closeBytes,
  columnPlaces,
  openBytes,
  type Place,
  readShape,
  type Shape,
} from "./bytes-header.js";
import {
  checkTable,
  createTable,
  type HashOptions,
  type Parts,
  type Sizing,
  type TableOptions,
} from "./create-table.js";
import type { ContainerKey, ContainerTable, TableKey } from "./key-types.js";
import { damaged } from "./sealed-bytes.js";

type Options = TableOptions<ContainerKey> & { value?: ValueType };

/** The entries of a table as bytes. @throws LimitError */
export async function pack<K extends ContainerKey, V extends ValueType>(
  table: ContainerTable<K, V>,
  { capacity, maxLoadFactor }: Sizing,
): Promise<Uint8Array<ArrayBuffer>> {
  const { value } = table.spec;
  const key = table.spec.key as ContainerKey;
  const entries = table.live;
  // strings are brought to the host first: only then their bytes are known
  const strings = key === "utf8" ? await table.retrieveAll("host", {}) : null;
  const column = strings?.keys as unknown as Utf8Column | undefined;
  const stringBytes = column ? column.offsets[entries] - column.offsets[0] : 0;
  const shape: Shape = { key, value, capacity, maxLoadFactor, entries, stringBytes };
  const { columns, end } = places(shape);
  const bytes = openBytes(value === null ? "set" : "map", shape, table.spec, end);
  const targets = columns.map(({ type, at, length }) => new arrayClass[type](bytes.buffer, at, length));
  if (column) writeStrings(targets, column, columnsOf(strings?.values as Column | null));
  else await table.retrieveAll(targets as readonly ColumnTarget[], {});
  closeBytes(bytes);
  return bytes;
}

/**
 * A table with the entries of `pack`; a hash function or seed that is given takes the place of that in the bytes.
 * @param how checks the options of a table, as `create` does, and makes an empty one
 * @throws FormatError when the bytes are not what `pack` makes of a table of this kind
 */
export async function unpack<K extends ContainerKey, V extends ValueType, P extends Parts<K, V>>(
  kind: "map" | "set",
  given: Uint8Array,
  replaced: HashOptions,
  how: { check(kind: "map" | "set", options: Options): unknown; create(options: Options): Promise<P> },
): Promise<P> {
  const bytes = given.byteOffset % 8 === 0 ? given : new Uint8Array(given);
  const read = readShape(kind, bytes);
  const { keys, values } = columnsIn(bytes, read.shape);
  const { key, value, capacity, maxLoadFactor, entries } = read.shape;
  const { hash = read.hash, seed = read.seed } = replaced;
  const options = ({ hash, seed }: HashOptions): Options => ({
    ...{ key, capacity, maxLoadFactor, hash, seed },
    ...(value !== null && { value }),
  });
  checkShape(read, replaced, () => how.check(kind, options(read)));
  const parts = await how.create(options({ hash, seed }));
  try {
    const { table, device } = parts;
    const taken = (parts.keys?.take(device.engine, table, keys) ?? keys) as Input<TableKey<K>>;
    const { inserted } = await table.insert(taken, values as Input<V> | null, "keep", {});
    if (inserted === entries) return parts;
    throw damaged(`Of ${entries} keys only ${inserted} are different, or fit.`);
  } catch (error) {
    parts.table.destroy();
    throw error;
  }
}

/** A table of a container that does not grow, with the entries of `pack`. */
export async function tableOfBytes<K extends ContainerKey, V extends ValueType>(
  kind: "map" | "set",
  device: Device,
  bytes: Uint8Array,
  options: HashOptions,
): Promise<Parts<K, V>> {
  checkOptions(options, "hash seed");
  const create = (shape: Options) => createTable<K, V>(kind, device, shape as never);
  return unpack<K, V, Parts<K, V>>(kind, bytes, options, { check: checkTable, create });
}

/** The columns of keys and values: views of the bytes. */
function columnsIn(bytes: Uint8Array, shape: Shape) {
  const { key, value, entries } = shape;
  const { columns, keyColumns, end } = places(shape);
  checkEnd(bytes, entries, end);
  const arrays = columns.map(
    ({ type, at, length }) => new arrayClass[type](bytes.buffer, bytes.byteOffset + at, length),
  );
  const keys = arrays.slice(0, keyColumns);
  return {
    keys: key === "utf8" ? stringsOf(keys) : elementsOf(key, keys),
    values: value === null ? null : elementsOf(value, arrays.slice(keyColumns)),
  };
}

/** Where columns lie: those of the keys, then those of the values. */
function places({ key, value, entries, stringBytes }: Shape): {
  columns: Place[];
  keyColumns: number;
  end: number;
} {
  const places = columnPlaces({ key, value });
  const column = (type: ScalarType, length = entries) => places.next(type, length);
  const columnsFor = (type: ValueType | null) => scalarsOf<Scalar>(type).map((scalar) => column(scalar));
  const keys = key === "utf8" ? [column("u32", entries + 1), column("u8", stringBytes)] : columnsFor(key);
  return { columns: [...keys, ...columnsFor(value)], keyColumns: keys.length, end: places.end };
}

/** A column on the host. */
type Column = ScalarArrays[ScalarType];

/** Writes strings, and the values of a map, to their columns. */
function writeStrings(
  [offsets, bytes, ...values]: readonly Column[],
  column: Utf8Column,
  given: readonly Column[],
): void {
  const [first, last] = [column.offsets[0], column.offsets[column.length]];
  for (let i = 0; i <= column.length; i++) offsets[i] = column.offsets[i] - first;
  asBytes(bytes).set(column.bytes.subarray(first, last));
  for (const [i, each] of given.entries()) asBytes(values[i]).set(asBytes(each));
}

/** The strings of two columns. @throws FormatError */
function stringsOf([offsets, bytes]: readonly Column[]): Utf8Column {
  const numbers = offsets as Uint32Array;
  let before = 0;
  for (const offset of numbers) {
    if (offset < before || offset > bytes.length) throw damaged(`A string ends at byte ${offset}.`);
    before = offset;
  }
  return new Utf8Column(numbers, bytes as Uint8Array);
}
