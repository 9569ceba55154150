/** Several GPUs behind one device: what is shared and how, faults, and answers beside a Map and beside one GPU. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  CapacityError,
  type Device,
  DeviceLostError,
  DynamicMap,
  LimitError,
  openDevice,
  type Plan,
  StaticMap,
  StaticMultimap,
  ValidationError,
} from "../../../src/index.js";
import { count, dropDuplicates, groupBy, join, max, mean, sum } from "../../../src/relational/index.js";
import { BloomFilter, HyperLogLog } from "../../../src/sketches/index.js";
import {
  expectAllSet,
  expectNoneSet,
  expectSame,
  rejection,
} from "../../../test/conformance/helpers/checks.js";
import { counting, uniqueKeys } from "../../../test/conformance/helpers/keys.js";
import { planned } from "../../../test/conformance/helpers/plan.js";
import { covering } from "../../../test/helpers/rounds.js";
import { tableArguments } from "../src/device.js";
import { CudaContext } from "../src/driver/context.js";
import { CudaRuntime } from "../src/runtime/cuda-runtime.js";
import { piecesOf } from "../src/several/pieces.js";
import { useFaults } from "./helpers/emulator.js";
import { openSeveral, restoreEngine } from "./helpers/several.js";

const inject = useFaults();
beforeEach(() => void inject("LAZY", 1));
afterEach(restoreEngine);

/** A device whose GPUs share everything. */
function openSharing(gpus: readonly number[], tuning = {}): Promise<Device> {
  openSeveral(gpus, tuning);
  return openDevice({ backend: "cuda", seed: 7 });
}

describe("the option gpus", () => {
  it("takes a number, all, or a list, and info says which they are", async () => {
    inject("DEVICES", 3);
    const opened = async (gpus: number | "all" | number[]) => {
      using device = await openDevice({ backend: "cuda", gpus });
      return device.info;
    };
    expect((await opened(2)).gpus?.map(({ gpu }) => gpu)).toEqual([0, 1]);
    expect((await opened([2, 0])).gpus?.map(({ name }) => name)).toEqual([
      "Emulated GPU 2",
      "Emulated GPU 0",
    ]);
    const { name, hardware, limits, reason, backend } = await opened("all");
    expect(name).toBe("Emulated GPU 0 + Emulated GPU 1 + Emulated GPU 2");
    expect(hardware).toMatchObject({ gpu: "0, 1, 2", memory: "12.0 GiB" });
    expect([backend, limits.memory, limits.multiprocessors]).toEqual(["cuda", 3 * 2 ** 32, 12]);
    expect(reason).toBe(`The cuda engine was asked for: ${name}.`);
    // one is a device as any other
    expect((await opened([1])).gpus).toBeUndefined();
    expect((await opened([0, 0])).name).toBe("2 x Emulated GPU 0");
    using device = await openDevice({ gpus: 2 });
    expect(device.backend).toBe("cuda");
  });

  it.each([
    { gpus: 0 },
    { gpus: 1.5 },
    { gpus: "both" },
    { gpus: null },
    { gpus: [] },
    { gpus: [0, -1] },
    { gpus: [0, "1"] },
    { gpus: {} },
  ])("refuses %j", async ({ gpus }) => {
    await rejection(openDevice({ backend: "cuda", gpus: gpus as never }), ValidationError);
  });

  it.each([1e9, 65])("refuses %s GPUs where there is one", async (gpus) => {
    await expect(openDevice({ backend: "cuda", gpus })).rejects.toThrow("there is no GPU");
  });

  it("refuses a GPU that is not there, another engine, and gpu beside it", async () => {
    await expect(openDevice({ backend: "cuda", gpus: 2 })).rejects.toThrow("there is no GPU 1");
    await expect(openDevice({ backend: "cuda", gpus: [0, 7] })).rejects.toThrow("there is no GPU 7");
    await expect(openDevice({ backend: "cpu", gpus: 2 })).rejects.toThrow('together with backend "cpu"');
    await expect(openDevice({ gpu: 0, gpus: 2 })).rejects.toThrow("gpu and gpus");
  });
});

describe("arrays", () => {
  it("lie in equal pieces when they are large, and on the first GPU when they are small", async () => {
    using device = await openDevice({ backend: "cuda", gpus: [0, 0, 0] });
    const numbers = counting(2 ** 21);
    using large = await device.upload(numbers);
    const pieces = piecesOf(large).map(({ gpu, array }) => [gpu, array.length]);
    expect(pieces).toEqual([
      [0, 699_392],
      [1, 699_392],
      [2, 2 ** 21 - 2 * 699_392],
    ]);
    expectSame(await large.read(), numbers);
    expect(await large.read(699_390, 699_395)).toEqual(numbers.subarray(699_390, 699_395));
    await large.write(Uint32Array.of(1, 2, 3, 4), 1_398_782);
    expect(await large.read(1_398_781, 1_398_787)).toEqual(Uint32Array.of(1_398_781, 1, 2, 3, 4, 1_398_786));
    expect(() => large.pointer).toThrow("3 pieces");
    using small = await device.allocate("u8", 1000);
    expect(piecesOf(small).map(({ gpu }) => gpu)).toEqual([0]);
    expect(small.pointer).toBeGreaterThan(0n);
    const { pointer } = small;
    using wrapped = device.wrap({ pointer: pointer as bigint, byteLength: 8, type: "u32" });
    await wrapped.write(Uint32Array.of(5, 6));
    expect((await small.read(0, 8))[4]).toBe(6);
  });

  it("give all their memory back", async () => {
    using device = await openSharing([0, 0]);
    const before = device.memory.inUse;
    const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 5000 });
    const keys = await device.upload(uniqueKeys(5000));
    await map.insert(keys, keys);
    const { values, found } = await map.find(keys, { output: "device" });
    const all = await map.retrieveAll({ output: "device" });
    for (const array of [keys, values, found, all.keys, all.values]) array.destroy();
    await map[Symbol.asyncDispose]();
    expect(device.memory.inUse).toBe(before);
  });
});

describe("tables", () => {
  it("are one GPU's when they are small: calls exchange nothing", async () => {
    using device = await openDevice({ backend: "cuda", gpus: [0, 0] });
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 1000 });
    const { plan } = await planned((onPlan) => map.insert(uniqueKeys(1000), counting(1000), { onPlan }));
    expect(plan.reason).not.toContain("GPUs");
    expect(tableArguments(map as never).type).toBe("warpmap::Table<1, 1>");
  });

  it("are shared when they are large, and plans say what was exchanged", async () => {
    using device = await openSharing([0, 0]);
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 10_000 });
    const [keys, values] = [uniqueKeys(10_000), counting(10_000)];
    const { plan } = await planned((onPlan) => map.insert(keys, values, { onPlan }));
    const [, moved] = /(\d+) of \d+ elements went to another of 2 GPUs/.exec(plan.reason) ?? [];
    expect(Number(moved)).toBeGreaterThan(2000);
    expect(plan.phases.map(({ name }) => name)).toContain("exchange");
    expect((await map.find(keys)).values).toEqual(values);
    expect(() => tableArguments(map as never)).toThrow("several GPUs");
    // entries that are where they belong stay there
    const all = await map.retrieveAll({ output: "device" });
    const back = await planned((onPlan) => map.insert(all.keys, all.values as never, { onPlan }));
    expect(back.plan.reason).toContain("0 of 10000 elements went");
    for (const array of [all.keys, all.values]) array.destroy();
  });

  const cases = [
    [2, true],
    [3, true],
    [3, false],
    [7, false],
  ] as const;
  it.each(covering(cases, ([gpus]) => gpus !== 3))(
    "%s GPUs, which reach each other: %s, answer as a Map does",
    async (gpus, peers) => {
      inject("DEVICES", 2);
      using device = await openSharing(
        Array.from({ length: gpus }, (_, i) => i % 2),
        { peers, least: { round: 1024 } },
      );
      using map = await DynamicMap.create(device, { key: "u64", value: ["f32", "u32"], capacity: 100 });
      const model = new Map<bigint, [number, number]>();
      let state = gpus;
      const random = (below: number) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor((state / 2 ** 32) * below);
      };
      for (let step = 0; step < 12; step++) {
        const length = random(9000);
        const keys = BigUint64Array.from({ length }, () => BigInt(random(6000)) << 31n);
        const where = Uint8Array.from({ length }, () => random(5));
        const columns = [Float32Array.from(keys, Number), counting(length, step * 1e6)] as const;
        const onDevice = step % 2 === 0;
        const inputs = onDevice
          ? await Promise.all([keys, where, ...columns].map((each) => device.upload(each)))
          : [];
        const [k, w, f, u] = (onDevice ? inputs : [keys, where, ...columns]) as never[];
        if (step % 3 === 2) {
          const erased = new Set(keys.filter((key, i) => where[i] && model.has(key)));
          expect(await map.erase(k, { where: w })).toEqual({ erased: erased.size });
          for (const key of erased) model.delete(key);
        } else {
          const fresh = new Set(keys.filter((key, i) => where[i] && !model.has(key)));
          const { inserted } = await map.insert(k, [f, u] as never, { where: w });
          expect(inserted).toBe(fresh.size);
          const { values } = await map.find(keys);
          // of equal keys in one batch any may be first
          for (const [i, key] of keys.entries()) {
            if (fresh.has(key)) model.set(key, [values[0][i], values[1][i]]);
          }
        }
        const asked = BigUint64Array.from({ length: 6000 }, (_, i) => BigInt(i) << 31n);
        const { values, found } = await map.find(asked, { missing: [-1, 9] });
        for (const [i, key] of asked.entries()) {
          const expected = model.get(key);
          const [first, second] = expected ?? [-1, 9];
          const isThere = expected === undefined ? 0 : 1;
          if (found[i] !== isThere || values[0][i] !== first || values[1][i] !== second)
            expect([found[i], values[0][i], values[1][i]]).toEqual([isThere, first, second]);
        }
        expect(map.size).toBe(model.size);
        for (const array of inputs) array.destroy();
      }
    },
  );

  it("take and answer nothing, in one piece or several", async () => {
    using device = await openSharing([0, 0, 0]);
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 100 });
    const { keys, values } = await map.retrieveAll({ output: "device" });
    expect(await map.insert(keys, values as never)).toEqual({ inserted: 0, existing: 0 });
    for (const none of [keys, new Uint32Array(0)]) {
      const { values, found } = await map.find(none, { output: "device" });
      expect([await values.read(), await found.read()]).toEqual([new Uint32Array(0), new Uint8Array(0)]);
    }
    using filter = await BloomFilter.create(device, { key: "u32", capacity: 100 });
    expect(await (await filter.contains(keys, { output: "device" })).read()).toEqual(new Uint8Array(0));
  });

  it("take masks beside pieces of any lengths, typed arrays that begin anywhere, and the largest key", async () => {
    using device = await openSharing([0, 0, 0]);
    using map = await StaticMap.create(device, { key: "u64", value: "u64", capacity: 5000 });
    const all = new BigUint64Array(new ArrayBuffer(8 * 4001), 8, 4000).map((_, i) => BigInt(i) << 33n);
    all[3999] = 2n ** 64n - 1n;
    await map.insert(all, all);
    const { keys } = await map.retrieveAll({ output: "device" });
    using mask = await device.pinned("u8", 4000, "upload");
    mask.array.fill(1, 0, 3999);
    const { values, found } = await map.find(keys, { mask, missing: 5n });
    expectAllSet(found.subarray(0, 3999), 3999);
    expect([found[3999], values[3999]]).toEqual([0, 5n]);
    expect(values.subarray(0, 3999)).toEqual((await keys.read()).subarray(0, 3999));
    expect(await map.erase(BigUint64Array.of(2n ** 64n - 1n, 1n))).toEqual({ erased: 1 });
  });

  it("take pinned arrays, and multimaps and strings work beside them", async () => {
    using device = await openSharing([0, 0]);
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 9000 });
    using keys = await device.pinned("u32", 9000, "upload");
    keys.array.set(uniqueKeys(9000));
    using into = await device.pinned("u32", 9000, "readback");
    await map.insert(keys, keys);
    await map.find(keys, { into: { values: into, found: new Uint8Array(9000) } });
    expectSame(into.array, uniqueKeys(9000));
    using names = await StaticMap.create(device, { key: "utf8", value: "u32", capacity: 5000 });
    const words = Array.from({ length: 5000 }, (_, i) => `word ${i}`);
    await names.insert(words, counting(5000));
    expect((await names.find(words)).values).toEqual(counting(5000));
    using lists = await StaticMultimap.create(device, { key: "u32", value: "u32", capacity: 5000 });
    await lists.insert(
      counting(5000).map((i) => i % 100),
      counting(5000),
    );
    expect((await lists.retrieve(Uint32Array.of(7))).values).toHaveLength(50);
  });
});

it.each([
  [true, 0],
  [false, 1],
])(
  "GPUs that reach each other (%s) write where keys belong; for others the driver copies",
  async (peers, times) => {
    inject("DEVICES", 2);
    using device = await openSharing([0, 1], { peers });
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 20_000 });
    const copies = vi.spyOn(CudaContext.prototype, "copyBetween");
    try {
      using keys = await device.upload(uniqueKeys(8000));
      copies.mockClear();
      const { plan } = await planned((onPlan) => map.insert(keys, keys, { onPlan }));
      const [, moved] = /(\d+) of 8000 elements went to another/.exec(plan.reason) ?? [];
      expect(Number(moved)).toBeGreaterThan(3000);
      const between = copies.mock.calls.filter(([from, , to]) => from.device !== to.device);
      const bytes = between.reduce((sum, [, , , , bytes]) => sum + bytes, 0);
      // keys and values
      expect(bytes).toBe(times * 2 * 4 * Number(moved));
    } finally {
      copies.mockRestore();
    }
  },
);

describe.each([true, false])("sketches on GPUs that reach each other: %s", (peers) => {
  it("know what any GPU was given", async () => {
    inject("DEVICES", 3);
    using device = await openSharing([0, 1, 2], { peers });
    using filter = await BloomFilter.create(device, { key: "u32", capacity: 20_000 });
    using keys = await device.upload(uniqueKeys(9000));
    await filter.add(keys);
    expectAllSet(await filter.contains(uniqueKeys(9000)), 9000);
    // a small batch, for which one GPU is enough
    expectAllSet(await filter.contains(uniqueKeys(3, 8000)), 3);
    await filter.add(uniqueKeys(5, 9000));
    expectAllSet(await filter.contains(uniqueKeys(9005)), 9005);
    using clone = await filter.clone();
    const flags = await clone.contains(keys, { output: "device" });
    expectAllSet(await flags.read(), 9000);
    flags.destroy();
    await clone.add(uniqueKeys(5000, 10_000));
    await filter.merge(clone);
    expectAllSet(await filter.contains(uniqueKeys(5000, 10_000)), 5000);
    using one = await openDevice({ backend: "cpu" });
    using same = await BloomFilter.create(one, { key: "u32", capacity: 20_000 });
    await same.add(uniqueKeys(9005));
    await same.add(uniqueKeys(5000, 10_000));
    expectSame(await filter.toBytes(), await same.toBytes());
    await filter.clear();
    expectNoneSet(await filter.contains(uniqueKeys(9000)), 9000);

    using counter = await HyperLogLog.create(device, { key: "u32" });
    using other = await HyperLogLog.create(one, { key: "u32" });
    for (const sketch of [counter, other]) {
      await sketch.add(uniqueKeys(9000));
      await sketch.add(uniqueKeys(7, 20_000));
    }
    expect(await counter.estimate()).toBe(await other.estimate());
  });
});

describe("tables of rows", () => {
  const rows = 20_000;
  const left = {
    id: counting(rows).map((i) => (i * 7919) % 15_000),
    weight: Float64Array.from({ length: rows }, (_, i) => i / 3),
  };
  const right = { id: counting(15_000), place: Int32Array.from(counting(15_000), (i) => -i) };
  const byNumber = (a: number, b: number) => a - b;

  it.each([true, false])(
    "are joined by the owners of their keys, which reach each other: %s",
    async (peers) => {
      using device = await openSharing([0, 0, 0], { peers });
      using a = await device.uploadTable(left);
      using b = await device.uploadTable(right);
      const plans: Plan[] = [];
      using joined = await join(a, b, { on: ["id"], output: "device", onPlan: (plan) => plans.push(plan) });
      expect(joined.numRows).toBe(rows);
      expect(plans[0].reason).toMatch(/of 35000 rows went to another of 3 GPUs/);
      const arrow = await joined.toArrow();
      const [ids, weights, places] = ["id", "weight", "place"].map((name) => arrow.getChild(name)?.toArray());
      expect(Array.from(ids as never, (id, i) => Number(id) + Number((places as number[])[i]))).toEqual(
        new Array(rows).fill(0),
      );
      expect([...(weights as Iterable<number>)].sort(byNumber)).toEqual([...left.weight]);
      // what comes of it is a table as any other
      const grouped = await groupBy(joined, { by: ["id"], aggregate: { rows: count() } });
      expect(grouped.numRows).toBe(new Set(left.id).size);
    },
  );

  it.each(["left", "right"])(
    "are joined where they are with a small table, which goes to all GPUs: %s",
    async (side) => {
      using device = await openSharing([0, 0, 0], { least: { broadcast: 2 ** 17 } });
      using large = await device.uploadTable(left);
      const some = { id: right.id.subarray(0, 9000), place: right.place.subarray(0, 9000) };
      using small = await device.uploadTable(some);
      const plans: Plan[] = [];
      const options = { on: ["id"], output: "device", onPlan: (plan: Plan) => plans.push(plan) } as const;
      using joined = await (side === "left" ? join(small, large, options) : join(large, small, options));
      expect(plans[0].reason).toContain("9000 of 29000 rows went to another of 3 GPUs");
      const arrow = await joined.toArrow();
      const [ids, places] = ["id", "place"].map((name) =>
        Array.from(arrow.getChild(name) as Iterable<number>),
      );
      const expected = Array.from(left.id).filter((id) => id < 9000);
      expect([...ids].sort(byNumber)).toEqual(expected.sort(byNumber));
      expect(places.every((place, i) => place === -ids[i])).toBe(true);
    },
  );

  it("give no rows where keys have no partner", async () => {
    using device = await openSharing([0, 0]);
    using a = await device.uploadTable({ id: counting(900), x: counting(900) });
    using b = await device.uploadTable({ id: counting(900, 5000), y: counting(900) });
    using joined = await join(a, b, { on: ["id"], output: "device" });
    expect([joined.numRows, joined.names]).toEqual([0, ["id", "x", "y"]]);
    expect((await joined.toArrow()).numRows).toBe(0);
  });

  it("are grouped by the owners of their keys, in the order of first rows", async () => {
    const aggregate = { rows: count(), total: sum("weight"), middle: mean("weight"), most: max("weight") };
    const answers: unknown[] = [];
    const plans: Plan[] = [];
    for (const gpus of [[0], [0, 0], [0, 0, 0, 0, 0]]) {
      using device = await openSharing(gpus);
      using table = await device.uploadTable(left);
      const onPlan = (plan: Plan) => plans.push(plan);
      using grouped = await groupBy(table, { by: ["id"], aggregate, output: "device", onPlan });
      answers.push((await grouped.toArrow()).toArray());
    }
    expect(plans.slice(1).map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/of 20000 rows went to another of 2 GPUs/),
      expect.stringMatching(/of 20000 rows went to another of 5 GPUs/),
    ]);
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });
});

describe("rows that differ", () => {
  it.each(["first", "last"] as const)("stay in their order, whoever owns them: %s", async (keep) => {
    const ids = counting(20_000).map((i) => (i * 31) % 7001);
    const answers: unknown[] = [];
    const plans: Plan[] = [];
    for (const gpus of [[0], [0, 0, 0]]) {
      using device = await openSharing(gpus);
      using table = await device.uploadTable({ id: ids, at: counting(20_000) });
      const onPlan = (plan: Plan) => plans.push(plan);
      using left = await dropDuplicates(table, { on: ["id"], keep, output: "device", onPlan });
      answers.push((await left.toArrow()).toArray());
    }
    expect(plans[1].reason).toMatch(/of 20000 rows went to another of 3 GPUs/);
    expect((answers[0] as unknown[]).length).toBe(7001);
    expect(answers[1]).toEqual(answers[0]);
  });
});

it("a GPU that owns more keys than it has slots for gets more, while the table has room", async () => {
  using device = await openSharing([0, 0, 0]);
  using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 9000, maxLoadFactor: 1 });
  await map.insert(uniqueKeys(9000), uniqueKeys(9000));
  // entries come GPU by GPU: the first third is what the first one owns
  const { keys } = await map.retrieveAll();
  await map.erase(keys.subarray(0, 3000));
  const fresh = uniqueKeys(3000, 9000);
  expect(await map.insert(fresh, fresh)).toEqual({ inserted: 3000, existing: 0 });
  expect(map.size).toBe(9000);
  for (const some of [fresh, keys.subarray(3000)]) expectSame((await map.find(some)).values, some);
  const again = await map.insertAndFind(uniqueKeys(9000, 3000), counting(9000)).catch((error) => error);
  expect(again).toBeInstanceOf(CapacityError);
  expect(map.size).toBe(9000);
});

describe("faults", () => {
  it("a GPU that is lost ends the device, and is named", async () => {
    inject("DEVICES", 2);
    const device = await openSharing([0, 1]);
    const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 9000 });
    inject("FAULT", 9);
    const error = await rejection(map.insert(uniqueKeys(9000), counting(9000)), DeviceLostError);
    expect(error.message).toMatch(/ failed on GPU \d: CUDA_ERROR_ILLEGAL_ADDRESS/);
    expect((await device.lost).message).toMatch(/ failed on GPU \d: CUDA_ERROR_ILLEGAL_ADDRESS/);
    await rejection(map.find(uniqueKeys(5)), DeviceLostError);
    await rejection(device.upload(uniqueKeys(5)), DeviceLostError);
    map.destroy();
    device.destroy();
  });

  it("memory that runs out is a LimitError, and leaves tables as they were", async () => {
    using device = await openSharing([0, 0]);
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 2 ** 17 });
    const [keys, values] = [uniqueKeys(1000), counting(1000)];
    await map.insert(keys, values);
    device.trim();
    inject("MEMORY", device.memory.held + 4096);
    await rejection(map.insert(uniqueKeys(2 ** 16, 1000), counting(2 ** 16)), LimitError);
    await rejection(StaticMap.create(device, { key: "u32", value: "u32", capacity: 1e6 }), LimitError);
    inject("MEMORY", 2 ** 32);
    expect(map.size).toBe(1000);
    expect((await map.find(keys)).values).toEqual(values);
    expect(await map.insert(uniqueKeys(500, 1000), counting(500))).toEqual({ inserted: 500, existing: 0 });
  });

  it("a table takes as many keys as it has slots, whoever owns them", async () => {
    using device = await openSharing([0, 0, 0]);
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 300, maxLoadFactor: 1 });
    await expect(map.insert(uniqueKeys(400), counting(400))).rejects.toThrow("100");
    expect(map.size).toBe(300);
  });
});

it("an exchange that fails on one GPU is told when the others write no more", async () => {
  using device = await openSharing([0, 0]);
  using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 5000 });
  const [keys, values] = [uniqueKeys(4000), counting(4000)];
  await map.insert(keys, values);
  const { begin } = CudaRuntime.prototype;
  let [begun, arrived] = [0, 0];
  const spy = vi.spyOn(CudaRuntime.prototype, "begin").mockImplementation(async function (
    this: CudaRuntime,
    label,
    record,
    reads,
  ) {
    if (label !== "exchange" || reads.length === 0) return begin.call(this, label, record, reads);
    if (++begun === 2) throw new Error("no memory of the host");
    const { arrived: others } = await begin.call(this, label, record, reads);
    const late = new Promise((resolve) => setTimeout(resolve, 20));
    return { arrived: Promise.all([others, late]).then(() => void arrived++) };
  });
  await expect(map.find(keys)).rejects.toThrow("no memory of the host");
  expect([begun, arrived]).toEqual([2, 1]);
  spy.mockRestore();
  expectSame((await map.find(keys)).values, values);
});
