/**
 * Groups that GPUs made of their own rows, as groups of all rows on the first GPU: kernels/owner-groups.cu. Not for means
 * and sums of floats, decimals or integers of 64 bits: sums of parts are rounded, or longer.
 */
import {
  type DeviceColumn,
  destroyColumns,
  newArray,
  type Range,
  type ReducedGroups,
  type Reduction,
  Scratch,
} from "warpmap/engine";
import { blocksFor } from "../table/table-state.js";
import { startsOf } from "./exchange.js";
import type { Gpus } from "./gpus.js";
import { rangeOf } from "./inputs.js";
import { groupKernels, ownerKernels, TILE } from "./owner-kernels.js";
import { arrayOn } from "./pieces.js";
import type { SeveralHost } from "./results.js";
import type { GroupsOf, WordColumn } from "./rows-there.js";

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
  const { gpus, engine } = host;
  const { engine: firstEngine, gpu } = gpus.hosts[0];
  const scratch = new Scratch(gpu);
  const made: DeviceColumn[] = [];
  const starts = startsOf(all.map(({ groups }) => groups));
  const lists = all.map(({ groups }, i) => ({ FIRST: starts[i], COUNT: groups }));
  const COUNT = lists.reduce((sum, list) => sum + list.COUNT, 0);
  const room = async (words: number): Promise<Range> => ({ buffer: await scratch.buffer(4 * words + 4) });
  try {
    const columns = await collected(gpus, scratch, all, lists);
    const [pack, find, count, offsets, place, merge] = await Promise.all([
      gpu.compile(groupKernels.pack, {}),
      gpu.compile(groupKernels.find, {}),
      gpu.compile(groupKernels.count, {}),
      gpu.compile(ownerKernels.offsets, { WORKGROUP: 1024 } as never),
      gpu.compile(groupKernels.place, {}),
      gpu.compile(groupKernels.merge, {}),
    ]);
    const keyColumns = columns.slice(reductions.length);
    const WORDS = keyColumns.reduce((sum, column) => sum + column.WORDS, 0);
    const keys = keyColumns.length === 1 ? keyColumns[0].range : await room(COUNT * WORDS);
    const SLOTS = SLOTS_PER_GROUP * COUNT;
    const blocks = Math.ceil(COUNT / TILE);
    const [slots, found, places] = [await room(SLOTS), await room(COUNT), await room(COUNT)];
    const [counts, ends] = [await room(blocks), await room(2)];
    const into = new Uint8Array(8);
    await gpu.submit(
      "merge groups",
      (recorder) => {
        recorder.clear(slots.buffer);
        if (keyColumns.length > 1) {
          const at = startsOf(keyColumns.map((column) => column.WORDS));
          for (const [k, { range: column, WORDS: words }] of keyColumns.entries()) {
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
      const { range: column, WORDS } = columns[c];
      const data = await newArray(firstEngine, gpu, "u32", groups * WORDS);
      const { values } = all[0].columns[c] as WordColumn;
      made.push({ values: { ...values, data: arrayOn(engine, 0, data) }, validity: null });
      const bindings = { slots, found, places, column, to: rangeOf(data) };
      const params = {
        WORDS,
        HOW: HOW[reduction.kind],
        FORM: "form" in reduction ? FORMS[reduction.form] : 0,
      };
      await gpu.submit("merge groups", (recorder) => {
        for (const list of lists)
          recorder.dispatch(merge, bindings, { ...params, ...list }, blocksFor(list.COUNT));
      });
    }
    return { groups, columns: made, groupOf: null };
  } catch (error) {
    destroyColumns(made);
    throw error;
  } finally {
    gpus.release([scratch]);
  }
}

/** A column of all groups on the first GPU. */
interface Column {
  readonly range: Range;
  readonly WORDS: number;
}

/** The columns of all groups, one GPU's behind the other's. */
async function collected(
  gpus: Gpus,
  scratch: Scratch,
  all: readonly GroupsOf[],
  lists: readonly { readonly FIRST: number; readonly COUNT: number }[],
): Promise<Column[]> {
  const count = lists.reduce((sum, { COUNT }) => sum + COUNT, 0);
  const columns: Column[] = [];
  for (const column of all[0].columns) {
    const { width } = (column as WordColumn).values;
    columns.push({ range: { buffer: await scratch.buffer(count * width + 4) }, WORDS: width / 4 });
  }
  for (const { gpu } of all) gpus.context(0).after(gpus.context(gpu));
  await gpus.hosts[0].gpu.submit("collect", () => {
    for (const [c, { range, WORDS }] of columns.entries())
      for (const [l, { gpu, columns }] of all.entries()) {
        const { FIRST, COUNT } = lists[l];
        const from = { gpu, ...rangeOf((columns[c] as WordColumn).values.data) };
        const to = { gpu: 0, buffer: range.buffer, offset: 4 * FIRST * WORDS };
        if (COUNT > 0) gpus.copy(0, from, to, 4 * COUNT * WORDS);
      }
  });
  return columns;
}
