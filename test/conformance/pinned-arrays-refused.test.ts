/** Pinned arrays that calls refuse, and what calls that fail leave of them. */
import { describe, expect, it } from "vitest";
import { type BulkOptions, CapacityError, StaticMap, ValidationError } from "../../src/index.js";
import { expectAllSet, expectNoneSet, expectSame, rejection } from "./helpers/checks.js";
import { openTestDevice } from "./helpers/device.js";
import { counting, uniqueKeys } from "./helpers/keys.js";
import { LONG, usePinned } from "./helpers/pinned.js";

const { device, newMap, target, pinned } = usePinned();

describe("unsuitable arrays are refused, and nothing happens", () => {
  it("of another use, type, length or device", async () => {
    using map = await newMap(100);
    using other = await openTestDevice();
    using foreign = await other.pinned("u32", 10, "upload");
    using foreignTarget = await other.pinned("u8", 10, "readback");
    using keys = await pinned(counting(10));
    using short = await pinned(counting(9));
    using signed = await device().pinned("i32", 10, "upload");
    using found = await target("u8", 10);
    using words = await target("u32", 10);
    using few = await target("u8", 9);
    using onDevice = await device().allocate("u8", 10);
    for (const wrong of [foreign, short, signed, found, words, few]) {
      await rejection(map.insert(keys, wrong as never), ValidationError);
      await rejection(map.insert(keys, keys, { mask: wrong as never }), ValidationError);
      if (wrong !== short) await rejection(map.insert(wrong as never, keys), ValidationError);
    }
    for (const wrong of [
      ...[foreignTarget, keys, words, few, onDevice, new Uint8Array(9), new Uint32Array(10)],
      ...[{ found }, null, undefined, "host"],
    ]) {
      await rejection(map.contains(keys, { into: { found: wrong } as never }), ValidationError);
      const into = { values: words, found: wrong } as never;
      await rejection(map.find(keys, { into }), ValidationError);
    }
    for (const into of [found, [found], {}, null, "host"] as never[]) {
      const { message } = await rejection(map.contains(keys, { into }), ValidationError);
      expect(message).toContain("into.found must be a Uint8Array or a pinned array of u8, and is undefined");
      await rejection(map.find(keys, { into }), ValidationError);
    }
    await rejection(map.find(keys, { into: { values: words } as never }), ValidationError);
    await rejection(map.contains(keys, { into: { found }, output: "device" }), ValidationError);
    await rejection(map.retrieveAll({ into: { keys: words, values: words } }), ValidationError);
    expect(map.size).toBe(0);
    await map.insert(counting(50), counting(50));
    const into = { keys: words, values: new Uint32Array(50) };
    await rejection(map.retrieveAll({ into }), ValidationError);
    expect(words.array.length).toBe(10);
  });

  it("because it is an input, or shares memory with another array of the call", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 100 });
    const keys = counting(10);
    await map.insert(keys, counting(10, 1));
    const flags = new Uint8Array(keys.buffer, 4, 10);
    const memory = new Uint32Array(25);
    for (const [values, found, where] of [
      [keys, new Uint8Array(10)],
      [new Uint32Array(10), flags],
      [new Uint32Array(10), new Uint8Array(memory.buffer, 0, 10), new Uint8Array(memory.buffer, 9, 10)],
      [memory.subarray(0, 10), new Uint8Array(memory.buffer, 39, 10)],
    ]) {
      const into = { values: values as Uint32Array, found: found as Uint8Array };
      await rejection(map.find(keys, { into, mask: where as Uint8Array }), ValidationError);
    }
    expectSame(keys, counting(10));
    // neighbours in one piece of memory share none
    const into = { values: memory.subarray(0, 10), found: new Uint8Array(memory.buffer, 40, 10) };
    expectSame((await map.find(keys, { into })).values, counting(10, 1));
  });

  it("while a call uses them", async () => {
    using map = await newMap(1000);
    using keys = await pinned(uniqueKeys(1000));
    using found = await target("u8", 1000);
    const first = map.contains(keys, { into: { found } });
    expect([keys.inUse, found.inUse]).toEqual([true, true]);
    expect(() => keys.array).toThrow(ValidationError);
    expect(() => found.array).toThrow(ValidationError);
    await rejection(map.contains(keys, { into: { found } }), ValidationError);
    expectNoneSet(await first, 1000);
    expect([keys.inUse, found.inUse]).toEqual([false, false]);
    // an input may serve several calls at a time
    const calls = [map.insert(keys, keys), map.contains(keys), map.insertOrAssign(keys, keys)];
    const [inserted, flags] = await Promise.all(calls);
    expect(inserted).toEqual({ inserted: 1000, existing: 0 });
    expectAllSet(flags as Uint8Array, 1000);
    expectSame(keys.array, uniqueKeys(1000));
  });

  it("not while another call's end gives them back", async () => {
    using map = await newMap(2000);
    using other = await newMap(2000);
    using keys = await pinned(uniqueKeys(1000));
    for (let i = 0; i < 20; i++) {
      const first = map.insertOrAssign(keys, keys);
      const second = other.insertOrAssign(keys, keys).then(() => other.contains(keys));
      await first;
      const third = map.contains(keys);
      expectAllSet(await third, 1000);
      expectAllSet(await second, 1000);
      expectSame(keys.array, uniqueKeys(1000));
    }
  });
});

describe("a call that fails leaves its arrays usable", () => {
  const makeAll = async (count: number) => ({
    keys: await pinned(uniqueKeys(count)),
    values: await target("u32", count),
    isNew: await target("u8", count),
  });

  it("for want of slots", async () => {
    using map = await StaticMap.create(device(), {
      key: "u32",
      value: "u32",
      capacity: 64,
      maxLoadFactor: 1,
    });
    const { keys, values, isNew } = await makeAll(100);
    const into = { values, isNew };
    await rejection(map.insert(keys, keys), CapacityError);
    await rejection(map.insertAndFind(keys, keys, { into }), CapacityError);
    expectSame(keys.array, uniqueKeys(100));
    expect([values.array.length, isNew.array.length]).toEqual([100, 100]);
    await map.clear();
    const where = counting(100).map((i) => Number(i < 64)) as never as Uint32Array;
    const answer = await map.insertAndFind(keys, keys, { into, mask: Uint8Array.from(where) });
    expectSame(answer.isNew, where);
    for (const array of [keys, values, isNew]) array.destroy();
  });

  it("because it was aborted, before or in the middle", async () => {
    using own = await openTestDevice();
    using map = await StaticMap.create(own, { key: "u32", value: "u32", capacity: LONG });
    using keys = await own.pinned("u32", LONG, "upload");
    using found = await own.pinned("u8", LONG, "readback");
    keys.array.set(uniqueKeys(LONG));
    // a batch to partition would be one chunk
    const direct = { strategy: "direct" } as const;
    const calls: ((options: BulkOptions) => Promise<unknown>)[] = [
      (options) => map.insert(keys, keys, { ...direct, ...options }),
      (options) => map.contains(keys, { ...direct, ...options, into: { found } }),
    ];
    for (const call of calls) {
      await rejection(call({ signal: AbortSignal.abort(new RangeError("no")) }), RangeError);
      const stop = new AbortController();
      const onProgress = () => stop.abort(new RangeError("enough"));
      await rejection(call({ signal: stop.signal, onProgress }), RangeError);
      expectSame(keys.array, uniqueKeys(LONG));
      expect(found.array.length).toBe(LONG);
    }
    await map.insert(keys, keys);
    expectAllSet(await map.contains(keys, { into: { found } }), LONG);
  });

  it("because an array was detached before the call's turn", async () => {
    const map = await newMap(10);
    const keys = counting(10);
    const call = map.insert(keys, keys);
    structuredClone(keys, { transfer: [keys.buffer] });
    await rejection(call, ValidationError);
    expect(map.size).toBe(0);
    map.destroy();
  });

  it("or had its array destroyed, and answers without it", async () => {
    using map = await newMap(10);
    using values = await target("u32", 10);
    using isNew = await target("u8", 10);
    const call = map.insertAndFind(counting(10), counting(10), { into: { values, isNew } });
    values.destroy();
    const answer = await call;
    expect(answer.values.length).toBe(0);
    expectAllSet(answer.isNew, 10);
    expect(map.size).toBe(10);
  });

  it("because its container is gone", async () => {
    const map = await newMap(10);
    using keys = await pinned(counting(10));
    map.destroy();
    await rejection(map.insert(keys, keys), ValidationError);
    expectSame(keys.array, counting(10));
  });
});
