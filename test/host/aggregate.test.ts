// Counts and sums by group on the cpu engine: exact beside bigints, and the same on one thread, on two and on the calling thread alone,
// those of floats bit by bit; few groups, many, one large one.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type CpuEngine, openCpuEngine } from "../../src/engine/cpu/cpu-engine.js";
import { aggregate } from "../../src/host/aggregate.js";
import { type GroupTask, runTask } from "../../src/host/group-tasks.js";
import type { LaneColumn } from "../../src/host/lanes.js";
import { COLUMN_JOBS } from "../../src/host/share-columns.js";
import { floatLanes, Sums } from "../../src/relational/aggregate/sums.js";
import { countWorkers, type WorkerCount } from "../helpers/count-workers.js";

/** More than a slice has: sums are merged. */
const ROWS = 3 * 2 ** 16 + 77;
const random = (row: number) => Math.imul(row ^ (row >>> 13), 0x9e3779b1) >>> 0;
const go = async () => {};

const sumsOf = (column: LaneColumn) => ({ kind: "sums", column }) as const;

const engines: CpuEngine[] = [];
let workers: WorkerCount;
beforeAll(async () => {
  for (const threads of [1, 2]) engines.push((await openCpuEngine({ threads })) as CpuEngine);
  workers = await countWorkers(engines[1].host, COLUMN_JOBS);
});
afterAll(() => {
  workers.expectSome();
  for (const engine of engines) engine.destroy();
});

const shapes: [string, number, (row: number) => number][] = [
  ["one group", 1, () => 0],
  ["eight groups, some rows in none", 8, (row) => random(row) % 9],
  ["one group with most rows, among many", 5000, (row) => (row % 9 ? 4999 : random(row) % 5000)],
  ["as many groups as rows", ROWS, (row) => row],
];

it.each(shapes)("%s", async (_, groups, groupAt) => {
  const groupOf = Uint32Array.from({ length: ROWS }, (_, row) => groupAt(row));
  const words = Uint32Array.from({ length: 2 * ROWS }, (_, i) => random(i));
  // of every size, so that sums depend on their order where they are rounded one by one
  const floats = Float64Array.from({ length: ROWS }, (_, row) => (random(row) - 2 ** 31) * 10 ** (row % 30));
  // equal ones, of which the first is taken, and NaN
  const few = {
    kind: "numbers",
    data: Float32Array.from({ length: ROWS }, (_, row) => (random(row) % 7 ? random(row) % 50 : Number.NaN)),
  } as const;
  const starts = Uint32Array.from({ length: ROWS }, (_, row) => random(row) % 90);
  const bytes = Uint8Array.from({ length: 100 }, (_, i) => random(i) % 3);
  const strings = {
    kind: "strings",
    strings: {
      kind: "bytes",
      starts,
      ends: starts.map((start) => start + (start % 10)),
      bytes,
      validity: null,
    },
  } as const;
  const tasks: GroupTask[] = [
    { groupOf, groups, values: sumsOf({ kind: "rows", validity: null }) },
    {
      groupOf,
      groups,
      values: sumsOf({ kind: "words", data: words, width: 2, signed: true, validity: null }),
    },
    {
      groupOf,
      groups,
      values: sumsOf({
        kind: "words",
        data: words.subarray(0, ROWS),
        width: 1,
        signed: false,
        validity: null,
      }),
    },
    { groupOf, groups, values: sumsOf(floatLanes(floats, null)) },
    ...([-1, 1] as const).flatMap((sign): GroupTask[] =>
      [few, { kind: "integers", data: words, width: 2, signed: true } as const, strings].map((ordered) => ({
        groupOf,
        groups,
        values: { kind: "extremes", ordered, sign },
      })),
    ),
  ];
  const here = tasks.map((task) => bytesOf(runTask(task), groups));
  for (const engine of engines) {
    const made = await aggregate(engine.host, tasks, go);
    // compared as bytes: element by element takes seconds
    expect(made.map((states, i) => Buffer.compare(bytesOf(states, groups), here[i]))).toEqual(
      tasks.map(() => 0),
    );
    // one task alone is cut into more pieces
    for (const number of [1, 3, 6]) {
      const [alone] = await aggregate(engine.host, [tasks[number]], go);
      expect(Buffer.compare(bytesOf(alone, groups), here[number])).toBe(0);
    }
  }
  const counts = new Array<number>(groups + 1).fill(0);
  const sums = new Array<bigint>(groups + 1).fill(0n);
  const integers = new BigInt64Array(words.buffer);
  for (let row = 0; row < ROWS; row++) {
    counts[groupOf[row]]++;
    sums[groupOf[row]] += integers[row];
  }
  const [[counted], parts] = [runTask(tasks[0]), runTask(tasks[1])];
  expect(counts.findIndex((count, group) => count !== counted[group])).toBe(-1);
  const total = (group: number) =>
    parts.reduce((sum, part, k) => sum + (BigInt(part[group]) << BigInt(32 * k)), 0n);
  expect(sums.findIndex((sum, group) => sum !== total(group))).toBe(-1);
  const [least, most] = [tasks[4], tasks[8]].map((task) => runTask(task)[0]);
  const [leastRows, mostRows] = [new Float64Array(groups + 1), new Float64Array(groups + 1)];
  for (let row = 0; row < ROWS; row++) {
    const group = groupOf[row];
    // NaN as the greatest
    const value = few.data[row] || (few.data[row] === 0 ? 0 : 1e9);
    const of = (state: number) => few.data[state - 1] || (few.data[state - 1] === 0 ? 0 : 1e9);
    if (leastRows[group] === 0 || value < of(leastRows[group])) leastRows[group] = row + 1;
    const [best, integer] = [mostRows[group], integers[row]];
    if (best === 0 || integer > integers[best - 1]) mostRows[group] = row + 1;
  }
  expect(leastRows.findIndex((row, group) => group < groups && row !== least[group])).toBe(-1);
  expect(mostRows.findIndex((row, group) => group < groups && row !== most[group])).toBe(-1);
});

it("sums of floats stay exact where slices are merged", () => {
  // the last slice takes away what hides the ones of the first
  const values = Float64Array.from({ length: ROWS }, (_, row) =>
    row === 5 ? 1e100 : row === ROWS - 1 ? -1e100 : 1,
  );
  expect(Sums.ofFloats(values, new Uint32Array(ROWS), 1).toNumber(0)).toBe(ROWS - 2);
});

it("stops when it is told to, and rejects once the engine is destroyed", async () => {
  const groupOf = new Uint32Array(ROWS);
  const task: GroupTask = { groupOf, groups: 1, values: sumsOf({ kind: "rows", validity: null }) };
  const engine = (await openCpuEngine({ threads: 1 })) as CpuEngine;
  const stop = async () => {
    throw new Error("enough");
  };
  await expect(aggregate(engine.host, [task, task], stop)).rejects.toThrow("enough");
  engine.destroy();
  await expect(aggregate(engine.host, [task], go)).rejects.toThrow();
});

function bytesOf(states: readonly Float64Array[], groups: number): Buffer {
  return Buffer.concat(
    states.map((state) => {
      expect(state.length).toBe(groups + 1);
      return Buffer.from(state.buffer, state.byteOffset, state.byteLength);
    }),
  );
}
