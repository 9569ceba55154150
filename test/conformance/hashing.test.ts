/** Seeds, and hash functions of the user's own: the same on every engine, whatever is done with the table. */
import { describe, expect, it } from "vitest";
import { murmur3 } from "../../src/engine/hash.js";
import { DynamicMap, type OwnHash, StaticMap, StaticSet, ValidationError } from "../../src/index.js";
import { covering } from "../helpers/rounds.js";
import { expectAllSet, expectNoneSet, expectSame } from "./helpers/checks.js";
import { backend, onOneTable, onWebgpu, useDevice } from "./helpers/device.js";
import { absentKeys, counting, keysWithHome, sentinelPatterns, uniqueKeys } from "./helpers/keys.js";
import { planned } from "./helpers/plan.js";

const device = useDevice();
const N = 2000;

/** FNV-1a over the words of a key, with a helper that has the name of one of the engine's. */
const fnv: OwnHash = {
  name: "fnv",
  js: (word) => Math.imul(rotate(Math.imul(word ^ 0x811c9dc5, 0x01000193), 15), 0x85ebca77) >>> 0,
  wgsl: `
    const PRIME = 0x01000193u;
    fn murmur3(x: u32) -> u32 { return (x << 15u) | (x >> 17u); }
    fn fnv(word: u32) -> u32 { return murmur3((word ^ 0x811c9dc5u) * PRIME) * 0x85ebca77u; }`,
};
/** Of keys of two words. */
const pair: OwnHash = {
  name: "pair",
  js: (low, high) => Math.imul(low, 0x9e3779b1) + Math.imul(high, 0x85ebca77),
  wgsl: "fn pair(low: u32, high: u32) -> u32 { return low * 0x9e3779b1u + high * 0x85ebca77u; }",
};

function rotate(x: number, bits: number): number {
  return (x << bits) | (x >>> (32 - bits));
}

/** All calls on a map of N random keys and the sentinels. */
async function exercise(map: StaticMap<"u32", "u32"> | DynamicMap<"u32", "u32">): Promise<void> {
  const keys = Uint32Array.of(...uniqueKeys(N), ...sentinelPatterns.filter((key) => key !== 0));
  const values = counting(keys.length, 5);
  const { length } = keys;
  expect(await map.insert(keys, values)).toEqual({ inserted: length, existing: 0 });
  const { values: found } = await map.find(keys);
  expectSame(found, values);
  expectNoneSet(await map.contains(absentKeys(N)), N);
  expect(await map.insertOrAssign(keys.subarray(0, 9), values.subarray(9, 18))).toMatchObject({
    assigned: 9,
  });
  expect(await map.insertOrApply(keys.subarray(0, 9), values.subarray(0, 9), "add")).toMatchObject({
    applied: 9,
  });
  expectSame(
    (await map.find(keys.subarray(0, 9))).values,
    counting(9).map((i) => 19 + 2 * i),
  );
  expect(await map.erase(keys.subarray(0, N / 2))).toEqual({ erased: N / 2 });
  expectNoneSet(await map.contains(keys.subarray(0, N / 2)), N / 2);
  expect((await map.insertAndFind(keys, values)).inserted).toBe(N / 2);
  const all = await map.retrieveAll();
  expectSame(all.keys.slice().sort(), keys.slice().sort());
  expect(map.size).toBe(length);
}

describe("a seed", () => {
  it("changes nothing but the places of keys", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: N + 4, seed: 77 });
    expect([map.hash, map.seed]).toEqual(["murmur3", 77]);
    await exercise(map);
    // the chain is where whoever knows the seed says it is
    await map.clear();
    const chain = keysWithHome(3, map.slots, 300, "murmur3", 77);
    await map.insert(chain, counting(300));
    if (onOneTable) expect((await map.stats()).maxProbeLength).toBe(300);
    expectSame((await map.find(chain)).values, counting(300));
  });

  it("keeps keys apart that were made to collide without it, or with another one", async () => {
    const count = 4000;
    using map = await StaticMap.create(device(), {
      key: "u32",
      value: "u32",
      capacity: count,
      seed: "random",
    });
    expect(map.seed).toBeGreaterThan(0);
    for (const known of [0, 1, (map.seed ^ 1) >>> 0]) {
      // all hashes of the first 5 % of the slots: without a seed one run of occupied slots as long as the batch
      const inverted = invertedKeys(count, map.slots, known);
      await map.insert(inverted, counting(count));
      const { meanProbeLength, maxProbeLength } = await map.stats();
      expect(meanProbeLength).toBeLessThan(2);
      expect(maxProbeLength).toBeLessThan(100);
      await map.clear();
    }
    await map.rehash({ seed: 0 });
    await map.insert(invertedKeys(count, map.slots, 0), counting(count));
    expect((await map.stats()).meanProbeLength).toBeGreaterThan(count / (onOneTable ? 4 : 10));
    // and the cure of a table that was attacked
    await map.rehash({ seed: "random" });
    expect(map.seed).toBeGreaterThan(0);
    expect((await map.stats()).meanProbeLength).toBeLessThan(2);
    expectSame((await map.find(invertedKeys(count, map.slots, 0))).values, counting(count));
  });

  it("goes along into clones, grown tables and bytes", async () => {
    using map = await DynamicMap.create(device(), { key: "u32", value: "u32", capacity: 10, seed: 9 });
    await map.insert(uniqueKeys(N), counting(N));
    expect([map.seed, map.capacity >= N]).toEqual([9, true]);
    using clone = await map.clone();
    using copy = await StaticMap.fromBytes(device(), await map.toBytes());
    using other = await StaticMap.fromBytes(device(), await map.toBytes(), { seed: 10 });
    expect([clone.seed, copy.seed, other.seed]).toEqual([9, 9, 10]);
    for (const table of [clone, copy, other]) {
      expectSame((await (table as StaticMap).find(uniqueKeys(N))).values, counting(N));
    }
  });

  it("is one of keys of two words, too", async () => {
    const keys = BigUint64Array.from(
      uniqueKeys(N),
      (key, i) => (BigInt(murmur3(i % 50)) << 32n) | BigInt(key),
    );
    using set = await StaticSet.create(device(), {
      key: "u64",
      capacity: N,
      hash: "xxhash64",
      seed: "random",
    });
    expect(await set.insert(keys)).toEqual({ inserted: N, existing: 0 });
    expectAllSet(await set.contains(keys), N);
    expectNoneSet(await set.contains(keys.map((key) => key ^ (1n << 63n))), N);
    expect((await set.stats()).maxProbeLength).toBeLessThan(60);
  });

  it("is 32 bits or random, and none of identity", async () => {
    const make = (options: object) =>
      StaticSet.create(device(), { key: "u32", capacity: 9, ...options } as never);
    for (const seed of [-1, 1.5, 2 ** 32, "7", null]) await expect(make({ seed })).rejects.toThrow(/seed is/);
    await expect(make({ seed: 1, hash: "identity" })).rejects.toThrow(ValidationError);
    using set = await make({ hash: "identity" });
    await expect(set.rehash({ seed: "random" })).rejects.toThrow("identity");
    await expect(set.rehash({ seeed: 1 } as never)).rejects.toThrow('Did you mean "seed"?');
    expect(set.seed).toBe(0);
  });
});

describe("a hash function of the user's own", () => {
  it("is used by all calls, with a seed and without one", async () => {
    // on a GPU either is a set of kernels
    for (const seed of covering([0, 5], (seed) => backend === "cpu" || seed > 0)) {
      using map = await StaticMap.create(device(), {
        key: "u32",
        value: "u32",
        capacity: N + 4,
        hash: fnv,
        seed,
      });
      expect(map.hash).toBe("fnv");
      await exercise(map);
    }
  });

  it("goes along into clones and grown tables; bytes want it again", async () => {
    using map = await DynamicMap.create(device(), { key: "u32", value: "u32", hash: fnv, capacity: 5 });
    await map.insert(uniqueKeys(N), counting(N));
    using clone = await map.clone();
    const bytes = await map.toBytes();
    await expect(StaticMap.fromBytes(device(), bytes)).rejects.toThrow("hash function was its maker's own");
    await expect(DynamicMap.fromBytes(device(), bytes)).rejects.toThrow(ValidationError);
    using same = await DynamicMap.fromBytes(device(), bytes, { hash: fnv });
    using other = await StaticMap.fromBytes(device(), bytes, { hash: "murmur3" });
    expect([clone.hash, same.hash, other.hash]).toEqual(["fnv", "fnv", "murmur3"]);
    for (const table of [clone, same, other]) {
      expectSame((await (table as StaticMap).find(uniqueKeys(N))).values, counting(N));
    }
  });

  it("of keys of two words gets both", async () => {
    const keys = BigUint64Array.from(uniqueKeys(N), (key, i) => (BigInt(i % 50) << 32n) | BigInt(key));
    using map = await StaticMap.create(device(), { key: "u64", value: "u32", capacity: N, hash: pair });
    await map.insert(keys, counting(N));
    expectSame((await map.find(keys)).values, counting(N));
    expectNoneSet(await map.contains(keys.map((key) => key ^ (1n << 63n))), N);
  });

  it("may send all keys to one slot: calls end, and answer right", async () => {
    const constant: OwnHash = {
      name: "constant",
      js: () => -1,
      wgsl: "fn constant(word: u32) -> u32 { return ~0u; }",
    };
    using set = await StaticSet.create(device(), { key: "f32", capacity: 300, hash: constant });
    const keys = Float32Array.from(counting(300), (i) => i / 4);
    expect(await set.insert(keys)).toEqual({ inserted: 300, existing: 0 });
    expectAllSet(await set.contains(keys), 300);
    if (onOneTable) expect((await set.stats()).maxProbeLength).toBe(300);
    expect(await set.erase(keys)).toEqual({ erased: 300 });
  });

  it("runs on the calling thread of the cpu engine, and on the GPU as any other", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 100, hash: fnv });
    const { plan } = await planned((onPlan) => set.insert(counting(10), { onPlan }));
    if (backend === "cpu") expect(plan.reason).toContain("calling thread");
  });

  it("is refused where it is no function of the key's words alone, or has no name", async () => {
    const refused = async (hash: object | null, message: string | RegExp) => {
      const creating = StaticSet.create(device(), { key: "u32", capacity: 9, hash } as never);
      await expect(creating).rejects.toThrow(ValidationError);
      await expect(StaticSet.create(device(), { key: "u32", capacity: 9, hash } as never)).rejects.toThrow(
        message,
      );
    };
    let calls = 0;
    await refused({ ...fnv, js: () => 0.5 }, "answers 0.5 for the key (0x00000000)");
    await refused({ ...fnv, js: () => undefined }, "answers undefined");
    await refused({ ...fnv, js: () => calls++ }, "answers 0x00000002 and then 0x00000003 for the key");
    await refused({ ...fnv, name: "murmur3" }, '"murmur3" is no name');
    await refused({ js: fnv.js, wgsl: fnv.wgsl }, "undefined is no name");
    await refused({ ...fnv, js: "word => word" }, "no js");
    await refused({ ...fnv, wgsl: 5 }, "a wgsl that is no text");
    await refused(null, "is no name");
  });

  if (onWebgpu) {
    it("is refused on a GPU where its WGSL is missing, wrong or of another answer", async () => {
      const refused = async (hash: OwnHash, message: string | RegExp) => {
        const creating = StaticSet.create(device(), { key: "u32", capacity: 9, hash });
        await expect(creating).rejects.toThrow(ValidationError);
        await expect(StaticSet.create(device(), { key: "u32", capacity: 9, hash })).rejects.toThrow(message);
      };
      const { name, js } = fnv;
      await refused({ name, js }, "has no wgsl");
      await refused({ name, js, wgsl: "fn fnv(word: u32) -> u32 { return word " }, "does not compile");
      await refused({ name, js, wgsl: "fn other(word: u32) -> u32 { return word; }" }, "does not compile");
      // right for all keys but those above 2^31: the first sample that differs is named
      const wrong = `${fnv.wgsl?.replace("fn fnv(word", "fn right(word")} fn fnv(word: u32) -> u32 { return right(word) + (word >> 31u); }`;
      const hash = (js(0x80000000) + 1) >>> 0;
      await refused(
        { name, js, wgsl: wrong },
        `answers 0x${hash.toString(16).padStart(8, "0")} in WGSL and 0x${(hash - 1).toString(16).padStart(8, "0")} in JavaScript for the key (0x80000000)`,
      );
    });
  }
});

/** Keys whose hashes with a seed are all in the first 20th of the slots of a table. */
function invertedKeys(count: number, slots: number, seed: number): Uint32Array {
  const homes = Math.ceil(slots / 20);
  const each = Math.ceil(count / homes);
  const keys = Array.from({ length: homes }, (_, home) => [
    ...keysWithHome(home, slots, each, "murmur3", seed),
  ]);
  return Uint32Array.from(keys.flat().slice(0, count));
}
