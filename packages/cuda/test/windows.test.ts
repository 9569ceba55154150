/** Batches that go by windows of slots in shared memory: which do, and that answers are those of a Map. */
import { expect, it } from "vitest";
import { openDevice, StaticMap } from "../../../src/index.js";
import { uniqueKeys } from "../../../test/conformance/helpers/keys.js";
import { covering } from "../../../test/helpers/rounds.js";
import { tableArguments } from "../src/device.js";
import type { TableState } from "../src/table/table-state.js";
import { windowsFor } from "../src/table/windows.js";

const KIB = 1024;

/** A table on a GPU, as far as the choice of windows depends on them. */
const tableOf = (
  slots: number,
  { entries = 0, slotWords = 2, sharedMemory = 227 * KIB, isEmulated = false } = {},
) =>
  ({
    spec: { slots },
    format: { slotWords },
    live: entries,
    tombstones: 0,
    host: { gpu: { facts: { sharedMemory, isEmulated } } },
  }) as unknown as TableState;

it.each([
  [2 ** 28, 227, 15, 72],
  [141_000_000, 227, 14, 75],
  [2 ** 28, 163, 15, 72],
  [2 ** 26, 99, 14, 36],
  [2 ** 30, 227, 15, 288],
  [2 ** 29, 227, 15, 144],
])("%s slots with %s KiB of shared memory: 2^%s windows of up to %s KiB", (slots, shared, bits, size) => {
  const windows = windowsFor(tableOf(slots, { sharedMemory: shared * KIB }), "insert", slots / 2);
  if (size > shared) return expect(windows).toBeNull();
  expect(windows?.bits).toBe(bits);
  expect(Math.floor((windows?.bytes ?? 0) / KIB)).toBe(size);
});

it("takes batches that reach a good part of the slots, and look-ups in tables that are full", () => {
  const slots = 2 ** 27;
  expect(windowsFor(tableOf(slots), "erase", slots / 8)).not.toBeNull();
  expect(windowsFor(tableOf(slots), "erase", slots / 8 - 1)).toBeNull();
  expect(windowsFor(tableOf(slots, { entries: 0.5 * slots }), "insert", slots / 2)).not.toBeNull();
  expect(windowsFor(tableOf(slots, { entries: 0.5 * slots }), "find", slots / 2)).toBeNull();
  expect(windowsFor(tableOf(slots, { entries: 0.9 * slots }), "find", slots / 2)).not.toBeNull();
});

const loads = [
  ["u32", 0.97],
  ["u64", 0.97],
  ["u32", 0.5],
  ["u64", 0.5],
] as const;
it.each(covering(loads, ([type, load]) => (type === "u64") === load > 0.5))(
  "answers as a Map does: %s values, up to load %s",
  async (value, maxLoadFactor) => {
    using device = await openDevice({ gpu: 0 });
    const count = 6000;
    const [keys, absent] = [uniqueKeys(2 * count).subarray(0, count), uniqueKeys(2 * count).subarray(count)];
    using map = await StaticMap.create(device, { key: "u32", value, capacity: count, maxLoadFactor });
    const reasons: string[] = [];
    const call = {
      strategy: "partitioned",
      onPlan: ({ reason }: { reason: string }) => reasons.push(reason.split(" ").at(-1) as string),
    } as const;
    const model = new Map<number, number>();
    const column = (numbers: readonly number[]) =>
      value === "u32" ? Uint32Array.from(numbers) : BigUint64Array.from(numbers, BigInt);
    const valuesOf = (of: Uint32Array, salt: number) => Array.from(of, (key) => (key % 10007) + salt);
    const check = async () => {
      for (const of of [keys, absent]) {
        const { values, found } = await map.find(of, {
          strategy: "partitioned",
          missing: (value === "u32" ? 7 : 7n) as never,
        });
        expect(Array.from(found as Uint8Array, Boolean)).toEqual(Array.from(of, (key) => model.has(key)));
        expect(Array.from(values as never, Number)).toEqual(Array.from(of, (key) => model.get(key) ?? 7));
      }
      // counts of what look-ups left are not those of the next call
      const { keys: there } = await map.retrieveAll();
      expect(there.toSorted()).toEqual(Uint32Array.from(model.keys()).sort());
    };
    const put = (
      of: Uint32Array,
      numbers: number[],
      combine: (old: number | undefined, now: number) => number,
    ) => of.forEach((key, i) => void model.set(key, combine(model.get(key), numbers[i])));

    const half = keys.subarray(0, 3000);
    const first = valuesOf(half, 1);
    await map.insert(half, column(first) as never, call);
    put(half, first, (old, now) => old ?? now);
    await check();

    const twice = Uint32Array.of(...keys.subarray(2250, 3750), ...keys.subarray(2250, 3750));
    const summands = valuesOf(twice, 3);
    await map.insertOrApply(twice, column(summands) as never, "add", call);
    put(twice, summands, (old, now) => (old ?? 0) + now);
    await check();

    const rest = keys.subarray(3750);
    const second = valuesOf(rest, 4);
    await map.insertOrAssign(rest, column(second) as never, call);
    put(rest, second, (_, now) => now);
    expect(map.size / map.capacity).toBe(1);
    await check();

    const gone = keys.subarray(1000, 4500);
    expect(await map.erase(gone, call)).toEqual({ erased: 3500 });
    for (const key of gone) model.delete(key);
    await check();

    const back = Uint32Array.of(...keys.subarray(500, 2500), ...absent.subarray(0, 1500));
    const third = valuesOf(back, 5);
    const { isNew } = (await map.insertAndFind(back, column(third) as never, call)) as never as {
      isNew: Uint8Array;
    };
    expect(Array.from(isNew, Boolean)).toEqual(Array.from(back, (key) => !model.has(key)));
    put(back, third, (old, now) => old ?? now);
    await check();
    expect(new Set(reasons)).toEqual(new Set(["memory"]));
  },
);

const fills = [
  ["u32", 0],
  ["u32", 1],
  ["u32", 400],
  ["u64", 0],
  ["u64", 1],
] as const;
it.each(covering(fills, ([type, repeated]) => (type === "u64") === (repeated === 1)))(
  "fills an empty table of %s at once, %s keys twice",
  async (type, repeated) => {
    using device = await openDevice({ gpu: 0 });
    const count = 9000;
    const all = uniqueKeys(2 * count);
    const batch = Uint32Array.of(...all.subarray(0, count - repeated), ...all.subarray(0, repeated));
    const column = (keys: Uint32Array) => (type === "u32" ? keys : BigUint64Array.from(keys, BigInt));
    using map = await StaticMap.create(device, {
      key: type,
      value: type,
      capacity: count,
      maxLoadFactor: 0.95,
    });
    const values = column(batch.map((key) => key % 10007));
    const call = { strategy: "partitioned" } as const;
    const { isNew } = (await map.insertAndFind(column(batch) as never, values as never, call)) as never as {
      isNew: Uint8Array;
    };
    expect(map.size).toBe(count - repeated);
    expect(isNew.reduce((sum, flag) => sum + flag, 0)).toBe(count - repeated);
    const { values: found } = await map.find(column(batch) as never, {
      ...call,
      missing: column(all)[0] as never,
    });
    expect(found).toEqual(values);
    const absent = await map.find(column(all.subarray(count)) as never, call as never);
    expect(new Set(absent.found as Uint8Array)).toEqual(new Set([0]));
    // entries are looked up where they lie, but in windows of few entries, of which u64 has some, or with repeated keys
    const control = device.wrap({
      pointer: tableArguments(map as never).control,
      byteLength: 64,
      type: "u32",
    });
    const unordered = (await control.read())[15];
    if (type === "u32" && repeated === 0) expect(unordered).toBeLessThan(5);
    if (repeated === 400) expect(unordered).toBeGreaterThan(5);
  },
);
