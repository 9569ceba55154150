/** Batches that are inserted by groups of equal keys, beside a Map: one multisplit and two, crowded pages, lists that grow, full ones. */
import { describe, expect, it } from "vitest";
import {
  CapacityError,
  Device,
  type HashName,
  StaticMultimap,
  StaticMultiset,
} from "../../../../src/index.js";
import { rejection } from "../../../conformance/helpers/checks.js";
import { counting, oddFloats, uniqueKeys } from "../../../conformance/helpers/keys.js";
import { planned } from "../../../conformance/helpers/plan.js";
import { covering } from "../../../helpers/rounds.js";
import { onWebgpu, openGpu } from "../helpers/open-gpu.js";

const strategy = "partitioned" as const;
/** Keys of a page on average; 4 of them take two multisplits. */
const deviceOf = async (pageKeys?: number) =>
  new Device(await openGpu({ tuning: { pageKeys } }), "A test of grouped batches.");

/** Entries by the bits of their keys. */
class Model {
  readonly entries = new Map<number, number[]>();

  add(keys: Uint32Array, values: Uint32Array): void {
    keys.forEach((key, i) => {
      const list = this.entries.get(key);
      if (list === undefined) this.entries.set(key, [values[i]]);
      else list.push(values[i]);
    });
  }

  async expectEqual(map: StaticMultimap): Promise<void> {
    const keys = Uint32Array.from(this.entries.keys());
    const { offsets, values } = await map.retrieve(keys);
    let wrong = 0;
    keys.forEach((key, i) => {
      const found = values.slice(offsets[i], offsets[i + 1]).sort();
      const expected = Uint32Array.from(this.entries.get(key) as number[]).sort();
      if (found.join() !== expected.join()) wrong++;
    });
    const size = Array.from(this.entries.values(), (list) => list.length).reduce((a, b) => a + b, 0);
    expect([wrong, map.size, map.keyCount]).toEqual([0, size, keys.length]);
  }
}

/** So many elements with keys of a pool, evenly. */
const drawn = (pool: Uint32Array, count: number, salt = 0) =>
  uniqueKeys(count, salt).map((random) => pool[random % pool.length]);
/** With the patterns that mark slots. */
const poolOf = (keys: number) => Uint32Array.of(0xffffffff, 0xfffffffe, 0, ...uniqueKeys(keys));

async function newMap(device: Device, capacity: number, keyCapacity: number, hash: HashName = "murmur3") {
  const options = { key: "u32", value: "u32", capacity, keyCapacity, hash } as const;
  return { map: await StaticMultimap.create(device, options), model: new Model() };
}

async function add(map: StaticMultimap, model: Model, keys: Uint32Array, grouped = true): Promise<void> {
  const values = counting(keys.length, map.size);
  const options = grouped ? ({ strategy } as const) : {};
  expect(await map.insert(keys, values, options)).toEqual({ inserted: keys.length });
  model.add(keys, values);
}

describe.each([
  ["one multisplit", undefined],
  ["two multisplits", 4],
])("%s", (_name, pageKeys) => {
  it("adds groups to new lists, to lists of one piece, and of several", async () => {
    using device = await deviceOf(pageKeys);
    const { map, model } = await newMap(device, 40_000, 2000);
    const [few, many] = [poolOf(40), poolOf(1200)];
    const { plan } = await planned((onPlan) =>
      map.insert(drawn(few, 2000), counting(2000), { strategy, onPlan }),
    );
    // without GpuHost.partitioning batches are inserted as they are
    expect(plan.phases.some(({ name }) => name === "group keys")).toBe(onWebgpu);
    model.add(drawn(few, 2000), counting(2000));
    await model.expectEqual(map);
    for (const [round, pool] of [many, few, many, few].entries()) {
      await add(map, model, drawn(pool, 5000, round * 5000), round !== 2);
      await model.expectEqual(map);
    }
    await map.erase(few.subarray(0, 20));
    for (const key of few.subarray(0, 20)) model.entries.delete(key);
    await add(map, model, drawn(few, 3000, 7));
    await model.expectEqual(map);
    map.destroy();
  });
});

it("counts keys of a multiset", async () => {
  using device = await deviceOf();
  using set = await StaticMultiset.create(device, { key: "f32", capacity: 20_000, keyCapacity: 600 });
  const floats = Float32Array.of(...new Float32Array(oddFloats.buffer), ...counting(300, 1));
  const keys = Float32Array.from(uniqueKeys(9000), (random) => floats[random % floats.length]);
  const expected = new Map<number, number>();
  for (const round of [1, 2]) {
    expect(await set.insert(keys, { strategy })).toEqual({ inserted: 9000 });
    for (const key of keys) expected.set(key, (expected.get(key) ?? 0) + 1);
    expect([set.size, set.keyCount]).toEqual([9000 * round, expected.size]);
    expect(await set.count(floats)).toEqual(Uint32Array.from(floats, (key) => expected.get(key) ?? 0));
  }
});

it("keys that crowd one page are groups of one element, or the batch is inserted as it is", async () => {
  for (const pageKeys of covering([undefined, 4], (keys) => keys === 4)) {
    using device = await deviceOf(pageKeys);
    const { map, model } = await newMap(device, 12_000, 5000, "identity");
    // 4,000 keys at home in the last slots, where those are that mark slots
    await add(map, model, drawn(counting(4000, 2 ** 32 - 4000), 6000));
    await model.expectEqual(map);
    map.destroy();
  }
});

it("fills lists to the last entry, built anew where there is too little room", async () => {
  using device = await deviceOf();
  const { map, model } = await newMap(device, 3000, 300);
  const pool = poolOf(200);
  for (let round = 0; round < 6; round++) {
    await add(map, model, drawn(pool, 500, round * 500));
    if (round % 3 === 1) {
      await map.erase(pool.subarray(0, 5));
      for (const key of pool.subarray(0, 5)) model.entries.delete(key);
      await add(map, model, drawn(pool, 3000 - map.size - (5 - round) * 500, round));
    }
  }
  expect(map.size).toBe(3000);
  await model.expectEqual(map);
  // more than fit: element by element
  const keys = drawn(pool, 10);
  expect(await rejection(map.insert(keys, counting(10), { strategy }), CapacityError)).toMatchObject({
    inserted: 0,
    rejected: 10,
  });
  map.destroy();
});

it("elements whose keys find no slot are told", async () => {
  using device = await deviceOf();
  const { map } = await newMap(device, 20_000, 100);
  const keys = drawn(uniqueKeys(map.keyCapacity * 40), 9000);
  const values = counting(9000);
  const { inserted, rejected } = (await rejection(map.insert(keys, values, { strategy }), CapacityError)) as {
    inserted: number;
    rejected: number;
  };
  expect(inserted + rejected).toBe(9000);
  expect(map.size).toBe(inserted);
  expect(rejected).toBeGreaterThan(0);
  const counts = await map.count(keys);
  expect(counts.filter((count) => count > 0).length).toBe(inserted);
  map.destroy();
});
