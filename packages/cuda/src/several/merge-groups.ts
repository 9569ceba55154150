/**
 * Groups that GPUs made of their own rows, as groups of all rows on the first GPU: kernels/owner-groups.cu. Not for means
 * and sums of floats, decimals or integers of 64 bits: sums of parts are rounded, or longer.
 */
import {
  type DeviceColumn,
  destroyColumns,
  type Range,
  type ReducedGroups,
  type Reduction,
  Scratch,
} from "warpmap/engine";
import { blocksFor } from "../table/table-state.js";
import { startsOf } from "./exchange.js";
import { settled } from "./gpus.js";
import { collected, type GroupsOf, listed, newColumn, readByFirst } from "./groups-of.js";
import { rangeOf } from "./inputs.js";
import { GROUP_TILE, groupKernels, ownerKernels } from "./owner-kernels.js";
import type { SeveralHost } from "./results.js";

/** As in kernels/owner-groups.cu. */
const HOW = { count: 0, sum: 0, first: 1, last: 2, least: 3, greatest: 4, mean: Number.NaN } as const;
const FORMS = { unsigned: 0, signed: 1, float: 2 } as const;
/** Slots of the table for each group. */
const SLOTS_PER_GROUP = 2;

/** Whether the results of parts make the result of all. */
export function isMergeable(reduction: Reduction): boolean {
  const { kind, column } = reduction;
  if (kind === "mean") return false;
  if (kind !== "sum") return true;
  const isShort = column.values?.kind === "fixed" && column.values.width === 4;
  return isShort && reduction.form !== "float" && !reduction.isDecimal;
}

/**
 * Merges groups, in the order of the GPUs. Waits once.
 * @param all one or more; columns of words: those of the reductions, then those of the keys
 */
export async function mergeGroups(
  host: SeveralHost,
  all: readonly GroupsOf[],
  reductions: readonly Reduction[],
): Promise<ReducedGroups> {
  const { gpus } = host;
  const { gpu } = gpus.hosts[0];
  const scratch = new Scratch(gpu);
  const merged: DeviceColumn[] = [];
  const { starts, groups: COUNT } = listed(all);
  const room = async (words: number): Promise<Range> => ({ buffer: await scratch.buffer(4 * words + 4) });
  try {
    const keyColumns = await collected(host, scratch, all, reductions.length);
    const [pack, find, count, offsets, place, merge] = await Promise.all([
      gpu.compile(groupKernels.pack, {}),
      gpu.compile(groupKernels.find, {}),
      gpu.compile(groupKernels.count, {}),
      gpu.compile(ownerKernels.offsets, { WORKGROUP: 1024 } as never),
      gpu.compile(groupKernels.place, {}),
      gpu.compile(groupKernels.merge, {}),
    ]);
    const WORDS = keyColumns.reduce((sum, { words }) => sum + words, 0);
    const keys = keyColumns.length === 1 ? keyColumns[0].range : await room(COUNT * WORDS);
    const SLOTS = SLOTS_PER_GROUP * COUNT;
    const blocks = Math.ceil(COUNT / GROUP_TILE);
    const [slots, found, places] = [await room(SLOTS), await room(COUNT), await room(COUNT)];
    const [counts, ends] = [await room(blocks), await room(2)];
    const into = new Uint8Array(8);
    await gpu.submit(
      "merge groups",
      (recorder) => {
        recorder.clear(slots.buffer);
        if (keyColumns.length > 1) {
          const at = startsOf(keyColumns.map(({ words }) => words));
          for (const [k, { range: column, words }] of keyColumns.entries()) {
            const params = { COUNT, WORDS: words, STRIDE: WORDS, AT: at[k] };
            recorder.dispatch(pack, { column, to: keys }, params, blocksFor(COUNT));
          }
        }
        const params = { COUNT, WORDS, SLOTS, SEED: host.seed };
        recorder.dispatch(find, { keys, slots, found }, params, blocksFor(COUNT));
        recorder.dispatch(count, { slots, found, counts }, { COUNT }, blocks);
        recorder.dispatch(offsets, { counts, starts: ends }, { BINS: 1, SHARES: blocks }, 1);
        recorder.dispatch(place, { slots, found, counts, places }, { COUNT }, blocks);
      },
      [{ buffer: ends.buffer, offset: 0, into }],
    );
    const [, groups] = new Uint32Array(into.buffer);
    for (const [c, reduction] of reductions.entries()) {
      const { column, there } = await newColumn(host, all, c, groups);
      merged.push(column);
      const to = rangeOf(there);
      const WORDS = column.values.width / 4;
      const FORM = "form" in reduction ? FORMS[reduction.form] : 0;
      const lists = await settled(all.map((list) => readByFirst(host, scratch, list, c)));
      await gpu.submit("merge groups", (recorder) => {
        for (const [i, { groups: COUNT }] of all.entries()) {
          const bindings = { slots, found, places, column: lists[i], to };
          const params = { WORDS, HOW: HOW[reduction.kind], FORM, FIRST: starts[i], COUNT };
          recorder.dispatch(merge, bindings, params, blocksFor(COUNT));
        }
      });
    }
    return { groups, columns: merged, groupOf: null };
  } catch (error) {
    destroyColumns(merged);
    throw error;
  } finally {
    gpus.release([scratch]);
  }
}
