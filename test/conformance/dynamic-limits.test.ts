/** Tables that may not grow: `maxBytes`, and options that are wrong. The table is as it was. */
import { describe, expect, it } from "vitest";
import {
  DynamicMap,
  type DynamicMapOptions,
  DynamicSet,
  LimitError,
  ValidationError,
} from "../../src/index.js";
import { expectPairs, pairsByBits, rejection } from "./helpers/checks.js";
import { useDevice } from "./helpers/device.js";
import { counting, uniqueKeys } from "./helpers/keys.js";

const device = useDevice();

/** Bytes of a table of u32 to u32: 8 a slot, and two side slots. */
const bytesOf = (slots: number) => (slots + 2) * 8;
const LONG = 10_000;

/** A full map of 200 entries in 400 slots. */
async function fullMap(maxBytes: number, growthFactor?: number): Promise<DynamicMap> {
  const map = await DynamicMap.create(device(), {
    key: "u32",
    value: "u32",
    capacity: 200,
    maxBytes,
    growthFactor,
  });
  await map.insert(uniqueKeys(200), counting(200));
  return map;
}
const entries = () => pairsByBits("u32", uniqueKeys(200), counting(200));

describe("maxBytes", () => {
  const refused = {
    "one new key": (map: DynamicMap) => map.insert(uniqueKeys(1, 300), counting(1)),
    "old keys and a new one": (map: DynamicMap) =>
      map.insertOrApply(uniqueKeys(201), counting(201, 7), "add"),
    "a short batch": (map: DynamicMap) => map.insertOrAssign(uniqueKeys(900, 100), counting(900)),
    "a long batch of new keys": (map: DynamicMap) => map.insert(uniqueKeys(LONG), counting(LONG)),
    "a long batch of old keys and a few new ones": (map: DynamicMap) =>
      map.insertOrApply(
        Uint32Array.from({ length: LONG }, (_, i) => uniqueKeys(1, i % 210)[0]),
        counting(LONG),
        "add",
      ),
    "insertAndFind of a new key": (map: DynamicMap) => map.insertAndFind(uniqueKeys(201), counting(201)),
    reserve: (map: DynamicMap) => map.reserve(201),
    rehash: (map: DynamicMap) => map.rehash(201),
  };
  for (const [what, call] of Object.entries(refused)) {
    it(`refuses ${what} with its numbers, and changes nothing`, async () => {
      const maxBytes = bytesOf(400) + bytesOf(402) - 1;
      using map = await fullMap(maxBytes);
      const error = await rejection(call(map), LimitError);
      expect(error).toMatchObject({ limit: "maxBytes", have: maxBytes });
      expect(error.need).toBeGreaterThan(maxBytes);
      expect(error.message).toMatch(
        /the most is \d+\. Growing holds the old and the new table: raise maxBytes/,
      );
      expect([map.capacity, map.slots]).toEqual([200, 400]);
      await expectPairs(map, entries());
      // what needs no room goes in
      expect(await map.insertOrAssign(uniqueKeys(200), counting(200))).toEqual({
        inserted: 0,
        assigned: 200,
      });
      await map.erase(uniqueKeys(1));
      expect(await map.insert(uniqueKeys(1, 300), counting(1))).toEqual({ inserted: 1, existing: 0 });
    });
  }

  it("counts the old and the new table, and lets the table grow less than the policy wants", async () => {
    using map = await fullMap(bytesOf(400) + bytesOf(500), 2);
    await map.insert(uniqueKeys(1, 300), counting(1));
    expect([map.capacity, map.slots]).toEqual([250, 500]);
    await map.insert(uniqueKeys(49, 301), counting(49));
    await rejection(map.insert(uniqueKeys(1, 400), counting(1)), LimitError);
    expect([map.size, map.slots]).toEqual([250, 500]);
  });

  it("lets long batches grow to what they need, where room for all elements is too much", async () => {
    using map = await fullMap(bytesOf(400) + bytesOf(2 * (200 + 0.8 * LONG)));
    const keys = Uint32Array.from({ length: LONG }, (_, i) => uniqueKeys(1, 500 + Math.floor(i * 0.8))[0]);
    expect((await map.insert(keys, counting(LONG))).inserted).toBe(0.8 * LONG);
    expect(map.capacity).toBe(200 + 0.8 * LONG);
  });

  it("keeps tombstones where a second table is not allowed", async () => {
    using map = await fullMap(bytesOf(400) + bytesOf(399));
    await map.erase(uniqueKeys(150));
    await map.insert(uniqueKeys(100, 300), counting(100));
    await map.erase(uniqueKeys(50, 150));
    expect((await map.stats()).tombstones).toBeGreaterThan(100);
    await expectPairs(map, pairsByBits("u32", uniqueKeys(100, 300), counting(100)));
  });

  it("bounds the first table", async () => {
    const create = (maxBytes: number) =>
      DynamicSet.create(device(), { key: "u32", capacity: 100, maxBytes, maxLoadFactor: 1 });
    const error = await rejection(create(407), LimitError);
    expect(error).toMatchObject({ limit: "maxBytes", need: 408, have: 407 });
    using set = await create(408);
    expect(set.slots).toBe(100);
  });
});

describe("the number of slots", () => {
  it("is bounded, and the table is as it was", async () => {
    using map = await fullMap(Number.MAX_SAFE_INTEGER);
    expect((await rejection(map.reserve(2 ** 40), LimitError)).limit).toBe("slots");
    await expectPairs(map, entries());
  });
});

describe("a signal that was aborted", () => {
  it("ends a call before it grows", async () => {
    using map = await fullMap(Number.MAX_SAFE_INTEGER);
    const reason = new Error("enough");
    const call = map.insert(uniqueKeys(LONG), counting(LONG), { signal: AbortSignal.abort(reason) });
    await expect(call).rejects.toBe(reason);
    expect(map.capacity).toBe(200);
    await expectPairs(map, entries());
  });
});

describe("create refuses", () => {
  const wrong: Record<string, object> = {
    "growthFactor 1": { growthFactor: 1 },
    "growthFactor NaN": { growthFactor: Number.NaN },
    "growthFactor Infinity": { growthFactor: Number.POSITIVE_INFINITY },
    "growthFactor text": { growthFactor: "2" },
    "maxBytes below 0": { maxBytes: -1 },
    "maxBytes not whole": { maxBytes: 1.5 },
    "maxBytes null": { maxBytes: null },
    "capacity below 0": { capacity: -1 },
    "maxLoadFactor 0": { maxLoadFactor: 0 },
    "another name": { maxByte: 10 },
    "no value type": { value: undefined },
    "another hash": { hash: "md5" },
  };
  for (const [what, options] of Object.entries(wrong)) {
    it(what, async () => {
      const all = { key: "u32", value: "u32", ...options } as DynamicMapOptions<"u32", "u32">;
      await rejection(DynamicMap.create(device(), all), ValidationError);
    });
  }

  it("values for sets, and what is no device", async () => {
    const options = { key: "u32", value: "u32" } as const;
    await rejection(DynamicSet.create(device(), options), ValidationError);
    await rejection(DynamicSet.create({} as never, { key: "u32" }), ValidationError);
    const Class = DynamicMap as unknown as new () => unknown;
    expect(() => new Class()).toThrow(/await DynamicMap\.create/);
  });
});
