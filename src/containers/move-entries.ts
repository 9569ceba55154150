/** What rehash and growth do with the entries: they go from one table to another without the host. */
import type { DeviceArray } from "../engine/device-array.js";
import type { Engine, Table } from "../engine/engine.js";
import type { KeyType, ValueType } from "../engine/scalars.js";
import { CapacityError } from "../errors.js";

/** Answers other keys in the place of an entry's: of numbers that stand for strings, which another dictionary numbers otherwise. */
export type Renumber<K extends KeyType> = (keys: DeviceArray<K>) => Promise<DeviceArray<K>>;

/** Inserts all entries of a table into an empty one. @throws CapacityError when they do not fit. */
async function moveEntries<K extends KeyType, V extends ValueType>(
  from: Table<K, V>,
  to: Table<K, V>,
  renumber: Renumber<K> = async (keys) => keys,
): Promise<void> {
  const entries = await from.retrieveAll("device", {});
  const { keys, values } = entries as { keys: DeviceArray<K>; values: DeviceArray<V> | null };
  let moved: DeviceArray<K> | undefined;
  try {
    moved = await renumber(keys);
    const { rejected } = await to.insert(moved, values, "keep", {});
    if (rejected > 0) {
      const { slots } = to.spec;
      throw new CapacityError({ inserted: to.live, rejected, capacity: slots, slots });
    }
  } finally {
    keys.destroy();
    values?.destroy();
    moved?.destroy();
  }
}

/** A new table, made for `entries`, with those of another one, which stays as it is. @throws LimitError when there is not the memory for it */
export async function rebuilt<K extends KeyType, V extends ValueType>(
  engine: Engine,
  old: Table<K, V>,
  { slots, entries, seed = old.spec.seed }: { slots: number; entries: number; seed?: number | undefined },
  renumber?: Renumber<K>,
): Promise<Table<K, V>> {
  const fresh = await engine.createTable<K, V>({ ...old.spec, slots, seed }, entries);
  try {
    await moveEntries(old, fresh, renumber);
    return fresh;
  } catch (error) {
    fresh.destroy();
    throw error;
  }
}
