import { describe, expect, it } from "vitest";
import { allocate, scalarTypeOf } from "../../src/engine/scalars.js";
import { DeviceArray, StaticMap, StaticSet, ValidationError } from "../../src/index.js";
import {
  expectAllSet,
  expectNoneSet,
  expectPairs,
  expectSame,
  pairsByBits,
  rejection,
} from "./helpers/checks.js";
import { onCuda, onWebgpu, useDevice } from "./helpers/device.js";
import { absentKeys, counting, fromBits, uniqueKeys } from "./helpers/keys.js";

const device = useDevice();

describe("device arrays", () => {
  it("hold a copy of what is uploaded", async () => {
    const samples = [
      Uint8Array.of(1, 2, 3, 250, 251),
      uniqueKeys(1000),
      Int32Array.of(-1, 2, -2147483648),
      Float32Array.of(0.5, -0, Number.NaN, 1e-45),
      new Uint32Array(),
      new Uint8Array(16).subarray(3, 10).fill(7),
      uniqueKeys(20).subarray(3, 9),
    ];
    for (const sample of samples) {
      const expected = sample.slice();
      using array = await device().upload(sample);
      sample.fill(99);
      expect(array).toBeInstanceOf(DeviceArray);
      expect([array.type, array.length]).toEqual([scalarTypeOf(sample), sample.length]);
      const read = await array.read();
      expect(read.constructor).toBe(expected.constructor);
      expectSame(read, expected);
    }
  });

  it("keep their memory until calls that were made before destroy() have ended", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 1000 });
    const keys = await device().upload(uniqueKeys(1000));
    const values = await device().upload(counting(1000));
    const inserting = map.insert(keys, values);
    const reading = keys.read();
    keys.destroy();
    values.destroy();
    using other = await device().upload(absentKeys(1000));
    expect(await inserting).toEqual({ inserted: 1000, existing: 0 });
    expectSame(await reading, uniqueKeys(1000));
    expectAllSet(await map.contains(uniqueKeys(1000)), 1000);
    expectNoneSet(await map.contains(other), 1000);
  });

  it("are refused with lengths and types there are not", async () => {
    const allocate = (type: string, length: number) => device().allocate(type as "u32", length);
    for (const length of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      await rejection(allocate("u32", length), ValidationError);
    }
    await rejection(allocate("f16", 4), ValidationError);
  });

  it("read ranges", async () => {
    using words = await device().upload(counting(1000));
    using bytes = await device().upload(Uint8Array.from(counting(101)));
    for (const [start, end] of [
      [0, 0],
      [0, 1],
      [5, 5],
      [1, 4],
      [3, 101],
      [99, 101],
      [7, 64],
      [101, 101],
    ]) {
      expectSame(await words.read(start, end), counting(end - start, start));
      expectSame(await bytes.read(start, end), counting(end - start, start));
    }
    expectSame(await words.read(998), [998, 999]);
    for (const [start, end] of [
      [-1, 5],
      [5, 4],
      [0, 1001],
      [Number.NaN, 5],
    ]) {
      await rejection(words.read(start, end), ValidationError);
    }
  });

  it("are zero when allocated", async () => {
    for (const type of ["u8", "u32", "i32", "f32"] as const) {
      using array = await device().allocate(type, 1001);
      expect([array.type, array.length]).toEqual([type, 1001]);
      expectNoneSet(await array.read(), 1001);
    }
  });

  it("can be destroyed twice, and not read or used after", async () => {
    const array = await device().upload(counting(10));
    expect(array.destroyed).toBe(false);
    array.destroy();
    array.destroy();
    expect(array.destroyed).toBe(true);
    await rejection(array.read(), ValidationError);
    using set = await StaticSet.create(device(), { key: "u32", capacity: 10 });
    await rejection(set.insert(array), ValidationError);
    expect(set.size).toBe(0);
  });

  it("refuse to hold what is no typed array of a known type", async () => {
    for (const wrong of [
      [1, 2],
      new DataView(new ArrayBuffer(8)),
      new Uint16Array(2),
      "abc",
      null,
      new ArrayBuffer(8),
    ]) {
      await rejection(device().upload(wrong as never), ValidationError);
    }
  });
});

describe("device arrays as inputs and results", () => {
  it("mean the same as typed arrays, in every call", async () => {
    const [keys, values] = [uniqueKeys(1001), Float32Array.from(counting(1001))];
    const where = Uint8Array.from(counting(1001), (i) => (i % 3 === 0 ? 0 : 1));
    const onHost = { keys, values, mask: where };
    using k = await device().upload(keys);
    using v = await device().upload(values);
    using w = await device().upload(where);
    const outcomes: unknown[] = [];
    for (const input of [onHost, { keys: k, values: v, mask: w }]) {
      using map = await StaticMap.create(device(), { key: "u32", value: "f32", capacity: 1001 });
      using set = await StaticSet.create(device(), { key: "u32", capacity: 1001 });
      const { keys, values, mask } = input;
      outcomes.push([
        await map.insert(keys, values, { mask }),
        await set.insert(keys, { mask }),
        await map.insertOrAssign(keys, values),
        await map.insertOrApply(keys, values, "add", { mask }),
        await map.insertAndFind(keys, values),
        await set.insertAndFind(keys),
        await map.find(keys, { mask }),
        await set.find(keys),
        await map.contains(keys),
        await map.erase(keys, { mask }),
        await map.contains(keys),
        map.size,
      ]);
    }
    expect(outcomes[1]).toEqual(outcomes[0]);
    expectSame(await k.read(), keys);
    expectSame(await v.read(), values);
  });

  it("are overwritten by write, and nothing beside it is", async () => {
    for (const type of ["u8", "u32", "i32", "f32", "u64"] as const) {
      const { read, write } = { read: [] as unknown[], write: [] as unknown[] };
      using array = await device().allocate(type, 23);
      const expected = await array.read();
      for (const [start, length] of [
        ...[
          [0, 23],
          [0, 4],
          [4, 8],
          [1, 1],
          [2, 6],
          [3, 2],
          [5, 18],
        ],
        ...[
          [22, 1],
          [23, 0],
          [3, 0],
          [7, 9],
          [19, 4],
        ],
      ]) {
        const data = allocate(type, length).fill((type === "u64" ? 200n : 200 + start) as never);
        const copy = data.slice();
        await array.write(data as never, start);
        (expected as Uint8Array).set(data as Uint8Array, start);
        expect(data).toEqual(copy);
        write.push(expected.slice());
        read.push(await array.read());
      }
      expect(read).toEqual(write);
    }
  });

  it("are overwritten from the start, of shared and shifted memory, and used by calls after that", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 400_000 });
    using keys = await device().allocate("u32", 200_000);
    for (const first of [0, 200_000]) {
      await keys.write(uniqueKeys(200_001, first).subarray(1));
      expect(await set.insert(keys)).toEqual({ inserted: 200_000, existing: 0 });
    }
    if (typeof SharedArrayBuffer === "undefined") return;
    const shared = new Uint32Array(new SharedArrayBuffer(400), 4, 3).fill(9);
    await keys.write(shared, 199_997);
    expectSame(await keys.read(199_996), [uniqueKeys(1, 399_997)[0], 9, 9, 9]);
  });

  it("are not overwritten by other types, beyond their end, or after destroy()", async () => {
    const array = await device().allocate("u32", 4);
    for (const [data, start] of [
      [Int32Array.of(1), 0],
      [new Float64Array(1), 0],
      [[1], 0],
      [undefined, 0],
      [Uint32Array.of(1), 4],
      [Uint32Array.of(1), -1],
      [Uint32Array.of(1), 0.5],
      [Uint32Array.of(1), Number.NaN],
      [Uint32Array.of(1), "0"],
      [new Uint32Array(5), 0],
    ] as [never, never][]) {
      await rejection(array.write(data, start), ValidationError);
    }
    expectSame(await array.read(), [0, 0, 0, 0]);
    const writing = array.write(Uint32Array.of(1, 2, 3, 4));
    array.destroy();
    await writing;
    const { message } = await rejection(array.write(Uint32Array.of(1)), ValidationError);
    expect(message).toContain("was destroyed");
  });

  it('with output: "device" hold what would have come to the host', async () => {
    using map = await StaticMap.create(device(), { key: "i32", value: "f32", capacity: 500 });
    const [keys, values] = [fromBits("i32", uniqueKeys(500)), Float32Array.from(counting(500))];
    const options = { output: "device" } as const;
    const fresh = await map.insertAndFind(keys, values, options);
    expect([fresh.values.type, fresh.isNew.type]).toEqual(["f32", "u8"]);
    expectSame(await fresh.values.read(), values);
    expectAllSet(await fresh.isNew.read(), 500);
    const hits = await map.find(keys, { ...options, missing: -1 });
    expectSame(await hits.values.read(), values);
    expectAllSet(await hits.found.read(), 500);
    const misses = await map.find(fromBits("i32", absentKeys(7)), { ...options, missing: -1 });
    expectSame(await misses.values.read(), new Array(7).fill(-1));
    expectNoneSet(await misses.found.read(), 7);
    const flags = await map.contains(keys, options);
    expect([flags.type, flags.length]).toEqual(["u8", 500]);
    expectAllSet(await flags.read(), 500);
    const all = await map.retrieveAll(options);
    expect([all.keys.type, all.values.type, all.keys.length]).toEqual(["i32", "f32", 500]);
    map.destroy();
    const pairs = pairsByBits("i32", await all.keys.read(), await all.values.read());
    expect(pairs).toEqual(pairsByBits("i32", keys, values));
  });

  it("of length 0 go in and come out", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 10 });
    using none = await device().upload(new Uint32Array());
    expect(await set.insert(none)).toEqual({ inserted: 0, existing: 0 });
    const flags = await set.contains(none, { output: "device" });
    const { keys } = await set.retrieveAll({ output: "device" });
    expect([flags.length, keys.length]).toEqual([0, 0]);
    expect([await flags.read(), await keys.read()]).toEqual([new Uint8Array(), new Uint32Array()]);
  });

  it("lead from call to call without the host", async () => {
    using first = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 1000 });
    using second = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 1000 });
    await first.insert(counting(1000), uniqueKeys(1000));
    await second.insert(uniqueKeys(500), counting(500, 7000));
    using probes = await device().upload(counting(2000));
    const hop = await first.find(probes, { output: "device" });
    const end = await second.find(hop.values, { output: "device", mask: hop.found, missing: 1 });
    const expected = counting(2000).map((i) => (i < 500 ? 7000 + i : 1));
    expectSame(await end.values.read(), expected);
    expect(await first.erase(probes, { mask: end.found })).toEqual({ erased: 500 });
    const left = await first.retrieveAll({ output: "device" });
    expect(await second.insert(left.keys, left.values)).toEqual({ inserted: 500, existing: 0 });
    expect(await second.erase(left.keys)).toEqual({ erased: 500 });
    await expectPairs(second, pairsByBits("u32", uniqueKeys(500), counting(500, 7000)));
  });
});

describe("wrap", () => {
  const USAGE = 0x80 | 0x08 | 0x04; // STORAGE | COPY_DST | COPY_SRC
  const makeBuffer = (size: number) => device().gpuDevice!.createBuffer({ size, usage: USAGE });

  if (!onWebgpu) {
    it("and buffer are for engines with GPUBuffers", async () => {
      const buffer = { size: 64 } as GPUBuffer;
      expect(() => device().wrap(buffer, { type: "u32" })).toThrow(ValidationError);
      expect(device().gpuDevice).toBe(undefined);
      using array = await device().upload(counting(3));
      expect(array.buffer).toBe(undefined);
      expect(typeof array.pointer).toBe(onCuda ? "bigint" : "undefined");
    });
    return;
  }

  for (const byteOffset of [0, 4, 12, 252, 256, 260]) {
    it(`uses a GPUBuffer from byte ${byteOffset} in every call, without a copy`, async () => {
      const buffer = makeBuffer(byteOffset + 301 * 8 + 16);
      const write = (at: number, data: Uint32Array | Uint8Array) =>
        device().gpuDevice!.queue.writeBuffer(buffer, at, data as Uint8Array<ArrayBuffer>);
      const [maskAt, valuesAt] = [byteOffset + 301 * 4, 0];
      write(byteOffset, uniqueKeys(301));
      const keys = device().wrap(buffer, { type: "u32", byteOffset, length: 301 });
      expect([keys.buffer, keys.byteOffset, keys.length]).toEqual([buffer, byteOffset, 301]);
      expectSame(await keys.read(), uniqueKeys(301));
      write(
        maskAt,
        new Uint8Array(304).map((_, i) => i % 2),
      );
      const where = device().wrap(buffer, { type: "u8", byteOffset: maskAt, length: 301 });
      expectSame(await where.read(1, 4), [1, 0, 1]);
      const valueBuffer = makeBuffer(301 * 4);
      device().gpuDevice!.queue.writeBuffer(valueBuffer, valuesAt, counting(301));
      const values = device().wrap(valueBuffer, { type: "u32" });
      using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 301 });
      expect(await map.insert(keys, values, { mask: where })).toEqual({ inserted: 150, existing: 0 });
      expect(await map.insertOrAssign(keys, values)).toEqual({ inserted: 151, assigned: 150 });
      expectSame((await map.find(keys)).values, counting(301));
      expectAllSet(await map.contains(keys), 301);
      expectNoneSet((await map.insertAndFind(keys, values)).isNew, 301);
      expect(await map.erase(keys, { mask: where })).toEqual({ erased: 150 });
      expectSame(await keys.read(), uniqueKeys(301));
      write(byteOffset, absentKeys(301));
      expectNoneSet(await map.contains(keys), 301);
      keys.destroy();
      const again = device().wrap(buffer, { type: "i32", byteOffset, length: 301 });
      expectSame(await again.read(), fromBits("i32", absentKeys(301)));
      buffer.destroy();
      valueBuffer.destroy();
    });
  }

  it("is written where it lies, and only there", async () => {
    const gpu = device().gpuDevice as GPUDevice;
    const buffer = makeBuffer(64);
    gpu.queue.writeBuffer(buffer, 0, new Uint8Array(64).fill(7));
    using flags = device().wrap(buffer, { type: "u8", byteOffset: 4, length: 9 });
    await flags.write(new Uint8Array(9).fill(1));
    await flags.write(Uint8Array.of(2, 3), 3);
    using all = device().wrap(buffer, { type: "u8" });
    const expected = [7, 7, 7, 7, 1, 1, 1, 2, 3, 1, 1, 1, 1, 7, 7, 7];
    expectSame(await all.read(0, 16), expected);
    buffer.destroy();
    const closed = gpu.createBuffer({ size: 16, usage: 0x80 });
    const array = device().wrap(closed, { type: "u32" });
    expect((await rejection(array.write(counting(1)), ValidationError)).fix).toBe("Create it with COPY_DST.");
    closed.destroy();
  });

  it("rejects ranges outside the buffer and starts that are no multiple of 4", () => {
    const buffer = makeBuffer(64);
    for (const view of [
      { length: 17 },
      { byteOffset: 4, length: 16 },
      { byteOffset: 2 },
      { byteOffset: -4 },
      { length: -1 },
    ]) {
      expect(() => device().wrap(buffer, { type: "u32", ...view })).toThrow(ValidationError);
    }
    expect(device().wrap(buffer, { type: "f32", byteOffset: 12 }).length).toBe(13);
    buffer.destroy();
  });
});
