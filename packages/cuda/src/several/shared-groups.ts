/**
 * Group-bys and distinct rows of tables on several GPUs: rows, or groups of each GPU's rows, go to the owners of their
 * keys, each GPU groups its own, and the groups come to the first GPU, in the order of their first rows.
 */
import {
  type DeviceColumn,
  type DeviceKeys,
  destroyColumns,
  type Keep,
  type ReduceCall,
  type ReducedGroups,
  type Reduction,
  type RowOperations,
  Scratch,
  type Words,
} from "warpmap/engine";
import { blocksFor } from "../table/table-state.js";
import { settled } from "./gpus.js";
import { collected, type GroupsOf, listed, newColumn } from "./groups-of.js";
import { rangeOf, scratchOf } from "./inputs.js";
import { groupLocally, reductionsAt } from "./local-groups.js";
import { isMergeable, mergeGroups } from "./merge-groups.js";
import { ownerKernels } from "./owner-kernels.js";
import type { SeveralHost } from "./results.js";
import { exchangeRemark, inRounds } from "./rounds.js";
import {
  chunksFor,
  inOrder,
  keyPartsOf,
  loggedOf,
  noteExchange,
  type RowCall,
  RowsThere,
  roundOf,
  sharedColumn,
  sortedRows,
  type WordColumn,
} from "./rows-there.js";
import type { KeyPart } from "./sorted-batch.js";

/**
 * Groups rows, and puts the groups into the order of their first rows; null where columns are not shared. Where
 * groups are likely few, each GPU groups its own rows, and only groups are brought together.
 */
export async function reduceShared(
  host: SeveralHost,
  parts: readonly RowOperations[],
  keys: DeviceKeys,
  reductions: readonly Reduction[],
  call: ReduceCall,
): Promise<ReducedGroups | null> {
  const isShared = reductions.every(({ column }) => column === null || sharedColumn(column) !== null);
  if (!keyPartsOf(keys) || !isShared) return null;
  const local = reductions.every(isMergeable)
    ? await groupLocally(host, parts, keys, reductions, call)
    : null;
  if (!local) return reduceOwned(host, parts, keys, reductions, call);
  try {
    const merged = await mergeGroups(host, local, reductions);
    const made = local.reduce((sum, { groups }) => sum + groups, 0);
    const moved = made - local.reduce((sum, { gpu, groups }) => sum + (gpu === 0 ? groups : 0), 0);
    call.log?.remark(`${keys.rows} rows were grouped where they are first, to ${made}`);
    call.log?.remark(exchangeRemark(moved, made, "groups", host.gpus.count, 1));
    call.onProgress?.(keys.rows, keys.rows);
    return merged;
  } finally {
    for (const { columns } of local) destroyColumns(columns);
  }
}

/** Groups rows, whose columns are shared, at their owners. */
async function reduceOwned(
  host: SeveralHost,
  parts: readonly RowOperations[],
  keys: DeviceKeys,
  reductions: readonly Reduction[],
  call: ReduceCall,
): Promise<ReducedGroups> {
  const keyParts = keyPartsOf(keys) as KeyPart[];
  const chunks = chunksFor(host, keys.rows);
  const sorted = await sortedRows(host, keys.rows, keyParts, chunks);
  const grouped: GroupsOf[] = [];
  const { signal, log } = call;
  let moved = 0;
  try {
    await inRounds(host.gpus, chunks, {
      exchange(chunk, on) {
        signal?.throwIfAborted();
        const rows = RowsThere.owned(sorted, chunk, on);
        return roundOf(rows, async () => {
          const numbers = await rows.numbers();
          return inOrder(parts, async (owner) => {
            const own = await reductionsAt(rows, owner, reductions);
            const values = { kind: "fixed", width: 4, data: numbers[owner] } as const;
            own.push({ kind: "first", column: { values, validity: null } });
            return { keys: await rows.keys(owner, keys), reductions: own };
          });
        });
      },
      async work({ there, given }) {
        const logged = loggedOf(given.map(({ keys }) => keys.rows));
        await settled(
          parts.map(async ({ reducer }, gpu) => {
            const { keys, reductions } = given[gpu];
            if (keys.rows === 0 || !reducer) return;
            const options = { signal, lists: false, ...(gpu === logged && { log }) };
            grouped.push({ ...(await reducer.reduce(keys, reductions, options)), gpu });
          }),
        );
        moved += there.moved;
        return undefined;
      },
    });
    noteExchange(call, moved, keys.rows, host.gpus, chunks);
    const merged = await merge(host, grouped);
    call.onProgress?.(keys.rows, keys.rows);
    return merged;
  } finally {
    for (const { columns } of grouped) destroyColumns(columns);
    sorted.release();
  }
}

/** The rows that stay, of each key at its owner, ascending. */
export async function distinctShared(
  host: SeveralHost,
  parts: readonly RowOperations[],
  keys: DeviceKeys,
  keyParts: readonly KeyPart[],
  keep: Keep,
  call: RowCall,
): Promise<Words> {
  const { gpus } = host;
  const chunks = chunksFor(host, keys.rows);
  const sorted = await sortedRows(host, keys.rows, keyParts, chunks);
  const kept: GroupsOf[] = [];
  const scratch = scratchOf(gpus);
  const { signal, log } = call;
  let moved = 0;
  try {
    await inRounds(gpus, chunks, {
      exchange(chunk, on) {
        signal?.throwIfAborted();
        const rows = RowsThere.owned(sorted, chunk, on);
        return roundOf(rows, async () => ({
          numbers: await rows.numbers(),
          keys: await inOrder(parts, (owner) => rows.keys(owner, keys)),
        }));
      },
      async work({ there, given: { numbers, keys } }) {
        const logged = loggedOf(keys.map(({ rows }) => rows));
        await settled(
          parts.map(async (part, gpu) => {
            if (keys[gpu].rows === 0) return;
            const list = await part.distinctRows(keys[gpu], keep, { signal, ...(gpu === logged && { log }) });
            try {
              const data = await numbersAt(host, gpu, scratch[gpu], list, numbers[gpu]);
              const column: DeviceColumn = { values: { kind: "fixed", width: 4, data }, validity: null };
              kept.push({ gpu, groups: list.length, columns: [column, column] });
            } finally {
              list.destroy();
            }
          }),
        );
        moved += there.moved;
        return undefined;
      },
    });
    noteExchange(call, moved, keys.rows, gpus, chunks);
    const { columns } = await merge(host, kept);
    call.onProgress?.(keys.rows, keys.rows);
    return (columns[0] as WordColumn).values.data;
  } finally {
    gpus.release(scratch);
    sorted.release();
  }
}

/** The numbers of some of a GPU's rows. */
async function numbersAt(
  { gpus }: SeveralHost,
  gpu: number,
  scratch: Scratch,
  list: Words,
  numbers: Words,
): Promise<Words> {
  const { gpu: runtime } = gpus.hosts[gpu];
  const { length: COUNT } = list;
  const buffer = await scratch.buffer(4 * COUNT + 4);
  const bindings = { order: rangeOf(list), column: rangeOf(numbers), to: { buffer } };
  const gather = await runtime.compile(ownerKernels.gather, {});
  await runtime.submit("numbers", (recorder) =>
    recorder.dispatch(gather, bindings, { COUNT }, blocksFor(COUNT)),
  );
  return gpus.view(gpu, "u32", COUNT, { buffer });
}

/** Brings the groups of all GPUs to the first, in the order of the numbers in their last column. */
async function merge(host: SeveralHost, all: readonly GroupsOf[]): Promise<ReducedGroups> {
  const { gpus } = host;
  const { gpu } = gpus.hosts[0];
  const scratch = new Scratch(gpu);
  const merged: DeviceColumn[] = [];
  const { starts, groups } = listed(all);
  try {
    const columns = await collected(host, scratch, all);
    const last = columns.length - 1;
    const numbers = columns[last].range;
    const ends = { buffer: await scratch.buffer(4 * all.length) };
    const places = { buffer: await scratch.buffer(4 * groups + 4) };
    const [merging, scatter] = await Promise.all([
      gpu.compile(ownerKernels.merge, {}),
      gpu.compile(ownerKernels.scatter, {}),
    ]);
    gpu.write(
      ends.buffer,
      0,
      new Uint8Array(Uint32Array.from(all, (each, i) => starts[i] + each.groups).buffer),
    );
    const params = { COUNT: groups, LISTS: all.length };
    await gpu.submit("merge", (recorder) =>
      recorder.dispatch(merging, { numbers, ends, places }, params, blocksFor(groups)),
    );
    for (let c = 0; c < last; c++) {
      const column = columns[c].range;
      const made = await newColumn(host, all, c, groups);
      merged.push(made.column);
      const to = rangeOf(made.there);
      const words = { COUNT: groups, BYTES: made.column.values.width };
      await gpu.submit("merge", (recorder) =>
        recorder.dispatch(scatter, { order: places, column, to }, words, blocksFor(groups)),
      );
    }
    return { groups, columns: merged, groupOf: null };
  } catch (error) {
    destroyColumns(merged);
    throw error;
  } finally {
    gpus.release([scratch]);
  }
}
