/** What a runtime has of threads, without starting any. */

/** Why workers cannot be used in this runtime, or null when they may be tried. */
export function workersRefused(): string | null {
  if (typeof SharedArrayBuffer === "undefined") return "no SharedArrayBuffer";
  // Only a worker of a browser, or its page, has this property; false there means that shared memory cannot
  // be posted.
  if (globalThis.crossOriginIsolated === false) return "the page is not cross-origin isolated";
  if (nodeThreads() === undefined && (typeof Worker === "undefined" || typeof Blob === "undefined"))
    return "no Worker";
  return null;
}

/** Whether this is Node, or a runtime that has its modules. */
export function inNode(): boolean {
  return nodeThreads() !== undefined;
}

export type NodeThreads = typeof import("node:worker_threads");

/** Node's module, without an import that bundlers for browsers would follow. */
export function nodeThreads(): NodeThreads | undefined {
  return typeof process === "undefined" ? undefined : process.getBuiltinModule?.("node:worker_threads");
}
