/** Opens the table of a container of strings. Loaded with the first one. */
import type { Utf8HashName } from "../../engine/dictionary.js";
import type { ValueType } from "../../engine/element-types.js";
import type { Engine } from "../../engine/engine.js";
import type { TableSpec } from "../../engine/layout.js";
import { ValidationError } from "../../errors.js";
import { type ContainerSpec, type Seed, withHash } from "../create-table.js";
import { Utf8Table } from "./utf8-table.js";

/** The table of numbers under a table of strings. */
interface NumbersSpec extends TableSpec {
  readonly hash: Utf8HashName;
}

/** An empty table of strings with room for `entries`. @throws ValidationError, LimitError */
export async function openUtf8Table<V extends ValueType>(
  engine: Engine,
  asked: ContainerSpec,
  askedSeed: Seed | undefined,
  entries: number,
): Promise<Utf8Table<V>> {
  const spec = await numbersSpec(asked, askedSeed);
  const { hash, seed } = spec;
  const table = await engine.createTable<"u32", V>(spec, entries);
  try {
    return new Utf8Table<V>(engine, table, await engine.dictionary({ hash, seed }));
  } catch (error) {
    table.destroy();
    throw error;
  }
}

/** The specification of the table of numbers, with the seed that was asked for. @throws ValidationError */
export async function numbersSpec({ hash, ...asked }: ContainerSpec, seed?: Seed): Promise<NumbersSpec> {
  if (hash !== "murmur3" && hash !== "xxhash32") {
    const name = typeof hash === "string" ? `The hash function "${hash}"` : "A hash function of your own";
    throw new ValidationError(
      `${name} takes keys of 32 or 64 bits, and these are strings.`,
      "Use murmur3 or xxhash32.",
    );
  }
  return (await withHash({ ...asked, hash, key: "u32" }, seed)) as NumbersSpec;
}
