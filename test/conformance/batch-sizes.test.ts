import { describe, expect, it } from "vitest";
import { StaticMap, StaticSet } from "../../src/index.js";
import { expectAllSet, expectEvery, expectNoneSet, expectSame } from "./helpers/checks.js";
import { OVER_ONE_DISPATCH, useDevice } from "./helpers/device.js";
import { absentKeys, counting, unhash, uniqueKeys } from "./helpers/keys.js";

const device = useDevice();
const sizes = [
  0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257, 511, 1023, 1024, 1025, 65_537,
];

describe("batches of every size through every call", () => {
  for (const count of sizes) {
    it(`${count} keys`, async () => {
      using map = await StaticMap.create(device(), {
        key: "u32",
        value: "u32",
        capacity: count,
        loadFactor: 0.9,
      });
      using set = await StaticSet.create(device(), { key: "u32", capacity: count, loadFactor: 0.9 });
      const [keys, values, ones] = [uniqueKeys(count), counting(count), new Uint32Array(count).fill(1)];
      const none = Math.floor(count / 2);
      expect(await map.insert(keys, values)).toEqual({ inserted: count, existing: 0 });
      expect(await set.insert(keys)).toEqual({ inserted: count, existing: 0 });
      expect(map.size).toBe(count);
      const { values: seen, found } = await map.find(keys);
      expectAllSet(found, count);
      expectSame(seen, values);
      expectAllSet(await set.contains(keys), count);
      expectNoneSet(await map.contains(absentKeys(count)), count);
      expect(await map.insertOrApply(keys, ones, "add")).toEqual({ inserted: 0, applied: count });
      expectSame((await map.find(keys)).values, counting(count, 1));
      expect(await map.insertOrAssign(keys, ones)).toEqual({ inserted: 0, assigned: count });
      expect(await map.erase(keys.subarray(0, none))).toEqual({ erased: none });
      const again = await map.insertAndFind(keys, values);
      expectAllSet(again.inserted.subarray(0, none), none);
      expectNoneSet(again.inserted.subarray(none), count - none);
      expectSame(again.values.subarray(0, none), values.subarray(0, none));
      expectEvery(again.values.subarray(none), 1);
      const all = await map.retrieveAll();
      expectSame(all.keys.sort(), keys.slice().sort());
      expect(await map.erase(keys)).toEqual({ erased: count });
      expect(map.size).toBe(0);
      expectNoneSet(await map.contains(keys), count);
    });
  }

  it(`${OVER_ONE_DISPATCH} keys: more than one row of workgroups`, async () => {
    const count = OVER_ONE_DISPATCH;
    using map = await StaticMap.create(device(), {
      key: "u32",
      value: "u32",
      capacity: count,
      loadFactor: 0.8,
    });
    const [keys, values] = [uniqueKeys(count), counting(count)];
    expect(await map.insert(keys, values)).toEqual({ inserted: count, existing: 0 });
    expect(map.size).toBe(count);
    const { values: seen, found } = await map.find(keys);
    expectAllSet(found, count);
    expectSame(seen, values);
    const all = await map.retrieveAll();
    expect(all.keys.length).toBe(count);
    const once = new Uint8Array(count);
    let wrong = 0;
    all.keys.forEach((key, i) => {
      if (all.values[i] !== unhash.murmur3(key) || once[all.values[i]]++ > 0) wrong++;
    });
    expect(wrong).toBe(0);
    expect(await map.erase(keys.subarray(1))).toEqual({ erased: count - 1 });
    const left = await map.contains(keys);
    expect(left[0]).toBe(1);
    expectNoneSet(left.subarray(1), count - 1);
  });
});
