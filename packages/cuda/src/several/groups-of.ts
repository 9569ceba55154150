/** Groups that several GPUs have, as lists one after another, and their columns on the first GPU. */
import { type DeviceArray, newArray, type Range, type ReducedGroups, type Scratch } from "warpmap/engine";
import { startsOf } from "./exchange.js";
import { inputOn, rangeOf } from "./inputs.js";
import { arrayOf, arrayOn } from "./pieces.js";
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

/** A column of all groups on the first GPU: where it is, or a copy. */
export function collected(
  { gpus, engine }: SeveralHost,
  scratch: Scratch,
  all: readonly GroupsOf[],
  c: number,
): Promise<Range> {
  const words = (all[0].columns[c] as WordColumn).values.width / 4;
  const { starts, groups } = listed(all);
  const pieces = all.map(({ gpu, columns, groups }, i) => {
    const range = rangeOf((columns[c] as WordColumn).values.data);
    return { gpu, first: starts[i] * words, array: gpus.view(gpu, "u32", groups * words, range) };
  });
  const span = { gpu: 0, first: 0, count: groups * words };
  return inputOn(gpus, scratch, "u32", arrayOf(engine, "u32", pieces), span);
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
