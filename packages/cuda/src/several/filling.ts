/** Inserts that may fill a table on several GPUs. */
import { type DeviceArray, type Input, type KeyType, MAX_SLOTS, type ValueType } from "warpmap/engine";
import { CudaTable } from "../table/cuda-table.js";
import { TableState } from "../table/table-state.js";
import { destroyAll, outputsOf } from "./elements.js";

interface FillingTable<K extends KeyType, V extends ValueType> {
  readonly parts: CudaTable<K, V>[];
  /** New keys that the whole takes. */
  readonly free: () => number;
  /** Slots of one GPU's table at most. */
  readonly mostSlots: number | undefined;
}

/**
 * Works on the elements of one owner after another, so that all together take no more keys than there is room for; a GPU
 * that owns more keys than it has slots for gets more.
 * @param counts elements of each owner
 * @param giveUp what becomes of answers when another GPU fails
 */
export async function insertInTurn<K extends KeyType, V extends ValueType, T>(
  table: FillingTable<K, V>,
  counts: readonly number[],
  keys: readonly Input<K>[],
  work: (part: CudaTable<K, V>, owner: number) => Promise<T>,
  giveUp?: (answer: T) => void,
): Promise<(T | null)[]> {
  const { parts, free } = table;
  const answers: (T | null)[] = [];
  try {
    for (const [owner, count] of counts.entries()) {
      if (count === 0) answers.push(null);
      else {
        if (count > parts[owner].native.free) await makeRoom(table, owner, keys[owner]);
        const part = parts[owner];
        part.native.takeAtMost(free());
        answers.push(await work(part, owner).finally(() => part.native.takeAtMost(Number.POSITIVE_INFINITY)));
      }
    }
    return answers;
  } catch (error) {
    for (const answer of answers) if (answer !== null) giveUp?.(answer);
    throw error;
  }
}

/** Gives a GPU's table slots for new keys of a batch, as far as the whole has room for them. @throws LimitError */
async function makeRoom<K extends KeyType, V extends ValueType>(
  { parts, free: freeOfAll, mostSlots = MAX_SLOTS }: FillingTable<K, V>,
  owner: number,
  keys: Input<K>,
): Promise<void> {
  const part = parts[owner];
  const found = (await part.contains(keys, "host", {})) as Uint8Array;
  const absent = found.reduce((sum, flag) => sum + 1 - flag, 0);
  const { free, spec, host, occupied } = part.native;
  const wanted = Math.min(absent, freeOfAll());
  if (wanted <= free) return;
  const slots = Math.min(mostSlots, Math.ceil(1.05 * (occupied + wanted)));
  if (slots <= spec.slots) return;
  const larger = new CudaTable<K, V>(await TableState.create(host, { ...spec, slots }));
  const entries: DeviceArray[] = [];
  try {
    const all = await part.retrieveAll("device", {});
    entries.push(...([...outputsOf(all.keys), ...outputsOf(all.values)] as DeviceArray[]));
    await larger.insert(all.keys as Input<K>, all.values as Input<V> | null, "keep", {});
  } catch (error) {
    larger.destroy();
    throw error;
  } finally {
    destroyAll(entries);
  }
  parts[owner] = larger;
  part.destroy();
}
