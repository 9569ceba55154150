/**
 * Batches that go into tables with entries, by making their pages anew: entries stay, with their values or combined ones, however
 * crowded their pages are; what was erased leaves nothing behind; and keys stay in the order of their homes.
 */
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import type { Counters } from "../../../../src/engine/webgpu/table/control.js";
import { TableState } from "../../../../src/engine/webgpu/table/table-state.js";
import { Device, StaticMap } from "../../../../src/index.js";
import { scaled } from "../../../conformance/helpers/device.js";
import { counting, keysWithHome, uniqueKeys } from "../../../conformance/helpers/keys.js";
import { Modelled } from "../../../conformance/helpers/model.js";
import { covering, rounds } from "../../../helpers/rounds.js";
import { expectInOrder, homesOf } from "../helpers/homes.js";
import { inPage, PAGE_SLOTS, usePagedTables } from "../helpers/paged-tables.js";
import { openVariant } from "../helpers/variants.js";
import { weakCasSeen } from "../helpers/weak-cas.js";

/** Items that a page may overflow by, of a table up to load 0.75. */
const LIST = 127;

// maps of some pages have several windows
const { engine, device, newTable } = usePagedTables((5 * PAGE_SLOTS + 2) * 8);

/** Runs inserts. Answers what the kernels counted each time that pages were to be made anew. */
async function rebuilding(inserts: () => Promise<unknown>): Promise<Counters[]> {
  const submit = vi.spyOn(TableState.prototype, "submit");
  await inserts();
  const counters = await Promise.all(submit.mock.results.map(({ value }) => value));
  const built = counters.filter((_, i) => submit.mock.calls[i][0] === "build");
  submit.mockRestore();
  return built;
}

const policies = ["keep", "assign", "add"] as const;

it("random batches go into tables of a few crowded pages", async () => {
  const slots = 2 * PAGE_SLOTS + 500;
  // homes before and behind the ends of pages, and some all over the table
  const ends = [PAGE_SLOTS, 2 * PAGE_SLOTS, slots];
  const crowded = counting(1200).map((i) => {
    const home = (ends[Math.floor(i / 400)] - 3 + (i % 5)) % slots;
    return keysWithHome(home, slots, 81)[Math.floor((i % 400) / 5)];
  });
  const pool = Uint32Array.of(...crowded, ...uniqueKeys(slots - 1100), 0xffffffff, 0xfffffffe);
  const batch = fc.record({
    policy: fc.constantFrom(...policies),
    share: fc.constantFrom(0.15, 0.3, 0.6),
    turn: fc.nat(pool.length),
    stride: fc.constantFrom(1, 7, 641),
    repeats: fc.constantFrom(1, 1, 3),
    erases: fc.constantFrom(0, 0, 300),
  });
  const cases = fc.record({
    kind: fc.constantFrom("map", "map", "set"),
    batches: fc.array(batch, { minLength: 3, maxLength: 5 }),
  });
  const runs = rounds(scaled(100, 3));
  let anew = 0;
  await fc.assert(
    fc.asyncProperty(cases, async ({ kind, batches }) => {
      const model = await newTable(kind as "map" | "set", slots);
      for (const { policy, share, turn, stride, repeats, erases } of batches) {
        const count = Math.floor(slots * share);
        const keys = counting(count).map(
          (i) => pool[(turn + Math.floor(i / repeats) * stride) % pool.length],
        );
        const rebuilt = await rebuilding(() =>
          model.insert(kind === "set" ? "keep" : policy, keys, counting(count, turn)),
        );
        anew += rebuilt.filter(({ aborted }) => aborted === 0).length;
        await model.erase(keys.subarray(0, erases));
      }
      await model.expectEqual();
      model.table.destroy();
    }),
    { numRuns: runs },
  );
  expect(anew).toBeGreaterThan(runs / 2);
});

it("keys stay in the order of their homes, batch after batch, and erased ones leave no tombstones", async () => {
  const capacity = 20 * PAGE_SLOTS + 500;
  using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity, maxLoadFactor: 1 });
  const model = Modelled.map(map as never);
  const batches = [0.3, 0.3, 0.2, 0.15].map((share) => Math.floor(capacity * share));
  let first = 0;
  const rebuilt = await rebuilding(async () => {
    for (const [turn, count] of batches.entries()) {
      await model.insert("keep", uniqueKeys(count, first), counting(count, first));
      first += count;
      if (turn === 1) await model.erase(uniqueKeys(2000));
    }
  });
  expect(rebuilt.map(({ aborted }) => aborted)).toEqual([0, 0, 0, 0]);
  expect((await map.stats()).tombstones).toBe(0);
  expectInOrder(await homesOf(engine(), map), 20);
  await model.find(uniqueKeys(capacity, capacity), 7);
  await model.insert("keep", uniqueKeys(capacity / 5), counting(capacity / 5));
  await model.expectEqual();
});

it("entries keep their places where new keys would push them too far", async () => {
  const slots = 4 * PAGE_SLOTS;
  const own = 300;
  const low = 250;
  for (const policy of covering(policies, (each) => each === "assign")) {
    const model = await newTable("map", slots);
    // page 1 has one for each of its last slots
    for (const page of [0, 1, 2, 3]) {
      const keys = inPage(slots, page, PAGE_SLOTS).subarray(-own);
      await model.insert("keep", keys, counting(own));
    }
    // at home before all of them, and more than LIST
    const crowd = keysWithHome(2 * PAGE_SLOTS - own - 1, slots, low);
    const entries = inPage(slots, 1, PAGE_SLOTS).subarray(-own / 2);
    // as many as it takes for pages to be made anew
    const others = [2, 3].flatMap((page) => [...inPage(slots, page, 0.6 * PAGE_SLOTS)]);
    const batch = Uint32Array.of(...crowd, ...crowd.subarray(0, 10), ...entries, ...others);
    const rebuilt = await rebuilding(() => model.insert(policy, batch, counting(batch.length, 7)));
    expect(rebuilt).toMatchObject([{ aborted: 0 }]);
    expect(rebuilt[0].fallbacks).toBeGreaterThanOrEqual(low);
    await model.expectEqual();
    model.table.destroy();
  }
});

it("entries that find no place in their pages are inserted before new keys", async () => {
  const pages = 16;
  const slots = pages * PAGE_SLOTS;
  const full = 10;
  for (const policy of covering(policies, (each) => each === "keep")) {
    const model = await newTable("map", slots);
    const half = PAGE_SLOTS / 2;
    const entries = Array.from({ length: pages }, (_, page) => [
      ...inPage(slots, page, page < full ? PAGE_SLOTS : half),
    ]).flat();
    await model.insert("keep", Uint32Array.from(entries), counting(entries.length));
    // more than page 0 has room for; at this load that is propagated over eight pages, and all of them are full
    const crowd = [...inPage(slots, 0, 100, 1), ...inPage(slots, 2, 50)];
    for (let page = full; page < pages; page++) {
      crowd.push(...inPage(slots, page, half + Math.floor(PAGE_SLOTS / 3)).subarray(half));
    }
    const batch = Uint32Array.from(crowd);
    const rebuilt = await rebuilding(() => model.insert(policy, batch, counting(batch.length, 5)));
    expect(rebuilt).toMatchObject([{ aborted: 0 }]);
    expect(rebuilt[0].displaced).toBeGreaterThan(50);
    await model.expectEqual();
    model.table.destroy();
  }
});

it("tables whose pages overflow by more than is noted stay as they are, and take keys one by one", async () => {
  const slots = 4 * PAGE_SLOTS;
  const model = await newTable("set", slots);
  const entries = inPage(slots, 1, PAGE_SLOTS + 2 * LIST);
  await model.insert("keep", entries, entries);
  await model.erase(entries.subarray(0, 40));
  const batch = Uint32Array.of(...inPage(slots, 3, PAGE_SLOTS), ...entries.subarray(20, 60));
  expect(await rebuilding(() => model.insert("keep", batch, batch))).toMatchObject([{ aborted: 1 }]);
  await model.expectEqual();
});

it("entries that went around the table's end have overflowed, though they are in their page", async () => {
  const slots = 1000;
  const around = keysWithHome(slots - 1, slots, 150);
  for (const policy of covering(policies, (each) => each === "add")) {
    const model = await newTable("map", slots);
    await model.insert("keep", around, counting(around.length));
    const batch = Uint32Array.of(...around, ...keysWithHome(slots / 2, slots, 150));
    const rebuilt = await rebuilding(() => model.insert(policy, batch, counting(batch.length, 1000)));
    expect(rebuilt).toMatchObject([{ aborted: 1 }]);
    await model.expectEqual();
    // as many as a page's list has room for
    await model.erase(around.subarray(100));
    expect(
      await rebuilding(() => model.insert(policy, batch.subarray(40, 260), counting(220))),
    ).toMatchObject([{ aborted: 0 }]);
    await model.expectEqual();
    model.table.destroy();
  }
});

it("more entries may have no place in their pages than the batch has keys", async () => {
  const pages = 55;
  const slots = pages * PAGE_SLOTS;
  const model = await newTable("map", slots);
  const sizes = (page: number) => {
    if (page % 11 === 0) return PAGE_SLOTS + LIST - 7;
    return page % 11 < 10 ? PAGE_SLOTS : PAGE_SLOTS / 4;
  };
  const entries = Array.from({ length: pages }, (_, page) => [...inPage(slots, page, sizes(page))]).flat();
  await model.insert("keep", Uint32Array.from(entries), counting(entries.length));
  const batch = Uint32Array.from(entries.slice(0, 501 * (PAGE_SLOTS / 1024)));
  const rebuilt = await rebuilding(() => model.insert("add", batch, counting(batch.length)));
  expect(rebuilt).toMatchObject([{ aborted: 0 }]);
  expect(rebuilt[0].displaced).toBeGreaterThan(batch.length);
  await model.expectEqual();
});

it("every value of a key that comes more often than its page has room for counts once", async () => {
  const slots = 4 * PAGE_SLOTS;
  const model = await newTable("map", slots);
  // at home where a page ends only LIST of its items are seen at once
  const [key] = keysWithHome(2 * PAGE_SLOTS - 1, slots, 1);
  const batch = new Uint32Array(0.95 * slots).fill(key);
  for (let turn = 0; turn < 2; turn++) await model.insert("add", batch, counting(batch.length));
  await model.expectEqual();
});

it("values that are fallbacks go on in pieces that worklists have room for", async () => {
  const tuning = { worklistRoom: 16, maxTableBinding: (4 * PAGE_SLOTS + 2) * 8 };
  const engine = await openVariant({
    strategy: "partitioned",
    tuning,
  });
  const own = new Device(engine, "A test of short worklists.");
  const sizing = { key: "u32", value: "u32", capacity: 6 * PAGE_SLOTS, maxLoadFactor: 1 } as const;
  const model = Modelled.map((await StaticMap.create(own, sizing)) as never);
  // keys of side slots are in no page
  const sides = counting(41).map((i) => 0xfffffffe + (i % 2));
  const keys = Uint32Array.of(...uniqueKeys(2 * PAGE_SLOTS), ...sides);
  const rebuilt = await rebuilding(async () => {
    for (let turn = 0; turn < 2; turn++) await model.insert("add", keys, counting(keys.length, 1));
  });
  expect(rebuilt).toMatchObject([{ fallbacks: 41 }, { fallbacks: 41 }]);
  await model.expectEqual();
  own.destroy();
});

/** Keys of which some come very often, for a table of more than 256 pages, and values for them. */
function skewedBatch(): { keys: Uint32Array; numbers: number[] } {
  const distinct = 4000;
  const unique = uniqueKeys(distinct);
  const keys = counting(2 * distinct).map((i) => unique[Math.floor(distinct ** ((i * 0.618034) % 1)) - 1]);
  keys.fill(0xffffffff, 0, 50);
  return { keys, numbers: Array.from(keys, (_, i) => (i % 64) - 20) };
}

it.each([
  ["f32", "add", 0],
  ["i32", "add", 20],
] as const)(
  "%s values of keys that repeat are combined in multisplits (%s, %i of 100 compare-exchanges fail)",
  async (value, op, percent) => {
    const tuning = percent > 0 ? { casSeen: weakCasSeen(percent) } : {};
    const engine = await openVariant({
      strategy: "partitioned",
      tuning,
    });
    const own = new Device(engine, "A test of keys that repeat.");
    const { keys, numbers } = skewedBatch();
    const values = value === "f32" ? Float32Array.from(numbers) : Int32Array.from(numbers);
    const sizing = { key: "u32", value, capacity: 300 * PAGE_SLOTS, maxLoadFactor: 1 } as const;
    const model = Modelled.map((await StaticMap.create(own, sizing)) as never);
    await model.insert(op, keys, new Uint32Array(values.buffer));
    await model.expectEqual();
    own.destroy();
  },
);
