/** Opens the table of a container of strings. Loaded with the first one. */
import type { Engine } from "../../engine/engine.js";
import type { TableSpec } from "../../engine/layout.js";
import type { ValueType } from "../../engine/scalars.js";
import { ValidationError } from "../../errors.js";
import { Utf8Table } from "./utf8-table.js";

/** An empty table of strings with room for `entries`. @throws ValidationError, LimitError */
export async function openUtf8Table<V extends ValueType>(
  engine: Engine,
  spec: TableSpec,
  entries: number,
): Promise<Utf8Table<V>> {
  const { hash } = spec;
  if (hash === "identity") {
    throw new ValidationError(
      'The hash function "identity" takes keys of 32 or 64 bits, and these are strings.',
      "Use murmur3 or xxhash32.",
    );
  }
  const table = await engine.createTable<"u32", V>({ ...spec, key: "u32" }, entries);
  try {
    return new Utf8Table<V>(engine, table, await engine.dictionary({ hash }));
  } catch (error) {
    table.destroy();
    throw error;
  }
}
