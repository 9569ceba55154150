/** retrieveAll: goes over all slots of a table. */
import type { DeviceArray } from "../../device-array.js";
import type { KeyType, ValueType } from "../../element-types.js";
import type { CallOptions, Destination, Output } from "../../engine.js";
import { bindAt, type Chunk, type Column, newArray, placeOf, Scratch } from "../../gpu/batch/columns.js";
import { type BoundResult, resultColumns } from "../../gpu/batch/results.js";
import { kernelSource, readWrite } from "../../gpu/kernel-source.js";
import { readBytes } from "../../gpu/memory/read-bytes.js";
import type { SlotFormat } from "../../slot-format.js";
import { wgsl } from "../device/module-code.js";
import { type TableKernels, tableParams } from "../direct/direct-kernels.js";
import { control } from "../table/control.js";
import { compose, each, foundColumnCode, word } from "../table/slot-code.js";
import type { TableState } from "../table/table-state.js";
import type { TableWindow } from "../table/windows.js";
import retrieveCode from "./retrieve.wgsl";

/** Slots that one workgroup of the retrieve kernel takes. */
const RETRIEVE_TILE = 2048;

/** All entries, in the order in which workgroups get to them. */
export async function retrieveAll<K extends KeyType, V extends ValueType>(
  state: TableState,
  output: Destination,
  call: CallOptions,
): Promise<{ keys: Output<K>; values: Output<V> | null }> {
  const { host, spec, live } = state;
  call.signal?.throwIfAborted();
  host.gpu.checkAlive();
  const results = await resultColumns(host, live, output, [spec.key as K, spec.value as V | null]);
  const [keys, values] = results.columns;
  const { log } = call;
  log?.beginChunk({ reason: "every slot is read once, in order" });
  await results.keepUnlessThrown(() => state.submissions.run(log, () => retrieve(state, keys, values, call)));
  return { keys: keys.output, values: (values?.output ?? null) as Output<V> | null };
}

/** The words of all keys, one key after the other. */
export async function retrieveKeys(state: TableState): Promise<DeviceArray<"u32">> {
  const { keyWords } = state.sources.format;
  const { engine, gpu } = state.host;
  const keys = await newArray(engine, gpu, "u32", state.live * keyWords);
  const { buffer } = placeOf(keys);
  const bind = async (_scratch: Scratch, { first, count }: Chunk): Promise<BoundResult> => {
    const column = bindAt(buffer, first * keyWords * 4, count * keyWords * 4);
    return { column, readback: () => [] };
  };
  try {
    await retrieve(state, { bind }, null, {});
    return keys;
  } catch (error) {
    keys.destroy();
    throw error;
  }
}

interface Bindable {
  bind(scratch: Scratch, chunk: Chunk): Promise<BoundResult>;
}

/**
 * Writes all entries to result columns. When these fit a binding all windows go at once; else one after the other,
 * since where a window's entries go is known only when those before it are counted.
 */
async function retrieve(
  state: TableState,
  keys: Bindable,
  values: Bindable | null,
  call: CallOptions,
): Promise<void> {
  const { windows, live, host, sources } = state;
  const { keyWords, valueWords } = sources.format;
  const bytes = live * Math.max(keyWords, valueWords) * 4;
  const groups = bytes <= host.maxTableBinding ? [windows] : windows.map((window) => [window]);
  let first = 0;
  for (const group of groups) {
    if (first === live) break;
    if (first > 0) {
      call.signal?.throwIfAborted();
      call.onProgress?.(first, live);
    }
    const slots = group.reduce((sum, window) => sum + window.slots, 0);
    const scratch = new Scratch(host.gpu);
    try {
      const room: Chunk = { first, count: Math.min(live - first, slots) };
      const outKeys = await keys.bind(scratch, room);
      const outValues = await values?.bind(scratch, room);
      const count = await retrieveWindows(state, group, outKeys.column, outValues?.column);
      const written: Chunk = { first, count };
      for (const { split, readback } of outValues ? [outKeys, outValues] : [outKeys]) {
        await split?.(count, []);
        for (const each of readback(written)) await readBytes(host.gpu, "retrieveAll", each);
      }
      first += written.count;
    } finally {
      scratch.release();
    }
  }
  call.onProgress?.(live, live);
}

function retrieveKernel(sources: TableKernels) {
  const { scanning, format } = sources;
  return sources.once("retrieve", () =>
    kernelSource("retrieve", tableParams, [
      ...scanning,
      control,
      wgsl(foundColumnCode(format) + keyOutputCode(format)),
      wgsl(retrieveCode, {
        bindings: { outKeys: readWrite(), values: readWrite() },
        constants: ["VALUED"],
      }),
    ]),
  );
}

/** Writes the entries of some windows to the start of columns that have room for them. Answers how many there are. */
async function retrieveWindows(
  state: TableState,
  windows: readonly TableWindow[],
  keys: Column,
  values: Column | undefined,
): Promise<number> {
  const { host, spec } = state;
  const kernel = await host.gpu.compile(retrieveKernel(state.sources), { VALUED: values !== undefined });
  const counters = await state.submit("retrieveAll", [], (recorder) => {
    for (const window of windows) {
      const bindings = { ...state.bind(window), outKeys: keys.range, values: values?.range };
      const params = {
        slots: spec.slots,
        seed: spec.seed,
        count: window.slots,
        windowFirst: window.first,
        flagShift: keys.shift,
        valueShift: values?.shift,
      };
      recorder.dispatch(kernel, bindings, params, Math.ceil(window.slots / RETRIEVE_TILE));
    }
  });
  return counters.found;
}

/** Writing keys. For modules with the binding `outKeys`. */
function keyOutputCode({ keyWords }: SlotFormat): string {
  return `
fn writeKey(at: u32, key: Key) { ${each(keyWords, (i) => `outKeys[at * KEY_WORDS + ${i}u + params.flagShift] = ${word("key", i, keyWords)};`).join(" ")} }
/// The key of a side slot: 0 for slot \`slots\`, 1 for the one behind.
fn sideKey(number: u32) -> Key { return ${compose(keyWords, () => "EMPTY - number")}; }`;
}
