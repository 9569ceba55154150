/** Opens the table of a container of strings. Loaded with the first one. */
import type { Utf8HashName } from "../../engine/dictionary.js";
import type { KeyType, ValueType } from "../../engine/element-types.js";
import type { Engine, Input, Missing } from "../../engine/engine.js";
import type { TableSpec } from "../../engine/layout.js";
import { ValidationError } from "../../errors.js";
import { check } from "../../options.js";
import { type ContainerSpec, type Seed, withHash } from "../create-table.js";
import type { KeyCodec } from "../key-codec.js";
import { encodeStrings } from "./encode-strings.js";
import { readKeys } from "./read-keys.js";
import { Utf8Table } from "./utf8-table.js";

/** Keys that are strings: with a dictionary before the table, and answered on the host. @internal */
export const stringKeys: KeyCodec = {
  placement: "host",
  take: (_engine, _table, keys) => readKeys(keys) as unknown as Input<KeyType>,
  missing(_type, options) {
    stringKeys.checkPlacement(options);
    const { missing = "" } = options;
    check(typeof missing === "string", "missing", missing, "Give a string.");
    encodeStrings([missing], "missing");
    return missing as unknown as Missing;
  },
  checkPlacement({ output, into }) {
    if (output !== "device" && into === undefined) return;
    throw new ValidationError(
      'Keys of type "utf8" are answered in new arrays on the host.',
      'Leave out output "device" and into.',
    );
  },
  rebuilt: (_engine, table, size) => (table as unknown as Utf8Table<ValueType>).rebuilt(size) as never,
  grown: (table, grow) => (table as unknown as Utf8Table<ValueType>).grown(grow as never) as never,
};

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
): Promise<{ table: Utf8Table<V>; keys: KeyCodec }> {
  const spec = await numbersSpec(asked, askedSeed);
  const { hash, seed } = spec;
  const table = await engine.createTable<"u32", V>(spec, entries);
  try {
    const dictionary = await engine.dictionary({ hash, seed });
    return { table: new Utf8Table<V>(engine, table, dictionary), keys: stringKeys };
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
