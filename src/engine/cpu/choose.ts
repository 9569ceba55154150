/**
 * One element of each key of a batch, the first or the last: those that a table of the batch's own keeps, whose values are element
 * numbers. Inserts keep the first of equal keys; for the last the batch goes in from its end.
 */
import type { CallOptions, Chosen, Input } from "../engine.js";
import type { TableSpec } from "../layout.js";
import { arrayClass, type KeyType, type ScalarArrays } from "../scalars.js";
import { slotFormat } from "../slot-format.js";
import type { CpuEngine } from "./cpu-engine.js";
import { Inputs } from "./memory/storage.js";
import type { Batch } from "./table/sequential.js";

/** Says of every element whether it is the one of its key. */
export async function choose<K extends KeyType>(
  engine: CpuEngine,
  spec: TableSpec,
  keys: Input<K>,
  which: "first" | "last",
  { where, signal }: Pick<CallOptions, "where" | "signal">,
): Promise<Chosen> {
  const { length } = keys;
  const inputs = new Inputs(engine);
  const chosen = engine.newArray("u8", length, true);
  const table = await engine.createTable<K, "u32">({ ...spec, value: "u32", slots: 2 * length + 1 });
  try {
    const batch = inputs.batch(keys, where);
    const { keyWords } = slotFormat(spec);
    const ordered = which === "first" ? batch : reversed(batch, keyWords);
    const words = ordered.keys;
    const column = new arrayClass[spec.key](words.buffer as ArrayBuffer, words.byteOffset, length);
    const numbers = Uint32Array.from({ length }, (_, i) => i);
    const call = { where: ordered.where ?? undefined, signal };
    const { inserted, existing } = await table.insert(column as ScalarArrays[K], numbers, "keep", call);
    const { values } = await table.retrieveAll("host", { signal });
    const flags = chosen.storage.host as Uint8Array;
    for (const number of values as Uint32Array) flags[which === "first" ? number : length - 1 - number] = 1;
    return { chosen, selected: inserted + existing };
  } catch (error) {
    chosen.destroy();
    throw error;
  } finally {
    table.destroy();
    inputs.release();
  }
}

function reversed({ keys, where, length }: Batch, keyWords: number): Batch {
  const words = new Uint32Array(length * keyWords);
  for (let i = 0; i < length; i++) {
    const from = (length - 1 - i) * keyWords;
    for (let word = 0; word < keyWords; word++) words[i * keyWords + word] = keys[from + word];
  }
  return { keys: words, where: where === null ? null : where.slice(0, length).reverse(), length };
}
