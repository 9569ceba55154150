/** What a runtime has of threads, without starting any. */

/** Why workers cannot be used in this runtime, or null when they may be tried. */
export function workersRefused(): string | null {
  const isThere =
    nodeThreads() !== undefined || (typeof Worker !== "undefined" && typeof Blob !== "undefined");
  return isThere ? null : "no Worker";
}

/** The same of workers that share memory with this thread. */
export function sharingRefused(): string | null {
  if (typeof SharedArrayBuffer === "undefined") return "no SharedArrayBuffer";
  // Only a worker of a browser, or its page, has this property; false there means that shared memory cannot
  // be posted.
  if (globalThis.crossOriginIsolated === false) return "the page is not cross-origin isolated";
  return workersRefused();
}

/** Whether this is Node, or a runtime that has its modules. */
export function inNode(): boolean {
  return nodeThreads() !== undefined;
}

/** Threads that the machine runs at once. */
export function machineThreads(): number {
  if (inNode()) return process.getBuiltinModule("node:os").availableParallelism();
  return globalThis.navigator?.hardwareConcurrency ?? 1;
}

/** Threads of a call, at most, for each that the machine runs at once: more would only take turns. */
const MOST_EACH = 4;
/** That many may be asked for on any machine, so that a program with a number in it runs on all. */
const ALWAYS = 16;

/** The threads that a call gets which asks for some: as many, up to four for each that the machine runs at once, or 16. */
export function threadsWithin(asked: number): number {
  return Math.min(asked, Math.max(ALWAYS, MOST_EACH * machineThreads()));
}

export type NodeThreads = typeof import("node:worker_threads");

/** Node's module, without an import that bundlers for browsers would follow. */
export function nodeThreads(): NodeThreads | undefined {
  return typeof process === "undefined" ? undefined : process.getBuiltinModule?.("node:worker_threads");
}
