/** The device of a worker: opened when it is first needed, and again when another engine is chosen or the GPU is lost. */
import { BackendUnavailableError, type Device, openDevice } from "warpmap";
import type { EngineChoice, EngineFacts } from "./engines.js";

let current: { readonly engine: EngineChoice; readonly device: Promise<Device> } | null = null;

/** @throws BackendUnavailableError when the chosen engine is not there */
export async function deviceOf(engine: EngineChoice): Promise<Device> {
  if (current?.engine === engine) return current.device;
  const before = current;
  const opened = { engine, device: openEngine(engine) };
  current = opened;
  // after the new one was asked for, so that none is left open when that fails
  (await before?.device.catch(() => null))?.destroy();
  const forget = () => {
    if (current === opened) current = null;
  };
  try {
    const device = await opened.device;
    void device.lost.then(forget);
    return device;
  } catch (error) {
    forget();
    throw error;
  }
}

/** A device of the caller's own. @throws Error that speaks of the page's list of engines */
export async function openEngine(engine: EngineChoice): Promise<Device> {
  try {
    return await openDevice(
      engine === "software" ? { backend: "webgpu", software: true } : { backend: engine },
    );
  } catch (error) {
    if (!(error instanceof BackendUnavailableError)) throw error;
    const emulated = /a software one/.test(error.problem) ? "“WebGPU, emulated by the CPU” or " : "";
    throw new Error(`${error.problem} Choose ${emulated}“CPU” in the list of engines.`, { cause: error });
  }
}

export function factsOf({ backend, info }: Device): EngineFacts {
  return { backend, name: info.name, threads: info.threads, reason: info.reason };
}
