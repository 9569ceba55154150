/** Groups that several GPUs have, as lists one after another, and their columns on the first GPU. */
import { type DeviceArray, newArray, type Range, type ReducedGroups, type Scratch } from "warpmap/engine";
import { startsOf } from "./exchange.js";
import { settled } from "./gpus.js";
import { rangeOf } from "./inputs.js";
import { arrayOn } from "./pieces.js";
import type { SeveralHost } from "./results.js";
import type { WordColumn } from "./rows-there.js";

/** Groups that a GPU has. Columns are of words. */
export interface GroupsOf extends Pick<ReducedGroups, "groups" | "columns"> {
  readonly gpu: number;
}

/** Where each GPU's groups begin among all, and how many these are. */
export function listed(all: readonly GroupsOf[]): { starts: readonly number[]; groups: number } {
  const counts = all.map(({ groups }) => groups);
  return { starts: startsOf(counts), groups: counts.reduce((sum, count) => sum + count, 0) };
}

/**
 * The columns of all groups, from one on, on the first GPU: where they are, or copies. The other GPUs' are read until a
 * fence of all GPUs, as that of giving `scratch` back.
 */
export async function collected(
  { gpus }: SeveralHost,
  scratch: Scratch,
  all: readonly GroupsOf[],
  from = 0,
): Promise<{ readonly range: Range; readonly words: number }[]> {
  const { starts, groups } = listed(all);
  const columnsOf = ({ columns }: GroupsOf) =>
    (columns.slice(from) as readonly WordColumn[]).map(({ values }) => values);
  const columns = columnsOf(all[0]).map(({ width, data }) => ({ words: width / 4, range: rangeOf(data) }));
  if (all.length === 1 && all[0].gpu === 0) return columns;
  const copies = await settled(
    columns.map(async ({ words }) => ({ words, buffer: await scratch.buffer(4 * words * groups + 4) })),
  );
  for (const { gpu } of all) gpus.context(0).after(gpus.context(gpu));
  await gpus.hosts[0].gpu.submit("collect", () => {
    for (const [i, list] of all.entries()) {
      for (const [c, { width, data }] of columnsOf(list).entries()) {
        const to = { gpu: 0, buffer: copies[c].buffer, offset: starts[i] * width };
        if (list.groups > 0) gpus.copy(0, { gpu: list.gpu, ...rangeOf(data) }, to, list.groups * width);
      }
    }
  });
  return copies.map(({ words, buffer }) => ({ words, range: { buffer } }));
}

/**
 * A column of one GPU's groups as the first GPU reads it, after `collected`: where it is, or a copy where that is out of
 * reach.
 */
export async function readByFirst(
  { gpus }: SeveralHost,
  scratch: Scratch,
  { gpu, groups, columns }: GroupsOf,
  c: number,
): Promise<Range> {
  const { width, data } = (columns[c] as WordColumn).values;
  if (gpus.reaches(0, gpu)) return rangeOf(data);
  const bytes = groups * width;
  const buffer = await scratch.buffer(bytes + 4);
  const from = { gpu, ...rangeOf(data) };
  await gpus.hosts[0].gpu.submit("collect", () => gpus.copy(0, from, { gpu: 0, buffer, offset: 0 }, bytes));
  return { buffer };
}

/** A new column of so many groups, like those of the GPUs; and what lies there, an array of the first GPU. */
export async function newColumn(
  { gpus, engine }: SeveralHost,
  all: readonly GroupsOf[],
  c: number,
  groups: number,
): Promise<{ column: WordColumn; there: DeviceArray<"u32"> }> {
  const { engine: first, gpu } = gpus.hosts[0];
  const { values } = all[0].columns[c] as WordColumn;
  const there = await newArray(first, gpu, "u32", (groups * values.width) / 4);
  return { column: { values: { ...values, data: arrayOn(engine, 0, there) }, validity: null }, there };
}
