/** The engine of a worker process. */
import { type Device, openDevice } from "warpmap/stages";
import type { WorkerSettings } from "./settings.js";

/** @throws BackendUnavailableError for an engine that is not there */
export async function openOwn({ device, software, threads, memory }: WorkerSettings): Promise<Device> {
  const [, backend = device, gpu] = /^(.*):(\d+)$/.exec(device) ?? [];
  return openDevice({
    backend,
    ...(gpu !== undefined && { gpu: Number(gpu) }),
    software,
    threads,
    memory: { keep: Math.floor(memory / 16) },
  });
}
