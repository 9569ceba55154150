/**
 * Groups rows and adds up their values in one pass (aggregate-jobs.ts): by slices of rows as long as a thread's groups
 * stay in its cache, else by partitions of sorted keys. Columns are copied to memory that threads share piece by piece,
 * while other threads work.
 */
import { bitmapBytes } from "../../../bitmaps.js";
import { ArrivingRows } from "../../../host/arrival.js";
import { gridOf, noFloats } from "../../../host/exact-floats.js";
import { type LaneColumn, LaneSums, lanesOf, sumsOfLanes } from "../../../host/lanes.js";
import { type RowMemory, Scratch } from "../../../host/row-memory.js";
import type { SumCall, SummedColumn, SummedGroups } from "../../group-sums.js";
import type { RowKeys } from "../../rows.js";
import type { CpuEngine } from "../cpu-engine.js";
import { Pace } from "../rows/pace.js";
import { ALL_BITS, RowRun } from "../rows/row-run.js";
import { rowThreads } from "../rows/row-threads.js";
import {
  type FloatRangesJob,
  FULL,
  foundRanges,
  type GroupSet,
  LOST,
  recordsBefore,
} from "./aggregate-jobs.js";
import { closeKeys } from "./close-columns.js";
import { phaseClock } from "./group-rows.js";
import { type GroupKeys, GroupTable, groupMemory, groupWords, keysOf } from "./group-table.js";
import { chooseLayout, type Layout } from "./key-layout.js";
import { leadersOfStrings } from "./leaders.js";
import { partitionBits, sortByPartition } from "./partitions.js";
import { arrivingColumns, type KeySide, keySide } from "./side-columns.js";

/** Bytes of the sums of a thread's groups. */
const SET_BYTES = 2 ** 19;
const MOST_GROUPS = 2 ** 13;
const LEAST_GROUPS = 2 ** 10;
/** Integers within a range of so many, and a null, have places that a word holds. */
const CLOSE = 2 ** 31;

/** @throws LimitError when there is no memory for it */
export async function sumGroups(
  engine: CpuEngine,
  keys: RowKeys,
  columns: readonly SummedColumn[],
  call: SumCall,
  hashMask = ALL_BITS,
): Promise<SummedGroups> {
  call.signal?.throwIfAborted();
  const threads = rowThreads(engine);
  const work = threads.memory(keys.rows);
  const pace = new Pace(call, keys.rows, () => threads.guard());
  try {
    const run = new RowRun(threads, work, pace, hashMask);
    const summed = await new Summing(run, columns, call).of(keys);
    pace.finish();
    return summed;
  } finally {
    work.release();
  }
}

class Summing {
  readonly #phase: (name: string) => void;

  constructor(
    readonly run: RowRun,
    readonly columns: readonly SummedColumn[],
    readonly call: SumCall,
  ) {
    this.#phase = phaseClock(call.log);
  }

  async of(keys: RowKeys): Promise<SummedGroups> {
    const { run } = this;
    const ofStrings = (strings: RowKeys) => leadersOfStrings(run, strings);
    const close = await closeKeys(run, keys, true, CLOSE, ofStrings);
    const layout = chooseLayout(close.keys, close.keys, true);
    const side = keySide(close.keys, layout, run.work);
    this.#phase("pack keys");
    const groupOf = this.call.numbers ? run.work.words(keys.rows) : null;
    let columns = this.columns.map(
      (column): LaneColumn => (column.kind === "floats" ? { ...column, grid: null } : column),
    );
    const slices = async () => new Slices(run, side, layout, columns, groupOf).sum();
    let made = await slices();
    if (made === LOST) {
      columns = await withGrids(run, columns, keys.rows);
      made = await slices();
    }
    this.#phase("sum by slices");
    if (typeof made !== "number") {
      this.call.log?.beginChunk({
        strategy: "direct",
        reason: "a thread's groups fit the cache",
        partitions: 1,
      });
      return made;
    }
    const bits = partitionBits(keys.rows, layout);
    const reason = "a thread's groups would outgrow the cache";
    this.call.log?.beginChunk({ strategy: "partitioned", reason, partitions: 2 ** bits });
    run.pace.share = 0.5; // rows are sorted, then summed up
    return sumByPartition(run, side, layout, columns, groupOf, this.#phase);
  }
}

/** Gives floats grids, which are found by all threads. */
async function withGrids(run: RowRun, columns: readonly LaneColumn[], rows: number): Promise<LaneColumn[]> {
  const arriving = new ArrivingRows(run.work, new Scratch(run.work), 0, rows);
  const floats = columns.flatMap((column, c) => {
    if (column.kind !== "floats") return [];
    // ranges count nulls in
    const there = arrivingLanes({ ...column, validity: null }, arriving, `floats ${c}`);
    return [(there as typeof column).data];
  });
  const { bring } = arriving;
  const sliceRows = run.threads.tuning.slice;
  for (let from = 0; bring !== null && from < rows; from += sliceRows) {
    bring(from, Math.min(rows, from + sliceRows));
    await run.pace.turn();
  }
  const ranges = run.work.numbers(3 * run.slices(rows) * floats.length);
  const job: FloatRangesJob = { kind: "float ranges", columns: floats, rows, sliceRows, ranges };
  await run.share(job, rows);
  const found = foundRanges(job);
  return columns.map((column) => {
    if (column.kind !== "floats") return column;
    return { ...column, grid: gridOf(found.shift() ?? noFloats(), column.data instanceof Float32Array) };
  });
}

/** Few groups: each thread takes slices of rows. */
class Slices {
  readonly #form: GroupKeys;
  readonly #rows: number;
  readonly #stop: Int32Array;
  readonly #sets: readonly GroupSet[];

  constructor(
    readonly run: RowRun,
    readonly side: KeySide,
    readonly layout: Layout,
    readonly columns: readonly LaneColumn[],
    readonly groupOf: Uint32Array | null,
  ) {
    const { exact, width, stride } = layout;
    this.#form = { exact, hashed: false, width, stride, bytes: side.bytes };
    this.#rows = side.keys.rows;
    this.#stop = stopFlag(run);
    this.#sets = this.#newSets();
  }

  /** FULL where a thread has too many groups, LOST where floats need grids. */
  async sum(): Promise<SummedGroups | typeof FULL | typeof LOST> {
    const { run, side, layout, groupOf } = this;
    const { hashing } = run;
    const sliceRows = run.threads.tuning.slice;
    const own = { form: this.#form, sets: this.#sets, stop: this.#stop };
    await run.overChunks(this.#rows, (first, rows, scratch) => {
      for (const { state } of this.#sets) state[0] = 0;
      const arriving = new ArrivingRows(run.work, scratch, first, rows);
      const job = {
        kind: "group slices",
        ...own,
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

  /** A set for each thread, in one piece of memory. */
  #newSets(): GroupSet[] {
    const { work, threads } = this.run;
    const { stride } = new LaneSums(this.columns);
    const fitting = 2 ** Math.floor(Math.log2(SET_BYTES / 8 / Math.max(1, stride)));
    const groups = Math.min(MOST_GROUPS, Math.max(LEAST_GROUPS, fitting));
    const sumWords = 2 * groups * stride;
    const tableWords = groupWords(this.#form, groups) + 2;
    const each = sumWords + 2 * Math.ceil(tableWords / 2);
    const count = Math.min(this.run.helpers(this.#rows) + 1, threads.count);
    const all = work.zeroedWords(each * count);
    return Array.from({ length: count }, (_, set) => {
      let at = set * each + sumWords;
      const words = (length: number) => {
        at += length;
        return all.subarray(at - length, at);
      };
      return {
        memory: groupMemory(this.#form, groups, words),
        sums: new Float64Array(all.buffer, 4 * set * each, groups * stride),
        state: new Int32Array(all.buffer, 4 * at, 2),
      };
    });
  }

  async #merged(): Promise<SummedGroups | typeof LOST> {
    const { run, groupOf, columns } = this;
    const lanes = new LaneSums(columns);
    const tables = this.#sets.map(({ memory }) => new GroupTable(memory, this.#form, run.hashing));
    const total = tables.reduce((sum, table) => sum + table.groups, 0);
    const memory = groupMemory(this.#form, Math.max(1, total), (length) => new Uint32Array(length));
    const all = new GroupTable(memory, this.#form, run.hashing);
    const sums = new Float64Array(total * lanes.stride);
    const { firsts } = memory;
    // per set: the numbers of its groups among all
    const numbers = tables.map((table) => new Uint32Array(table.groups));
    for (const [s, table] of tables.entries()) {
      const known = all.groups;
      all.find(keysOf(table), 0, table.groups, 0, numbers[s]);
      for (const [group, id] of numbers[s].entries()) {
        const row = table.memory.firsts[group];
        firsts[id] = id < known ? Math.min(firsts[id], row) : row;
      }
      lanes.carry(this.#sets[s].sums, table.groups);
      lanes.merge(this.#sets[s].sums, numbers[s], sums);
    }
    if (lanes.lost) return LOST;
    const { groups } = all;
    const order = Uint32Array.from({ length: groups }, (_, group) => group).sort(
      (a, b) => firsts[a] - firsts[b],
    );
    const rank = new Uint32Array(groups);
    for (let i = 0; i < groups; i++) rank[order[i]] = i;
    const split = Array.from({ length: lanes.stride }, (_, lane) =>
      Float64Array.from(order, (group) => sums[group * lanes.stride + lane]),
    );
    if (groupOf !== null) {
      const { room } = tables[0];
      const map = run.work.words(room * tables.length);
      for (const [s, ids] of numbers.entries())
        for (const [group, id] of ids.entries()) map[s * room + group] = rank[id];
      await renumber(run, groupOf, map);
    }
    return {
      firsts: Uint32Array.from(order, (group) => firsts[group]),
      groupOf: groupOf?.slice() ?? null,
      columns: sumsOfLanes(columns, split),
    };
  }
}

function renumber(run: RowRun, groupOf: Uint32Array, numbers: Uint32Array): Promise<unknown> {
  const sliceRows = run.threads.tuning.slice;
  return run.share({ kind: "renumber", groupOf, numbers, sliceRows }, groupOf.length);
}

function stopFlag(run: RowRun): Int32Array {
  return new Int32Array(run.work.zeroedWords(1).buffer, 0, 1);
}

/** Some rows of a column of values, which may be on their way into memory that all threads reach. */
function arrivingLanes(column: LaneColumn, rows: ArrivingRows, name: string): LaneColumn {
  const validity = column.validity && rows.bits(`${name} validity`, column.validity);
  if (column.kind === "rows") return { ...column, validity };
  if (column.kind === "words")
    return { ...column, data: rows.elements(name, column.data, column.width), validity };
  const { data } = column;
  const each = data.BYTES_PER_ELEMENT / 4;
  const words = new Uint32Array(data.buffer, data.byteOffset, data.length * each);
  const { buffer, byteOffset, length } = rows.elements(name, words, each);
  const Class = data.constructor as new (
    buffer: ArrayBufferLike,
    offset: number,
    length: number,
  ) => Float64Array;
  return { ...column, data: new Class(buffer, byteOffset, length / each), validity } as LaneColumn;
}

/** Room for as many values. */
function sortedLike(column: LaneColumn, rows: number, memory: RowMemory): LaneColumn {
  const validity = column.validity && memory.bytes(bitmapBytes(rows));
  if (column.kind === "rows") return { ...column, validity };
  if (column.kind === "words") return { ...column, data: memory.words(rows * column.width), validity };
  const { data } = column;
  if (data instanceof Float64Array) return { ...column, data: memory.numbers(rows), validity };
  const Class = data.constructor as new (
    buffer: ArrayBufferLike,
    offset: number,
    length: number,
  ) => Float32Array;
  return { ...column, data: new Class(memory.words(rows).buffer, 0, rows), validity };
}

/** Many groups: threads take partitions of the rows. */
async function sumByPartition(
  run: RowRun,
  side: KeySide,
  layout: Layout,
  columns: readonly LaneColumn[],
  groupOf: Uint32Array | null,
  phase: (name: string) => void,
): Promise<SummedGroups> {
  const { rows } = side.keys;
  let lanes = columns.map((column) => sortedLike(column, rows, run.work));
  const bits = partitionBits(rows, layout);
  const valuesOf = (arriving: ArrivingRows) =>
    columns.map((column, c) => ({ from: arrivingLanes(column, arriving, `values ${c}`), to: lanes[c] }));
  const keys = await sortByPartition(run, side, 0, rows, layout, bits, new Scratch(run.work), valuesOf);
  phase("sort by partition");
  const { exact, width, stride: words } = layout;
  const form = { exact, hashed: exact, width, stride: words, bytes: side.bytes };
  const { hashing } = run;
  const stop = stopFlag(run);
  const job = { kind: "group partitions", keys, form, hashing, groupOf, stop } as const;
  let results = await run.share({ ...job, columns: lanes }, rows);
  if (stop[0] === LOST) {
    lanes = await withGrids(run, lanes, rows);
    results = await run.share({ ...job, columns: lanes }, rows);
  }
  phase("sum partitions");
  const made = results.flatMap((result) => result.made).sort((a, b) => a.task - b.task);
  const firstsOf = made.map(({ buffers }) => new Uint32Array(buffers[0]));
  const ranked = rankFirsts(firstsOf, rows);
  const split: Float64Array[] = [];
  const stride = lanes.reduce((sum, column) => sum + lanesOf(column), 0);
  // floats of all magnitudes have many lanes, most of which are 0 in all groups: those are one array
  const zeros = new Float64Array(ranked.firsts.length);
  for (let lane = 0; lane < stride; lane++) {
    const isUsed = made.some(({ buffers }) => buffers[lane + 1].byteLength > 0);
    const values = isUsed ? new Float64Array(ranked.firsts.length) : zeros;
    for (const [m, { buffers }] of made.entries())
      scatter(new Float64Array(buffers[lane + 1]), ranked.ranks[m], values);
    split.push(values);
    await run.pace.turn();
  }
  if (groupOf !== null) {
    const numbers = run.work.words(rows);
    for (const [m, { task }] of made.entries()) numbers.set(ranked.ranks[m], recordsBefore(keys, task));
    await renumber(run, groupOf, numbers);
  }
  return {
    firsts: ranked.firsts,
    groupOf: groupOf?.slice() ?? null,
    columns: sumsOfLanes(lanes, split),
  };
}

function scatter(values: Float64Array, ranks: Uint32Array, to: Float64Array): void {
  for (let group = 0; group < values.length; group++) to[ranks[group]] = values[group];
}

/** Where each of some rows, all different, is among all in order; and all in order. */
function rankFirsts(
  lists: readonly Uint32Array[],
  rows: number,
): { ranks: Uint32Array[]; firsts: Uint32Array } {
  const bits = new Uint32Array((rows >>> 5) + 1);
  for (const list of lists) for (let i = 0; i < list.length; i++) bits[list[i] >>> 5] |= 1 << (list[i] & 31);
  const before = new Uint32Array(bits.length);
  let total = 0;
  for (let word = 0; word < bits.length; word++) {
    before[word] = total;
    total += bitsIn(bits[word]);
  }
  const firsts = new Uint32Array(total);
  const ranks = lists.map((list) => {
    const own = new Uint32Array(list.length);
    for (let i = 0; i < list.length; i++) {
      const row = list[i];
      const rank = before[row >>> 5] + bitsIn(bits[row >>> 5] & ~(-1 << (row & 31)));
      own[i] = rank;
      firsts[rank] = row;
    }
    return own;
  });
  return { ranks, firsts };
}

function bitsIn(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
