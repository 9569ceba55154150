/** Machines without what the engine needs: the error says what is missing, and how to come by it. */
import { afterAll, afterEach, expect, it, vi } from "vitest";
import type { BackendUnavailableError } from "../../../src/index.js";
import { useFaults } from "./helpers/emulator.js";

const inject = useFaults();
afterEach(() => vi.unstubAllEnvs());
// classes of errors are those of other files again
afterAll(() => vi.resetModules());

/** Why the engine does not open, in a process that has not looked for the driver yet. */
async function refusal(options: { gpu?: number } = {}): Promise<BackendUnavailableError> {
  vi.resetModules();
  const { open } = await import("../src/open.js");
  const error = await open(options).then(
    () => expect.unreachable("the engine opened"),
    (error: unknown) => error as BackendUnavailableError,
  );
  expect([error.code, error.tried[0].backend]).toEqual(["BACKEND_UNAVAILABLE", "cuda"]);
  return error;
}

it("names the driver that is needed where there is none", async () => {
  vi.stubEnv("WARPMAP_CUDA_DRIVER", "/nowhere/libcuda.so.1");
  const { message, fix } = await refusal();
  expect(message).toMatch(/there is no NVIDIA driver with CUDA here \(\/nowhere\/libcuda.so.1: /);
  expect(fix).toMatch(/^Install driver 580 or later; in a container start it with --gpus all/);
});

it("names both versions where the driver is old", async () => {
  inject("DRIVER", 12080);
  const { message, fix } = await refusal();
  expect(message).toContain("the NVIDIA driver knows CUDA 12.8, and the kernels need CUDA 13.0");
  expect(fix).toContain("Install driver 580 or later");
});

it("says that the driver finds no GPU, and looks again at the next call", async () => {
  inject("DEVICES", 0);
  expect((await refusal()).message).toContain("finds no GPU that this process may use");
  const { open } = await import("../src/open.js");
  inject("DEVICES", 1);
  (await open({})).engine.destroy();
});

it("says which GPUs there are where another one is asked for", async () => {
  inject("DEVICES", 3);
  const { message, fix } = await refusal({ gpu: 3 });
  expect(message).toContain("there is no GPU 3");
  expect(fix).toMatch(/^Ask for one of 0 to 2; CUDA_VISIBLE_DEVICES hides others\.$/);
});

it("says that a clone was built without kernels", async () => {
  vi.stubEnv("WARPMAP_CUDA_KERNELS", "/nowhere/kernels.fatbin");
  const { message, fix } = await refusal();
  expect(message).toContain("this copy of warpmap-cuda has no kernels (kernels.fatbin)");
  expect(fix).toContain("npm run build:kernels");
});
