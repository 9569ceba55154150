/** Who is timed in static-map: a StaticMap on a device, and JavaScript's own Map. */
import { type Device, type DeviceArray, StaticMap } from "../src/index.js";
import { checkMap } from "./static-map-check.js";
import { uploadWorkload, type Workload } from "./static-map-workload.js";
import type { TimedCall } from "./timing.js";

/** The operations, in the order they are timed. */
export const operations = ["insert", "find present", "find absent", "erase", "retrieveAll"] as const;
export type Operation = (typeof operations)[number];

/** Something that can do some of the operations. */
export interface Contestant extends AsyncDisposable {
  readonly name: string;
  /** Where it runs; null for a JS Map. */
  readonly device: Device | null;
  readonly calls: Readonly<Partial<Record<Operation, TimedCall>>>;
}

/** Entries per slot when all keys are in: the load of the seeds' Fig. 5. */
export const LOAD_FACTOR = 0.5;

/**
 * A map of u32 to u32, checked, with inputs and outputs in the device's memory. `insert` starts from a cleared map, `erase`
 * from one that was cleared and filled.
 */
export async function staticMap(device: Device, name: string, workload: Workload): Promise<Contestant> {
  const { size } = workload;
  const columns = await uploadWorkload(device, workload);
  const map = await StaticMap.create(device, {
    key: "u32",
    value: "u32",
    capacity: size,
    loadFactor: LOAD_FACTOR,
  });
  const { keys, values, lookups, absent } = columns;
  await checkMap(map, columns);

  // a call is done when its results are known; a clear is not, on a GPU, when it answers
  const settle = () => device.gpuDevice?.queue.onSubmittedWorkDone();
  const empty = async () => {
    await map.clear();
    await settle();
  };
  const refill = async () => {
    await map.clear();
    await map.insert(keys, values);
    await settle();
  };
  const full = async () => {
    if (map.size !== size) await refill();
  };
  const discard = async (results: Record<string, DeviceArray>) => {
    for (const column of Object.values(results)) column.destroy();
    await settle();
  };
  const output = "device" as const;
  return {
    name,
    device,
    calls: {
      insert: { before: empty, call: () => map.insert(keys, values) },
      "find present": { before: full, call: () => map.find(lookups, { output }), after: discard },
      "find absent": { before: full, call: () => map.find(absent, { output }), after: discard },
      erase: { before: refill, call: () => map.erase(lookups) },
      retrieveAll: { before: full, call: () => map.retrieveAll({ output }), after: discard },
    },
    async [Symbol.asyncDispose]() {
      await map[Symbol.asyncDispose]();
      columns[Symbol.dispose]();
    },
  };
}

/** Entries beyond which a JS Map throws: 2^24, and with room for how it grows. */
export const MOST_MAP_ENTRIES = 2 ** 23;

/** JavaScript's Map, on the calling thread: as many new pairs, and the same answers in the same typed arrays. */
export function javascriptMap(workload: Workload): Contestant {
  const [keys, values, lookups, absent] = [
    workload.keys(),
    workload.values(),
    workload.lookups(),
    workload.absent(),
  ];
  let map = new Map<number, number>();
  const insert = () => {
    for (let i = 0; i < keys.length; i++) map.set(keys[i], values[i]);
  };
  const find = (wanted: Uint32Array) => {
    const result = { values: new Uint32Array(wanted.length), found: new Uint8Array(wanted.length) };
    for (let i = 0; i < wanted.length; i++) {
      const value = map.get(wanted[i]);
      if (value === undefined) continue;
      result.values[i] = value;
      result.found[i] = 1;
    }
    return result;
  };
  const empty = () => {
    map = new Map();
  };
  const full = () => {
    if (map.size === 0) insert();
  };
  return {
    name: "JS Map",
    device: null,
    calls: {
      insert: { before: empty, call: insert },
      "find present": { before: full, call: () => find(lookups) },
      "find absent": { before: full, call: () => find(absent) },
    },
    async [Symbol.asyncDispose]() {
      map.clear();
    },
  };
}
