/** A GPU with little memory: calls that need more say so, and leave everything as it was. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Device, LimitError, openDevice, StaticMap } from "../../src/index.js";
import { expectSame, rejection } from "../conformance/helpers/checks.js";
import { counting, uniqueKeys } from "../conformance/helpers/keys.js";
import { ownGpuDevice, withMembers } from "./helpers/own-gpu.js";

const MIB = 2 ** 20;
let device: Device;
let gpuDevice: GPUDevice;

beforeAll(async () => {
  gpuDevice = await ownGpuDevice();
  device = await openDevice({ gpuDevice: withMemory(gpuDevice, 16 * MIB) });
});
afterAll(() => gpuDevice?.destroy());

/** A GPUDevice whose buffers of 1 MiB or more come out of `left` bytes. SwiftShader itself would take all of the machine's. */
function withMemory(real: GPUDevice, left: number): GPUDevice {
  const scopes: { filter: string; failed: boolean }[] = [];
  return withMembers(real, {
    createBuffer(descriptor) {
      const { size } = descriptor;
      if (size < MIB) return real.createBuffer(descriptor);
      const scope = scopes.findLast(({ filter }) => filter === "out-of-memory");
      if (size > left && scope) {
        scope.failed = true;
        return real.createBuffer({ ...descriptor, size: 16 });
      }
      left -= size;
      const buffer = real.createBuffer(descriptor);
      const destroy = buffer.destroy.bind(buffer);
      buffer.destroy = () => {
        left += size;
        return destroy();
      };
      return buffer;
    },
    pushErrorScope(filter) {
      scopes.push({ filter, failed: false });
      real.pushErrorScope(filter);
    },
    async popErrorScope() {
      const failed = scopes.pop()?.failed;
      const error = await real.popErrorScope();
      return failed ? ({ message: "Out of memory" } as GPUError) : error;
    },
  });
}

const newMap = (capacity: number) => StaticMap.create(device, { key: "u32", value: "u32", capacity });

it("a table that is too large is refused with its bytes", async () => {
  const error = await rejection(newMap(2 * MIB), LimitError);
  expect(error).toMatchObject({ code: "LIMIT", limit: "memory", have: Number.NaN });
  expect(error.need).toBeGreaterThanOrEqual((4 * MIB + 2) * 8);
  expect(error.message).toMatch(/needs \d+, the device has less\. Free other tables/);
});

it("a rehash or a result that is too large leaves the table as it was", async () => {
  using map = await newMap(500_000);
  const keys = uniqueKeys(10_000);
  await map.insert(keys, counting(10_000));
  expect((await rejection(map.rehash(600_000), LimitError)).limit).toBe("memory");
  using many = await device.upload(new Uint32Array(MIB));
  const call = map.find(many, { output: "device" });
  expect((await rejection(call, LimitError)).limit).toBe("memory");
  expect([map.size, map.capacity]).toEqual([10_000, 500_000]);
  expectSame((await map.find(keys)).values, counting(10_000));
});

it("memory that was used before is there for the next call", async () => {
  for (let i = 0; i < 3; i++) {
    using map = await newMap(700_000 + i);
    expect(await map.insert(uniqueKeys(100_000), counting(100_000))).toEqual({
      inserted: 100_000,
      existing: 0,
    });
    map.destroy();
    await map[Symbol.asyncDispose]();
    using array = await device.allocate("u32", 3 * MIB + i);
    expect((await array.read(3 * MIB - 1))[0]).toBe(0);
  }
});
