/** Why there is no WebGPU in Node, as openDevice tells it. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

beforeEach(() => {
  vi.resetModules();
  // as on a machine that has a Vulkan loader
  vi.spyOn(process, "dlopen").mockImplementation(() => {
    throw new Error("Module did not self-register.");
  });
});
afterEach(() => {
  vi.doUnmock("webgpu");
  vi.restoreAllMocks();
  // files share a process: no other one is to find what these tests opened
  vi.resetModules();
});

/** The error of opening the webgpu backend. */
async function refused(): Promise<{ name: string; message: string; fix: string }> {
  const { openDevice } = await import("../../src/index.js");
  return openDevice({ backend: "webgpu" }).then(
    () => expect.unreachable(),
    (error) => error,
  );
}

it("says that the package is not there", async () => {
  vi.doMock("webgpu", () => {
    throw new Error("Cannot find package");
  });
  const { name, message, fix } = await refused();
  expect(name).toBe("BackendUnavailableError");
  expect(message).toMatch(/the package webgpu is not installed/);
  expect(fix).toMatch(/npm install webgpu/);
});

it("says that it does not start, and tries again", async () => {
  const create = vi.fn(() => {
    throw new Error("no ICD");
  });
  vi.doMock("webgpu", () => ({ create }));
  for (const _ of [1, 2]) expect((await refused()).message).toMatch(/does not start: no ICD/);
  expect(create).toHaveBeenCalledTimes(2);
});

describe("without a Vulkan loader", () => {
  beforeEach(() => {
    vi.spyOn(process, "dlopen").mockImplementation(() => {
      throw new Error("libvulkan.so.1: cannot open shared object file");
    });
    vi.spyOn(process, "platform", "get").mockReturnValue("linux");
  });

  it("says so, and does not start the package", async () => {
    const create = vi.fn();
    vi.doMock("webgpu", () => ({ create }));
    const { message, fix } = await refused();
    expect(message).toMatch(/no Vulkan loader/);
    expect(message).not.toMatch(/not installed/);
    expect(fix).toMatch(/^Install the GPU's Vulkan driver/);
    expect(create).not.toHaveBeenCalled();
  });

  it("says that both are missing where the package is not there either", async () => {
    vi.doMock("webgpu", () => {
      throw new Error("Cannot find package");
    });
    const { message, fix } = await refused();
    expect(message).toMatch(/the package webgpu is not installed.*, and there is no Vulkan loader/);
    expect(fix).toMatch(/npm install webgpu.*Vulkan driver/);
  });
});

it.each([
  { software: false, disabled: ["timestamp_quantization"] },
  {
    software: true,
    disabled: ["timestamp_quantization", "use_vulkan_zero_initialize_workgroup_memory_extension"],
  },
])("asks for what suits the GPU, software $software", async ({ software, disabled }) => {
  const requestAdapter = vi.fn(async () => null);
  const create = vi.fn((_flags: string[]) => ({ requestAdapter }));
  vi.doMock("webgpu", () => ({ create }));
  const { openDevice } = await import("../../src/index.js");
  await expect(openDevice({ backend: "webgpu", software })).rejects.toThrow();
  await expect(openDevice({ backend: "webgpu", software })).rejects.toThrow();
  expect(create.mock.calls).toEqual([[[`disable-dawn-features=${disabled.join(",")}`]]]);
});
