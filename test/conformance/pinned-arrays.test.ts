/** Pinned arrays as inputs and results, and typed arrays as results: every call means the same with them. */

import { describe, expect, it } from "vitest";
import { arrayClass } from "../../src/engine/scalars.js";
import {
  DeviceLostError,
  LimitError,
  PinnedArray,
  StaticMap,
  StaticSet,
  ValidationError,
} from "../../src/index.js";
import { expectAllSet, expectNoneSet, expectSame, pairsByBits, rejection } from "./helpers/checks.js";
import { onWebgpu, openTestDevice } from "./helpers/device.js";
import { counting, maskOf, uniqueKeys } from "./helpers/keys.js";
import { LONG, usePinned } from "./helpers/pinned.js";
import { planned } from "./helpers/plan.js";

const { device, newMap, target, pinned } = usePinned();

/** An answer with copies of its arrays, whose memory the next call writes to. */
function copyOf(answer: unknown): unknown {
  if (ArrayBuffer.isView(answer)) return (answer as Uint8Array).slice();
  if (typeof answer !== "object" || answer === null) return answer;
  return Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, copyOf(value)]));
}

describe("pinned arrays", () => {
  it("are zeroed typed arrays of their type and length", async () => {
    for (const type of ["u8", "u32", "i32", "f32"] as const) {
      for (const use of ["upload", "readback"] as const) {
        for (const length of [0, 1, 3, 1001]) {
          using array = await device().pinned(type, length, use);
          expect(array).toBeInstanceOf(PinnedArray);
          expect([array.type, array.length, array.use]).toEqual([type, length, use]);
          expect([array.inUse, array.destroyed]).toEqual([false, false]);
          expect(array.array).toBeInstanceOf(arrayClass[type]);
          expectNoneSet(array.array, length);
        }
      }
    }
  });

  it("are refused with lengths, types and uses there are not", async () => {
    const make = (type: string, length: number, use: string) =>
      device().pinned(type as "u32", length, use as "upload");
    for (const length of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      await rejection(make("u32", length, "upload"), ValidationError);
    }
    await rejection(make("f16", 4, "upload"), ValidationError);
    await rejection(make("u32", 4, "storage"), ValidationError);
    await rejection(make("u32", 2 ** 50, "upload"), LimitError);
  });

  it("can be destroyed twice, and not used after", async () => {
    const [keys, found] = [await pinned(counting(10)), await target("u8", 10)];
    for (const array of [keys, found]) {
      array.destroy();
      array.destroy();
      expect([array.destroyed, array.inUse]).toEqual([true, false]);
      expect(() => array.array).toThrow(ValidationError);
    }
    using set = await StaticSet.create(device(), { key: "u32", capacity: 10 });
    await rejection(set.insert(keys), ValidationError);
    await rejection(set.contains(counting(10), { into: { found } }), ValidationError);
    expect(set.size).toBe(0);
  });

  it("keep their memory until calls that were made before destroy() have ended", async () => {
    using map = await newMap(1000);
    const [keys, values] = [await pinned(uniqueKeys(1000)), await pinned(counting(1000))];
    const inserting = map.insert(keys, values);
    keys.destroy();
    values.destroy();
    expect(await inserting).toEqual({ inserted: 1000, existing: 0 });
    expectSame((await map.find(uniqueKeys(1000))).values, counting(1000));
  });

  it("are gone with their device", async () => {
    const own = await openTestDevice();
    const array = await own.pinned("u32", 10, "upload");
    const set = await StaticSet.create(own, { key: "u32", capacity: 10 });
    const call = set.insert(array);
    own.destroy();
    await rejection(call, DeviceLostError);
    expect(() => array.array).toThrow(DeviceLostError);
    await rejection(set.insert(array), DeviceLostError);
    await rejection(own.pinned("u32", 10, "upload"), DeviceLostError);
    array.destroy();
  });
});

describe("pinned inputs and results", () => {
  for (const count of [1, 3, 257, 1001]) {
    it(`of ${count} elements mean the same as typed arrays, in every call`, async () => {
      const [keys, values, where] = [uniqueKeys(count), Float32Array.from(counting(count)), maskOf(count)];
      using k = await pinned(keys);
      using v = await pinned(values);
      using w = await pinned(where);
      using intoKeys = await target("u32", count);
      using intoValues = await target("f32", count);
      using flags = await target("u8", count);
      const given = { keys: intoKeys, values: intoValues, found: flags, isNew: flags };
      const outcomes: unknown[] = [];
      for (const input of [
        { keys, values, mask: where, into: undefined },
        { keys: k, values: v, mask: w, into: given },
        { keys: k, values, mask: w, into: given },
        { keys, values: v, mask: where, into: { ...given, found: new Uint8Array(count) } },
      ]) {
        using map = await StaticMap.create(device(), { key: "u32", value: "f32", capacity: count });
        using set = await StaticSet.create(device(), { key: "u32", capacity: count });
        const { keys, values, mask, into } = input;
        const steps = [
          () => map.insert(keys, values, { mask }),
          () => set.insert(keys, { mask }),
          () => map.insertOrAssign(keys, values),
          () => map.insertOrApply(keys, values, "add", { mask }),
          () => map.erase(keys, { mask }),
          () => map.insertAndFind(keys, values, { into, mask }),
          () => set.insertAndFind(keys, { into }),
          () => map.find(keys, { mask, into, missing: -1 }),
          () => set.find(keys, { into }),
          () => set.erase(keys, { mask }),
          () => set.find(keys, { into }),
          () => set.contains(keys, { into }),
          () => set.contains(keys, { into, mask }),
        ];
        const seen: unknown[] = [];
        for (const step of steps) seen.push(copyOf(await step()));
        const all = await map.retrieveAll({ into });
        seen.push(pairsByBits("u32", all.keys, all.values), map.size);
        const { keys: rest } = await set.retrieveAll({ into });
        seen.push(rest.slice().sort());
        outcomes.push(seen);
      }
      for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0]);
      expectSame(k.array, keys);
      expectSame(v.array, values);
      expectSame(w.array, where);
    });
  }

  it("of length 0 go in and come out", async () => {
    using map = await newMap(10);
    using none = await pinned(new Uint32Array());
    using noFlags = await target("u8", 0);
    using noValues = await target("u32", 0);
    expect(await map.insert(none, none)).toEqual({ inserted: 0, existing: 0 });
    const answer = await map.find(none, { into: { values: noValues, found: noFlags } });
    expect([answer.values.length, answer.found.length]).toEqual([0, 0]);
    expect((await map.retrieveAll({ into: { keys: new Uint32Array(), values: noValues } })).keys.length).toBe(
      0,
    );
  });

  it(`of several chunks: ${LONG} elements`, async () => {
    using map = await newMap(LONG);
    const [keys, values, where] = [uniqueKeys(LONG), counting(LONG), maskOf(LONG)];
    const selected = where.reduce((sum, byte) => sum + byte, 0);
    using k = await pinned(keys);
    using v = await pinned(values);
    using w = await pinned(where);
    using intoValues = await target("u32", LONG);
    using flags = await target("u8", LONG);
    expect(await map.insert(k, v, { mask: w })).toEqual({ inserted: selected, existing: 0 });
    const first = await map.find(k, { into: { values: intoValues, found: flags }, missing: 7 });
    expectSame(first.found, where);
    const expected = values.map((value, i) => (where[i] ? value : 7));
    expectSame(first.values, expected);
    // plain and pinned in one call go in small chunks, which overlap
    const plain = { values: new Uint32Array(LONG), found: flags };
    const second = await map.find(keys, { into: plain, missing: 7 });
    expect(second.values).toBe(plain.values);
    expectSame(second.found, where);
    expectSame(second.values, expected);
    expect(await map.erase(k, { mask: w })).toEqual({ erased: selected });
    expectNoneSet(await map.contains(k, { into: { found: flags } }), LONG);
  }, 180_000);

  it("serve many calls, their elements changed between", async () => {
    using map = await newMap(5000);
    using keys = await device().pinned("u32", 500, "upload");
    using found = await target("u8", 500);
    for (let i = 0; i < 10; i++) {
      keys.array.set(uniqueKeys(500, i * 500));
      const before = keys.array;
      expectNoneSet(await map.contains(keys, { into: { found } }), 500);
      expect(await map.insert(keys, keys)).toEqual({ inserted: 500, existing: 0 });
      if (onWebgpu) expect(before.length).toBe(0);
      expectSame(keys.array, uniqueKeys(500, i * 500));
      const flags = await map.contains(keys, { into: { found } });
      expect(flags).toEqual(found.array);
      expectAllSet(flags, 500);
    }
    expect(map.size).toBe(5000);
  });
});

describe("into", () => {
  it("answers the arrays themselves, or views of them where they are longer", async () => {
    using map = await newMap(100);
    await map.insert(uniqueKeys(100), counting(100));
    const exact = { values: new Uint32Array(50), found: new Uint8Array(50) };
    const answer = await map.find(uniqueKeys(50), { into: exact });
    expect(answer.values).toBe(exact.values);
    expect(answer.found).toBe(exact.found);
    expectSame(exact.values, counting(50));
    const longer = { values: new Uint32Array(64).fill(9), found: new Uint8Array(64).fill(9) };
    const part = await map.find(uniqueKeys(53), { into: longer });
    expect([part.values.length, part.found.length]).toEqual([53, 53]);
    expect([part.values.buffer, part.found.buffer]).toEqual([longer.values.buffer, longer.found.buffer]);
    expectSame(longer.values.subarray(53), new Array(11).fill(9));
    expectSame(longer.found.subarray(53), new Array(11).fill(9));
    using values = await target("u32", 300);
    using keys = await target("u32", 101);
    const all = await map.retrieveAll({ into: { keys, values } });
    expect([all.keys.length, all.values.length]).toEqual([100, 100]);
    expect(pairsByBits("u32", all.keys, all.values)).toEqual(
      pairsByBits("u32", uniqueKeys(100), counting(100)),
    );
    expectSame(values.array.subarray(0, 100), all.values);
  });

  it("overwrites what was there, also for elements that a mask leaves out", async () => {
    using map = await newMap(100);
    await map.insert(uniqueKeys(50), counting(50));
    const [where, into] = [maskOf(101), { values: new Uint32Array(101), found: new Uint8Array(101) }];
    const plain = await map.find(uniqueKeys(101), { mask: where, missing: 5 });
    for (const missing of [5, 5]) {
      for (const array of Object.values(into)) array.fill(77);
      expect(await map.find(uniqueKeys(101), { mask: where, missing, into })).toEqual(plain);
    }
    into.found.fill(77);
    expect(await map.contains(uniqueKeys(101), { mask: where, into: { found: into.found } })).toEqual(
      plain.found,
    );
    const clamped = new Uint8ClampedArray(101).fill(77) as never as Uint8Array;
    expectSame(await map.contains(uniqueKeys(101), { mask: where, into: { found: clamped } }), plain.found);
  });

  it("goes together with a plan", async () => {
    using map = await newMap(100);
    using found = await target("u8", 100);
    const into = { found };
    const { answer, plan } = await planned((onPlan) => map.contains(uniqueKeys(100), { into, onPlan }));
    expect(plan.chunks).toBe(1);
    expectNoneSet(answer, 100);
  });
});
