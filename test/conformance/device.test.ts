import { describe, expect, it } from "vitest";
import { BackendUnavailableError, Device, DeviceArray, openDevice, StaticMap } from "../../src/index.js";
import { backend, onGpu, onSoftwareGpu, onWebgpu, openTestDevice, useDevice } from "./helpers/device.js";
import { counting } from "./helpers/keys.js";

const device = useDevice();

describe("openDevice", () => {
  it("opens the backend that was named, and says why and on what", () => {
    const { info } = device();
    expect([device().backend, info.backend]).toEqual([backend, backend]);
    expect(info.software).toBe(onSoftwareGpu);
    expect(info.reason).toContain("asked for");
    expect(info.name.length).toBeGreaterThan(2);
    expect(info.threads).toBeGreaterThanOrEqual(onGpu ? 0 : 1);
    expect(device().gpuDevice === undefined).toBe(!onWebgpu);
    for (const limit of Object.values(info.limits)) expect(limit).toBeGreaterThan(0);
  });

  it("opens several devices side by side", async () => {
    using first = await openTestDevice();
    using second = await openTestDevice();
    expect(first.engine).not.toBe(second.engine);
    for (const each of [first, second]) {
      using map = await StaticMap.create(each, { key: "u32", value: "u32", capacity: 10 });
      expect(await map.insert(counting(10), counting(10))).toEqual({ inserted: 10, existing: 0 });
    }
  });

  it("never takes another backend, nor a software GPU, in place of the one that was named", async () => {
    const outcome = await openDevice({ backend: "webgpu" }).catch((error: unknown) => error);
    if (outcome instanceof Device) {
      expect([outcome.backend, outcome.info.software]).toEqual(["webgpu", false]);
      return outcome.destroy();
    }
    expect(outcome).toBeInstanceOf(BackendUnavailableError);
    const { code, tried, message, fix } = outcome as BackendUnavailableError;
    expect(code).toBe("BACKEND_UNAVAILABLE");
    expect(tried.length).toBeGreaterThan(0);
    for (const { backend, reason } of tried) {
      expect(backend.length).toBeGreaterThan(0);
      expect(message).toContain(reason);
    }
    expect(message.endsWith(fix)).toBe(true);
  });

  it("without options takes what is there, and says why", async () => {
    using auto = await openDevice();
    expect(["cpu", "webgpu", "cuda"]).toContain(auto.backend);
    expect(auto.info.software).toBe(false);
    expect(auto.info.reason.length).toBeGreaterThan(10);
    using array = await auto.upload(counting(10));
    expect(array).toBeInstanceOf(DeviceArray);
    expect(await array.read()).toEqual(counting(10));
  });
});
