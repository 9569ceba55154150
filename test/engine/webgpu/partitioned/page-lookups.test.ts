/** Lookups by pages, in tables that are nearly full: of keys whose probes leave their page, their window, or the table's end. */

import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { ABSENT } from "../../../../src/engine/webgpu/table/control.js";
import { TableState } from "../../../../src/engine/webgpu/table/table-state.js";
import { Device, StaticMap } from "../../../../src/index.js";
import { expectSame } from "../../../conformance/helpers/checks.js";
import { scaled } from "../../../conformance/helpers/device.js";
import { absentKeys, counting, keysWithHome, uniqueKeys } from "../../../conformance/helpers/keys.js";
import { Modelled } from "../../../conformance/helpers/model.js";
import { planned } from "../../../conformance/helpers/plan.js";
import { rounds } from "../../../helpers/rounds.js";
import { inPage, PAGE_SLOTS, usePagedTables } from "../helpers/paged-tables.js";
import { openVariant } from "../helpers/variants.js";

/** Slots of a table with a last page that is short, and of a window. */
const SLOTS = 9 * PAGE_SLOTS + 77;
const WINDOW_SLOTS = 4096;

const { newTable, device } = usePagedTables((WINDOW_SLOTS + 2) * 8);

/** Keys that crowd the ends of pages, windows and the table: the last ones lie at its beginning. */
function crowdIn(slots: number): number[] {
  const ends = [PAGE_SLOTS, WINDOW_SLOTS, 2 * WINDOW_SLOTS, slots].filter((end) => end <= slots);
  return ends.flatMap((end) => [...keysWithHome(end - 3, slots, 40), ...keysWithHome(end - 1, slots, 20)]);
}

/** First words that stand for something between the kernels: ABSENT and OPEN of homes.wgsl. */
const MARKS = [ABSENT, ABSENT + 1];

/** They live in side slots. */
const sentinels = [0xffffffff, 0xfffffffe];
const pool = Uint32Array.of(...crowdIn(SLOTS), ...sentinels, ...uniqueKeys(SLOTS));

/** Runs `call`, and answers how many lookups it did by pages. */
async function lookupsByPages(call: () => Promise<unknown>): Promise<number> {
  const submit = vi.spyOn(TableState.prototype, "submit");
  try {
    await call();
    return submit.mock.calls.filter(([label]) => label === "page-find").length;
  } finally {
    submit.mockRestore();
  }
}

/** Tables with a page and a bit, with a last window that is shorter than probes are, and others. */
const sizes = [PAGE_SLOTS - 12, PAGE_SLOTS + 9, 2 * WINDOW_SLOTS + 9, SLOTS];

it("answers for every element of random batches", async () => {
  const cases = fc.record({
    kind: fc.constantFrom<("map" | "set")[]>("map", "map", "set"),
    slots: fc.constantFrom(...sizes),
    load: fc.constantFrom(0.85, 0.95, 0.99, 1),
    skipped: fc.nat(100),
    erases: fc.constantFrom(0, 0, 300, 2000),
    batch: fc.constantFrom(1, 5000, 33_000),
    repeats: fc.constantFrom(1, 1, 5),
    everyNth: fc.constantFrom(0, 0, 3),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ kind, slots, load, skipped, erases, batch, repeats, everyNth }) => {
      const model = await newTable(kind, slots);
      const crowd = crowdIn(slots);
      const pool = Uint32Array.of(...crowd, ...sentinels, ...uniqueKeys(slots));
      const inserted = pool.subarray(skipped, skipped + Math.floor(load * slots));
      await model.insert("keep", inserted, counting(inserted.length));
      await model.erase(inserted.subarray(0, erases));
      const present = Math.ceil(batch / repeats / 2);
      const keys = Uint32Array.of(...pool.subarray(0, present), ...absentKeys(present), ...crowd);
      const asked = counting(batch).map((i) => keys[Math.floor(i / repeats) % keys.length]);
      const where = everyNth > 0 ? Uint8Array.from(asked, (_, i) => Number(i % everyNth === 0)) : undefined;
      await model.find(asked, 77, where);
      await model.contains(asked, where);
      model.table.destroy();
    }),
    { numRuns: rounds(scaled(200, 4)), endOnFailure: true },
  );
});

it.for(sizes)(
  "finds every key of a table of %d slots whose last ones lie at its beginning",
  async (slots) => {
    const model = await newTable("map", slots);
    const pool = Uint32Array.of(...crowdIn(slots), ...sentinels, ...uniqueKeys(slots));
    const keys = pool.subarray(0, Math.floor(0.93 * slots));
    await model.insert("keep", keys, counting(keys.length));
    const asked = Uint32Array.of(...keys, ...absentKeys(keys.length), 0);
    expect(await lookupsByPages(() => model.find(asked, 5))).toBe(1);
    model.table.destroy();
  },
);

it("batches of unique keys go by pages", async () => {
  const model = await newTable("map", SLOTS);
  const keys = pool.subarray(0, Math.floor(0.9 * SLOTS));
  await model.insert("keep", keys, counting(keys.length));
  expect(await lookupsByPages(() => model.find(keys, 5))).toBe(1);
  expect(await lookupsByPages(() => model.contains(keys))).toBe(1);
  model.table.destroy();
});

it.each([
  [191, 1],
  [192, 0],
])(
  "go by pages in a nearly full table while no page overflows by more than 191 (%d)",
  async (overflow, byPages) => {
    const slots = 4 * PAGE_SLOTS;
    const model = await newTable("map", slots);
    const sizes = [0.9, 1, 0.75, 0.9].map((share) => Math.floor(share * PAGE_SLOTS));
    sizes[1] += overflow;
    const keys = Uint32Array.from(sizes.flatMap((size, page) => [...inPage(slots, page, size)]));
    await model.insert("keep", keys, counting(keys.length));
    expect(await lookupsByPages(() => model.find(keys, 5))).toBe(byPages);
    await model.contains(absentKeys(1000));
    model.table.destroy();
  },
);

it("equal keys that a page has no room for are looked up one by one", async () => {
  const model = await newTable("map", SLOTS);
  const keys = pool.subarray(0, Math.floor(0.9 * SLOTS));
  await model.insert("keep", keys, counting(keys.length));
  const some = keys.map((key, i) => (i % 9 === 0 ? keys[2] : key));
  for (let i = 0; i < 2; i++) expect(await lookupsByPages(() => model.find(some, 5))).toBe(1);
  model.table.destroy();
});

it("more of them than worklists hold make the table's lookups go by partitions, until it is cleared", async () => {
  const engine = await openVariant({ strategy: "partitioned", tuning: { worklistRoom: 16 } });
  const few = new Device(engine, "A test of short worklists.");
  const sizing = { key: "u32", value: "u32", capacity: SLOTS, maxLoadFactor: 1 } as const;
  const model = Modelled.map(await StaticMap.create(few, sizing));
  const map = model.table as StaticMap<"u32", "u32">;
  const keys = pool.subarray(0, Math.floor(0.9 * SLOTS));
  const fill = () => map.insert(keys, counting(keys.length));
  await model.insert("keep", keys, counting(keys.length));
  const equal = keys.map((key, i) => (i % 3 === 0 ? keys[2] : key));
  expect(await lookupsByPages(() => model.find(equal, 5))).toBe(1);
  expect(await lookupsByPages(() => model.find(keys, 5))).toBe(0);
  await map.clear();
  await fill();
  const { plan } = await planned((onPlan) => map.find(equal, { onPlan }));
  expect(plan).toMatchObject({ strategy: "partitioned", pages: 0 });
  expect(plan.reason).toMatch(/equal keys/);
  few.destroy();
});

it("elements that a sample has made too little room for are looked up again", async () => {
  const model = await newTable("map", SLOTS);
  const keys = pool.subarray(0, Math.floor(0.9 * SLOTS));
  await model.insert("keep", keys, counting(keys.length));
  // counted are the first 1,024 of 16,384
  const batch = counting(2 ** 16).map((i) => (i % 16_384 < 1024 ? keys[i % keys.length] : keys[i % 7]));
  expect(await lookupsByPages(() => model.find(batch, 5))).toBe(2);
  expect(await lookupsByPages(() => model.contains(batch))).toBe(2);
  // all keys of one partition, and of the side slots, more than the room of others
  for (const few of [keys.subarray(0, 7), sentinels]) {
    await model.find(
      counting(2 ** 15 + 5).map((i) => few[i % few.length]),
      5,
    );
  }
  model.table.destroy();
});

it("values that stand for something on the way are found as they are", async () => {
  using map = await StaticMap.create(device(), {
    key: "u32",
    value: "u32",
    capacity: SLOTS,
    maxLoadFactor: 1,
  });
  const keys = uniqueKeys(Math.floor(0.9 * SLOTS));
  const stored = counting(keys.length);
  // in a key of a side slot it is found by the direct kernel
  keys[77] = 0xffffffff;
  stored[77] = MARKS[0];
  stored.set(MARKS, 1234);
  await map.insert(keys, stored);
  const asked = Uint32Array.of(...keys, ...absentKeys(500));
  const find = async () => {
    const { values, found } = await map.find(asked, { missing: MARKS[1] });
    expectSame(
      values,
      asked.map((_, i) => stored[i] ?? MARKS[1]),
    );
    expectSame(
      found,
      Uint8Array.from(asked, (_, i) => Number(i < keys.length)),
    );
  };
  for (let i = 0; i < 2; i++) expect(await lookupsByPages(find)).toBe(1);
  const present = await map.contains(asked);
  expectSame(
    present,
    Uint8Array.from(asked, (_, i) => Number(i < keys.length)),
  );
});
