/** Chunks in the order of their partitions, in tables of several windows and in full ones. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { homeSlot, murmur3 } from "../../../../src/engine/hash.js";
import { ABSENT } from "../../../../src/engine/webgpu/table/control.js";
import { Device, StaticMap, StaticSet } from "../../../../src/index.js";
import { expectNoneSet } from "../../../conformance/helpers/checks.js";
import { scaled } from "../../../conformance/helpers/device.js";
import { absentKeys, counting, keysWithHome, uniqueKeys } from "../../../conformance/helpers/keys.js";
import { Modelled } from "../../../conformance/helpers/model.js";
import { rounds } from "../../../helpers/rounds.js";
import { openVariant } from "../helpers/variants.js";
import { Watch } from "../helpers/watched-gpu.js";

/** Bytes of a window: 4,096 slots of a map and the two behind the last, or twice as many of a set. */
const WINDOW_BYTES = 4098 * 8;
const WINDOW_SLOTS = 4096;
const SLOTS = 5000;

const variants = {
  "tables as they are": {},
  "full tables copied, worklists that hold 16 elements, chunks of 1,024": {
    copyAboveSteps: 0,
    worklistRoom: 16,
    hostChunk: 1024,
  },
};

describe.each(Object.entries(variants))("%s", (_name, variant) => {
  const copies = "copyAboveSteps" in variant;
  let device: Device;
  beforeAll(async () => {
    const engine = await openVariant({
      strategy: "partitioned",
      tuning: { maxTableBinding: WINDOW_BYTES, ...variant },
    });
    device = new Device(engine, "A test of partitions.");
  });
  afterAll(() => device?.destroy());

  async function newTable(kind: "map" | "set", capacity: number): Promise<Modelled> {
    const sizing = { key: "u32", capacity, maxLoadFactor: 1 } as const;
    if (kind === "set") return Modelled.set((await StaticSet.create(device, sizing)) as never);
    return Modelled.map((await StaticMap.create(device, { ...sizing, value: "u32" })) as never);
  }

  it("insertAndFind answers for every element of random batches", async () => {
    const batch = fc.record({
      from: fc.nat(2000),
      count: fc.constantFrom(1, 700, 1500),
      repeats: fc.constantFrom(1, 1, 3),
      everyNth: fc.constantFrom(0, 0, 2, 5),
      erases: fc.constantFrom(0, 200),
    });
    const cases = fc.record({
      kind: fc.constantFrom("map", "map", "set"),
      slots: fc.constantFrom(500, SLOTS),
      batches: fc.array(batch, { minLength: 2, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ kind, slots, batches }) => {
        // probes over the ends of windows and of the table, and keys that live in side slots
        const ends = [WINDOW_SLOTS, slots].filter((end) => end <= slots);
        const pool = Uint32Array.of(
          ...ends.flatMap((end) => [...keysWithHome(end - 2, slots, 300)]),
          ...uniqueKeys(2000),
          0xffffffff,
          0xfffffffe,
        );
        const model = await newTable(kind as "map" | "set", slots);
        for (const { from, count, repeats, everyNth, erases } of batches) {
          const keys = counting(count).map((i) => pool[(from + Math.floor(i / repeats) * 7) % pool.length]);
          const where =
            everyNth > 0 ? Uint8Array.from(keys, (_, i) => Number(i % everyNth === 0)) : undefined;
          await model.insertAndFind(keys, counting(count, from + 1), where);
          await model.erase(keys.subarray(0, erases));
        }
        await model.expectEqual();
        model.table.destroy();
      }),
      { numRuns: rounds(scaled(100, 4)), endOnFailure: true },
    );
  });

  it("insertAndFind settles over-full batches, of old, new and masked keys", async () => {
    for (const kind of copies ? (["map"] as const) : (["map", "set"] as const)) {
      const model = await newTable(kind, SLOTS);
      const slots = model.table.slots;
      await model.insert("keep", uniqueKeys(slots - 300), counting(slots - 300));
      await model.erase(uniqueKeys(200));
      const batch = Uint32Array.of(...uniqueKeys(700, slots - 600), ...absentKeys(200), 0xffffffff);
      const values = counting(batch.length, 50_000);
      await model.insertAndFind(
        batch,
        values,
        Uint8Array.from(batch, (_, i) => Number(i % 9 > 0)),
      );
      expect(model.rejections).toBe(1);
      await model.insertAndFind(uniqueKeys(400, slots - 700), counting(400));
      await model.expectEqual();
      model.table.destroy();
    }
  });

  it("insertAndFind of elements that are all left out answers zeros", async () => {
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 100 });
    const [keys, where] = [uniqueKeys(50), new Uint8Array(50)];
    const { values, isNew } = await map.insertAndFind(keys, counting(50, 1), { mask: where });
    expectNoneSet(isNew, 50);
    expect(values).toEqual(new Uint32Array(50));
    using set = await StaticSet.create(device, { key: "u32", capacity: 100 });
    expectNoneSet((await set.insertAndFind(keys, { mask: where })).isNew, 50);
  });

  if (!copies) return;
  it("keys are met in a full table's copy, whose slots are others", async () => {
    const model = await newTable("map", SLOTS);
    const { slots } = model.table;
    expect(slots).toBe(SLOTS);
    // with the keys of the side slots, so that a window of the copy ends inside one of the table's partitions
    const copySlots = 2 * (slots + 2);
    const home = Math.floor((2 * WINDOW_SLOTS * slots) / copySlots);
    const below = keysWithHome(home, slots, 9);
    const above = keysWithHome(2 * WINDOW_SLOTS, copySlots, 9);
    expect(homeSlot(murmur3(above[0]), slots)).toBe(home);
    expect(homeSlot(murmur3(below[0]), copySlots)).toBe(2 * WINDOW_SLOTS - 1);
    const all = Uint32Array.of(...below, ...above, 0xffffffff, 0xfffffffe, ...absentKeys(slots - 18));
    await model.insert("keep", all, counting(all.length));
    expect([model.rejections, model.table.size]).toEqual([0, slots + 2]);
    const absent = keysWithHome(home - 1, slots, 1);
    for (const batch of [
      [...absent, ...above, ...below],
      [...above, ...below, ...absent],
      [...below, ...absent, ...above.subarray(0, 2), ...below],
    ]) {
      await model.insert("keep", Uint32Array.from(batch), counting(batch.length));
      await model.insertAndFind(Uint32Array.from(batch), counting(batch.length));
    }
    expect(model.rejections).toBe(6);
  });
});

it("a find in a table of several windows puts its results in order once, after the probes that go from one to the next", async () => {
  const watch = new Watch();
  const tuning = { maxTableBinding: WINDOW_BYTES };
  const engine = await openVariant({ strategy: "partitioned", tuning }, (gpu) => watch.on(gpu));
  const device = new Device(engine, "A test of partitions.");
  using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: SLOTS, maxLoadFactor: 1 });
  const keys = keysWithHome(WINDOW_SLOTS - 2, SLOTS, 300);
  await map.insert(keys, counting(300));
  watch.dispatched.length = 0;
  const { values, found } = await map.find(keys);
  expect([values, found]).toEqual([counting(300), new Uint8Array(300).fill(1)]);
  const dispatches = (label: string) => watch.dispatched.filter((each) => each === label).length;
  expect(dispatches("lookup")).toBeGreaterThan(2);
  expect(dispatches("unpermute")).toBe(1);
});

it("values that stand for absent keys on the way are found as they are, and absent keys beside them", async () => {
  const engine = await openVariant({ strategy: "partitioned", tuning: { maxTableBinding: WINDOW_BYTES } });
  const device = new Device(engine, "A test of partitions.");
  using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: SLOTS });
  const keys = Uint32Array.of(...uniqueKeys(2000), 0xffffffff);
  const stored = counting(keys.length);
  const asked = Uint32Array.of(...keys, ...absentKeys(2000));
  const find = async (missing: number) => {
    const { values, found } = await map.find(asked, { missing });
    expect(found).toEqual(Uint8Array.from(asked, (_, i) => Number(i < keys.length)));
    expect(values).toEqual(asked.map((_, i) => stored[i] ?? missing));
  };
  await map.insert(keys, stored);
  await find(7);
  for (const at of [1234, keys.length - 1]) {
    stored[at] = ABSENT;
    await map.insertOrAssign(keys, stored);
    await find(7);
    await find(ABSENT);
  }
  device.destroy();
});
