/**
 * Rounds of several GPUs that overlap: exchanges by streams of their own, beside the work on what was exchanged before.
 * The stand-in runs the commands of a stream only when somebody waits for them, so that what is not ordered goes wrong.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type DeviceArray, type JoinedSide, type RowOperations, Scratch } from "warpmap/engine";
import {
  type Device,
  DeviceLostError,
  DynamicMap,
  LimitError,
  openDevice,
  type Plan,
  StaticMap,
} from "../../../src/index.js";
import { count, dropDuplicates, groupBy, join, max, mean, sum } from "../../../src/relational/index.js";
import { expectSame, rejection } from "../../../test/conformance/helpers/checks.js";
import { counting, uniqueKeys } from "../../../test/conformance/helpers/keys.js";
import { isLong } from "../../../test/helpers/rounds.js";
import { tableArguments } from "../src/device.js";
import { CudaRuntime } from "../src/runtime/cuda-runtime.js";
import { cutSpans, piecesOf } from "../src/several/pieces.js";
import { Columns } from "../src/several/results.js";
import { useFaults } from "./helpers/emulator.js";
import { expectSameRows, openSeveral, restoreEngine, textsOf } from "./helpers/several.js";

const inject = useFaults();
beforeEach(() => inject("LAZY", 1));
afterEach(restoreEngine);

/** Numbers below a bound, of a seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** @param gpus which may be of two kinds @param round elements of a GPU in a round */
function openRounds(gpus: number, peers: boolean, round = 1024): Promise<Device> {
  inject("DEVICES", 2);
  openSeveral(
    Array.from({ length: gpus }, (_, i) => i % 2),
    { peers, least: { round } },
  );
  return openDevice({ backend: "cuda", seed: 7 });
}

/** Each number of GPUs, and both ways between them; in long runs each with each. */
const cases = isLong()
  ? [2, 3, 7].flatMap((gpus) => [true, false].map((peers) => [gpus, peers] as const))
  : ([
      [2, true],
      [3, false],
      [7, true],
    ] as const);

describe.each(cases)("on %s GPUs, which reach each other: %s", (gpus, peers) => {
  it("calls in many rounds answer as a Map does", async () => {
    const random = randomOf(gpus + Number(peers));
    using device = await openRounds(gpus, peers, 512);
    const before = device.memory.inUse;
    {
      await using map = await DynamicMap.create(device, { key: "u32", value: ["u32", "f64"], capacity: 100 });
      const model = new Map<number, number>();
      for (let step = 0; step < 6; step++) {
        const length = random(5000);
        const keys = uniqueKeys(length, random(3000));
        const where = Uint8Array.from({ length }, () => random(4));
        const numbers = counting(length, step * 1e6);
        const halves = Float64Array.from(numbers, (n) => n / 2);
        const selected = keys.filter((_, i) => where[i]);
        const pinned = await device.pinned("u32", length, "upload");
        pinned.array.set(keys);
        const onDevice = await Promise.all([device.upload(keys), device.upload(where)]);
        const [k, w] = [[keys, where], onDevice, [pinned, where]][step % 3] as [Uint32Array, Uint8Array];
        if (step % 4 === 3) {
          const erased = selected.filter((key) => model.delete(key)).length;
          expect(await map.erase(k, { mask: w })).toEqual({ erased });
        } else if (step % 4 === 2) {
          const fresh = keys.filter((key, i) => where[i] && !model.has(key));
          const answer = await map.insertAndFind(k, [numbers, halves], { mask: w });
          expect(answer.inserted).toBe(fresh.length);
          for (const [i, key] of keys.entries()) if (where[i] && !model.has(key)) model.set(key, numbers[i]);
          const isAsked = (_: number, i: number) => where[i] !== 0;
          expectSame(
            answer.values[0].filter(isAsked),
            selected.map((key) => model.get(key) as number),
          );
        } else {
          await map.insertOrAssign(k, [numbers, halves], { mask: w });
          for (const [i, key] of keys.entries()) if (where[i]) model.set(key, numbers[i]);
        }
        expect(map.size).toBe(model.size);
        const asked = uniqueKeys(5000);
        const expected = asked.map((key) => model.get(key) ?? 7);
        const { values, found } = await map.find(asked, { missing: [7, 3.5] });
        expectSame(values[0], expected);
        expectSame(
          found,
          Uint8Array.from(asked, (key) => Number(model.has(key))),
        );
        using there = await device.upload(asked);
        const answers = await map.find(there, { missing: [7, 3.5], output: "device" });
        expectSame(await answers.values[0].read(), expected);
        expectSame(
          await answers.values[1].read(),
          Float64Array.from(expected, (n) => n / 2),
        );
        for (const array of [...answers.values, answers.found, ...onDevice, pinned]) array.destroy();
      }
    }
    expect(device.memory.inUse).toBe(before);
  });

  it("joins, group-bys and distincts in many chunks answer as one GPU does", async () => {
    const random = randomOf(100 + gpus);
    const rows = 12_000 + random(9000);
    const left = {
      id: counting(rows).map(() => random(5000)),
      weight: Float64Array.from({ length: rows }, () => random(1e6) / 3),
      part: Int32Array.from({ length: rows }, () => random(1e6) - 5e5),
    };
    const right = { id: counting(7000).map((i) => (i * 3) % 9001), place: Int32Array.from(counting(7000)) };
    const answers: string[][] = [];
    const plans: Plan[] = [];
    for (const several of [false, true]) {
      using device = await openRounds(several ? gpus : 1, peers, 900);
      const before = device.memory.inUse;
      const onPlan = (plan: Plan) => plans.push(plan);
      {
        using a = await device.uploadTable(left);
        using b = await device.uploadTable(right);
        using joined = await join(a, b, { on: ["id"], output: "device", onPlan });
        const aggregate = { rows: count(), total: sum("weight"), middle: mean("part"), most: max("part") };
        using grouped = await groupBy(a, { by: ["id"], aggregate, output: "device", onPlan });
        using kept = await dropDuplicates(a, { on: ["id"], keep: "last", output: "device", onPlan });
        // of a table that lies in pieces of any lengths
        const ofJoined = { middle: mean("weight"), most: max("place") };
        using again = await groupBy(joined, { by: ["id"], aggregate: ofJoined, output: "device" });
        for (const table of [joined, again]) answers.push(textsOf(await table.toArrow()).sort());
        for (const table of [grouped, kept]) answers.push(textsOf(await table.toArrow()));
      }
      expect(device.memory.inUse).toBe(before);
    }
    for (const [i, expected] of answers.slice(0, 4).entries()) expectSameRows(answers[4 + i], expected);
    const chunks = (of: number) => Math.min(8, Math.floor(65 / (gpus + 1)), Math.ceil(of / gpus / 900));
    const reason = (of: number) =>
      new RegExp(
        `of ${of} rows went to another of ${gpus} GPUs in ${chunks(of)} rounds, each while the one before it was worked on`,
      );
    expect(plans[3].reason).toMatch(reason(rows + 7000));
    expect(plans[4].reason).toMatch(reason(rows));
    expect(plans[5].reason).toMatch(reason(rows));
  });

  it("an abort in the middle leaves a table valid, and gives the memory back", async () => {
    using device = await openRounds(gpus, peers);
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 90_000 });
    const [keys, values] = [uniqueKeys(60_000), counting(60_000)];
    const before = device.memory.inUse;
    const abort = new AbortController();
    const told: number[] = [];
    const call = map.insert(keys, values, {
      signal: abort.signal,
      onProgress(done) {
        told.push(done);
        if (told.length === 2) abort.abort(new Error("enough"));
      },
    });
    await expect(call).rejects.toThrow("enough");
    expect(told.every((done, i) => i === 0 || done > told[i - 1])).toBe(true);
    const { size } = map;
    expect(size).toBeGreaterThanOrEqual(told.at(-1) as number);
    expect(size).toBeLessThan(60_000);
    expect(device.memory.inUse).toBe(before);
    const { found } = await map.find(keys);
    expect(found.reduce((sum, flag) => sum + flag, 0)).toBe(size);
    expect((await map.insert(keys, values)).inserted).toBe(60_000 - size);
    expectSame((await map.find(keys)).values, values);
  });
});

describe("joined columns", () => {
  const keysOf = (data: DeviceArray<"u32">): JoinedSide => ({
    keys: { rows: data.length, columns: [{ kind: "device words", width: 1, data, validity: null }] },
    columns: [{ values: { kind: "fixed", width: 4, data }, validity: null }],
  });
  type Join = NonNullable<RowOperations["joinColumns"]>;
  async function joining(ids: Uint32Array, others: Uint32Array) {
    const device = await openRounds(3, true, 500);
    const [left, right] = [
      await device.upload(Uint32Array.from(ids)),
      await device.upload(Uint32Array.from(others)),
    ];
    const { joinColumns } = await device.engine.rows();
    const join = (mostPairs: number) =>
      (joinColumns as Join)(keysOf(left as never), keysOf(right as never), { mostPairs });
    return { device, join };
  }

  it("have pieces in the order of the GPUs, however many rounds", async () => {
    const ids = counting(9000);
    const { device, join } = await joining(ids, ids);
    const [column] = (await join(1e6))?.left ?? [];
    const { data } = column.values as { data: DeviceArray<"u32"> };
    const gpus = piecesOf(data).map(({ gpu }) => gpu);
    expect(gpus.length).toBeGreaterThan(3 * 4);
    expect(gpus).toEqual([...gpus].sort());
    expect((await data.read()).sort()).toEqual(ids);
    device.destroy();
  });

  it("of too many rows are a LimitError, with the round that makes them too many", async () => {
    const ids = counting(9000);
    const twice = Uint32Array.from({ length: 18_000 }, (_, i) => i >>> 1);
    const { device, join } = await joining(ids, twice);
    const before = device.memory.inUse;
    const error = await rejection(join(6000) as Promise<unknown>, LimitError);
    expect(error).toMatchObject({ limit: "rows", have: 6000 });
    expect(error.need).toBeGreaterThan(6000);
    expect(error.need).toBeLessThan(9000);
    expect(device.memory.inUse).toBe(before);
    device.destroy();
  });
});

describe("rounds", () => {
  it.each([
    ["the last of 7", 7, false],
    ["the second of 7, with an abort", 2, true],
  ])(
    "that fail while results go back leave memory that others may write: %s",
    async (_, round, isAborted) => {
      using device = await openRounds(3, true);
      using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 30_000 });
      const [keys, values] = [uniqueKeys(20_000), counting(20_000)];
      await map.insert(keys, values);
      using there = await device.upload(keys);
      const { bringBack } = Columns.prototype;
      const spy = vi.spyOn(Columns.prototype, "bringBack");
      spy.mockImplementation(async function (this: Columns, ...args) {
        await bringBack.apply(this, args);
        if (spy.mock.calls.length === round) throw new Error("half-way");
      });
      const abort = new AbortController();
      let told = 0;
      const onProgress = () => isAborted && ++told === round && abort.abort(new Error("half-way"));
      const call = map.find(there, { output: "device", signal: abort.signal, onProgress });
      await expect(call).rejects.toThrow("half-way");
      expect(spy).toHaveBeenCalledTimes(round);
      spy.mockRestore();
      const uploads = await Promise.all([1, 2, 3].map((n) => device.upload(counting(20_000, n * 1e6))));
      // what the GPUs' own streams do is done before what other streams may have left
      await Promise.all(uploads.map((array) => array.read()));
      const { values: found } = await map.find(there, { output: "device" });
      expectSame(await found.read(), values);
      for (const [i, array] of uploads.entries())
        expectSame(await array.read(), counting(20_000, (i + 1) * 1e6));
    },
  );

  it("are of about as many elements, and cover a batch", () => {
    const spans = [
      { gpu: 0, first: 0, count: 5000 },
      { gpu: 1, first: 5000, count: 2 ** 32 },
    ];
    for (const most of [2 ** 25, 2 ** 31 + 1, Number.POSITIVE_INFINITY]) {
      const rounds = cutSpans(spans, most);
      const ofLast = rounds.map((round) => round.at(-1)?.count as number);
      expect(Math.max(...ofLast)).toBeLessThanOrEqual(most);
      expect(ofLast.reduce((all, each) => all + each, 0)).toBe(2 ** 32);
      expect(rounds.length).toBe(Math.max(1, Math.ceil(2 ** 32 / most)));
      expect(rounds[0][0]).toEqual(spans[0]);
    }
    expect(cutSpans([], 5)).toEqual([]);
    expect(cutSpans([{ gpu: 0, first: 0, count: 0 }], 5)).toEqual([]);
  });

  it("are one for small batches, which no other stream takes part in", async () => {
    using device = await openRounds(2, true);
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 9000 });
    const plans: Plan[] = [];
    const onPlan = (plan: Plan) => plans.push(plan);
    await map.insert(uniqueKeys(2000), counting(2000), { onPlan });
    await map.insert(uniqueKeys(5000), counting(5000), { onPlan });
    expect(plans.map(({ reason }) => /\d+ of \d+ elements.*$/.exec(reason)?.[0])).toEqual([
      expect.stringMatching(/^\d+ of 2000 elements went to another of 2 GPUs$/),
      expect.stringMatching(
        /^\d+ of 5000 elements went to another of 2 GPUs in 3 rounds, each while the one before it was worked on$/,
      ),
    ]);
    expect(plans[1].phases.map(({ name }) => name)).toContain("exchange");
  });

  it("of the host come up while the ones before them are exchanged", async () => {
    using device = await openRounds(2, true);
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 9000 });
    using pinned = await device.pinned("u32", 6000, "upload");
    pinned.array.set(uniqueKeys(6000));
    const begin = vi.spyOn(CudaRuntime.prototype, "begin");
    try {
      await map.insert(pinned, pinned);
      const labels = begin.mock.calls.map(([label]) => label);
      const steps = labels.filter((label) => label === "pinned" || label === "exchange");
      // a copy for each of two GPUs: those of two rounds come before anything is sent
      expect(steps.indexOf("exchange")).toBe(4);
      expect(steps.filter((label) => label === "pinned")).toHaveLength(6);
    } finally {
      begin.mockRestore();
    }
  });

  it("read what users' kernels wrote by a stream of theirs before the call", async () => {
    inject("DEVICES", 2);
    openSeveral([0, 1], { least: { round: 1024, slots: 5000, bytes: 2 ** 20 } });
    using device = await openDevice({ backend: "cuda", seed: 7 });
    using small = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 100 });
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 20_000 });
    using source = await device.upload(uniqueKeys(6000, 50_000));
    using target = await device.upload(uniqueKeys(6000));
    const [from, to] = [source, target].map(({ pointer }) => Number(pointer));
    expect((await map.insert(target, target)).inserted).toBe(6000);
    const { engines } = device.engine as unknown as { engines: { gpu: CudaRuntime }[] };
    const { api } = engines[0].gpu.context;
    expect(api.cuMemcpyAsync(to, from, 24_000, tableArguments(small as never).stream as never)).toBe(0);
    expect((await map.insert(target, target)).inserted).toBe(6000);
  });

  it("that find no memory ahead of their turn get it then", async () => {
    using device = await openRounds(2, true);
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 9000 });
    const { input } = Scratch.prototype;
    const refused: unknown[] = [];
    const spy = vi.spyOn(Scratch.prototype, "input").mockImplementation(async function (
      this: Scratch,
      ...args
    ) {
      if (this.ahead === undefined) return input.apply(this, args) as never;
      refused.push(args);
      throw new LimitError("memory", 1, 0, "Wait.");
    });
    try {
      expect((await map.insert(uniqueKeys(6000), counting(6000))).inserted).toBe(6000);
      expect(refused.length).toBeGreaterThan(0);
    } finally {
      spy.mockRestore();
    }
    expectSame((await map.find(uniqueKeys(6000))).values, counting(6000));
  });

  it("begin to bring results back while those before them are on their way", async () => {
    using device = await openRounds(2, true);
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 9000 });
    await map.insert(uniqueKeys(6000), counting(6000));
    const { bringBack } = Columns.prototype;
    const spy = vi.spyOn(Columns.prototype, "bringBack");
    const begun = () => spy.mock.calls.length;
    spy.mockImplementation(async function (this: Columns, ...args) {
      const own = begun();
      await bringBack.apply(this, args);
      if (own === 1) await vi.waitFor(() => expect(begun()).toBeGreaterThan(1));
    });
    try {
      expectSame((await map.find(uniqueKeys(6000))).values, counting(6000));
    } finally {
      spy.mockRestore();
    }
  });

  it.each([
    [true, 42],
    [false, 58],
  ])("hold what came up until it is exchanged, with peers: %s", async (peers, most) => {
    const round = 2 ** 15;
    using device = await openRounds(2, peers, round);
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 2 ** 19 });
    const { inUse } = device.memory;
    await map.insert(uniqueKeys(2 ** 19), counting(2 ** 19));
    // bytes of an element of a round
    expect((device.memory.peak - inUse) / (2 * round)).toBeLessThan(most);
  });

  it("whose streams cannot all be made leave none behind, and the next call makes them", async () => {
    using device = await openRounds(3, true);
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 30_000 });
    const { lane } = CudaRuntime.prototype;
    const made: CudaRuntime[] = [];
    const spy = vi.spyOn(CudaRuntime.prototype, "lane").mockImplementation(function (this: CudaRuntime) {
      if (made.length === 2) throw new Error("no stream");
      made.push(lane.apply(this));
      return made[made.length - 1];
    });
    await expect(map.insert(uniqueKeys(20_000), counting(20_000))).rejects.toThrow("no stream");
    spy.mockRestore();
    expect(made.map(({ context }) => context.isLost)).toEqual([true, true]);
    expect((await map.insert(uniqueKeys(20_000), counting(20_000))).inserted).toBe(20_000);
  });

  it("count in the peak of memory, also in memory that their streams keep", async () => {
    inject("LAZY", 0);
    const device = await openDevice({ backend: "cuda", gpu: 0 });
    const runtime = (device.engine as unknown as { gpu: CudaRuntime }).gpu;
    const lane = runtime.lane();
    lane.memory.release(await lane.memory.acquire("rounds", { bytes: 2 ** 20 }));
    const others = await runtime.memory.acquire("others", { bytes: 2 ** 21 });
    const kept = await lane.memory.acquire("rounds", { bytes: 2 ** 20 });
    expect(runtime.memory.use.kept).toBe(0);
    expect(runtime.memory.use.peak).toBe(runtime.memory.use.inUse);
    lane.memory.release(kept);
    runtime.memory.release(others);
    lane.destroy();
    device.destroy();
  });

  it("end with a GPU that is lost in the middle, and the device with them", async () => {
    const device = await openRounds(3, true);
    const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 90_000 });
    await map.insert(uniqueKeys(9000), counting(9000));
    inject("FAULT", 40);
    await rejection(map.insert(uniqueKeys(60_000), counting(60_000)), DeviceLostError);
    await rejection(map.find(uniqueKeys(5)), DeviceLostError);
    map.destroy();
    device.destroy();
  });

  it("that run out of memory in the middle are a LimitError, and leave what was done", async () => {
    using device = await openRounds(2, false);
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 90_000 });
    const [keys, values] = [uniqueKeys(60_000), counting(60_000)];
    const before = device.memory.inUse;
    let refused = 0;
    for (let more = 2 ** 14; refused === 0 || map.size < 60_000; more *= 2) {
      device.trim();
      inject("MEMORY", device.memory.held + more);
      const error = await map.insert(keys, values).catch((error: unknown) => error);
      inject("MEMORY", 2 ** 32);
      if (error instanceof LimitError) refused++;
      else expect(error).toMatchObject({ inserted: expect.any(Number) });
      expect(device.memory.inUse).toBe(before);
      const { found } = await map.find(keys);
      expect(found.reduce((sum, flag) => sum + flag, 0)).toBe(map.size);
      if (more > 2 ** 24) break;
    }
    expect(refused).toBeGreaterThan(0);
    expectSame((await map.find(keys)).values, values);
  });
});

describe("joins of one round", () => {
  const sides = (rows: number, others: number): Record<string, Uint32Array | Int32Array>[] => [
    { id: uniqueKeys(rows, 100), left: Int32Array.from(counting(rows)) },
    { id: uniqueKeys(others, 300), right: Int32Array.from(counting(others, 7)) },
  ];
  /** Devices whose GPUs split sides by their keys; on as many GPUs as are given. */
  function openSplitting(...gpus: number[]): Promise<Device> {
    inject("DEVICES", 2);
    const least = { round: 2 ** 16 };
    openSeveral(gpus, { least, tuning: { partedJoin: { leastRows: 0, narrow: false } } });
    return openDevice({ backend: "cuda", seed: 7 });
  }
  async function joined(device: Device, [a, b]: ReturnType<typeof sides>): Promise<string[]> {
    using left = await device.uploadTable(a);
    using right = await device.uploadTable(b);
    const plans: Plan[] = [];
    using table = await join(left, right, {
      on: ["id"],
      output: "device",
      onPlan: (plan) => plans.push(plan),
    });
    // rows that had not come would look uneven, and be matched another way
    expect(JSON.stringify(plans)).toContain("both sides are split by their keys");
    return textsOf(await table.toArrow()).sort();
  }

  it.each([
    [7000, 5000],
    [5000, 7000],
    [6000, 6000],
  ])("answer as one GPU does while the other side comes: %s rows with %s", async (rows, others) => {
    const answers: string[][] = [];
    for (const gpus of [[0], [0, 1], [0, 1, 0]]) {
      using device = await openSplitting(...gpus);
      const before = device.memory.inUse;
      answers.push(await joined(device, sides(rows, others)));
      expect(device.memory.inUse).toBe(before);
    }
    for (const answer of answers.slice(1)) expectSameRows(answer, answers[0]);
    expect(answers[0].length).toBeGreaterThan(1000);
  });

  it("give their memory back wherever it runs out", async () => {
    using device = await openSplitting(0, 1);
    const [a, b] = sides(7000, 5000);
    using left = await device.uploadTable(a);
    using right = await device.uploadTable(b);
    const before = device.memory.inUse;
    let [refused, answered] = [0, 0];
    for (let more = 2 ** 10; answered === 0; more *= 1.3) {
      device.trim();
      inject("MEMORY", device.memory.held + more);
      const table = await join(left, right, { on: ["id"], output: "device" }).catch(
        (error: unknown) => error,
      );
      inject("MEMORY", 2 ** 32);
      if (table instanceof LimitError) refused++;
      else {
        answered++;
        (table as Disposable)[Symbol.dispose]();
      }
      expect(device.memory.inUse).toBe(before);
    }
    expect(refused).toBeGreaterThan(5);
  });
});
