/** What `--device` names: an engine, and behind a colon which of its GPUs. */
import type { OpenDeviceOptions } from "../device.js";
import { engineNamed } from "../engine/registry.js";
import { WarpmapError } from "../errors.js";
import { CallError } from "./failure.js";

/** The options of openDevice: "cuda:1" is `{ backend: "cuda", gpu: 1 }`. */
export function deviceOptions(device: string): Pick<OpenDeviceOptions, "backend" | "gpu"> {
  const [, backend, gpu] = /^(.*):(\d+)$/.exec(device) ?? [];
  return backend === undefined ? { backend: device } : { backend, gpu: Number(gpu) };
}

/** Makes an engine of another package known. @throws CallError for a name that none has, or a number it cannot have */
export async function checkDevice(device: string): Promise<void> {
  const { backend = "auto", gpu } = deviceOptions(device);
  const { loadEngine } = await import("../engine/load-engine.js");
  await loadEngine(backend).catch((error: unknown) => {
    throw error instanceof WarpmapError ? new CallError(error.problem, error.fix) : error;
  });
  if (gpu === undefined || engineNamed(backend)?.options.split(" ").includes("gpu")) return;
  throw new CallError(
    `The engine ${backend} does not take the number of a GPU.`,
    `Write --device ${backend}.`,
  );
}
