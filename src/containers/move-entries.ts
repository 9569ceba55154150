/** What rehash does with the entries: they go from one table to another without the host. */
import type { DeviceArray } from "../engine/device-array.js";
import type { Table } from "../engine/engine.js";
import type { KeyType, ValueType } from "../engine/scalars.js";
import { CapacityError } from "../errors.js";
import { discard } from "./results.js";

/** Inserts all entries of a table into an empty one. @throws CapacityError when they do not fit. */
export async function moveEntries<K extends KeyType, V extends ValueType>(
  from: Table<K, V>,
  to: Table<K, V>,
): Promise<void> {
  const entries = await from.retrieveAll("device", {});
  const { keys, values } = entries as { keys: DeviceArray<K>; values: DeviceArray<V> | null };
  try {
    const { rejected } = await to.insert(keys, values, "keep", {});
    if (rejected > 0) {
      const { slots } = to.spec;
      throw new CapacityError({ inserted: to.live, rejected, capacity: slots, slots });
    }
  } finally {
    discard([keys, values]);
  }
}
