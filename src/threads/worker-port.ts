/** A worker's side of what start-worker.ts starts, in Node's workers and in browsers'. */
import type { Ready } from "./start-worker.js";

/**
 * Says that the worker is up, and hands every message to `receive` until the thread is ended.
 * @param receive told a message, and how to answer; `transfer` holds buffers that go without a copy
 */
export function receiveMessages<Received, Sent>(
  receive: (message: Received, answer: (message: Sent, transfer: readonly ArrayBuffer[]) => void) => void,
): void {
  const port =
    typeof process === "undefined" ? undefined : process.getBuiltinModule?.("node:worker_threads").parentPort;
  const answer = (message: Sent | Ready, transfer: readonly ArrayBuffer[]): void =>
    port
      ? port.postMessage(message, transfer as ArrayBuffer[])
      : globalThis.postMessage(message, { transfer: transfer as ArrayBuffer[] });
  if (port) port.on("message", (message: Received) => receive(message, answer));
  else globalThis.addEventListener("message", ({ data }: MessageEvent<Received>) => receive(data, answer));
  answer({ kind: "ready" }, []);
}
