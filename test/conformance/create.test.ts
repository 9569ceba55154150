import { describe, expect, it } from "vitest";
import {
  DynamicMap,
  DynamicSet,
  LimitError,
  StaticMap,
  StaticSet,
  ValidationError,
} from "../../src/index.js";
import { expectNoneSet, rejection } from "./helpers/checks.js";
import { onSoftwareGpu, useDevice } from "./helpers/device.js";
import { absentKeys, counting, hashes, types, uniqueKeys } from "./helpers/keys.js";
import { Modelled } from "./helpers/model.js";

const device = useDevice();

describe("create", () => {
  it("makes an empty map that says what it is", async () => {
    using map = await StaticMap.create(device(), { key: "i32", value: "f32", capacity: 400 });
    const { keyType, valueType, size, capacity, slots, loadFactor, maxLoadFactor, hash } = map;
    expect({ keyType, valueType, size, capacity, slots, loadFactor, maxLoadFactor, hash }).toEqual({
      keyType: "i32",
      valueType: "f32",
      size: 0,
      capacity: 400,
      slots: 800,
      loadFactor: 0,
      maxLoadFactor: 0.5,
      hash: "murmur3",
    });
  });

  it("says first that it was given no device", async () => {
    const options = { key: "u32", value: "u32", capacity: 4 } as const;
    for (const given of [[options], [null, options], [{}, {}], []])
      for (const create of [StaticMap.create, StaticSet.create]) {
        const call = (create as (...args: unknown[]) => Promise<unknown>)(...given);
        expect((await rejection(call, ValidationError)).message).toContain("The device is ");
      }
    const call = StaticMap.create(device(), undefined as never);
    expect((await rejection(call, ValidationError)).message).toContain("The options are undefined.");
  });

  it("makes an empty set that says what it is", async () => {
    using set = await StaticSet.create(device(), {
      key: "f32",
      capacity: 3,
      maxLoadFactor: 1,
      hash: "xxhash32",
    });
    const { keyType, size, capacity, slots, hash } = set;
    expect({ keyType, size, capacity, slots, hash }).toEqual({
      keyType: "f32",
      size: 0,
      capacity: 3,
      slots: 3,
      hash: "xxhash32",
    });
  });

  // Among them: what cuCollections tests, and requests that it rounds up by 1.3 to 2.
  const sizes = [
    [1, 0.5, 2],
    [1, 1, 1],
    [2, 0.75, 3],
    [400, 0.5, 800],
    [400, 0.8, 500],
    [400, 1, 400],
    [1000, 0.3, 3334],
    [65_537, 0.95, 68_987],
    [131_101, 1, 131_101],
    [524_405, 1, 524_405],
    [1_600_000, 1, 1_600_000],
    [1_000_003, 0.7, 1_428_576],
  ];
  for (const [capacity, maxLoadFactor, slots] of sizes) {
    it(`has ${slots} slots for ${capacity} entries at load factor ${maxLoadFactor}`, async () => {
      using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity, maxLoadFactor });
      expect([map.capacity, map.slots]).toEqual([capacity, slots]);
      using set = await StaticSet.create(device(), { key: "u32", capacity, maxLoadFactor });
      expect([set.capacity, set.slots]).toEqual([capacity, slots]);
    });
  }

  for (const slots of [1, 2, 3, 5, 7, 63, 97, 255, 256, 257, 1009]) {
    it(`uses every one of ${slots} slots`, async () => {
      const options = { key: "u32", value: "u32", capacity: slots, maxLoadFactor: 1 } as const;
      using map = await StaticMap.create(device(), options);
      const keys = uniqueKeys(slots);
      expect(await map.insert(keys, counting(slots))).toEqual({ inserted: slots, existing: 0 });
      expect([map.size, map.loadFactor]).toEqual([slots, 1]);
      expect((await map.find(keys)).values).toEqual(counting(slots));
      expectNoneSet(await map.contains(absentKeys(50)), 50);
    });
  }

  it("makes a table of capacity 0 that answers every call", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 0 });
    expect([map.capacity, map.size, map.slots]).toEqual([0, 0, 1]);
    expectNoneSet(await map.contains(uniqueKeys(9)), 9);
    expect(await map.erase(uniqueKeys(9))).toEqual({ erased: 0 });
    expect(await map.retrieveAll()).toEqual({ keys: new Uint32Array(), values: new Uint32Array() });
    const model = Modelled.map(map);
    await model.insert("keep", uniqueKeys(9), counting(9));
    await model.expectEqual();
    await model.clear();
    await map.rehash(9);
    await model.insert("keep", uniqueKeys(9), counting(9));
    await model.expectEqual();
  });

  it("makes every combination of types and hash functions", async () => {
    for (const key of types) {
      for (const hash of hashes) {
        using set = await StaticSet.create(device(), { key, capacity: 5, hash });
        expect([set.keyType, set.hash]).toEqual([key, hash]);
        for (const value of types) {
          using map = await StaticMap.create(device(), { key, value, capacity: 5, hash });
          expect([map.keyType, map.valueType, map.hash]).toEqual([key, value, hash]);
        }
      }
    }
  });
});

describe("create rejects", () => {
  const good = { key: "u32", value: "u32", capacity: 10 } as const;
  const wrong = {
    "a negative capacity": { ...good, capacity: -1 },
    "half an entry": { ...good, capacity: 1.5 },
    "a capacity that is no number": { ...good, capacity: "10" },
    "an infinite capacity": { ...good, capacity: Number.POSITIVE_INFINITY },
    "a load factor of 0": { ...good, maxLoadFactor: 0 },
    "a load factor above 1": { ...good, maxLoadFactor: 1.01 },
    "a load factor that is NaN": { ...good, maxLoadFactor: Number.NaN },
    "an unknown key type": { ...good, key: "u8" },
    "an unknown value type": { ...good, value: "string" },
    "no value type": { ...good, value: undefined },
    "null for a value type": { ...good, value: null },
    "an unknown hash function": { ...good, hash: "md5" },
    "an inherited name as hash function": { ...good, hash: "toString" },
  };
  for (const [what, options] of Object.entries(wrong)) {
    it(what, async () => {
      const error = await rejection(StaticMap.create(device(), options as never), ValidationError);
      expect(error.code).toBe("VALIDATION");
      expect(error.message).not.toContain("There is no option");
      if (what.includes("value type")) return;
      const { value, ...ofSet } = options;
      const sets = await rejection(StaticSet.create(device(), ofSet as never), ValidationError);
      expect(sets.message).toBe(error.message);
    });
  }

  it.each([
    [{ ...good, key: "string" }, 'There is no key type "string".', 'Did you mean "utf8"? '],
    [{ ...good, key: "uint32" }, 'There is no key type "uint32".', 'Did you mean "u32"? '],
    [{ ...good, key: ["u32", "number"] }, 'There is no key type "number".', 'Did you mean "f64"? '],
    [{ ...good, value: "string" }, 'There is no value type "string".', ""],
    [{ key: "u32", capacity: 10 }, "The value type is missing.", ""],
    [{ value: "u32", capacity: 10 }, "The key type is missing.", ""],
  ])("%o, and names the type that was meant", async (options, message, meant) => {
    const error = await rejection(StaticMap.create(device(), options as never), ValidationError);
    expect(error.message).toContain(message);
    expect(error.fix.replace(/Use one of u32, .*$/, "")).toBe(meant);
  });

  it("`new` in place of it", () => {
    for (const [name, Class] of Object.entries({ StaticMap, StaticSet, DynamicMap, DynamicSet })) {
      const Container = Class as unknown as new (...args: unknown[]) => unknown;
      for (const args of [[device(), {}], [device(), good], [{}], []]) {
        expect(() => new Container(...args)).toThrow(ValidationError);
        expect(() => new Container(...args)).toThrow(`Write \`await ${name}.create(device, options)\`.`);
      }
    }
  });

  it("more slots than home slots can name, with the numbers", async () => {
    const call = StaticMap.create(device(), { ...good, capacity: 2 ** 40, maxLoadFactor: 1 });
    const { code, limit, need, have } = await rejection(call, LimitError);
    expect({ code, limit, need }).toEqual({ code: "LIMIT", limit: "slots", need: 2 ** 40 });
    expect(have).toBeLessThanOrEqual((device().info.gpus?.length ?? 1) * 2 ** 32);
  });

  // A real GPU may well have 16 GiB, and a CPU would start to swap.
  if (onSoftwareGpu) {
    it("a table that is larger than the device's memory, with the numbers", async () => {
      const error = await rejection(StaticMap.create(device(), { ...good, capacity: 2 ** 30 }), LimitError);
      expect(error.need).toBeGreaterThan(error.have);
      using map = await StaticMap.create(device(), good);
      expect(await map.insert(uniqueKeys(3), counting(3))).toEqual({ inserted: 3, existing: 0 });
    });
  }
});
