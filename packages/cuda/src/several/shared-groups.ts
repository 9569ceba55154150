/**
 * Group-bys and distinct rows of tables on several GPUs: rows go to the owners of their keys, each GPU groups its own, and
 * the groups come to the first GPU, in the order of their first rows.
 */
import {
  type DeviceColumn,
  type DeviceKeys,
  destroyColumns,
  type Keep,
  newArray,
  type Range,
  type ReduceCall,
  type ReducedGroups,
  type Reduction,
  type RowOperations,
  Scratch,
  type Words,
} from "warpmap/engine";
import { blocksFor } from "../table/table-state.js";
import { inputOn, type KeyPart, rangeOf, startsOf } from "./exchange.js";
import { settled } from "./gpus.js";
import { ownerKernels } from "./owner-kernels.js";
import { arrayOf, arrayOn } from "./pieces.js";
import type { SeveralHost } from "./results.js";
import {
  inOrder,
  keyPartsOf,
  noteExchange,
  type RowCall,
  RowsThere,
  sharedColumn,
  type WordColumn,
} from "./rows-there.js";

/** Groups that a GPU has. */
interface GroupsOf extends ReducedGroups {
  readonly gpu: number;
}

/** Groups rows at their owners, and puts the groups into the order of their first rows; null where it cannot. */
export async function reduceShared(
  host: SeveralHost,
  parts: readonly RowOperations[],
  keys: DeviceKeys,
  reductions: readonly Reduction[],
  call: ReduceCall,
): Promise<ReducedGroups | null> {
  const keyParts = keyPartsOf(keys);
  const columns = reductions.map(({ column }) => column && sharedColumn(column));
  if (!keyParts || columns.some((column, i) => column === null && reductions[i].column !== null)) return null;
  const rows = await RowsThere.owned(host, keys.rows, keyParts);
  const grouped: ReducedGroups[] = [];
  try {
    const numbers = await rows.numbers();
    const work = await inOrder(parts, async (owner) => {
      const own: Reduction[] = [];
      for (const [i, reduction] of reductions.entries()) {
        const column = columns[i] && (await rows.columns(owner, [columns[i]]))[0];
        own.push({ ...reduction, column } as Reduction);
      }
      const values = { kind: "fixed", width: 4, data: numbers[owner] } as const;
      own.push({ kind: "first", column: { values, validity: null } });
      return { keys: await rows.keys(owner, keys), reductions: own };
    });
    const { signal, log } = call;
    await settled(
      parts.map(async ({ reducer }, owner) => {
        const { keys, reductions } = work[owner];
        if (keys.rows === 0 || !reducer) return;
        const options = { signal, lists: false, ...(owner === 0 && { log }) };
        grouped[owner] = await reducer.reduce(keys, reductions, options);
      }),
    );
    noteExchange(call, [rows], keys.rows);
    const all = grouped.flatMap((groups, gpu) => (groups ? [{ ...groups, gpu }] : []));
    const isWhole = all.every(({ columns }) => columns.every((column) => sharedColumn(column) !== null));
    const merged = isWhole ? await merge(host, all) : null;
    call.onProgress?.(keys.rows, keys.rows);
    return merged;
  } finally {
    for (const { columns } of grouped.filter(Boolean)) destroyColumns(columns);
    rows.release();
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
  const rows = await RowsThere.owned(host, keys.rows, keyParts);
  const kept: Words[] = [];
  const scratch = gpus.hosts.map(({ gpu }) => new Scratch(gpu));
  try {
    const numbers = await rows.numbers();
    const there = await inOrder(parts, (owner) => rows.keys(owner, keys));
    const { signal, log } = call;
    const lists = await settled(
      parts.map(async (part, owner) => {
        if (there[owner].rows === 0) return [];
        const options = { signal, ...(owner === 0 && { log }) };
        kept[owner] = await part.distinctRows(there[owner], keep, options);
        const { length: COUNT } = kept[owner];
        const { gpu } = gpus.hosts[owner];
        const buffer = await scratch[owner].buffer(4 * COUNT + 4);
        const bindings = { order: rangeOf(kept[owner]), column: rangeOf(numbers[owner]), to: { buffer } };
        const gather = await gpu.compile(ownerKernels.gather, {});
        await gpu.submit("numbers", (recorder) =>
          recorder.dispatch(gather, bindings, { COUNT, BYTES: 4 }, blocksFor(COUNT)),
        );
        const data = gpus.view(owner, "u32", COUNT, { buffer });
        const column: DeviceColumn = { values: { kind: "fixed", width: 4, data }, validity: null };
        return [{ gpu: owner, groups: COUNT, columns: [column, column] }];
      }),
    );
    noteExchange(call, [rows], keys.rows);
    const { columns } = await merge(host, lists.flat());
    call.onProgress?.(keys.rows, keys.rows);
    return (columns[0] as WordColumn).values.data;
  } finally {
    for (const list of kept) list?.destroy();
    gpus.release(scratch);
    rows.release();
  }
}

/** Brings the groups of all GPUs to the first, in the order of the numbers in their last column. */
async function merge(
  host: SeveralHost,
  all: readonly Pick<GroupsOf, "gpu" | "groups" | "columns">[],
): Promise<ReducedGroups> {
  const { gpus, engine } = host;
  const { engine: firstEngine, gpu } = gpus.hosts[0];
  const scratch = new Scratch(gpu);
  const made: DeviceColumn[] = [];
  const starts = startsOf(all.map((each) => each.groups));
  const groups = all.reduce((sum, each) => sum + each.groups, 0);
  /** A column of all, one GPU's behind the other's. */
  const collected = (c: number): Promise<Range> => {
    const words = widthOf(all[0].columns[c]) / 4;
    const pieces = all.map(({ gpu: at, columns, groups: length }, i) => {
      const { data } = (columns[c] as WordColumn).values;
      return {
        gpu: at,
        first: starts[i] * words,
        array: gpus.view(at, "u32", length * words, rangeOf(data)),
      };
    });
    const whole = arrayOf(engine, "u32", pieces);
    return inputOn(gpus, scratch, "u32", whole, { gpu: 0, first: 0, count: groups * words });
  };
  try {
    const last = all[0].columns.length - 1;
    const numbers = await collected(last);
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
      const { values } = all[0].columns[c] as WordColumn;
      const column = await collected(c);
      const data = await newArray(firstEngine, gpu, "u32", (groups * values.width) / 4);
      made.push({ values: { ...values, data: arrayOn(engine, 0, data) }, validity: null });
      const to = rangeOf(data);
      const words = { COUNT: groups, FROM: 0, BYTES: values.width };
      await gpu.submit("merge", (recorder) =>
        recorder.dispatch(scatter, { order: places, column, to }, words, blocksFor(groups)),
      );
    }
    return { groups, columns: made, groupOf: null };
  } catch (error) {
    destroyColumns(made);
    throw error;
  } finally {
    gpus.release([scratch]);
  }
}

const widthOf = (column: DeviceColumn): number => (column as WordColumn).values.width;
