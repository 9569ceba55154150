/** Joins on several GPUs of tables in which a few keys have very many rows, beside the same on one GPU. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Device, openDevice, type Plan } from "../../../src/index.js";
import {
  type Aggregate,
  count,
  distinct,
  first,
  groupBy,
  join,
  last,
  max,
  mean,
  min,
  sum,
} from "../../../src/relational/index.js";
import { counting } from "../../../test/conformance/helpers/keys.js";
import { covering, isLong } from "../../../test/helpers/rounds.js";
import { hotHashes, isSkewed } from "../src/several/hot-keys.js";
import { areFew } from "../src/several/local-groups.js";
import { chosenRows } from "../src/several/sample.js";
import { goesToAll } from "../src/several/shared-join.js";
import { useFaults } from "./helpers/emulator.js";
import { expectSameRows, openSeveral, restoreEngine, textsOf } from "./helpers/several.js";

const inject = useFaults();
beforeEach(() => inject("LAZY", 1));
afterEach(restoreEngine);

function open(gpus: number, peers: boolean, round: number): Promise<Device> {
  inject("DEVICES", 2);
  openSeveral(
    Array.from({ length: gpus }, (_, i) => i % 2),
    { peers, least: { round } },
  );
  return openDevice({ backend: "cuda", seed: 11 });
}

/** Numbers of GPUs, whether these reach each other, and the rows of a round, which other cases have already in other pairs. */
function inLongRuns(...cases: [gpus: number, peers: boolean, round: number][]): typeof cases {
  return isLong() ? cases : [];
}

/** Ids of which a part are hot keys, spread over all. */
function idsOf(rows: number, hot: readonly number[], part: number, seed: number): Uint32Array<ArrayBuffer> {
  let state = seed;
  return Uint32Array.from({ length: rows }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const chance = state / 2 ** 32;
    if (chance < part) return hot[Math.floor((chance / part) * hot.length)];
    return 1000 + (Math.imul(state, 2654435761) >>> 18);
  });
}

/** Several rows of the other side for each id, also for the hot ones. */
const partners = (hot: readonly number[], rows: number) =>
  Uint32Array.from({ length: rows }, (_, i) =>
    i % 900 < 3 ? hot[i % hot.length] : 1000 + ((i * 7) % 16_384),
  );

const FEW_ROUNDS = 2 ** 16;

describe.each([
  [2, false, 1500],
  [3, true, 900],
  [7, true, FEW_ROUNDS],
  ...inLongRuns([2, true, FEW_ROUNDS], [3, false, FEW_ROUNDS], [7, false, 700]),
] as const)("on %s GPUs, which reach each other: %s, in rounds of %s", (gpus, peers, round) => {
  const shapes = [
    ["left", [5], 0.6, 1],
    ["right", [5], 0.6, 1],
    ["left", [5, 6, 7], 0.9, 2],
    ["right", [0xffffffff, 0, 77, 78], 0.95, 1],
  ] as const;
  it.each(covering(shapes, (_, i) => i % 2 === Number(peers) || gpus > 3))(
    "many rows of the %s side have keys of %j: %f",
    async (side, hot, part, width) => {
      const rows = 6000;
      const [many, few] = [idsOf(rows, hot, part, gpus), partners(hot, 4000)];
      const wide = (ids: Uint32Array<ArrayBuffer>): Record<string, Uint32Array<ArrayBuffer>> =>
        width === 1 ? {} : { other: ids.map((id) => id ^ 9) };
      const large = { id: many, ...wide(many), x: Float64Array.from(many, (_, i) => i / 2) };
      const small = { id: few, ...wide(few), y: Int32Array.from(counting(few.length)) };
      const answers: string[][] = [];
      const plans: Plan[] = [];
      for (const number of [1, gpus]) {
        using device = await open(number, peers, round);
        const before = device.memory.inUse;
        {
          using a = await device.uploadTable(side === "left" ? large : small);
          using b = await device.uploadTable(side === "left" ? small : large);
          const on = width === 1 ? ["id"] : ["id", "other"];
          using joined = await join(a, b, { on, output: "device", onPlan: (plan) => plans.push(plan) });
          answers.push(textsOf(await joined.toArrow()).sort());
        }
        expect(device.memory.inUse).toBe(before);
      }
      expect(answers[1].length).toBeGreaterThan(rows);
      expectSameRows(answers[1], answers[0]);
      const [, keys] = /rows of (\d+) hot keys stayed/.exec(plans[1].reason) ?? [];
      // one GPU may own as much as its share though keys are hot
      if (hot.length === 1 || keys !== undefined) expect(Number(keys)).toBe(hot.length);
      expect(plans[0].reason).not.toContain("hot");
    },
  );
});

it("plans have the phases of the GPU that has the rows, whichever that is", async () => {
  using device = await open(2, true, 2 ** 16);
  for (let id = 0; id < 8; id++) {
    using table = await device.uploadTable({ id: Uint32Array.of(id, id), x: counting(2) });
    const plans: Plan[] = [];
    const options = { output: "device", onPlan: (plan: Plan) => plans.push(plan) } as const;
    using _groups = await groupBy(table, { by: ["id"], aggregate: { n: mean("x") }, ...options });
    using _rows = await distinct(table, { on: ["id"], ...options });
    using _pairs = await join(table, table, { on: ["id"], ...options });
    expect(plans).toHaveLength(3);
    for (const { reason } of plans) expect(reason).not.toContain("nothing to do");
  }
});

it("rows of hot keys stay where they are: fewer are moved than by their owners", async () => {
  const moved: number[] = [];
  for (const part of [0, 0.8]) {
    using device = await open(2, true, 2 ** 16);
    using a = await device.uploadTable({ id: idsOf(20_000, [5], part, 3), x: counting(20_000) });
    using b = await device.uploadTable({ id: partners([5], 5000), y: counting(5000) });
    const plans: Plan[] = [];
    using joined = await join(a, b, { on: ["id"], output: "device", onPlan: (plan) => plans.push(plan) });
    expect(joined.numRows).toBeGreaterThan(0);
    const [, went] = /(\d+) of 25000 rows went to another of 2 GPUs/.exec(plans[0].reason) ?? [];
    moved.push(Number(went));
    expect(plans[0].reason.includes("rows of 1 hot keys stayed")).toBe(part > 0);
  }
  expect(moved[0]).toBeGreaterThan(12_000);
  expect(moved[1]).toBeLessThan(0.2 * 10_000 + 2500 + 1000);
});

describe.each([
  [2, true, FEW_ROUNDS],
  [3, true, 50],
  [7, false, FEW_ROUNDS],
  ...inLongRuns([2, false, 50], [3, false, FEW_ROUNDS], [7, true, 25]),
] as const)("groups on %s GPUs, which reach each other: %s, in rounds of %s", (gpus, peers, round) => {
  const shapes = [
    ["few groups", [1, 2, 3], 0.995, true],
    ["one group that most rows are of", [7], 0.995, true],
    ["a group for nearly each row", [7], 0.001, false],
  ] as const;
  it.each(covering(shapes, (_, i) => i !== gpus % 3))(
    "of rows that have %s are those of one GPU",
    async (_, hot, part, isLocal) => {
      const rows = 5000 + gpus;
      const ids = idsOf(rows, hot, part, 5 + gpus);
      const table = {
        id: ids,
        other: ids.map((id) => id % 3),
        plus: Uint32Array.from(ids, (_, i) => 2 ** 32 - 1 - (i % 1000)),
        minus: Int32Array.from(ids, (_, i) => ((i * 7919) % 4001) * (i % 2 ? -1 : 1) * 500_000),
        half: Float64Array.from(ids, (_, i) => ((i * 31) % 977) / 2 - 200),
        gaps: Array.from(ids, (_, i) => (i % 3 ? i % 101 : null)),
        short: Int16Array.from(ids, (_, i) => ((i * 7919) % 30_001) - 15_000),
        name: Array.from(ids, (_, i) => `row ${i}`),
      };
      const aggregate = {
        rows: count(),
        all: sum("plus"),
        small: sum("minus"),
        least: min("minus"),
        most: max("half"),
        from: first("half"),
        to: last("plus"),
      };
      const exact = { ...aggregate, middle: mean("half") };
      // rows with nulls and of small integers are the first GPU's; of strings, their numbers are grouped
      const others: Record<string, Aggregate>[] = [
        { rows: count(), there: count("gaps"), least: min("gaps"), from: first("gaps"), to: last("gaps") },
        { rows: count(), most: max("short") },
        { rows: count(), from: first("name"), all: sum("plus") },
      ];
      const answers: string[][] = [];
      const plans: Plan[] = [];
      for (const number of [1, gpus]) {
        using device = await open(number, peers, round);
        const before = device.memory.inUse;
        {
          using there = await device.uploadTable(table);
          for (const by of [["id"], ["other", "id"]]) {
            for (const asked of [aggregate, exact, ...others]) {
              const onPlan = (plan: Plan) => plans.push(plan);
              using grouped = await groupBy(there, { by, aggregate: asked, output: "device", onPlan });
              answers.push(textsOf(await grouped.toArrow()));
            }
          }
        }
        expect(device.memory.inUse).toBe(before);
      }
      for (const [i, expected] of answers.slice(0, 10).entries()) expectSameRows(answers[10 + i], expected);
      const reasons = plans.slice(10).map(({ reason }) => reason);
      const wereLocal = reasons.map((reason) => reason.includes("grouped where they are first"));
      const local = [isLocal, false, false, false, isLocal];
      expect(wereLocal).toEqual([...local, ...local]);
      const wereShared = reasons.map((reason) => /(rows|groups) went to another of/.test(reason));
      const shared = [true, true, false, false, true];
      expect(wereShared).toEqual([...shared, ...shared]);
    },
  );
});

it.each([
  ["two rows a group", 2, false],
  ["a hundred rows a group", 100, true],
] as const)("sorted tables of %s are grouped as one GPU does", async (_, each, isLocal) => {
  const id = counting(60_000).map((i) => Math.floor(i / each));
  const answers: string[][] = [];
  const plans: Plan[] = [];
  for (const gpus of [1, 3]) {
    using device = await open(gpus, true, 2 ** 16);
    using there = await device.uploadTable({ id, x: counting(60_000) });
    const aggregate = { rows: count(), all: sum("x") };
    const onPlan = (plan: Plan) => plans.push(plan);
    using grouped = await groupBy(there, { by: ["id"], aggregate, output: "device", onPlan });
    answers.push(textsOf(await grouped.toArrow()));
  }
  expectSameRows(answers[1], answers[0]);
  expect(plans[1].reason.includes("grouped where they are first")).toBe(isLocal);
});

it.each([
  ["few", 300, true],
  ["as many as half of the rows", 2 ** 17, false],
] as const)("of large pieces GPUs tell whether groups are few: %s", async (_, groups, isLocal) => {
  const rows = 2 ** 18 + 5;
  const id = counting(rows).map((i) => Math.imul(i % groups, 0x9e3779b1));
  const answers: string[][] = [];
  const plans: Plan[] = [];
  for (const gpus of [[0], [0, 1]]) {
    inject("DEVICES", 2);
    const tuning = { fewGroupSlots: 64, manyGroups: { leastRows: 1024, leastGroups: 1024 } };
    openSeveral(gpus, { tuning, least: { surveyed: 1024 } });
    using device = await openDevice({ backend: "cuda", seed: 11 });
    const before = device.memory.inUse;
    {
      using there = await device.uploadTable({ id, x: counting(rows) });
      const aggregate = { rows: count(), all: sum("x") };
      const onPlan = (plan: Plan) => plans.push(plan);
      using grouped = await groupBy(there, { by: ["id"], aggregate, output: "device", onPlan });
      answers.push(textsOf(await grouped.toArrow()));
    }
    expect(device.memory.inUse).toBe(before);
  }
  expectSameRows(answers[1], answers[0]);
  expect(plans[1].reason.includes("grouped where they are first")).toBe(isLocal);
  expect(/rows went to another of 2 GPUs/.test(plans[1].reason)).toBe(!isLocal);
});

it("64 GPUs join by a key that most rows of a side have", async () => {
  const large = { id: idsOf(20_000, [5], 0.6, 3), x: counting(20_000) };
  const small = { id: partners([5], 4000), y: counting(4000) };
  const answers: string[][] = [];
  const plans: Plan[] = [];
  for (const gpus of [1, 64]) {
    using device = await open(gpus, true, 256);
    using a = await device.uploadTable(large);
    using b = await device.uploadTable(small);
    using joined = await join(a, b, {
      on: ["id"],
      output: "device",
      onPlan: (plan) => plans.push(plan),
    });
    answers.push(textsOf(await joined.toArrow()).sort());
  }
  expectSameRows(answers[1], answers[0]);
  expect(plans[1].reason).toMatch(/of 24000 rows went to another of 64 GPUs.*rows of 1 hot keys stayed/);
});

describe("samples", () => {
  const rows = 2 ** 22;
  const mixed = (i: number) => Math.imul(i ^ (i >>> 15), 0x2c1b3c6d) >>> 0;
  it.each([
    ["sorted, two rows a group", (i: number) => i >>> 1, false],
    ["clusters of two rows", (i: number) => mixed(i >>> 1), false],
    ["two rows a group, anywhere", (i: number) => (i * 0x9e3779b1) % (rows / 2), false],
    ["sorted, a group for each row", (i: number) => i, false],
    ["sorted, a hundred rows a group", (i: number) => Math.floor(i / 100), true],
    ["sorted, 256 groups", (i: number) => i >>> 14, true],
    ["clusters of 64 rows, 1000 groups", (i: number) => mixed(i >>> 6) % 1000, true],
    ["256 groups, one after another", (i: number) => i % 256, true],
    ["a thousand groups, anywhere", (i: number) => mixed(i) % 1000, true],
  ] as const)("tell whether groups are few, of tables of any order: %s", (_, groupOf, expected) => {
    expect(areFew(chosenRows(rows).map(groupOf), rows)).toBe(expected);
  });

  it("are of all rows, or of some by chance", () => {
    expect(chosenRows(5)).toEqual(counting(5));
    for (const count of [4097, 5000, 2 ** 31]) {
      const chosen = chosenRows(count, 4096, 3);
      expect(chosen.length).toBe(4096);
      expect(chosen.every((row) => row < count)).toBe(true);
      expect(new Set(chosen).size).toBeGreaterThan(2500);
    }
  });
});

it("groups are few where a sample has many of them twice, and rows are many more", () => {
  const sample = (groups: number, length = 8192) => {
    let state = 9;
    return Uint32Array.from({ length }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * groups);
    });
  };
  expect(areFew(sample(2 ** 20), 2 ** 27)).toBe(true);
  expect(areFew(sample(2 ** 20), 2 ** 20)).toBe(false);
  expect(areFew(counting(8192), 2 ** 40)).toBe(false);
  expect(areFew(new Uint32Array(8192), 50)).toBe(true);
});

it("sides of joins go to all GPUs where they are small, or a small part in one round", () => {
  const [small, large] = [2 ** 24, 2 ** 29];
  expect(goesToAll(small, small, 2, 8)).toBe(true);
  expect(goesToAll(large / 4, large, 2, 1)).toBe(true);
  expect(goesToAll(large / 4 + 4, large, 2, 1)).toBe(false);
  expect(goesToAll(large / 4, large, 4, 1)).toBe(false);
  expect(goesToAll(large / 4, large, 2, 2)).toBe(false);
});

describe("hot keys", () => {
  it("are looked for where one GPU owns much more than its share", () => {
    expect(isSkewed([100, 120])).toBe(false);
    expect(isSkewed([100, 180])).toBe(true);
    expect(isSkewed([10, 10, 10, 14])).toBe(true);
    expect(isSkewed([0, 0])).toBe(false);
  });

  it("are those of many rows of a sample; the side with more of them keeps its rows", () => {
    const sample = (counts: readonly (readonly [hash: number, count: number])[]) =>
      Uint32Array.from(counts.flatMap(([hash, count]) => new Array(count).fill(hash)));
    const rare = Array.from({ length: 900 }, (_, i) => [i + 10, 1] as const);
    const left = { rows: 1e6, sample: sample([[1, 500], [2, 70], [3, 5], ...rare]) };
    const right = { rows: 1e4, sample: sample([[1, 300], [4, 200], ...rare]) };
    const [ofLeft, ofRight] = hotHashes([left, right], 2) ?? [];
    expect(ofLeft).toEqual({ hashes: Uint32Array.of(1, 4), staying: 1 });
    expect(ofRight).toEqual({ hashes: Uint32Array.of(4, 1), staying: 1 });
    // of more GPUs a key is hot with fewer rows
    expect([...(hotHashes([left, right], 8)?.[0].hashes ?? [])].sort()).toEqual([1, 2, 4]);
    expect(hotHashes([{ rows: 1e6, sample: sample(rare) }, right], 2)?.[1].staying).toBe(2);
    expect(
      hotHashes(
        [
          { rows: 1e6, sample: sample(rare) },
          { rows: 9, sample: sample([[3, 7]]) },
        ],
        2,
      ),
    ).toBeNull();
  });
});
