/** Choosing a GPU: by `auto`, by number, from a list. */
import { expect, it } from "vitest";
import { deviceOptions } from "../../../src/cli/device-choice.js";
import { listDevices, openDevice, StaticMap, ValidationError } from "../../../src/index.js";
import { rejection } from "../../../test/conformance/helpers/checks.js";
import { useFaults } from "./helpers/emulator.js";

const inject = useFaults();

it("`auto` takes CUDA before WebGPU, and says why", async () => {
  using device = await openDevice();
  expect(device.backend).toBe("cuda");
  expect(device.info.reason).toBe("An NVIDIA GPU is there: Emulated GPU 0.");
});

it("the event loop goes on while the driver makes a GPU's context", async () => {
  inject("OPEN", 200_000);
  let turns = 0;
  const counting = setInterval(() => turns++, 10);
  using _ = await openDevice({ backend: "cuda" });
  clearInterval(counting);
  expect(turns).toBeGreaterThan(3);
});

it("`gpu` chooses one, with its driver and memory in the facts about it", async () => {
  using device = await openDevice({ gpu: 0 });
  expect(device.info.reason).toBe("The cuda engine was asked for: Emulated GPU 0.");
  const { hardware } = device.info;
  expect(hardware).toMatchObject({ vendor: "nvidia", gpu: "0", capability: "9.0", memory: "4.0 GiB" });
  expect(hardware.driver).toMatch(/CUDA 13\.0$/);
});

it.each([-1, 0.5, "1", null])("refuses gpu: %s", async (gpu) => {
  const error = await rejection(openDevice({ gpu: gpu as number }), ValidationError);
  expect(error.message).toMatch(/^gpu is /);
});

it("refuses a GPU's number together with another engine", async () => {
  const error = await rejection(openDevice({ backend: "cpu", gpu: 0 }), ValidationError);
  expect(error.message).toBe('A gpu was given together with backend "cpu". Leave out one of the two.');
});

it("sorts only elements that fit the shared memory of the GPU", async () => {
  inject("SHARED", 99 * 1024);
  using device = await openDevice({ gpu: 0 });
  const plans: string[] = [];
  const call = {
    strategy: "partitioned",
    onPlan: ({ strategy }: { strategy: string }) => plans.push(strategy),
  } as const;
  using narrow = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 100 });
  await narrow.insert(Uint32Array.of(1, 2), Uint32Array.of(3, 4), call);
  using wide = await StaticMap.create(device, { key: "u64", value: "u64", capacity: 100 });
  await wide.insert(BigUint64Array.of(1n, 2n), BigUint64Array.of(3n, 4n), call);
  expect((await wide.find(BigUint64Array.of(2n, 5n))).values[0]).toBe(4n);
  expect(plans).toEqual(["partitioned", "direct"]);
});

it("a list has a line for each GPU", async () => {
  inject("DEVICES", 2);
  const lines = (await listDevices()).filter(({ backend }) => backend === "cuda");
  expect(lines.map(({ available, info }) => [available, info?.name])).toEqual([
    [true, "Emulated GPU 0"],
    [true, "Emulated GPU 1"],
  ]);
  using second = await openDevice({ backend: "cuda", gpu: 1 });
  expect(second.info.hardware.gpu).toBe("1");
});

it("a list says why there is none", async () => {
  inject("DEVICES", 0);
  const [line] = await listDevices();
  expect(line).toMatchObject({ backend: "cuda", available: false });
  expect(line.reason).toContain("finds no GPU");
  using other = await openDevice();
  expect(other.backend).not.toBe("cuda");
  if (other.backend === "cpu") expect(other.info.reason).toContain("the NVIDIA driver finds no GPU");
});

it("--device takes the number behind a colon", () => {
  expect(deviceOptions("cuda:1")).toEqual({ backend: "cuda", gpu: 1 });
  expect(deviceOptions("webgpu")).toEqual({ backend: "webgpu" });
});
