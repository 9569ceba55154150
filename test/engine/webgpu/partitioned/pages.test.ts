/**
 * Tables whose pages are built, and erased from, by the workgroups that own them: tiny tables, and tables with as many items
 * in a page as fit, or more. What overflows a page is propagated into the next one, in the order of homes; the first page comes
 * after the last. And what comes before pages: keys that repeat, samples of a batch, many windows.
 */

import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { murmur3 } from "../../../../src/engine/hash.js";
import { TableState } from "../../../../src/engine/webgpu/table/table-state.js";
import { Device, StaticMap } from "../../../../src/index.js";
import { expectSame } from "../../../conformance/helpers/checks.js";
import { scaled } from "../../../conformance/helpers/device.js";
import { counting, keysWithHome, uniqueKeys } from "../../../conformance/helpers/keys.js";
import { planned } from "../../../conformance/helpers/plan.js";
import { covering, rounds } from "../../../helpers/rounds.js";
import { expectInOrder, homesOf } from "../helpers/homes.js";
import { PAGE_SLOTS, usePagedTables } from "../helpers/paged-tables.js";
import { openVariant } from "../helpers/variants.js";

/** Slots of the last page. */
const LAST_PAGE = 500;
/** By how many items pages overflow: none, up to all that are noted (191, in fuller tables 255), more, and more than a workgroup has room for (256). */
const OVERFLOWS = [0, 1, 127, 191, 192, 255, 256, 300];
const PAGES = 2 * OVERFLOWS.length;
const SLOTS = (PAGES - 1) * PAGE_SLOTS + LAST_PAGE;
/** Bytes of a window: a set of SLOTS slots has one, a map has two. */
const WINDOW_BYTES = ((PAGES / 2) * PAGE_SLOTS + 2) * 8;

/** The least that a window holds. */
const WINDOW_SLOTS = 4096;

type Kind = "map" | "set";

const { engine, device, newTable } = usePagedTables(WINDOW_BYTES);

it("tiny tables take some of a few keys, and count them all", async () => {
  const key = fc.constantFrom(0xffffffff, 0xfffffffe, 0xfffffffd, 0, 1, 2, 3, 4);
  const keys = (minLength: number) =>
    fc.array(key, { minLength, maxLength: 9 }).map((list) => Uint32Array.from(list));
  const cases = fc.record({
    kind: fc.constantFrom<Kind[]>("map", "set"),
    capacity: fc.nat(5),
    maxLoadFactor: fc.constantFrom(0.3, 0.9, 1),
    policy: fc.constantFrom("keep", "assign"),
    batch: keys(1),
    erased: keys(0),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ kind, capacity, maxLoadFactor, policy, batch, erased }) => {
      const model = await newTable(kind, capacity, maxLoadFactor);
      await model.insert(policy, batch, counting(batch.length, 100));
      await model.erase(erased);
      await model.expectEqual();
      model.table.destroy();
    }),
    { numRuns: rounds(scaled(1000, 6)) },
  );
});

it("are built from a whole batch at once", async () => {
  using map = await StaticMap.create(device(), {
    key: "u32",
    value: "u32",
    capacity: SLOTS,
    maxLoadFactor: 1,
  });
  const { keys } = overflowing(0, 0);
  const { plan } = await planned((onPlan) => map.insert(mixed(keys), counting(keys.length), { onPlan }));
  expect(plan).toMatchObject({ strategy: "partitioned", chunks: 1, pages: PAGES });
});

it("leave an EMPTY value in slots that are free again, which users' kernels add to", async () => {
  const slots = 2 * PAGE_SLOTS;
  using map = await StaticMap.create(device(), {
    key: "u32",
    value: "u32",
    capacity: slots,
    maxLoadFactor: 1,
  });
  const keys = Uint32Array.of(0xffffffff, 0xfffffffe, ...uniqueKeys(slots / 2));
  await map.insert(keys, counting(keys.length));
  await map.erase(keys.filter((_, i) => i % 3 !== 2));
  const table = engine().interop.buffers!.tableOf(map.engineTable).slots;
  const words = await device()
    .wrap(table, { type: "u32", length: 2 * (slots + 2) })
    .read();
  const free = counting(slots + 2).filter((slot) => words[2 * slot] === 0xffffffff);
  // some of the erased keys' slots, and those that never held a key
  expect(free.length).toBeGreaterThan(slots / 2 + slots / 16);
  expectSame(
    free.map((slot) => words[2 * slot + 1]),
    free.fill(0xffffffff),
  );
});

it.each(covering([0.96, 0.985], (load) => load > 0.97))(
  "keep the order of homes at load %d, across pages too, and lookups rely on it until keys are inserted anywhere",
  async (load) => {
    const capacity = 20 * PAGE_SLOTS + LAST_PAGE;
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity, maxLoadFactor: 1 });
    const keys = uniqueKeys(Math.floor(capacity * load));
    const answers = async (present: Uint32Array) => {
      const { values, found } = await map.find(keys);
      expectSame(values, present);
      expectSame(
        found,
        Uint8Array.from(present, (value) => Math.min(value, 1)),
      );
      expect(await map.contains(uniqueKeys(capacity, 2 ** 20))).not.toContain(1);
    };
    await map.insert(keys, counting(keys.length, 1));
    const before = await homesOf(engine(), map);
    expect(before.filter((home) => home !== null).length).toBe(keys.length);
    expectInOrder(before, PAGE_SLOTS / 50);
    await answers(counting(keys.length, 1));

    const half = Math.floor(keys.length / 2);
    expect(await map.erase(keys.slice(0, half))).toEqual({ erased: half });
    await answers(counting(keys.length, 1).fill(0, 0, half));
    expectInOrder(await homesOf(engine(), map), PAGE_SLOTS / 50);

    await map.insert(keys.slice(0, half), counting(half, 1), { strategy: "direct" });
    await answers(counting(keys.length, 1));
  },
);

/** Slots to spare behind a page that overflows; fewer than none for keys that do not fit. */
const spares = { "load 0.95": PAGE_SLOTS / 10, "load 1": 0, "more keys than slots": -9 };

describe.each(Object.entries(spares))("pages that overflow, %s", (name, spare) => {
  const fits = spare >= 0;
  const turn = Object.keys(spares).indexOf(name);

  it.each(covering(["map", "set"] as const, (_, i) => (turn + i) % 2 === 0))("of a %s", async (kind) => {
    const model = await newTable(kind, SLOTS, 1);
    const { keys } = overflowing(turn, spare);
    await model.insert("keep", mixed(keys), counting(keys.length));
    await model.expectEqual();
    await model.clear();

    const { keys: others, extra, absent } = overflowing(turn + (kind === "map" ? 3 : 5), spare);
    const many = new Uint32Array(700).fill(extra[9]);
    const batch = mixed([...others, ...extra, ...many, ...others.slice(0, 3000)]);
    await model.insert("assign", batch, counting(batch.length));
    await model.find(Uint32Array.of(...batch, ...absent), 7);
    const erased = mixed([...absent, ...batch.subarray(0, batch.length / 2), ...absent]);
    await model.erase(erased);
    await model.contains(erased.subarray(0, 500));
    await model.expectEqual();
    expect(model.rejections).toBe(fits ? 0 : 2);
    model.table.destroy();
  });
});

/**
 * Keys for SLOTS slots: every second page has one for each of its slots and `extra` ones, which make it overflow. The page
 * behind it, or for the last page the first one, has as many empty slots and `spare` more. `absent` are keys at home where
 * pages end.
 * @param turn which of OVERFLOWS comes first; the one before it is the last page's.
 */
function overflowing(turn: number, spare: number) {
  const keys: number[] = [];
  const extra: number[] = [];
  const absent: number[] = [];
  for (let pair = 0; pair < OVERFLOWS.length; pair++) {
    const overflow = OVERFLOWS[(pair + turn) % OVERFLOWS.length];
    const page = 2 * pair + 1;
    const size = page === PAGES - 1 ? LAST_PAGE : PAGE_SLOTS;
    const end = page * PAGE_SLOTS + size;
    const behind = end === SLOTS ? 0 : end;
    for (let slot = end - size; slot < end; slot++) keys.push(keyAt(slot));
    for (const n of shuffled(PAGE_SLOTS).subarray(Math.max(0, overflow + spare)))
      keys.push(keyAt(behind + n));
    for (let i = 1; i <= overflow; i++) extra.push(keyAt(end - 1 - (i % 2) * (murmur3(i) % size), i));
    absent.push(...counting(10, 1000).map((number) => keyAt(end - 1, number)));
  }
  return { keys: [...keys, ...extra], extra, absent };
}

/** A key by its home slot and its number among the keys at home there. */
const keyAt = (home: number, number = 0) => keysWithHome(home, SLOTS, number + 1)[number];

/** The numbers below `count` in an order that looks random. */
const shuffled = (count: number) => counting(count).sort((a, b) => murmur3(a) - murmur3(b));

/** Keys in an order that looks random. */
const mixed = (keys: readonly number[]) => shuffled(keys.length).map((n) => keys[n]);

it("leave most equal keys of a skewed batch out before they come to pages, and count them all", async () => {
  // two multisplits, both of which leave keys out
  const capacity = 300 * PAGE_SLOTS;
  const distinct = 8000;
  const keys = uniqueKeys(distinct);
  const batch = counting(3 * distinct).map((i) => {
    if (i < distinct) return keys[i];
    return keys[Math.floor(distinct ** ((murmur3(i) >>> 0) / 2 ** 32)) - 1];
  });
  batch.fill(0xffffffff, 0, 100);
  const model = await newTable("map", capacity, 1);
  await model.insert("assign", batch, counting(batch.length));
  await model.expectEqual();
  await model.erase(batch.subarray(distinct / 2));
  await model.expectEqual();
  model.table.destroy();
});

it("equal keys leave no gaps", async () => {
  const capacity = 4 * PAGE_SLOTS + 9;
  const distinct = Math.floor(0.6 * capacity);
  // some share a home, and some of these lie where a page ends
  const crowds = [100, PAGE_SLOTS - 3, capacity - 2].flatMap((home) => [...keysWithHome(home, capacity, 6)]);
  const keys = [...new Set([...crowds, ...uniqueKeys(distinct)])].slice(0, distinct);
  for (const every of [3, 40]) {
    const repeats = [...keys.filter((_, i) => i % every === 0), ...crowds, ...crowds];
    const once = (await newTable("map", capacity)).table as unknown as StaticMap<"u32", "u32">;
    await once.insert(Uint32Array.from(keys), counting(distinct));
    const model = await newTable("map", capacity);
    const batch = mixed([...keys, ...repeats]);
    await model.insert("add", batch, counting(batch.length));
    await model.expectEqual();
    const again = model.table as unknown as StaticMap<"u32", "u32">;
    expect(await homesOf(engine(), again)).toEqual(await homesOf(engine(), once));
    once.destroy();
    again.destroy();
  }
});

it("are made again from exact counts when the sample of a batch has missed what repeats", async () => {
  const capacity = 300 * PAGE_SLOTS;
  const unique = uniqueKeys(2 ** 16);
  // counted are the first 1,024 of 16,384 keys
  const batch = unique.map((key, i) => (i % 16384 < 1024 ? key : unique[i % 7]));
  const model = await newTable("map", capacity, 1);
  const submit = vi.spyOn(TableState.prototype, "submit");
  await model.insert("keep", batch, counting(batch.length));
  expect(submit.mock.calls.filter(([label]) => label === "build").length).toBe(2);
  submit.mockRestore();
  await model.expectEqual();
  await model.erase(batch.subarray(500));
  await model.expectEqual();
  model.table.destroy();
});

// tables of a GPU's memory have few windows: small ones of so many take as long as a tenth of the other tests here
it.each(covering([128], () => false))(
  "tables of %i windows take more dispatches than there are windows",
  async (windows) => {
    const slots = windows * WINDOW_SLOTS;
    const engine = await openVariant({
      strategy: "partitioned",
      tuning: { maxTableBinding: (WINDOW_SLOTS + 2) * 8 },
    });
    const many = new Device(engine, "A test of many windows.");
    const count = Math.floor(slots * 0.76);
    using map = await StaticMap.create(many, {
      key: "u32",
      value: "u32",
      capacity: count,
      maxLoadFactor: 0.76,
    });
    expect(map.slots).toBeGreaterThan((windows - 1) * WINDOW_SLOTS);
    const keys = uniqueKeys(count);
    expect(await map.insert(keys, counting(count))).toEqual({ inserted: count, existing: 0 });
    const all = await map.retrieveAll();
    expectSame(
      all.keys,
      all.values.map((number) => keys[number]),
    );
    expectSame(all.values.toSorted(), counting(count));
    // fuller, what overflows a page is tried in the most of those behind it
    const more = Math.floor(slots * 0.2);
    expect(await map.insert(uniqueKeys(more, count), counting(more))).toEqual({
      inserted: more,
      existing: 0,
    });
    const some = keys.slice(0, 1000);
    expectSame((await map.find(some)).values, counting(1000));
    many.destroy();
  },
);
