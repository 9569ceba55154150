/**
 * One element of each key of a batch, the first or the last: those that a table of the batch's own keeps, whose values
 * are element numbers. Inserts keep the first of equal keys; for the last the batch goes in from its end.
 */
import { elementsOf, type KeyType, lengthOf, scalarsOf } from "../element-types.js";
import type { ChooseCall, Chosen, Input } from "../engine.js";
import type { TableSpec } from "../layout.js";
import { arrayClass, type Scalar, scalarWords } from "../scalars.js";
import type { CpuEngine } from "./cpu-engine.js";
import { Inputs } from "./memory/storage.js";
import type { Batch, Columns } from "./table/sequential.js";

/** Says of every element whether it is the one of its key. */
export async function choose<K extends KeyType>(
  engine: CpuEngine,
  spec: TableSpec,
  keys: Input<K>,
  which: "first" | "last",
  { where, ...looked }: ChooseCall,
): Promise<Chosen> {
  const length = lengthOf(keys);
  const inputs = new Inputs(engine);
  const chosen = engine.newArray("u8", length, true);
  const table = await engine.createTable<K, "u32">({ ...spec, value: "u32", slots: 2 * length + 1 });
  try {
    const batch = inputs.batch(keys, where);
    const scalars = scalarsOf<Scalar>(spec.key);
    const ordered = which === "first" ? batch : reversed(batch, scalars);
    const columns = ordered.keys.map(
      ({ buffer, byteOffset }, c) => new arrayClass[scalars[c]](buffer, byteOffset, length),
    );
    const elements = elementsOf(spec.key, columns) as Input<K>;
    const numbers = Uint32Array.from({ length }, (_, i) => i);
    const call = { where: ordered.where ?? undefined, ...looked };
    const { inserted, existing } = await table.insert(elements, numbers, "keep", call);
    const { values } = await table.retrieveAll("host", { signal: looked.signal });
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

function reversed({ keys, where, length }: Batch<Columns>, scalars: readonly Scalar[]): Batch<Columns> {
  const columns = keys.map((column, c) => reversedColumn(column, length, scalarWords[scalars[c]]));
  return { keys: columns, where: where === null ? null : where.slice(0, length).reverse(), length };
}

function reversedColumn(column: Uint32Array, length: number, words: number): Uint32Array {
  const turned = new Uint32Array(length * words);
  for (let i = 0; i < length; i++) {
    const from = (length - 1 - i) * words;
    for (let word = 0; word < words; word++) turned[i * words + word] = column[from + word];
  }
  return turned;
}
