/**
 * Un-permuting: bringing the results of a chunk that was split by partition back to the order of the batch. All
 * partitioned lookups end so.
 */

import type { BoundChunk, ResultColumns } from "../../gpu/batch/bound-chunk.js";
import type { ItemKind } from "../../gpu/partitioning.js";
import type { Recorder } from "../../gpu/runtime.js";
import type { TableState } from "../table/table-state.js";
import { binsFor, type PartitionedItems, type Partitions } from "./multisplit.js";
import { Partitioner } from "./partitioner.js";

/** Where the results of a split chunk lie, and where they go. */
export interface UnpermuteOptions {
  /** Columns in the order of the batch. */
  readonly results: ResultColumns;
  /** Words of the value of elements that a mask leaves out. */
  readonly fill: readonly number[];
  /** Items that were split. */
  readonly kind: ItemKind;
  /** Values tell absent keys: they begin with ABSENT. */
  readonly marked: boolean;
}

/** Prepares to bring results from the order of the partitions to that of the batch. */
export async function prepareUnpermute(
  state: TableState,
  { count }: BoundChunk,
  partitions: Partitions,
  { results: { values, flags }, fill, kind, marked }: UnpermuteOptions,
): Promise<(recorder: Recorder, items: PartitionedItems, from: ResultColumns) => void> {
  const { sources, tileOf } = Partitioner.of(state);
  // as the split's
  const bins = binsFor(partitions.count);
  const { workgroup, items: tileItems } = tileOf(kind, bins);
  const unpermute = await state.host.gpu.compile(sources.unpermute(kind), {
    BINS: bins,
    WORKGROUP: workgroup,
    VALUED: values !== undefined,
    FLAGGED: flags !== undefined,
    MARKED: marked,
  });
  const params = {
    count,
    valueShift: values?.shift,
    flagShift: flags?.shift,
    fill: fill[0],
    fillHigh: fill[1],
  };
  return (recorder, { places }, from) => {
    const items = { itemValues: from.values?.range, itemFlags: from.flags?.range };
    const { control } = state.bind(state.windows[0]);
    const bindings = { control, places, ...items, values: values?.range, flags: flags?.range };
    recorder.dispatch(
      unpermute,
      bindings,
      { ...params, flagged: from.flags ? 1 : 0 },
      Math.ceil(count / tileItems),
    );
  };
}
