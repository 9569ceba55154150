/** The GPU engine under test, with options that users do not have. */
import { inject } from "vitest";
import { completeLevels } from "../../../../src/engine/cpu/host-levels.js";
import type { Engine } from "../../../../src/engine/engine.js";
import { getOrMake } from "../../../../src/engine/gpu/get-or-make.js";
import type { GpuHost } from "../../../../src/engine/gpu/host.js";
import type { WebgpuOptions } from "../../../../src/engine/webgpu/webgpu-engine.js";

/** An engine over a GpuRuntime. */
export interface GpuEngine extends Engine {
  readonly tableHost: GpuHost;
}
export type GpuOptions = Pick<WebgpuOptions, "seed" | "strategy" | "tuning">;

/** False where kernels run through CUDA: tests that put WGSL in place of an engine's own, or watch a GPUDevice, ask. */
export const onWebgpu = inject("backend") !== "cuda";
/** False on a GPU of its own, whose parts and workgroups are larger: few rows may take another way there. */
export const onSmallParts = onWebgpu || process.env.WARPMAP_CUDA_DRIVER !== undefined;

/** Opens the engine. @param seen what one on WebGPU sees of the device that all of a process share */
export async function openGpu(
  options: GpuOptions = {},
  seen?: (device: GPUDevice) => GPUDevice,
): Promise<GpuEngine> {
  if (onWebgpu) return (await import("../../webgpu/helpers/variants.js")).openVariant(options, seen);
  const { open } = await import("../../../../packages/cuda/src/open.js");
  const { engine } = await open({ seed: 1, ...options });
  return completeLevels(engine) as GpuEngine;
}

const shared = new Map<string, Promise<GpuEngine>>();

/** One engine for each set of options, which no test destroys: a new one looks all its kernels up again. */
export function sharedGpu(options: GpuOptions): Promise<GpuEngine> {
  return getOrMake(shared, JSON.stringify(options), () => openGpu(options));
}
