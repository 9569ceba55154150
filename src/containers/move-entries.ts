/** What rehash and growth do with the entries: they go from one table to another without the host. */
import type { DeviceArray } from "../engine/device-array.js";
import type { KeyType, ValueType } from "../engine/element-types.js";
import type { CallOptions, Engine, Input, Table } from "../engine/engine.js";
import { CapacityError } from "../errors.js";

/**
 * Answers other keys in the place of entries': of numbers that stand for strings, which another dictionary numbers
 * otherwise.
 */
export type Renumber = (keys: DeviceArray<"u32">) => Promise<DeviceArray<"u32">>;

/** What a table that takes another's entries is like, and the call that has it made. */
export interface NewSize {
  readonly slots: number;
  /** That it is made for. */
  readonly entries: number;
  /** That of the other table unless told. */
  readonly seed?: number | undefined;
  readonly call?: CallOptions | undefined;
}

/** Inserts all entries of a table into an empty one. @throws CapacityError when they do not fit. */
async function moveEntries<K extends KeyType, V extends ValueType>(
  from: Table<K, V>,
  to: Table<K, V>,
  call: CallOptions,
  renumber?: Renumber,
): Promise<void> {
  const { keys, values } = await from.retrieveAll("device", { ...half(call, 0, from.live), log: undefined });
  let moved: unknown = keys;
  try {
    if (renumber) moved = await renumber(keys as DeviceArray<"u32">);
    call.signal?.throwIfAborted();
    const { rejected } = await to.insert(
      moved as Input<K>,
      values as Input<V> | null,
      "keep",
      half(call, 1, from.live),
    );
    if (rejected > 0) {
      const { slots } = to.spec;
      throw new CapacityError({ inserted: to.live, rejected, capacity: slots, slots });
    }
  } finally {
    for (const column of [keys, values, moved].flat() as (DeviceArray | null)[]) column?.destroy();
  }
}

/**
 * A new table, made for `entries`, with those of another one, which stays as it is. @throws LimitError when there is
 * not the memory for it @internal
 */
export async function rebuilt<K extends KeyType, V extends ValueType>(
  engine: Engine,
  old: Table<K, V>,
  { slots, entries, seed = old.spec.seed, call = {} }: NewSize,
  renumber?: Renumber,
): Promise<Table<K, V>> {
  const fresh = await engine.createTable<K, V>({ ...old.spec, slots, seed }, entries);
  try {
    await moveEntries(old, fresh, call, renumber);
    return fresh;
  } catch (error) {
    fresh.destroy();
    throw error;
  }
}

/** Options of the first or second of two operations on all entries, whose progress is that of the call. */
function half(call: CallOptions, number: 0 | 1, entries: number): CallOptions {
  const { onProgress } = call;
  if (onProgress === undefined) return call;
  let told = -1;
  return {
    ...call,
    onProgress: (done, total) => {
      const now = Math.floor((entries * (number + (total === 0 ? 1 : done / total))) / 2);
      if (now > told && now > 0) onProgress(now, entries);
      told = now;
    },
  };
}
