/** Bringing the results of a chunk that was split by part back to the order of the batch: the way that all partitioned lookups end. */

import type { Column } from "../batch/columns.js";
import type { BoundChunk } from "../direct/rounds.js";
import type { TableState } from "../table/table-state.js";
import { binsFor, type PartedItems, Partitioner, type Parts } from "./multisplit.js";
import { type ItemKind, partitionParams } from "./partition-kernels.js";

/** Where a chunk's results are to go, in the order of the batch; `fill` is the value for elements that a mask leaves out. */
export interface ResultColumns {
  values?: Column;
  flags?: Column;
  fill?: number;
}

/** The value of absent keys on its way to `restore`: of all types one that is hardly anybody's (as f32, a NaN). */
export const ABSENT = 0xffc593a7;

/**
 * Prepares to bring results from the order of the parts to the columns given.
 * @param kind of the items that are split.
 * @param marked flags come from values: those of absent keys are ABSENT.
 */
export async function prepareRestore(
  { host }: TableState,
  { count }: BoundChunk,
  { values, flags, fill }: ResultColumns,
  parts: Parts,
  kind: ItemKind,
  marked: boolean,
): Promise<(encoder: GPUCommandEncoder, items: PartedItems, from: ResultColumns) => void> {
  const { sources, tileWorkgroup } = Partitioner.of(host);
  // as the split's
  const bins = binsFor(parts.count);
  const workgroup = tileWorkgroup(kind, bins);
  const restore = await host.kernels.compile(sources.restore, {
    BINS: bins,
    WORKGROUP: workgroup,
    VALUED: Number(values !== undefined),
    FLAGGED: Number(flags !== undefined),
    MARKED: Number(marked),
  });
  const params = partitionParams({
    count,
    valueShift: values?.shift,
    flagShift: flags?.shift,
    fill,
    mark: ABSENT,
  });
  return (encoder, { places }, from) => {
    const bindings = [places, from.values?.range, from.flags?.range, values?.range, flags?.range];
    restore.record(
      encoder,
      [undefined, ...bindings],
      params,
      Math.ceil(count / (workgroup * sources.tiles.items)),
    );
  };
}
