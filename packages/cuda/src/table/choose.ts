/**
 * One element of each key of a batch, the first or the last: a table of the batch's keys keeps the least or the
 * greatest row number of each.
 */
import {
  type ChooseCall,
  type Chosen,
  type DeviceArray,
  type Input,
  type KeyType,
  lengthOf,
  newArray,
  placeOf,
  type Range,
  Scratch,
} from "warpmap/engine";
import { CudaTable } from "./cuda-table.js";
import { markChosen, numberRows } from "./kernels.js";
import { firstOn } from "./partitions.js";
import { blocksFor, TableState } from "./table-state.js";

/** Says of every element whether it is the one of its key. @throws LimitError when there is too little memory */
export async function choose<K extends KeyType>(
  { host, spec }: TableState,
  keys: Input<K>,
  which: "first" | "last",
  call: ChooseCall,
): Promise<Chosen> {
  const { engine, gpu } = host;
  const count = lengthOf(keys);
  const made: DeviceArray[] = [];
  const array = async <T extends "u8" | "u32">(type: T): Promise<DeviceArray<T>> => {
    const array = await newArray(engine, gpu, type, count);
    made.push(array);
    return array;
  };
  const scratch = new Scratch(gpu);
  let table: CudaTable<K, "u32"> | undefined;
  try {
    const [chosen, rows] = [await array("u8"), await array("u32")];
    const [numbering, marking] = await Promise.all([
      gpu.compile(numberRows, {}),
      gpu.compile(markChosen, {}),
    ]);
    const [COUNT, blocks] = [count, blocksFor(count)];
    const number = { rows: rangeOf(rows) };
    await gpu.submit("number rows", (recorder) => recorder.dispatch(numbering, number, { COUNT }, blocks));
    table = new CudaTable(await TableState.create(host, { ...spec, value: "u32", slots: 2 * count + 1 }));
    const tally = await table.insert(keys, rows, which === "first" ? "min" : "max", call);
    const kept = await table.find(keys, 0, "device", call);
    made.push(kept.values as DeviceArray, kept.found as DeviceArray);
    const mask = call.where && firstOn(await scratch.input("u8", call.where, { first: 0, count }));
    const marks = { rows: rangeOf(kept.values as DeviceArray), mask, chosen: rangeOf(chosen) };
    await gpu.submit("mark chosen", (recorder) => recorder.dispatch(marking, marks, { COUNT }, blocks));
    made.shift(); // the caller frees it
    return { chosen, selected: tally.inserted + tally.existing };
  } finally {
    table?.destroy();
    scratch.release();
    for (const array of made) array.destroy();
  }
}

function rangeOf(array: DeviceArray): Range {
  const { buffer, byteOffset: offset } = placeOf(array);
  return { buffer, offset };
}
