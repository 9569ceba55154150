/** A GPUDevice that was opened for an engine which does not load. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";

const gpuDevice = { destroy: vi.fn(), lost: new Promise(() => {}) };
const adapter = {
  info: { device: "a GPU" },
  limits: {},
  features: new Set(),
  requestDevice: async () => gpuDevice,
};

beforeEach(() => {
  vi.resetModules();
  vi.stubGlobal("navigator", { gpu: { requestAdapter: async () => adapter } });
  vi.doMock("../src/engine/webgpu/webgpu-engine.js", () => {
    throw new Error("not to be had");
  });
  gpuDevice.destroy.mockClear();
});

afterEach(() => {
  vi.doUnmock("../src/engine/webgpu/webgpu-engine.js");
  vi.unstubAllGlobals();
  vi.resetModules();
});

it("is destroyed", async () => {
  const { openDevice } = await import("../src/device.js");
  await expect(openDevice({ backend: "webgpu" })).rejects.toThrow();
  expect(gpuDevice.destroy).toHaveBeenCalledOnce();
});

it("stays open where it is the caller's", async () => {
  const { openDevice } = await import("../src/device.js");
  await expect(openDevice({ gpuDevice: gpuDevice as never })).rejects.toThrow();
  expect(gpuDevice.destroy).not.toHaveBeenCalled();
});
