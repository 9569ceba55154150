/** Lookups by pages, in tables that are nearly full: of keys whose walks leave their page, their window, or the table's end. */
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { ABSENT } from "../../src/engine/webgpu/partitioned-chunk.js";
import { TableState } from "../../src/engine/webgpu/table-state.js";
import { StaticMap } from "../../src/index.js";
import { expectSame } from "../conformance/helpers/checks.js";
import { scaled } from "../conformance/helpers/device.js";
import { absentKeys, counting, keysWithHome, uniqueKeys } from "../conformance/helpers/keys.js";
import { PAGE_SLOTS, usePagedTables } from "./helpers/paged-tables.js";

/** Slots of a table with a last page that is short, and of a window. */
const SLOTS = 9 * PAGE_SLOTS + 77;
const WINDOW_SLOTS = 4096;

const { newTable, device } = usePagedTables((WINDOW_SLOTS + 2) * 8);

/** Keys that crowd the ends of pages, windows and the table, and those of the side slots. */
const ends = [PAGE_SLOTS, WINDOW_SLOTS, SLOTS];
const crowd = ends.flatMap((end) => [
  ...keysWithHome(end - 3, SLOTS, 40),
  ...keysWithHome(end - 1, SLOTS, 20),
]);
const pool = Uint32Array.of(...crowd, 0xffffffff, 0xfffffffe, ...uniqueKeys(SLOTS));

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

it("answers for every element of random batches", async () => {
  const cases = fc.record({
    kind: fc.constantFrom<("map" | "set")[]>("map", "map", "set"),
    load: fc.constantFrom(0.85, 0.95, 0.99),
    skipped: fc.nat(100),
    erases: fc.constantFrom(0, 0, 300, 2000),
    batch: fc.constantFrom(1, 5000, 33_000),
    repeats: fc.constantFrom(1, 1, 5),
    everyNth: fc.constantFrom(0, 0, 3),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ kind, load, skipped, erases, batch, repeats, everyNth }) => {
      const model = await newTable(kind, SLOTS);
      const inserted = pool.subarray(skipped, skipped + Math.floor(load * SLOTS));
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
    { numRuns: scaled(200, 4), endOnFailure: true },
  );
});

it("batches of unique keys go by pages", async () => {
  const model = await newTable("map", SLOTS);
  const keys = pool.subarray(0, Math.floor(0.9 * SLOTS));
  await model.insert("keep", keys, counting(keys.length));
  expect(await lookupsByPages(() => model.find(keys, 5))).toBe(1);
  expect(await lookupsByPages(() => model.contains(keys))).toBe(1);
  model.table.destroy();
});

it("equal keys that a page has no room for are looked up otherwise", async () => {
  const model = await newTable("map", SLOTS);
  const keys = pool.subarray(0, Math.floor(0.9 * SLOTS));
  await model.insert("keep", keys, counting(keys.length));
  // some more than a page has room for, and then so many that parts do better
  const some = keys.map((key, i) => (i % 9 === 0 ? keys[2] : key));
  expect(await lookupsByPages(() => model.find(some, 5))).toBe(1);
  model.table.destroy();
});

it("values that stand for something on the way are found as they are", async () => {
  using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: SLOTS, loadFactor: 1 });
  const keys = uniqueKeys(Math.floor(0.9 * SLOTS));
  const stored = counting(keys.length);
  stored[1234] = ABSENT + 1;
  await map.insert(keys, stored);
  const find = async () => {
    const { values, found } = await map.find(keys, { missing: ABSENT });
    expectSame(values, stored);
    expectSame(
      found,
      keys.map(() => 1),
    );
  };
  expect(await lookupsByPages(find)).toBe(1);
  // now the table is known to have one
  expect(await lookupsByPages(find)).toBe(0);
});
