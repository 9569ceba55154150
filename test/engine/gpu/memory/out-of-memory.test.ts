/** insertOrApply on a GPU that runs out of memory at any of the call's allocations: all of its values go in, or none. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { Pacer } from "../../../../src/engine/gpu/pacer.js";
import type { Counters } from "../../../../src/engine/webgpu/table/control.js";
import { TableState } from "../../../../src/engine/webgpu/table/table-state.js";
import { CapacityError, Device, LimitError, StaticMap, type Strategy } from "../../../../src/index.js";
import { absentKeys, uniqueKeys } from "../../../conformance/helpers/keys.js";
import { inPage, PAGE_SLOTS as page, pageSlotsOf } from "../../webgpu/helpers/paged-tables.js";
import { openVariant } from "../../webgpu/helpers/variants.js";
import { Scarcity } from "../../webgpu/helpers/watched-gpu.js";

/** Pages of a window. */
const WINDOW_PAGES = 8;
const scarcity = new Scarcity();
let device: Device;

beforeAll(async () => {
  const tuning = { maxTableBinding: (WINDOW_PAGES * page + 2) * 8, copyAboveSteps: 0 };
  const engine = await openVariant({ strategy: "partitioned", tuning }, (gpuDevice) =>
    scarcity.on(gpuDevice),
  );
  expect(pageSlotsOf(engine)).toBe(page);
  device = new Device(engine, "A test of too little memory.");
  // a batch is one chunk: those that are done stay done
  vi.spyOn(Pacer.prototype, "next").mockReturnValue(2 ** 20);
});
afterAll(() => {
  vi.restoreAllMocks();
  device?.destroy();
});

interface Batch {
  slots: number;
  entries: Uint32Array;
  keys: Uint32Array;
  strategy: Strategy;
}

/** Adds 1 for each key to a map of entries with value 5, while `most` allocations succeed. Checks the map, and answers how it went. */
async function add({ slots, entries, keys, strategy }: Batch, most: number) {
  using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: slots, maxLoadFactor: 1 });
  await map.insert(entries, new Uint32Array(entries.length).fill(5));
  // nothing is there for the call but what it allocates
  device.trim();
  scarcity.after(most);
  const ones = new Uint32Array(keys.length).fill(1);
  const error = await map.insertOrApply(keys, ones, "add", { strategy }).then(
    () => null,
    (error: unknown) => error,
  );
  const { tried } = scarcity;
  scarcity.after(Number.POSITIVE_INFINITY);

  const sums = new Map(Array.from(entries, (key) => [key, 5]));
  for (const key of keys) sums.set(key, (sums.get(key) ?? 0) + 1);
  const all = await map.retrieveAll();
  expect(all.keys).toHaveLength(map.size);
  expect(new Set(all.keys).size).toBe(map.size);
  const present = new Set(all.keys);
  expect(entries.every((key) => present.has(key))).toBe(true);
  const isOld = map.size === entries.length && all.values.every((value) => value === 5);
  const sides = [0xffffffff, 0xfffffffe].filter((key) => present.has(key)).length;
  const fits = Math.min(sums.size, slots + sides);
  const isNew = map.size === fits && all.keys.every((key, i) => all.values[i] === sums.get(key));
  expect({ most, isWhole: isOld || isNew, error }).toMatchObject({ isWhole: true });
  if (error === null || error instanceof CapacityError) {
    expect([isNew, error === null]).toEqual([true, sums.size <= slots + sides]);
  } else expect(error).toBeInstanceOf(LimitError);
  return { tried, isOld };
}

/** Does a batch with memory for no allocation, for one, and so on until it has all it wants; how often it was refused outright. */
async function expectWhole(batch: Batch): Promise<number> {
  let refused = 0;
  for (let most = 0; ; most++) {
    const { tried, isOld } = await add(batch, most);
    if (isOld) refused++;
    if (tried <= most) return refused;
  }
}

it("values go in whole where entries are displaced and items left to the fallback, in several windows", async () => {
  const pages = 16;
  const full = 10;
  const slots = pages * page;
  const half = page / 2;
  const homes = (at: number, count: number, firstNumber = 0) => inPage(slots, at, count, firstNumber);
  const entries = Array.from({ length: pages }, (_, at) => [...homes(at, at < full ? page : half)]).flat();
  const keys = [...homes(0, 100, 1), ...homes(2, 50), 0xffffffff, 0xfffffffe, 0xffffffff];
  for (let at = full; at < pages; at++) keys.push(...homes(at, half + Math.floor(page / 3)).subarray(half));
  const batch = {
    slots,
    entries: Uint32Array.from(entries),
    keys: Uint32Array.from(keys),
    strategy: "partitioned",
  } as const;
  const submit = vi.spyOn(TableState.prototype, "submit");
  await add(batch, Number.POSITIVE_INFINITY);
  const counters: Counters[] = await Promise.all(submit.mock.results.map(({ value }) => value));
  submit.mockRestore();
  expect(Math.max(...counters.map(({ displaced }) => displaced))).toBeGreaterThan(0);
  expect(Math.max(...counters.map(({ fallbacks }) => fallbacks))).toBeGreaterThan(0);
  expect(await expectWhole(batch)).toBeGreaterThan(2);
});

it.each(["partitioned", "direct"] as const)(
  "values go in whole where keys do not fit (%s)",
  async (strategy) => {
    const slots = 3 * page;
    const keys = Uint32Array.of(...uniqueKeys(slots), ...absentKeys(100), ...uniqueKeys(500), 0xffffffff);
    const batch = { slots, entries: new Uint32Array(0), keys, strategy };
    expect(await expectWhole(batch)).toBeGreaterThan(2);
  },
);
