/** The operations that walk all slots of a table: retrieveAll and stats. */
import type { CallOptions, Output, Placement, TableStats } from "../engine.js";
import { SIDE_SLOTS } from "../layout.js";
import type { KeyType, ValueType } from "../scalars.js";
import { type Chunk, Scratch } from "./columns.js";
import { resultColumns } from "./results.js";
import { readStatistics, STATISTICS_BYTES } from "./statistics.js";
import { tableConstants } from "./table-constants.js";
import { RETRIEVE_TILE, tableParams, tableRanges } from "./table-kernels.js";
import type { TableState } from "./table-state.js";

/** Workgroups of the stats kernel, which strides over the slots. */
const STATS_WORKGROUPS = 4096;

/** All entries, in the order in which workgroups get to them. */
export async function retrieveAll<K extends KeyType, V extends ValueType>(
  state: TableState,
  output: Placement,
  call: CallOptions,
): Promise<{ keys: Output<K>; values: Output<V> | null }> {
  call.signal?.throwIfAborted();
  const { host, spec } = state;
  host.gpu.checkAlive();
  const entries: Chunk = { first: 0, count: state.live };
  const results = await resultColumns(host, entries.count, output, [spec.key as K, spec.value as V | null]);
  const [keys, values] = results.columns;
  await results.keepUnlessThrown(async () => {
    const scratch = new Scratch(host.gpu);
    try {
      if (entries.count === 0) {
        call.onProgress?.(0, 0);
        return;
      }
      const outKeys = await keys.bind(scratch, entries);
      const outValues = await values?.bind(scratch, entries);
      const constants = { ...tableConstants(spec), VALUED: Number(values !== null) };
      const kernel = await host.kernels.compile(state.sources.retrieve, constants);
      const ranges = tableRanges({ ...state.bindings, flags: outKeys.range, values: outValues?.range });
      const count = spec.slots + SIDE_SLOTS;
      await state.submit("retrieveAll", [], (encoder) => {
        const params = tableParams({ slots: spec.slots, count });
        kernel.record(encoder, ranges, params, Math.ceil(count / RETRIEVE_TILE));
      });
      for (const each of keys.readback(outKeys, entries)) await host.gpu.read("retrieveAll", each);
      if (values && outValues) {
        for (const each of values.readback(outValues, entries)) await host.gpu.read("retrieveAll", each);
      }
      call.onProgress?.(entries.count, entries.count);
    } finally {
      scratch.release();
    }
  });
  return { keys: keys.output, values: (values?.output ?? null) as Output<V> | null };
}

/** Entries, tombstones and probe lengths. */
export async function stats({ host, spec, sources, bindings }: TableState): Promise<TableStats> {
  const kernel = await host.kernels.compile(sources.stats, tableConstants(spec));
  const scratch = new Scratch(host.gpu);
  try {
    const buffer = await scratch.buffer(STATISTICS_BYTES);
    const range = { buffer, offset: 0, size: STATISTICS_BYTES };
    const count = spec.slots + SIDE_SLOTS;
    const into = new Uint8Array(STATISTICS_BYTES);
    const record = (encoder: GPUCommandEncoder) => {
      encoder.clearBuffer(buffer, 0, STATISTICS_BYTES);
      const ranges = tableRanges({ ...bindings, values: range });
      const workgroups = Math.min(STATS_WORKGROUPS, Math.ceil(count / 256));
      kernel.record(encoder, ranges, tableParams({ slots: spec.slots, count }), workgroups);
    };
    await host.gpu.submit("stats", record, [{ buffer, offset: 0, into }]);
    return readStatistics(into);
  } finally {
    scratch.release();
  }
}
