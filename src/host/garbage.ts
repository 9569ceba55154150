/**
 * Keeps arrays that nobody uses within a bound, in Node. V8 frees them when it collects garbage, and puts that off for
 * longer the more is in use; memory that threads share it does not count at all. So garbage is collected here once
 * arrays of so many bytes were added.
 */
/** Bytes of arrays that may be added between two collections, at least: one of everything takes some 10 ms. */
const LEAST_ARRAYS = 2 ** 24;
/** Bytes of objects: twice what V8 lets come and go without a look at the objects that stay. */
const MOST_OBJECTS = 2 ** 25;

const builtin: typeof process.getBuiltinModule | undefined =
  typeof process === "undefined" ? undefined : process.getBuiltinModule;

type Collect = (options?: { readonly type: "minor" }) => void;
let collect: Collect | undefined;

/** V8's own function, which Node hides; elsewhere nothing. */
function collector(): Collect {
  const { gc } = globalThis as { gc?: Collect };
  if (gc) return gc;
  try {
    builtin?.("node:v8")?.setFlagsFromString("--expose-gc");
    return builtin?.("node:vm")?.runInNewContext("gc") ?? (() => {});
  } catch {
    return () => {}; // a runtime without V8
  } finally {
    if (!gc) builtin?.("node:v8")?.setFlagsFromString("--no-expose-gc");
  }
}

/** Collects garbage at once: where much is left, and nobody will ask for memory soon. */
export function collectGarbage(): void {
  collect ??= collector();
  collect();
}

export class GarbageBound {
  readonly #most: number;
  /** The least that was in use since the last collection of everything, in bytes. */
  #arrays = Number.POSITIVE_INFINITY;
  /** Of arrays that other threads handed over, and not of shared ones. */
  #external = Number.POSITIVE_INFINITY;
  #objects = Number.POSITIVE_INFINITY;

  /** @param bytes of arrays that may be added between two collections; Infinity: there are none */
  constructor(bytes: number) {
    this.#most = Math.max(LEAST_ARRAYS, bytes);
  }

  /** Collects garbage if enough was added. To be called between pieces of work; takes microseconds if not. */
  check(): void {
    if (this.#most === Number.POSITIVE_INFINITY || typeof process === "undefined") return;
    if (this.#added() < this.#most) return;
    collect ??= collector();
    // most that comes and goes is young: looking at that alone takes a tenth of the time
    for (const options of [{ type: "minor" } as const, undefined]) {
      collect(options);
      if (this.#added() < this.#most / 2) return;
    }
    this.#arrays = this.#external = this.#objects = Number.POSITIVE_INFINITY;
  }

  /** Bytes since the last collection, as far as they count: objects as arrays of so many. */
  #added(): number {
    const { arrayBuffers, external, heapUsed } = process.memoryUsage();
    this.#arrays = Math.min(this.#arrays, arrayBuffers);
    this.#external = Math.min(this.#external, external);
    this.#objects = Math.min(this.#objects, heapUsed);
    const objects = heapUsed - this.#objects < MOST_OBJECTS ? 0 : this.#most;
    return Math.max(arrayBuffers - this.#arrays, external - this.#external, objects);
  }
}
