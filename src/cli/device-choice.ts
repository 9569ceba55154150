/** What `--device` names: an engine, and behind a colon one of its GPUs, some or all. */
import type { OpenDeviceOptions } from "../device.js";
import { engineNamed } from "../engine/registry.js";
import { WarpmapError } from "../errors.js";
import { CallError } from "./failure.js";

/**
 * The options of openDevice: "cuda:1" is `{ backend: "cuda", gpu: 1 }`, "cuda:0,1" `{ backend: "cuda", gpus: [0, 1] }`, and
 * "cuda:all" all GPUs.
 */
export function deviceOptions(device: string): Pick<OpenDeviceOptions, "backend" | "gpu" | "gpus"> {
  const [, backend, which] = /^(.*):(all|\d+(?:,\d+)*)$/.exec(device) ?? [];
  if (backend === undefined) return { backend: device };
  if (which === "all") return { backend, gpus: which };
  const numbers = which.split(",").map(Number);
  return numbers.length === 1 ? { backend, gpu: numbers[0] } : { backend, gpus: numbers };
}

/** Makes an engine of another package known. @throws CallError for a name that none has, or a number it cannot have */
export async function checkDevice(device: string): Promise<void> {
  const { backend = "auto", gpu, gpus } = deviceOptions(device);
  const { loadEngine } = await import("../engine/load-engine.js");
  await loadEngine(backend).catch((error: unknown) => {
    throw error instanceof WarpmapError ? new CallError(error.problem, error.fix) : error;
  });
  if ((gpu ?? gpus) === undefined || engineNamed(backend)?.options.split(" ").includes("gpu")) return;
  throw new CallError(
    `The engine ${backend} does not take the number of a GPU.`,
    `Write --device ${backend}.`,
  );
}
