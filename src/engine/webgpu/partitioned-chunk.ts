/**
 * A chunk in the order of its parts: the same operation as on the chunk itself, by the same direct kernels, whose accesses
 * now stay within the cache. Results come back in the order of the batch.
 */

import { slotWords } from "../layout.js";
import type { BoundChunk } from "./chunk-rounds.js";
import { bindAt, type Column } from "./columns.js";
import { binsFor, FEW_PARTS, MOST_PARTS, Partitioner, type Parts, splitByPart, words } from "./partition.js";
import { partitionParams } from "./partition-kernels.js";
import type { TableState } from "./table-state.js";

/** Bytes of table that a part has at most, if parts are not too many then: a fraction of a large GPU's cache. */
const PART_BYTES = 2 ** 23;

/** Where a chunk's results are to go, in the order of the batch; `fill` is the value for elements that a mask leaves out. */
export interface ResultColumns {
  values?: Column;
  flags?: Column;
  fill?: number;
}

/** Parts for the direct kernels. */
export function cacheParts(state: TableState): Parts {
  const { slots } = state.spec;
  const partSlots = PART_BYTES / (slotWords(state.spec) * 4);
  const wanted = Math.min(Math.max(Math.ceil(slots / partSlots), FEW_PARTS), MOST_PARTS);
  const shift = Math.max(0, Math.ceil(Math.log2(slots / wanted)));
  return { shift, count: Math.ceil(slots / 2 ** shift) };
}

/**
 * The chunk as the direct kernels are to see it. Its keys, and the values that it brings, are in the order of parts; its result
 * columns are scratch memory, and `finish` brings them to those given. An operation that brings values and answers values has one
 * column for both: what was brought is in the table before anything is answered.
 */
export async function partitioned(
  state: TableState,
  chunk: BoundChunk,
  results: ResultColumns,
): Promise<BoundChunk> {
  const { host } = state;
  const { scratch, count } = chunk;
  const placed = results.values !== undefined || results.flags !== undefined;
  const kind = chunk.values ? "pair" : "key";
  const parts = cacheParts(state);
  const partitioner = Partitioner.of(host);
  const workgroup = partitioner.tileWorkgroup(4, binsFor(parts.count));
  const constants = {
    WORKGROUP: workgroup,
    VALUED: Number(results.values !== undefined),
    FLAGGED: Number(results.flags !== undefined),
  };
  const restoring = placed ? host.kernels.compile(partitioner.sources.restore, constants) : null;
  // told where it is awaited
  restoring?.catch(() => {});
  const split = await splitByPart(state, chunk, parts, { kind, put: "columns", placed });
  const brought = split.values && bindAt(split.values, 0, count * 4);
  const permuted: BoundChunk = {
    ...chunk,
    count: split.selected,
    keys: bindAt(split.keys, 0, split.selected * 4),
    values: brought,
    mask: undefined,
    partShift: parts.shift,
  };
  if (!restoring) return permuted;
  const values = results.values && (brought ?? (await scratch.column("u32", count)));
  const flags = results.flags && (await scratch.column("u8", count));
  const restore = await restoring;
  const params = partitionParams({
    count,
    valueShift: results.values?.shift,
    flagShift: results.flags?.shift,
    fill: results.fill,
  });
  const finish = (encoder: GPUCommandEncoder) =>
    restore.record(
      encoder,
      [
        undefined,
        words(split.places, count),
        values?.range,
        flags?.range,
        results.values?.range,
        results.flags?.range,
      ],
      params,
      Math.ceil(count / (workgroup * partitioner.sources.tiles.items)),
    );
  return { ...permuted, values: values ?? brought, flags, finish };
}
