/**
 * How a container's keys are taken, answered and moved, chosen once, when its table is opened: numbers, and lists of
 * them, are what engines' tables have; strings stand for numbers (utf8/string-keys.ts).
 */
import type { KeyType, ValueType } from "../engine/element-types.js";
import type { Engine, Input, Missing, Placement, Table } from "../engine/engine.js";
import { lazily } from "../engine/lazily.js";
import { checkElements, checkMissing, type IntoOption, type OutputOption } from "./arguments.js";
import type { ContainerKey } from "./key-types.js";
import type { NewSize } from "./move-entries.js";

/** What moves entries to another table, loaded by the first call that does. @internal */
export const loadMoving = lazily(() => import("./move-entries.js"));

type AnyTable = Table<KeyType, ValueType>;
type Results = OutputOption<Placement> & IntoOption<object>;

/** The keys of a container. @internal */
export interface KeyCodec {
  /** Where calls read entries that they visit or merge. */
  readonly placement: Placement;
  /** Keys as operations of the table take them. @throws ValidationError, LimitError */
  take(engine: Engine, table: AnyTable, keys: unknown): Input<KeyType>;
  /** What a look-up of a set writes for absent keys. @throws ValidationError */
  missing(type: ContainerKey, options: Results & { readonly missing?: unknown }): Missing;
  /** Checks where a call wants results that hold keys. @throws ValidationError */
  checkPlacement(options: Results): void;
  /** A table of its own with the same entries. @throws LimitError */
  rebuilt(engine: Engine, table: AnyTable, size: NewSize): Promise<AnyTable>;
  /** The same table over one that grows. */
  grown(table: AnyTable, grow: (table: AnyTable) => AnyTable): AnyTable;
}

/** Keys as the engine's table has them. @internal */
export const plainKeys: KeyCodec = {
  placement: "device",
  take(engine, { spec }, keys) {
    checkElements(engine, "keys", spec.key, keys);
    return keys as Input<KeyType>;
  },
  missing: (type, { missing }) => checkMissing(type as KeyType, missing),
  checkPlacement() {},
  rebuilt: async (engine, table, size) => (await loadMoving()).rebuilt(engine, table, size),
  grown: (table, grow) => grow(table),
};
