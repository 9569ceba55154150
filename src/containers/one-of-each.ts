/**
 * Inserts in which the first or the last of equal keys wins. The engine says which elements that are; they alone are
 * inserted, and the others count as if they had been, too. Engines that go through a batch in input order have some of
 * it for nothing.
 */
import { DeviceArray } from "../engine/device-array.js";
import {
  type ElementOf,
  elementsOf,
  type KeyType,
  lengthOf,
  scalarsOf,
  type ValueType,
} from "../engine/element-types.js";
import type { CallOptions, Input, InsertTally, Table } from "../engine/engine.js";
import { allocate, type Scalar, type ScalarType, zeroOf } from "../engine/scalars.js";
import { ValidationError } from "../errors.js";
import type { InsertOptions } from "./arguments.js";

/** The table for a call in which one element of each key wins. @throws ValidationError */
export function choosing<K extends KeyType, V extends ValueType>(
  table: Table<K, V>,
  duplicates: NonNullable<InsertOptions["duplicates"]>,
): Pick<Table<K, V>, "insert" | "insertAndFind"> {
  if (duplicates === "any") return table;
  if (duplicates === "first" || duplicates === "last") return oneOfEach(table, duplicates);
  throw new ValidationError(
    `There is no choice of duplicates ${JSON.stringify(duplicates)}.`,
    "Use one of any, first, last.",
  );
}

function oneOfEach<K extends KeyType, V extends ValueType>(
  table: Table<K, V>,
  which: "first" | "last",
): Pick<Table<K, V>, "insert" | "insertAndFind"> {
  const isInOrder = (winsAnyway: "first" | "last") => table.inOrder === true && which === winsAnyway;

  /** Inserts the elements that win, and counts all. */
  async function choosing<T extends InsertTally>(
    keys: Input<K>,
    call: CallOptions,
    insert: (where: Input<"u8">) => Promise<T>,
  ): Promise<T> {
    const start = performance.now();
    const { where, signal, checkInputs, log } = call;
    const { chosen, selected } = await table.choose(keys, which, { where, signal, checkInputs });
    log?.add("choose among equal keys", performance.now() - start);
    try {
      const done = await insert(chosen);
      const { inserted } = done;
      const rejected = done.rejected === 0 ? 0 : selected - (await countPresent(keys, call));
      return { ...done, rejected, existing: selected - inserted - rejected };
    } finally {
      chosen.destroy();
    }
  }

  /** Elements whose keys are in the table. */
  async function countPresent(keys: Input<K>, { strategy, groupSize, where }: CallOptions): Promise<number> {
    const flags = (await table.contains(keys, "host", { strategy, groupSize, where })) as Uint8Array;
    return flags.reduce((sum, flag) => sum + flag, 0);
  }

  return {
    async insert(keys, values, policy, call) {
      const winsAnyway = policy === "assign" ? "last" : "first";
      // keys of a set have no values to differ in
      if (values === null || isInOrder(winsAnyway)) return table.insert(keys, values, policy, call);
      return choosing(keys, call, (where) => table.insert(keys, values, policy, { ...call, where }));
    },

    async insertAndFind(keys, values, output, call) {
      if (isInOrder("first")) return table.insertAndFind(keys, values, output, call);
      const [flags, ...stored] = typeof output === "string" ? [] : output;
      const length = lengthOf(keys);
      const types = scalarsOf<Scalar>(table.spec.value);
      // the values of the elements that win are not those of all
      const spare = <T extends ScalarType>(type: T) => allocate(type, length);
      const firstTo = flags ? [flags, ...types.map(spare)] : (output as "host");
      const done = await choosing(keys, call, (where) =>
        table.insertAndFind(keys, values, firstTo, { ...call, where }),
      );
      if (values === null) return done;
      discard(done.values);
      try {
        const to = flags ? [...stored, spare("u8")] : (output as "host");
        const missing = elementsOf(table.spec.value as V, types.map(zeroOf)) as ElementOf<V>;
        const { strategy, groupSize, signal, where } = call;
        const all = await table.find(keys, missing, to, { strategy, groupSize, signal, where });
        discard(all.found);
        return { ...done, values: all.values };
      } catch (error) {
        discard(done.insertedFlags);
        throw error;
      }
    },
  };
}

/**
 * Frees the columns of a result that are on the device. That of results.ts is in a page's first chunk, which gains by
 * being one piece.
 */
function discard(result: unknown): void {
  for (const column of [result].flat()) if (column instanceof DeviceArray) column.destroy();
}
