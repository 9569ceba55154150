/** Wrong arguments: a ValidationError with a sentence that helps, before anything was changed. */
import { describe, expect, it } from "vitest";
import {
  BackendUnavailableError,
  CapacityError,
  DeviceLostError,
  EngineError,
  LimitError,
  openDevice,
  StaticMap,
  StaticSet,
  ValidationError,
  WarpmapError,
} from "../../src/index.js";
import { expectKeys, expectPairs, pairsByBits, rejection } from "./helpers/checks.js";
import { openTestDevice, useDevice } from "./helpers/device.js";
import { counting } from "./helpers/keys.js";

const device = useDevice();
const two = counting(2);
const mask = Uint8Array.of(1, 1);
type TestMap = StaticMap<"u32", "f32">;
/** Arguments of the wrong types, as JavaScript lets one give them. */
const any = (value: unknown) => value as never;

const wrong: Record<string, (map: TestMap) => Promise<unknown>> = {
  "keys of another type": (map) => map.insert(any(new Int32Array(2)), new Float32Array(2)),
  "keys in an Array": (map) => map.insert(any([1, 2]), new Float32Array(2)),
  "keys in a Float64Array": (map) => map.insert(any(new Float64Array(2)), new Float32Array(2)),
  "keys in a Uint8Array": (map) => map.contains(any(new Uint8Array(2))),
  "keys in an ArrayBuffer": (map) => map.find(any(new ArrayBuffer(8))),
  "no keys": (map) => map.erase(any(undefined)),
  "null for keys": (map) => map.contains(any(null)),
  "a number for keys": (map) => map.contains(any(3)),
  "values of another type": (map) => map.insertOrAssign(two, any(new Uint32Array(2))),
  "no values": (map) => map.insert(two, any(undefined)),
  "fewer values than keys": (map) => map.insert(two, new Float32Array(1)),
  "more values than keys": (map) => map.insertOrAssign(two, new Float32Array(3)),
  "values and no keys": (map) => map.insertOrApply(counting(0), new Float32Array(1), "add"),
  "fewer values than keys to insertAndFind": (map) => map.insertAndFind(two, new Float32Array(1)),
  "an operation there is not": (map) => map.insertOrApply(two, new Float32Array(2), any("sub")),
  "a bitwise operation on f32": (map) => map.insertOrApply(two, new Float32Array(2), "or"),
  "a mask that is shorter": (map) => map.insert(two, new Float32Array(2), { mask: mask.subarray(1) }),
  "a mask that is longer": (map) => map.erase(counting(1), { mask }),
  "a mask of booleans": (map) => map.find(two, { mask: any([true, true]) }),
  "a mask of words": (map) => map.contains(two, { mask: any(two) }),
  "an output there is not": (map) => map.find(two, { output: any("gpu") }),
  "an output of retrieveAll there is not": (map) => map.retrieveAll({ output: any("disk") }),
  "a missing value that is no number": (map) => map.find(two, { missing: any("none") }),
  "a missing value that is a bigint": (map) => map.find(two, { missing: any(1n) }),
  "a rehash below the size": (map) => map.rehash(2),
};

describe("a wrong call", () => {
  for (const [what, call] of Object.entries(wrong)) {
    it(`with ${what} is a ValidationError, and nothing has changed`, async () => {
      using map = await StaticMap.create(device(), { key: "u32", value: "f32", capacity: 10 });
      await map.insert(counting(3), new Float32Array(3).fill(5));
      const error = await rejection(call(map), ValidationError);
      expect(error).toBeInstanceOf(WarpmapError);
      expect([error.name, error.code]).toEqual(["ValidationError", "VALIDATION"]);
      expect(error.fix.length).toBeGreaterThan(10);
      expect(error.message.endsWith(error.fix)).toBe(true);
      expect([map.capacity, map.slots]).toEqual([10, 20]);
      await expectPairs(map, pairsByBits("u32", counting(3), new Float32Array(3).fill(5)));
    });
  }

  it("with numbers in another form says how to write them as keys", async () => {
    using words = await StaticMap.create(device(), { key: "u32", value: "f32", capacity: 10 });
    using longs = await StaticSet.create(device(), { key: "u64", capacity: 10 });
    const floats = new Float32Array(2);
    const cases: [unknown, string, string][] = [
      [[1, 2], "an Array", "Write Uint32Array.from(keys)."],
      [[1n, 2n], "an Array", "Write Uint32Array.from(keys, Number)."],
      [new Set([1, 2]), "a Set", "Write Uint32Array.from(keys)."],
      [BigUint64Array.of(1n, 2n), "a BigUint64Array", "Write Uint32Array.from(keys, Number)."],
      [BigInt64Array.of(1n, 2n), "a BigInt64Array", "Write Uint32Array.from(keys, Number)."],
      [Int32Array.of(1, 2), "an Int32Array", "Write Uint32Array.from(keys)."],
      [Float64Array.of(1, 2), "a Float64Array", "Write Uint32Array.from(keys)."],
    ];
    for (const [keys, what, fix] of cases) {
      const error = await rejection(words.insert(any(keys), floats), ValidationError);
      expect(error.message).toBe(
        `keys must be a Uint32Array or a device array of u32, and is ${what}. ${fix}`,
      );
      // the advice works
      const [, map] = /, (Number)/.exec(fix) ?? [];
      const written = Uint32Array.from(keys as never, (map ? Number : undefined) as never);
      expect([...written]).toEqual([1, 2]);
    }
    for (const [keys, fix] of [
      [two, "Write BigUint64Array.from(keys, BigInt)."],
      [[0, 1], "Write BigUint64Array.from(keys, BigInt)."],
      [[0n, 1n], "Write BigUint64Array.from(keys)."],
      [BigInt64Array.of(0n, 1n), "Write BigUint64Array.from(keys)."],
    ] as const) {
      expect((await rejection(longs.insert(any(keys)), ValidationError)).fix).toBe(fix);
    }
    for (const where of [two, [1, 0], [1n, 0n], [true, false]]) {
      const { fix } = await rejection(
        longs.contains(new BigUint64Array(2), any({ mask: where })),
        ValidationError,
      );
      expect(fix).toBe("Write Uint8Array.from(mask, Boolean).");
    }
    // what is no list of numbers cannot be written as one
    for (const keys of [
      "abc",
      ["a", "b"],
      [new Date()],
      {},
      null,
      3,
      3n,
      () => {},
      new DataView(new ArrayBuffer(8)),
    ]) {
      const { message, fix } = await rejection(words.contains(any(keys)), ValidationError);
      expect(fix).toBe("Give a Uint32Array, or a device array of u32.");
      expect(message).not.toMatch(/ is a [AEIO]|=>/);
    }
    const into = any({ found: [1, 2], values: floats });
    expect((await rejection(words.find(two, { into }), ValidationError)).fix).toBe(
      "Give a Uint8Array, or a pinned array of u8.",
    );
  });

  it("of upload says how to write the data", async () => {
    for (const [data, what] of [
      [[1, 2], "an Array"],
      [new Int16Array(1), "an Int16Array"],
      ["abc", '"abc"'],
    ] as const) {
      const { message, fix } = await rejection(device().upload(any(data)), ValidationError);
      expect(message).toContain(`, not ${what}.`);
      expect(fix).toBe("Write Uint32Array.from(array), or of bigints BigUint64Array.from(array).");
    }
  });

  it("on a set is one too", async () => {
    using set = await StaticSet.create(device(), { key: "f32", capacity: 10 });
    for (const call of [
      set.insert(any(two)),
      set.insertAndFind(any(two)),
      set.find(any(two)),
      set.contains(any(two)),
      set.erase(any(two)),
      set.find(new Float32Array(2), { mask: any(two) }),
      set.contains(new Float32Array(1), { mask }),
    ]) {
      await rejection(call, ValidationError);
    }
    await expectKeys(set, []);
  });

  it("with arrays of another device is one", async () => {
    using other = await openTestDevice();
    using foreign = await other.upload(two);
    using foreignMask = await other.upload(mask);
    using set = await StaticSet.create(device(), { key: "u32", capacity: 10 });
    for (const call of [set.insert(foreign), set.contains(foreign), set.insert(two, { mask: foreignMask })]) {
      expect((await rejection(call, ValidationError)).message).toContain("another device");
    }
    await expectKeys(set, []);
    expect(await set.insert(await foreign.read())).toEqual({ inserted: 2, existing: 0 });
  });

  it("with device arrays of another type or length, or destroyed ones, is one", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    using floats = await device().upload(new Float32Array(2));
    using three = await device().upload(counting(3));
    const gone = await device().upload(two);
    gone.destroy();
    for (const call of [
      map.insert(any(floats), two),
      map.insert(two, any(floats)),
      map.insert(two, three),
      map.find(two, { mask: any(three) }),
      map.insert(gone, two),
      map.insert(two, gone),
      map.erase(gone),
    ]) {
      await rejection(call, ValidationError);
    }
    await expectPairs(map, new Map());
  });

  it("of openDevice is one", async () => {
    await rejection(openDevice({ backend: "wegbpu" }), ValidationError);
    await rejection(openDevice({ backend: "cpu", gpuDevice: any({}) }), ValidationError);
    await rejection(openDevice({ backend: "cpu", threads: 0 }), ValidationError);
    await rejection(openDevice({ backend: "cpu", threads: 1.5 }), ValidationError);
  });
});

describe("an error", () => {
  it("is a WarpmapError with its class's name, a code, its numbers and a sentence that says what to do", () => {
    const cause = new Error("below");
    const samples = [
      [new CapacityError({ inserted: 1, rejected: 2, capacity: 3, slots: 6 }), "CapacityError", "CAPACITY"],
      [new ValidationError("Wrong.", "Do right.", { cause }), "ValidationError", "VALIDATION"],
      [new LimitError("slots", 9, 8, "Use less.", { cause }), "LimitError", "LIMIT"],
      [new LimitError("memory", 9, Number.NaN, "Use less."), "LimitError", "LIMIT"],
      [new DeviceLostError("unknown", ""), "DeviceLostError", "DEVICE_LOST"],
      [
        new BackendUnavailableError("webgpu", [], "Install one."),
        "BackendUnavailableError",
        "BACKEND_UNAVAILABLE",
      ],
      [new EngineError("Broken.", { cause }), "EngineError", "ENGINE"],
    ] as const;
    for (const [error, name, code] of samples) {
      expect(error).toBeInstanceOf(WarpmapError);
      expect(error).toBeInstanceOf(Error);
      expect([error.name, error.code]).toEqual([name, code]);
      expect(error.fix).toMatch(/^[A-Z].*\.$/);
      expect(error.message.endsWith(` ${error.fix}`)).toBe(true);
      expect(error.message).not.toMatch(/undefined|NaN/);
      expect([undefined, cause]).toContain(error.cause);
    }
    expect(samples[0][0]).toMatchObject({ inserted: 1, rejected: 2, capacity: 3 });
    expect(samples[2][0]).toMatchObject({ limit: "slots", need: 9, have: 8, cause });
  });

  it("of a call does not count for the next one", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 3, maxLoadFactor: 1 });
    await rejection(map.insert(counting(5), counting(4)), ValidationError);
    const full = await rejection(map.insert(counting(5), counting(5)), CapacityError);
    expect(full).toMatchObject({ code: "CAPACITY", inserted: 3, rejected: 2, capacity: 3 });
    await rejection(map.rehash(2), ValidationError);
    await map.rehash(5);
    expect(await map.insert(counting(5), counting(5))).toEqual({ inserted: 2, existing: 3 });
  });
});
