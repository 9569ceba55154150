/** The main calls for each combination of key and value type: what cuCollections runs its test grid for. */
import { describe, expect, it } from "vitest";
import { StaticMap, StaticSet } from "../../src/index.js";
import { expectAllSet, expectNoneSet, expectPairs, expectSameBits, pairsByBits } from "./helpers/checks.js";
import { useDevice } from "./helpers/device.js";
import { fromBits, numbers, types } from "./helpers/keys.js";

const device = useDevice();
const COUNT = 400;
/** −200 … 199 for signed types, 0 … 399 for u32. */
const numbersOf = (type: (typeof types)[number], start = 0) => {
  const first = start - (type === "u32" ? 0 : COUNT / 2);
  return numbers(
    type,
    Array.from({ length: COUNT }, (_, i) => first + i),
  );
};

describe("element types", () => {
  for (const key of types) {
    for (const value of types) {
      it(`${key} keys with ${value} values`, async () => {
        using map = await StaticMap.create(device(), { key, value, capacity: COUNT });
        const [keys, values, absent] = [numbersOf(key), numbersOf(value, 7), numbersOf(key, 10_000)];
        const half = keys.subarray(0, COUNT / 2);
        expectNoneSet(await map.contains(keys), COUNT);
        expect(await map.insert(keys, values)).toEqual({ inserted: COUNT, existing: 0 });
        await expectPairs(map, pairsByBits(key, keys, values));
        const hits = await map.find(keys);
        expect(hits.values.constructor).toBe(values.constructor);
        expectSameBits(hits.values, values);
        expectAllSet(hits.found, COUNT);
        const misses = await map.find(absent, { missing: 5 });
        expectNoneSet(misses.found, COUNT);
        expectSameBits(misses.values, fromBits(value, new Uint32Array(COUNT)).fill(5));
        expect(await map.erase(half)).toEqual({ erased: COUNT / 2 });
        expectNoneSet(await map.contains(half), COUNT / 2);
        const again = await map.insertAndFind(keys, numbersOf(value, 1000));
        expectAllSet(again.isNew.subarray(0, COUNT / 2), COUNT / 2);
        expectNoneSet(again.isNew.subarray(COUNT / 2), COUNT / 2);
        expect(await map.insertOrAssign(keys, values)).toEqual({ inserted: 0, assigned: COUNT });
        expect(await map.insertOrApply(keys, values, "add")).toEqual({ inserted: 0, applied: COUNT });
        const doubled = values.map((x) => 2 * x);
        await map.rehash(COUNT * 2);
        await expectPairs(map, pairsByBits(key, keys, doubled));
        expect((await map.retrieveAll()).keys.constructor).toBe(keys.constructor);
      });
    }

    it(`${key} keys in a set`, async () => {
      using set = await StaticSet.create(device(), { key, capacity: COUNT });
      const [keys, absent] = [numbersOf(key), numbersOf(key, 10_000)];
      const half = keys.subarray(0, COUNT / 2);
      expect(await set.insert(keys)).toEqual({ inserted: COUNT, existing: 0 });
      expectAllSet(await set.contains(keys), COUNT);
      expectNoneSet(await set.contains(absent), COUNT);
      const { keys: stored, found } = await set.find(keys);
      expectAllSet(found, COUNT);
      expect(stored.constructor).toBe(keys.constructor);
      expectSameBits(stored, keys);
      expect(await set.erase(half)).toEqual({ erased: COUNT / 2 });
      await set.rehash();
      expectAllSet((await set.insertAndFind(half)).isNew, COUNT / 2);
      expectAllSet(await set.contains(keys), COUNT);
    });
  }
});
