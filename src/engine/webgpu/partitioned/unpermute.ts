/** Bringing the results of a chunk that was split by part back to the order of the batch: the way that all partitioned lookups end. */

import type { Column } from "../batch/columns.js";
import type { BoundChunk } from "../direct/rounds.js";
import type { TableState } from "../table/table-state.js";
import { binsFor, type PartitionedItems, Partitioner, type Partitions } from "./multisplit.js";
import type { ItemKind } from "./partition-kernels.js";

/** Where a chunk's results are to go, in the order of the batch; `fill` is the value for elements that a mask leaves out. */
export interface ResultColumns {
  values?: Column;
  flags?: Column;
  fill?: number;
}

/** The value of absent keys on its way to `unpermute`: of all types one that is hardly anybody's (as f32, a NaN). */
export const SENTINEL = 0xffc593a7;

/**
 * Prepares to bring results from the order of the partitions to the columns given.
 * @param kind of the items that are split.
 * @param marked flags come from values: those of absent keys are SENTINEL.
 */
export async function prepareUnpermute(
  state: TableState,
  { count }: BoundChunk,
  { values, flags, fill }: ResultColumns,
  partitions: Partitions,
  kind: ItemKind,
  sentinels: boolean,
): Promise<(encoder: GPUCommandEncoder, items: PartitionedItems, from: ResultColumns) => void> {
  const { sources, tiles, tileWorkgroup } = Partitioner.of(state);
  // as the split's
  const bins = binsFor(partitions.count);
  const workgroup = tileWorkgroup(kind, bins);
  const unpermute = await state.host.kernels.compile(sources.unpermute(), {
    BINS: bins,
    WORKGROUP: workgroup,
    VALUED: values !== undefined,
    FLAGGED: flags !== undefined,
    SENTINELS: sentinels,
  });
  const params = {
    count,
    valueShift: values?.shift,
    flagShift: flags?.shift,
    fill,
    sentinel: SENTINEL,
  };
  return (encoder, { places }, from) => {
    const items = { itemValues: from.values?.range, itemFlags: from.flags?.range };
    const bindings = { places, ...items, values: values?.range, flags: flags?.range };
    unpermute.record(encoder, bindings, params, Math.ceil(count / (workgroup * tiles.items)));
  };
}
