/**
 * The types of containers' keys: those that engines' tables have, and `utf8`, which stands for strings. A table of
 * strings is one of numbers with a dictionary before it (utf8/), so the table under it has keys of another type than
 * the container.
 */
import type { ArraysOf, ElementOf, KeyType, ValueType } from "../engine/element-types.js";
import type { Input, Placement, Table, Target } from "../engine/engine.js";
import type { Utf8Column } from "../engine/utf8-column.js";
import type { FindOptions, Placed } from "./arguments.js";
import type { Utf8Keys } from "./utf8/read-keys.js";

/** Types a key can have. */
export type ContainerKey = KeyType | "utf8";

/** The type of the keys in the engine's table. */
export type TableKey<K extends ContainerKey> = K extends KeyType ? K : "u32";

/** Keys as calls take them. */
export type Keys<K extends ContainerKey> = K extends KeyType ? Input<K> : Utf8Keys;

/** Keys on the host, as calls answer them. */
export type KeyColumn<K extends ContainerKey> = K extends KeyType ? ArraysOf<K> : Utf8Column;

/** Keys as calls answer them: strings always on the host. */
export type PlacedKeys<K extends ContainerKey, P extends Placement> = K extends KeyType
  ? Placed<K, P>
  : Utf8Column;

/** Where calls write keys that they answer, given by the caller: nowhere for strings. */
export type KeyTarget<K extends ContainerKey> = K extends KeyType ? Target<K> : never;

/** One key. */
export type KeyOf<K extends ContainerKey> = K extends KeyType ? ElementOf<K> : string;

/** Options of a set's find, which answers keys. */
export type KeyFindOptions<P extends Placement, K extends ContainerKey> = Omit<
  FindOptions<P, TableKey<K>>,
  "missing"
> & { missing?: KeyOf<K> };

/** The table of a container: an engine's, one that grows, or one of strings. */
export interface ContainerTable<K extends ContainerKey, V extends ValueType> extends Table<TableKey<K>, V> {
  /** The engine's own table under one that grows. */
  readonly ofEngine?: Table<TableKey<K>, V>;
}
