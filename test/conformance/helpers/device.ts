/**
 * Which engine the suite runs on, and devices of it. Nothing here falls back: when the engine is not there, tests fail.
 */
import { beforeAll, inject } from "vitest";
import {
  type Device,
  type GroupSize,
  type OpenDeviceOptions,
  openDevice,
  type Strategy,
} from "../../../src/index.js";
import { isLong } from "../../helpers/rounds.js";
import { onSwiftShader } from "../../helpers/software-gpu.js";

/** The engine under test. */
export const backend = inject("backend");
export const onWebgpu = backend === "webgpu";
export const onCuda = backend === "cuda";
export const onGpu = backend !== "cpu";

/**
 * True in a browser, whose kernels are those of Node with another compiler in front: of kernels that differ in a constant, a test
 * takes fewer there. Each takes SwiftShader up to a second to compile.
 */
export const inBrowser = inject("host") === "browser";

/** True where the GPU is SwiftShader: in the browser, and in Node where there is no other. */
export const onSoftwareGpu = onWebgpu && (inBrowser || onSwiftShader);

/** True where a GPU is stood in for by the CPU: by SwiftShader, or by the emulator of packages/cuda (vitest.config.ts). */
const isEmulated = onSoftwareGpu || (onCuda && /emulator/.test(process.env.WARPMAP_CUDA_DRIVER ?? ""));

/** How bulk calls go about their batches: "auto", "partitioned", or "direct/" and a group size. */
const [strategy, groupSize] = inject("bulk").split("/");
const bulk = {
  strategy: strategy as Strategy,
  ...(groupSize !== undefined && { groupSize: Number(groupSize) as GroupSize }),
};

/** True where all calls are made to take one strategy. SwiftShader is slow at the barriers of the partitioned one. */
export const isForced = strategy !== "auto";

/** The numbers of GPUs that are to share all work, where there are several, or one that stands for several. */
const gpus = globalThis.process?.env?.WARPMAP_TEST_GPUS?.split(",").map(Number);
/** Keys lie where the table's hash says; on several GPUs each has a table of its own keys, with slots to spare. */
export const onOneTable = gpus === undefined;
if (gpus) (await import("../../../packages/cuda/test/helpers/several.js")).openSeveral(gpus);

/** Opens a device of the engine under test. */
export function openTestDevice(options: OpenDeviceOptions = {}): Promise<Device> {
  return openDevice({ backend, ...bulk, ...(onSoftwareGpu && { software: true }), ...options });
}

/** One device for all files that run in one process: kernels are compiled for a device. */
let shared: Promise<Device> | undefined;

export const sharedDevice = (): Promise<Device> => (shared ??= openTestDevice());

/** The device of tests that leave it as it was: call this in a file or a `describe`, and its result inside tests. */
export function useDevice(): () => Device {
  let device: Device | undefined;
  beforeAll(async () => {
    device = await sharedDevice();
  });
  return () => {
    if (device === undefined) throw new Error("the device is open only while tests run");
    return device;
  };
}

/** An engine that has not run yet, and does not know how fast it is. On a GPU it shares the GPUDevice of {@link useDevice}'s, and its kernels. */
export async function openFreshDevice(options: OpenDeviceOptions = {}): Promise<Device> {
  const { gpuDevice } = await sharedDevice();
  return gpuDevice === undefined
    ? openTestDevice(options)
    : openDevice({ backend, ...bulk, gpuDevice, ...options });
}

/** A size for this engine: stand-ins for GPUs do some 10 M operations a second, everything else far more. */
export function scaled(size: number, onSoftware: number): number {
  return isEmulated ? onSoftware : size;
}

/** More keys than one row of 65,535 workgroups of 256 threads has threads. */
export const OVER_ONE_DISPATCH = 65_535 * 256 + 1;

/** Group sizes that tests take: a constant of the direct kernels. On a software GPU the least, the largest, and one in between. */
export const groupSizes: readonly GroupSize[] = inBrowser
  ? [1, 8]
  : onSoftwareGpu && !isLong()
    ? [1, 8, 32]
    : [1, 2, 4, 8, 16, 32];
