/** Options that nobody knows, and values that no option can have: a ValidationError that names what was meant. */
import { describe, expect, it } from "vitest";
import { type BulkOptions, openDevice, StaticMap, StaticSet, ValidationError } from "../../src/index.js";
import { rejection } from "./helpers/checks.js";
import { backend, useDevice } from "./helpers/device.js";
import { counting } from "./helpers/keys.js";

const device = useDevice();
const two = counting(2);
const shape = { key: "u32", value: "u32", capacity: 10 } as const;
/** Options as JavaScript lets one give them. */
const any = (options: unknown) => options as never;

/** Every call that takes options, on a map and a set. */
const calls: Record<string, (map: StaticMap, set: StaticSet, options: BulkOptions) => Promise<unknown>> = {
  insert: (map, _, options) => map.insert(two, two, options),
  insertOrAssign: (map, _, options) => map.insertOrAssign(two, two, options),
  insertOrApply: (map, _, options) => map.insertOrApply(two, two, "add", options),
  insertAndFind: (map, _, options) => map.insertAndFind(two, two, options),
  find: (map, _, options) => map.find(two, options),
  contains: (map, _, options) => map.contains(two, options),
  erase: (map, _, options) => map.erase(two, options),
  retrieveAll: (map, _, options) => map.retrieveAll(options),
  "insert of a set": (_, set, options) => set.insert(two, options),
  "insertAndFind of a set": (_, set, options) => set.insertAndFind(two, options),
  "find of a set": (_, set, options) => set.find(two, options),
  "contains of a set": (_, set, options) => set.contains(two, options),
  "erase of a set": (_, set, options) => set.erase(two, options),
  "retrieveAll of a set": (_, set, options) => set.retrieveAll(options),
};

describe("options are refused by", () => {
  for (const [name, call] of Object.entries(calls)) {
    it(`${name}, when they are unknown, none, or hold what they cannot`, async () => {
      using map = await StaticMap.create(device(), shape);
      using set = await StaticSet.create(device(), { key: "u32", capacity: 10 });
      const refusal = (options: unknown) => rejection(call(map, set, any(options)), ValidationError);
      expect((await refusal({ signall: undefined })).fix).toContain('Did you mean "signal"?');
      expect((await refusal({ onplan: undefined })).fix).toContain('Did you mean "onPlan"?');
      expect((await refusal({ explain: true })).message).toContain('There is no option "explain" here.');
      for (const options of [null, 3, "direct", true, () => {}, [], two, new Map()]) {
        expect((await refusal(options)).fix).toContain("The options are signal, onProgress, onPlan, ");
      }
      for (const signal of [{}, null, new AbortController(), "now"]) {
        const { message } = await refusal({ signal });
        expect(message).toMatch(/^signal is .*AbortController\.$/);
      }
      for (const option of ["onPlan", "onProgress"]) {
        for (const value of [true, null, {}]) {
          expect((await refusal({ [option]: value })).message).toMatch(`${option} is `);
        }
      }
      expect([map.size, set.size]).toEqual([0, 0]);
      const good = { signal: undefined, onProgress: () => {}, onPlan: undefined };
      await call(map, set, Object.assign(Object.create(null), good));
    });
  }

  it("calls that have no use for them", async () => {
    using map = await StaticMap.create(device(), shape);
    using set = await StaticSet.create(device(), { key: "u32", capacity: 10 });
    const column = await device().upload(two);
    for (const [call, list] of [
      [map.insert(two, two, any({ output: "device" })), "strategy, groupSize, duplicates."],
      [map.erase(two, any({ into: {} })), "strategy, groupSize."],
      [map.contains(two, any({ missing: 0 })), "groupSize, output, into."],
      [map.insertAndFind(two, two, any({ missing: 0 })), "duplicates, output, into."],
      [map.find(two, any({ outpt: "device" })), 'Did you mean "output"?'],
      [map.find(two, any({ mising: 0 })), 'Did you mean "missing"?'],
      [
        map.retrieveAll(any({ strategy: "direct" })),
        "The options are signal, onProgress, onPlan, output, into.",
      ],
      [map.retrieveAll(any({ groupSize: 8 })), "onPlan, output, into."],
      [map.retrieveAll(any({ mask: new Uint8Array(2) })), "onPlan, output, into."],
      // values, where a set has none
      [set.insert(two, any(two)), "The options are"],
      [set.insert(two, any(column)), "The options are"],
    ] as const) {
      expect((await rejection<ValidationError>(call, ValidationError)).fix).toContain(list);
    }
    expect([map.size, set.size]).toEqual([0, 0]);
  });

  it("create", async () => {
    const refusal = (options: unknown) =>
      rejection(StaticMap.create(device(), any(options)), ValidationError);
    expect(await refusal({ ...shape, laodFactor: 0.7 })).toMatchObject({
      message: expect.stringContaining('There is no option "laodFactor" here.'),
      fix: 'Did you mean "maxLoadFactor"? The options are key, value, capacity, maxLoadFactor, hash, seed, signal.',
    });
    expect((await refusal({ ...shape, loadFactor: 0.7 })).fix).toContain('Did you mean "maxLoadFactor"?');
    expect((await refusal({ ...shape, size: 5 })).fix).toBe(
      "The options are key, value, capacity, maxLoadFactor, hash, seed, signal.",
    );
    for (const options of [undefined, null, "u32", 10]) {
      expect((await refusal(options)).message).toMatch(/^The options are (undefined|null|"u32"|10)\. /);
    }
    const { message, fix } = await rejection(StaticSet.create(device(), any(shape)), ValidationError);
    expect(message).toContain('There is no option "value" here.');
    expect(fix).toBe("The options are key, capacity, maxLoadFactor, hash, seed, signal.");
    for (const noDevice of [undefined, null, {}, "cpu"]) {
      expect((await rejection(StaticMap.create(any(noDevice), shape), ValidationError)).message).toMatch(
        /^The device is .*Give what `await openDevice\(\)` answers\.$/,
      );
    }
  });

  it("openDevice", async () => {
    const refusal = (options: unknown) => rejection(openDevice(any(options)), ValidationError);
    expect((await refusal({ bakend: "cpu" })).fix).toContain('Did you mean "backend"?');
    expect((await refusal(null)).message).toContain("The options are null.");
    for (const gpuDevice of [{}, null, true, { requestDevice() {} }]) {
      expect((await refusal({ gpuDevice })).message).toMatch(/^gpuDevice is .* requestDevice/);
    }
    for (const wrong of [
      { threads: 0, backend: "webgpu", software: true },
      ...[-1, 1.5, Number.NaN].map((threads) => ({ threads, backend })),
      { threads: "2", backend },
      { software: "yes", backend },
      { powerPreference: "highest", backend },
      { groupSize: 3, backend },
    ]) {
      expect((await refusal(wrong)).message).toContain(Object.values(wrong)[0] as string);
    }
  });

  it("wrap", async () => {
    const wrap = (view: unknown) => () => device().wrap(any(device().gpuDevice && {}), any(view));
    expect(wrap({ type: "u32", offset: 4 })).toThrow(ValidationError);
    expect(wrap(null)).toThrow(ValidationError);
    expect(wrap({ type: "f64" })).toThrow(ValidationError);
  });
});

describe("missing is refused", () => {
  const wrong = {
    u32: [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 32, 1n, "0", null, {}],
    i32: [-(2 ** 31) - 1, 2 ** 31, 0.5, Number.NaN, 1n],
    f32: [1e39, -1e39, 1n, "1"],
    u64: [-1n, 2n ** 64n, 0, 1.5],
  } as const;
  const right = {
    u32: [0, 0xffffffff, -0],
    i32: [-1, -(2 ** 31), 2 ** 31 - 1],
    f32: [0.1, -1, Number.NaN, Number.NEGATIVE_INFINITY],
    u64: [0n, 2n ** 64n - 1n],
  } as const;
  for (const type of ["u32", "i32", "f32", "u64"] as const) {
    it(`where ${type} cannot hold it`, async () => {
      using map = await StaticMap.create(device(), { key: "u32", value: type, capacity: 10 });
      using set = await StaticSet.create(device(), { key: type, capacity: 10 });
      const absent = (await set.retrieveAll()).keys;
      for (const missing of wrong[type].map(any)) {
        const { message, fix } = await rejection(map.find(two, { missing }), ValidationError);
        expect(message).toContain("missing is ");
        expect(fix).toMatch(/^Give /);
        await rejection(set.find(absent, { missing }), ValidationError);
      }
      for (const missing of right[type]) {
        const { values } = await map.find(two, { missing: missing as never });
        expect([...values]).toEqual(
          [missing, missing].map((each) =>
            type === "f32" ? Math.fround(each as number) : each === 0 ? 0 : each,
          ),
        );
      }
    });
  }
});
