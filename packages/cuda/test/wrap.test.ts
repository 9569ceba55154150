/** Memory of other libraries as device arrays, and addresses of device arrays for others. */
import { afterAll, describe, expect, it } from "vitest";
import { openDevice, StaticMap, StaticSet, type TensorAt, ValidationError } from "../../../src/index.js";
import { useFaults } from "./helpers/emulator.js";
import { foreign, foreignHost, fromGpu, toGpu } from "./helpers/launch.js";

const inject = useFaults();
const device = await openDevice({ backend: "cuda" });
afterAll(() => device.destroy());

function copied(data: ArrayBufferView): bigint {
  const at = foreign(data.byteLength);
  toGpu(at, data);
  return at;
}

function refused(work: () => unknown, says: RegExp, fix = /./): void {
  let error: unknown;
  try {
    work();
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(ValidationError);
  expect((error as ValidationError).message).toMatch(says);
  expect((error as ValidationError).fix).toMatch(fix);
}

describe("wrap({ pointer })", () => {
  it("gives elements in place, which calls take and write", async () => {
    const keys = Uint32Array.from({ length: 1001 }, (_, i) => i * 7);
    const pointer = copied(keys);
    const array = device.wrap({ pointer: pointer + 4n, byteLength: 4000, type: "u32" });
    expect([array.type, array.length, array.pointer]).toEqual(["u32", 1000, pointer + 4n]);
    expect(await array.read()).toEqual(keys.slice(1));
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 1001 });
    const mask = device.wrap({
      pointer: copied(new Uint8Array(1001).map((_, i) => i % 2)),
      byteLength: 1000,
    });
    expect(mask.type).toBe("u8");
    expect(await map.insert(array, array, { mask })).toEqual({ inserted: 500, existing: 0 });
    expect((await map.find(Uint32Array.of(14, 7))).values).toEqual(Uint32Array.of(14, 0));
    await array.write(Uint32Array.of(5, 6), 998);
    const seen = new Uint32Array(1001);
    fromGpu(pointer, seen);
    expect([...seen.subarray(998)]).toEqual([998 * 7, 5, 6]);
  });

  it("frees nothing", async () => {
    const { inUse } = device.memory;
    const pointer = copied(Float64Array.of(1, 2, 3));
    const array = device.wrap({ pointer: Number(pointer), byteLength: 24, type: "f64" });
    expect(device.memory.inUse).toBe(inUse);
    expect(array.pointer).toBe(pointer);
    array.destroy();
    device.trim();
    expect(device.memory.inUse).toBe(inUse);
    using again = device.wrap({ pointer, byteLength: 24, type: "f64" });
    expect(await again.read()).toEqual(Float64Array.of(1, 2, 3));
  });

  it("takes nothing at all", async () => {
    const none = device.wrap({ pointer: 0n, byteLength: 0, type: "u32" });
    using set = await StaticSet.create(device, { key: "u32", capacity: 10 });
    expect(await set.insert(none)).toEqual({ inserted: 0, existing: 0 });
  });

  it("refuses what is no memory of this GPU", () => {
    const pointer = foreign(64);
    const wrap = (memory: object) => () => device.wrap({ pointer, byteLength: 64, ...memory } as never);
    refused(wrap({ pointer: pointer + 2n }), /is no multiple of 4/, /Copy the elements/);
    refused(wrap({ pointer: pointer + 4n, byteLength: 8, type: "u64" }), /is no multiple of 8/);
    refused(wrap({ byteLength: 62, type: "u32" }), /byteLength is 62, and an element of u32 has 4 bytes/);
    refused(wrap({ pointer: pointer + 16n }), /64 bytes .* go beyond the allocation, which has 48/);
    refused(wrap({ pointer: 4096n }), /not of memory of a GPU: the driver does not know it/, /cuMemAlloc/);
    refused(wrap({ pointer: foreignHost(64) }), /not of memory of a GPU: it is the host's/, /upload/);
    refused(wrap({ pointer: -4 }), /pointer is -4/);
    refused(wrap({ pointer: "0x10" }), /pointer is/);
    refused(wrap({ pointer: 2n ** 60n }), /pointer is/);
    refused(wrap({ byteLength: 1.5 }), /byteLength is 1.5/);
    refused(wrap({ type: "i8" }), /no element type "i8"/);
    refused(wrap({ length: 4 }), /no option "length"/);
    refused(() => device.wrap({} as never), /takes memory at an address/, /pointer, byteLength, type/);
    refused(() => device.wrap(null as never), /takes memory at an address/);
    refused(() => device.wrap({ size: 64 } as never, { type: "u32" }), /takes memory at an address/);
  });

  it("refuses memory of another GPU", async () => {
    inject("DEVICES", 2);
    using second = await openDevice({ backend: "cuda", gpu: 1 });
    const at = { pointer: foreign(64), byteLength: 64 };
    refused(() => second.wrap(at), /The memory is on GPU 0, and this device is GPU 1/, /gpu: 0 }/);
    const tensor = { data: at.pointer, shape: [16], dtype: "int32", deviceId: 0 };
    refused(() => second.wrap(tensor), /on device 0 of type 2, and this device is GPU 1/);
  });
});

describe("wrap of a tensor", () => {
  it.each([
    ["uint8", "u8"],
    ["bool", "u8"],
    ["int32", "i32"],
    ["uint32", "u32"],
    ["int64", "i64"],
    ["uint64", "u64"],
    ["float32", "f32"],
    ["float64", "f64"],
    [{ code: 2, bits: 32, lanes: 1 }, "f32"],
    [{ code: 0, bits: 64 }, "i64"],
    [{ code: 6, bits: 8 }, "u8"],
  ] as const)("of %o", (dtype, type) => {
    const array = device.wrap({ data: foreign(96), shape: [3, 4], dtype, deviceType: 2, deviceId: 0 });
    expect([array.type, array.length]).toEqual([type, 12]);
  });

  it("gives its elements from byteOffset on", async () => {
    const data = copied(BigInt64Array.from({ length: 10 }, (_, i) => BigInt(-i)));
    const shape = [2, 1, 3n];
    const array = device.wrap({ data, shape, dtype: "int64", byteOffset: 8n, strides: [3, 99, 1] });
    expect(await array.read()).toEqual(BigInt64Array.of(-1n, -2n, -3n, -4n, -5n, -6n));
    expect(array.pointer).toBe(data + 8n);
    const scalar = device.wrap({ data, shape: [], dtype: "int64", strides: null });
    expect(scalar.length).toBe(1);
    expect(device.wrap({ data: 0, shape: [0, 3], dtype: "int64", strides: [1, 2] }).length).toBe(0);
  });

  it("refuses what arrays do not hold", () => {
    const right = { data: foreign(96), shape: [3, 4], dtype: "float32" };
    const wrap = (tensor: Partial<TensorAt> | object) => () => device.wrap({ ...right, ...tensor } as never);
    refused(wrap({ dtype: "float16" }), /no elements of dtype "float16"/, /Convert .* float64/);
    refused(wrap({ dtype: { code: 2, bits: 32, lanes: 4 } }), /dtype { code: 2, bits: 32, lanes: 4 }/);
    refused(wrap({ dtype: undefined }), /dtype/);
    refused(wrap({ strides: [1, 3] }), /shape \[3, 4\] has the strides \[1, 3\]/, /contiguous/);
    refused(wrap({ strides: [4] }), /strides \[4\]/);
    refused(wrap({ deviceType: 1 }), /on device 0 of type 1/);
    refused(wrap({ deviceId: 3 }), /on device 3 of type 2/);
    refused(wrap({ shape: 12 }), /shape is 12/);
    refused(wrap({ shape: [3, -4] }), /A length in shape is -4/);
    refused(wrap({ shape: [2 ** 30, 2 ** 30] }), /size in bytes/);
    refused(wrap({ byteOffset: 2 }), /no multiple of 4/);
    refused(wrap({ byteOffset: 64 }), /go beyond the allocation/);
    refused(wrap({ device: 2 }), /no option "device"/);
  });
});

describe("pointer", () => {
  it("is where others find the elements, until destroy", async () => {
    const array = await device.upload(Uint32Array.of(1, 2, 3));
    const pointer = array.pointer as bigint;
    const seen = new Uint32Array(3);
    fromGpu(pointer, seen);
    expect([...seen]).toEqual([1, 2, 3]);
    toGpu(pointer, Uint32Array.of(9));
    expect(await array.read()).toEqual(Uint32Array.of(9, 2, 3));
    const { kept } = device.memory;
    array.destroy();
    expect(device.memory.kept, "memory that was shown is kept for others").toBe(kept);
    refused(() => array.pointer, /was destroyed/, /before destroy/);
  });
});
