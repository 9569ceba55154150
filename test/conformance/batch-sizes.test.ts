import { describe, expect, it } from "vitest";
import { murmur3 } from "../../src/engine/hash.js";
import { StaticMap, StaticSet } from "../../src/index.js";
import { expectAllSet, expectEvery, expectNoneSet, expectSame } from "./helpers/checks.js";
import { OVER_ONE_DISPATCH, onGpu, scaled, useDevice } from "./helpers/device.js";
import { absentKeys, counting, unhash, uniqueKeys } from "./helpers/keys.js";

const device = useDevice();
const LONG_TEST_MS = 180_000;
/** Stand-ins for GPUs do not come to a second row: their chunks of 100 ms are shorter, however long the batch is. */
const MANY = onGpu ? scaled(OVER_ONE_DISPATCH, 200_001) : 600_001;
/** So few that each comes several times. */
const FEW = scaled(50_000, 10_000);

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
        maxLoadFactor: 0.9,
      });
      using set = await StaticSet.create(device(), { key: "u32", capacity: count, maxLoadFactor: 0.9 });
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
      expectAllSet(again.isNew.subarray(0, none), none);
      expectNoneSet(again.isNew.subarray(none), count - none);
      expectSame(again.values.subarray(0, none), values.subarray(0, none));
      expectEvery(again.values.subarray(none), 1);
      const all = await map.retrieveAll();
      expectSame(all.keys.sort(), keys.slice().sort());
      expect(await map.erase(keys)).toEqual({ erased: count });
      expect(map.size).toBe(0);
      expectNoneSet(await map.contains(keys), count);
    });
  }
});

describe("batches of more keys than one row of workgroups has threads", () => {
  it(
    `${MANY} elements on ${FEW} keys`,
    async () => {
      const [count, distinct] = [MANY, FEW];
      using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: distinct });
      const ids = counting(count).map((i) => murmur3(i) % distinct);
      using keys = await device().upload(ids);
      expect(await map.insert(keys, keys)).toEqual({ inserted: distinct, existing: count - distinct });
      const { values, found } = await map.find(keys, { output: "device" });
      expectAllSet(await found.read(), count);
      expectSame(await values.read(), ids);
      values.destroy();
      found.destroy();
      expect(await map.erase(keys)).toEqual({ erased: distinct });
      expect(map.size).toBe(0);
    },
    LONG_TEST_MS,
  );

  it(
    `${MANY} elements on ${FEW} keys: insertOrApply counts each of them once`,
    async () => {
      const distinct = FEW;
      using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: distinct });
      const ids = counting(MANY).map((i) => murmur3(i) % distinct);
      const times = new Uint32Array(distinct);
      for (const id of ids) times[id]++;
      using keys = await device().upload(ids);
      using ones = await device().upload(new Uint32Array(MANY).fill(1));
      const applied = MANY - distinct;
      expect(await map.insertOrApply(keys, ones, "add")).toEqual({ inserted: distinct, applied });
      expectSame((await map.find(counting(distinct))).values, times);
    },
    LONG_TEST_MS,
  );

  it(
    `${MANY} distinct keys`,
    async () => {
      using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: MANY });
      using keys = await device().upload(uniqueKeys(MANY));
      using ids = await device().upload(counting(MANY));
      expect(await map.insert(keys, ids)).toEqual({ inserted: MANY, existing: 0 });
      const { values, found } = await map.find(keys, { output: "device" });
      expectAllSet(await found.read(), MANY);
      expectSame(await values.read(), counting(MANY));
      const all = await map.retrieveAll();
      expect(all.keys.length).toBe(MANY);
      const copies = new Uint8Array(MANY);
      all.keys.forEach((key, i) => {
        const id = unhash.murmur3(key);
        if (all.values[i] !== id || copies[id]++ > 0) expect.unreachable(`${id} with value ${all.values[i]}`);
      });
      expect(await map.erase(keys, { mask: keepFirst() })).toEqual({ erased: MANY - 1 });
      const left = await map.contains(keys);
      expect(left[0]).toBe(1);
      expectNoneSet(left.subarray(1), MANY - 1);
    },
    LONG_TEST_MS,
  );
});

const keepFirst = () => new Uint8Array(MANY).fill(1, 1);
