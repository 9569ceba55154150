import { describe, expect, it } from "vitest";
import { StaticMap, StaticSet, ValidationError } from "../../src/index.js";
import { expectAllSet, expectPairs, expectSame, pairsByBits, rejection } from "./helpers/checks.js";
import { useDevice } from "./helpers/device.js";
import { counting, uniqueKeys } from "./helpers/keys.js";

const device = useDevice();
const newMap = (capacity: number) => StaticMap.create(device(), { key: "u32", value: "i32", capacity });

/** What TypeScript's library of 2022 does not know. */
type Resizable = new (
  bytes: number,
  options: { maxByteLength: number },
) => ArrayBuffer & { resize(bytes: number): void };

/** The same elements, `byteOffset` bytes into a longer buffer that is full of something else. */
function shifted<A extends Uint32Array | Int32Array>(array: A, byteOffset: number, Buffer = ArrayBuffer): A {
  const buffer = new Buffer(byteOffset + array.byteLength + 20);
  new Uint8Array(buffer).fill(0xa5);
  const view = new (array.constructor as Uint32ArrayConstructor)(buffer, byteOffset, array.length);
  view.set(array);
  return view as A;
}

/** Every call, on the inputs that `make` makes out of ordinary arrays. */
async function useEveryCall(make: <A extends Uint32Array | Int32Array>(array: A) => A): Promise<void> {
  for (const count of [1, 5, 257, 3000]) {
    using map = await newMap(count);
    const [keys, values] = [make(uniqueKeys(count)), make(Int32Array.from(counting(count), (i) => -i))];
    const expected = values.slice();
    expect(await map.insert(keys, values)).toEqual({ inserted: count, existing: 0 });
    await expectPairs(map, pairsByBits("u32", uniqueKeys(count), expected));
    expectSame((await map.find(keys)).values, expected);
    expectAllSet(await map.contains(keys), count);
    expect(await map.insertOrAssign(keys, values)).toEqual({ inserted: 0, assigned: count });
    expect(await map.insertOrApply(keys, values, "max")).toEqual({ inserted: 0, applied: count });
    expectSame((await map.insertAndFind(keys, values)).values, expected);
    expect(await map.erase(keys)).toEqual({ erased: count });
    expectSame(keys, uniqueKeys(count));
    expectSame(values, expected);
  }
}

describe("typed arrays as inputs", () => {
  for (const byteOffset of [4, 12, 256, 260]) {
    it(`that start at byte ${byteOffset} of their buffer`, () =>
      useEveryCall((array) => shifted(array, byteOffset)));
  }

  it("that share their memory with other threads", async () => {
    if (typeof SharedArrayBuffer === "undefined") return expect(globalThis.crossOriginIsolated).toBe(false);
    await useEveryCall((array) => shifted(array, 0, SharedArrayBuffer as never));
    await useEveryCall((array) => shifted(array, 12, SharedArrayBuffer as never));
  });

  it("over a buffer that can be resized", () =>
    useEveryCall((array) =>
      shifted(
        array,
        12,
        class extends (ArrayBuffer as unknown as Resizable) {
          constructor(bytes: number) {
            super(bytes, { maxByteLength: 2 * bytes });
          }
        } as never,
      ),
    ));

  it("keys and values in one buffer", async () => {
    using map = await newMap(100);
    const buffer = new ArrayBuffer(808);
    const keys = new Uint32Array(buffer, 4, 100);
    const values = new Int32Array(buffer, 404, 100);
    keys.set(uniqueKeys(100));
    values.set(counting(100));
    await map.insert(keys, values);
    await expectPairs(map, pairsByBits("u32", uniqueKeys(100), counting(100)));
  });

  it("the same array as keys and as values", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 100 });
    const keys = uniqueKeys(100);
    await map.insert(keys, keys);
    await expectPairs(map, pairsByBits("u32", keys, keys));
  });

  it("a Uint8ClampedArray as `where`", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 4 });
    const where = Uint8ClampedArray.of(1, 0, 255, 0) as never;
    expect(await set.insert(counting(4), { mask: where })).toEqual({ inserted: 2, existing: 0 });
  });

  it("a subclass of a typed array", async () => {
    class Column extends Uint32Array {}
    using set = await StaticSet.create(device(), { key: "u32", capacity: 4 });
    expect(await set.insert(Column.from([1, 2, 3]))).toEqual({ inserted: 3, existing: 0 });
  });

  it("that are detached, or whose buffer was cut short", async () => {
    using map = await newMap(4);
    const [keys, values] = [counting(2), new Int32Array(2)];
    structuredClone(keys, { transfer: [keys.buffer as ArrayBuffer] });
    const buffer = new (ArrayBuffer as unknown as Resizable)(16, { maxByteLength: 16 });
    const short = new Uint32Array(buffer, 8, 2);
    buffer.resize(8);
    for (const gone of [keys, short]) {
      for (const call of [
        map.find(gone),
        map.insert(gone, values),
        map.contains(gone),
        device().upload(gone),
      ]) {
        expect((await rejection(call, ValidationError)).message).toMatch(/^(keys|array) is detached: /);
      }
    }
  });

  it("of length 0, in every call", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "f32", capacity: 10 });
    const [keys, values, where] = [new Uint32Array(), new Float32Array(), new Uint8Array()];
    await map.insert(Uint32Array.of(1), Float32Array.of(2));
    expect(await map.insert(keys, values, { mask: where })).toEqual({ inserted: 0, existing: 0 });
    expect(await map.insertOrAssign(keys, values)).toEqual({ inserted: 0, assigned: 0 });
    expect(await map.insertOrApply(keys, values, "add")).toEqual({ inserted: 0, applied: 0 });
    expect(await map.insertAndFind(keys, values)).toEqual({
      inserted: 0,
      existing: 0,
      values,
      isNew: where,
    });
    expect(await map.find(keys, { mask: where })).toEqual({ values, found: where });
    expect(await map.contains(keys)).toEqual(where);
    expect(await map.erase(keys)).toEqual({ erased: 0 });
    expect(map.size).toBe(1);
  });
});

describe("typed arrays as results", () => {
  it("own their memory: it can be transferred, and no later call changes it", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 100 });
    await map.insert(counting(100), counting(100));
    const first = await map.find(counting(100));
    const flags = await map.contains(counting(100));
    const all = await map.retrieveAll();
    await map.insertOrAssign(counting(100), new Uint32Array(100));
    await map.find(counting(100, 50));
    expectSame(first.values, counting(100));
    expectAllSet(first.found, 100);
    for (const array of [first.values, first.found, flags, all.keys, all.values]) {
      const { length } = array;
      const moved = structuredClone(array, { transfer: [array.buffer as ArrayBuffer] });
      expect([moved.length, array.length]).toEqual([length, 0]);
    }
  });
});
