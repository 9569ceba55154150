import { describe, expect, it } from "vitest";
import { hashFunctions, homeSlot } from "../../src/engine/hash.js";
import { StaticMap, StaticSet } from "../../src/index.js";
import { expectAllSet, expectNoneSet, expectSame } from "./helpers/checks.js";
import { onOneTable, useDevice } from "./helpers/device.js";
import {
  absentKeys,
  counting,
  edgePatterns,
  hashes,
  keysWithHome,
  unhash,
  uniqueKeys,
} from "./helpers/keys.js";

const device = useDevice();

describe("hash functions", () => {
  it("give the values of their references", () => {
    // xxhash_32 as in cuCollections' tests/utility/hash_test.cu, fmix32 as in SMHasher
    expect(hashFunctions.xxhash32(0)).toBe(148298089);
    expect(hashFunctions.xxhash32(42)).toBe(1161967057);
    expect(hashFunctions.murmur3(0)).toBe(0);
    expect(hashFunctions.murmur3(1)).toBe(0x514e28b7);
    expect(hashFunctions.murmur3(0xffffffff)).toBe(0x81f16f39);
    expect(hashFunctions.identity(0xdeadbeef)).toBe(0xdeadbeef);
  });

  for (const hash of hashes) {
    it(`${hash} is a bijection, whose inverse makes keys for any home slot`, () => {
      for (const key of [...edgePatterns, ...uniqueKeys(1000)]) {
        expect(unhash[hash](hashFunctions[hash](key))).toBe(key);
      }
      for (const [home, slots] of [
        [0, 3],
        [2, 3],
        [77, 1009],
        [123_456, 1_000_003],
      ]) {
        for (const key of keysWithHome(home, slots, 50, hash)) {
          expect(homeSlot(hashFunctions[hash](key), slots)).toBe(home);
        }
      }
    });

    it(`${hash}: random, dense and sparse keys are all inserted and found`, async () => {
      const sparse = counting(1000).map((i) => i * 65_536);
      for (const keys of [uniqueKeys(1000), counting(1000), sparse]) {
        using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 1000, hash });
        expect(await map.insert(keys, counting(1000))).toEqual({ inserted: 1000, existing: 0 });
        expectSame((await map.find(keys)).values, counting(1000));
        expectAllSet(await map.contains(keys), 1000);
        expectNoneSet(await map.contains(absentKeys(1000)), 1000);
      }
    });

    it(`${hash}: the engine's hash is the reference's, bit for bit`, async () => {
      // Two keys a home slot, one in two slots: any key that the engine hashed elsewhere would make another histogram.
      const slots = 4001;
      using set = await StaticSet.create(device(), { key: "u32", capacity: slots, maxLoadFactor: 1, hash });
      const homes = counting(1000).map((i) => i * 4 + 1);
      const keys = Uint32Array.from([...homes].flatMap((home) => [...keysWithHome(home, slots, 2, hash)]));
      expect(await set.insert(keys)).toEqual({ inserted: 2000, existing: 0 });
      const { probeLengths } = await set.stats();
      if (onOneTable) expectSame(probeLengths.subarray(0, 3), [1000, 1000, 0]);
    });
  }

  it("make one long chain of colliding keys, which every call gets through", async () => {
    for (const hash of hashes) {
      using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 1000, hash });
      const chain = keysWithHome(1, map.slots, 1000, hash);
      expect(await map.insert(chain, counting(1000))).toEqual({ inserted: 1000, existing: 0 });
      expectSame((await map.find(chain)).values, counting(1000));
      if (onOneTable) expect((await map.stats()).maxProbeLength).toBe(1000);
      expect(await map.erase(chain.subarray(0, 500))).toEqual({ erased: 500 });
      expect(await map.insert(chain, counting(1000))).toEqual({ inserted: 500, existing: 500 });
      expect(map.size).toBe(1000);
    }
  });
});
