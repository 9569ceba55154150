/**
 * Few groups: threads take slices of rows, and each has groups of its own (aggregate-jobs.ts). At the end they merge them
 * (group-sets.ts), but where rows want the numbers of their groups: then the calling thread does that.
 */
import { ArrivingRows } from "../../../host/arrival.js";
import { type LaneColumn, LaneSums, sumsOfLanes } from "../../../host/lanes.js";
import type { SummedGroups } from "../../group-sums.js";
import type { RowRun } from "../rows/row-run.js";
import { FULL, LOST } from "./aggregate-jobs.js";
import { addGroups, freeSets, type GroupSets, groupSet, setWords, wasTaken } from "./group-sets.js";
import { type GroupKeys, GroupTable, groupMemory } from "./group-table.js";
import type { Layout } from "./key-layout.js";
import type { KeyRange } from "./key-tables.js";
import { bitsIn } from "./rank-jobs.js";
import { arrivingColumns, type KeySide } from "./side-columns.js";
import { arrivingLanes } from "./summed-columns.js";

/** Bytes of the sums of a thread's groups. */
const SET_BYTES = 2 ** 19;
export const MOST_GROUPS = 2 ** 13;
const LEAST_GROUPS = 2 ** 10;

/** What tables have room for. */
export interface Room {
  /** Groups at least. */
  readonly groups: number;
  /** Where all keys lie. */
  readonly range: KeyRange | null;
}

export const SMALL: Room = { groups: 0, range: null };

/** Few groups: each thread takes slices of rows. */
export class Slices {
  readonly #form: GroupKeys;
  readonly #rows: number;
  readonly #stop: Int32Array;
  readonly #sets: GroupSets;

  constructor(
    readonly run: RowRun,
    readonly side: KeySide,
    readonly layout: Layout,
    readonly columns: readonly LaneColumn[],
    readonly groupOf: Uint32Array | null,
    readonly room: Room,
  ) {
    const { exact, width, stride } = layout;
    this.#form = { exact, hashed: false, width, stride, bytes: side.bytes, range: room.range };
    this.#rows = side.keys.rows;
    this.#stop = run.counter();
    this.#sets = this.#newSets();
  }

  /** FULL where a thread has too many groups, LOST where floats need grids. */
  async sum(): Promise<SummedGroups | typeof FULL | typeof LOST> {
    const { run, side, layout, groupOf } = this;
    const { hashing } = run;
    const sliceRows = run.threads.tuning.slice;
    const own = { form: this.#form, sets: this.#sets, stop: this.#stop };
    await run.overChunks(this.#rows, (first, rows, scratch) => {
      freeSets(this.#sets, false);
      const arriving = new ArrivingRows(run.work, scratch, first, rows);
      const isLast = first + rows === this.#rows;
      const job = {
        kind: "group slices",
        ...own,
        // rows know the numbers of their groups in the sets
        left: isLast && groupOf === null ? run.counter() : null,
        side: arrivingColumns(side, arriving),
        rows: this.#stop[0] === 0 ? rows : 0,
        sliceRows,
        layout,
        hashing,
        columns: this.columns.map((column, c) => arrivingLanes(column, arriving, `values ${c}`)),
        first,
        groupOf: groupOf?.subarray(first, first + rows) ?? null,
      } as const;
      const { bring } = arriving;
      const isDone = () => this.#stop[0] === 0;
      return { job, bring: bring && ((from, to) => isDone() && bring(from, to)), isDone };
    });
    const stop = this.#stop[0];
    return stop === FULL || stop === LOST ? stop : this.#merged();
  }

  #newSets(): GroupSets {
    const { work } = this.run;
    const { stride } = new LaneSums(this.columns);
    const fitting = 2 ** Math.floor(Math.log2(SET_BYTES / 8 / Math.max(1, stride)));
    const ofSlices = Math.min(MOST_GROUPS, Math.max(LEAST_GROUPS, fitting));
    const groups = this.room.range ? this.room.groups : Math.max(ofSlices, this.room.groups);
    const count = threadsFor(this.run, this.#rows);
    const sets = { memory: work.words(setWords(count, groups, this.#form, stride)), count, groups };
    freeSets(sets, true);
    return sets;
  }

  async #merged(): Promise<SummedGroups | typeof LOST> {
    const { run, groupOf, columns } = this;
    const lanes = new LaneSums(columns);
    const sets = Array.from({ length: this.#sets.count }, (_, s) =>
      groupSet(this.#sets, this.#form, lanes.stride, s),
    ).filter(wasTaken);
    const tables = sets.map(({ memory }) => new GroupTable(memory, this.#form, run.hashing));
    // a table that has room for all groups takes in those of the others
    const isInPlace = tables.length === 1 || (tables.length > 0 && this.room.range !== null);
    if (isInPlace && tables.length > 1) tables[0].place();
    const total = tables.reduce((sum, table) => sum + table.groups, 0);
    const newMemory = () => groupMemory(this.#form, Math.max(1, total), (length) => new Uint32Array(length));
    const all = isInPlace ? tables[0] : new GroupTable(newMemory(), this.#form, run.hashing);
    const sums = isInPlace ? sets[0].sums : new Float64Array(total * lanes.stride);
    const { firsts } = all.memory;
    // per set: the numbers of its groups among all
    const numbers = tables.map((table) => new Uint32Array(table.groups));
    for (const [s, table] of tables.entries()) {
      if (table === all) {
        for (let group = 0; group < table.groups; group++) numbers[s][group] = group;
        continue;
      }
      addGroups({ table: all, sums }, { table, sums: sets[s].sums }, lanes, numbers[s]);
      await run.pace.turn();
    }
    const { groups } = all;
    const ranks = ranksOf(firsts, groups, this.#rows);
    const split: Float64Array[] = [];
    for (let lane = 0; lane < lanes.stride; lane++) {
      split.push(laneOf(sums, ranks, groups, lanes.stride, lane));
      await run.pace.turn();
    }
    if (groupOf !== null && (ranks !== null || tables.length > 1)) {
      const { count, groups: room } = this.#sets;
      const map = run.work.words(room * count);
      for (const [s, ids] of numbers.entries())
        for (let group = 0; group < ids.length; group++)
          map[s * room + group] = ranks === null ? ids[group] : ranks[ids[group]];
      await run.renumber(groupOf, map);
    }
    return {
      firsts: ranks === null ? firsts.slice(0, groups) : inRank(firsts, ranks),
      groupOf: groupOf?.slice() ?? null,
      columns: sumsOfLanes(columns, split),
    };
  }
}

/** Threads that so many rows are worth. */
export function threadsFor(run: RowRun, rows: number): number {
  return Math.min(run.helpers(rows) + 1, run.threads.count);
}

/** Rows for each group, from which on sorting the groups takes less time than a bit for each row. */
const ROWS_A_SORTED_GROUP = 2 ** 12;

/** Where each group is in the order of their first rows; null where they are in that order. */
export function ranksOf(firsts: Uint32Array, groups: number, rows: number): Uint32Array | null {
  let inOrder = 1;
  while (inOrder < groups && firsts[inOrder - 1] < firsts[inOrder]) inOrder++;
  if (inOrder >= groups) return null;
  const ranks = new Uint32Array(groups);
  if (groups * ROWS_A_SORTED_GROUP <= rows) {
    const sorted = ranks.map((_, group) => group).sort((a, b) => firsts[a] - firsts[b]);
    for (const [rank, group] of sorted.entries()) ranks[group] = rank;
    return ranks;
  }
  const isFirst = new Uint32Array(Math.ceil(rows / 32));
  for (let group = 0; group < groups; group++) isFirst[firsts[group] >>> 5] |= 1 << (firsts[group] & 31);
  const before = new Uint32Array(isFirst.length);
  for (let word = 1; word < before.length; word++)
    before[word] = before[word - 1] + bitsIn(isFirst[word - 1]);
  for (let group = 0; group < groups; group++) {
    const first = firsts[group];
    ranks[group] = before[first >>> 5] + bitsIn(isFirst[first >>> 5] & ~(-1 << (first & 31)));
  }
  return ranks;
}

function inRank(numbers: Uint32Array, ranks: Uint32Array): Uint32Array {
  const ranked = new Uint32Array(ranks.length);
  for (let group = 0; group < ranks.length; group++) ranked[ranks[group]] = numbers[group];
  return ranked;
}

/** A lane of groups in their order. @param ranks where each is in it; null: they are in it */
export function laneOf(
  sums: Float64Array,
  ranks: Uint32Array | null,
  groups: number,
  stride: number,
  lane: number,
): Float64Array {
  const values = new Float64Array(groups);
  for (let group = 0, at = lane; group < groups; group++, at += stride)
    values[ranks === null ? group : ranks[group]] = sums[at];
  return values;
}
