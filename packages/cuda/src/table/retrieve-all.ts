/** retrieveAll: goes over all slots of a table. */
import {
  type CallOptions,
  type Destination,
  type KeyType,
  type Output,
  readBytes,
  resultColumns,
  Scratch,
  type ValueType,
} from "warpmap/engine";
import { firstOn } from "./partitions.js";
import type { TableState } from "./table-state.js";

/** All entries, in the order in which blocks get to them. */
export async function retrieveAll<K extends KeyType, V extends ValueType>(
  state: TableState,
  output: Destination,
  call: CallOptions,
): Promise<{ keys: Output<K>; values: Output<V> | null }> {
  const { host, spec, live, submissions } = state;
  call.signal?.throwIfAborted();
  host.gpu.checkAlive();
  const results = await resultColumns(host, live, output, [spec.key as K, spec.value as V | null]);
  const [keys, values] = results.columns;
  call.log?.beginChunk({ reason: "every slot is read once, in order" });
  const scratch = new Scratch(host.gpu);
  const retrieve = async () => {
    const room = { first: 0, count: live };
    const bound = [await keys.bind(scratch, room)];
    if (values) bound.push(await values.bind(scratch, room));
    const [outKeys, outValues] = bound.map(({ column }) => firstOn(column));
    const bindings = { keys: outKeys, values: outValues };
    await state.change("retrieve", state.runs("retrieve", bindings, { COUNT: live }, state.scanBlocks));
    for (const { split, readback } of bound) {
      await split?.(live, []);
      for (const each of readback(room)) await readBytes(host.gpu, "retrieveAll", each);
    }
  };
  try {
    await results.keepUnlessThrown(() =>
      submissions.run(call.log, async () => {
        if (live > 0) await retrieve();
      }),
    );
  } finally {
    scratch.release();
  }
  call.onProgress?.(live, live);
  return { keys: keys.output, values: (values?.output ?? null) as Output<V> | null };
}
