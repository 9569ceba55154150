/** Maps that are asked from host memory, with one call on each: a StaticMap on a device, one on the cpu engine, a JS Map. */
import { type Device, EngineError, openDevice, StaticMap } from "../src/index.js";
import { engineName } from "./report.js";
import { findInMap } from "./static-map-contestants.js";
import type { Workload } from "./static-map-workload.js";
import { type Repeats, settle, type Timing, timeInTurn } from "./timing.js";

/** What a find brings to the host. */
export interface HostAnswer {
  readonly values: Uint32Array;
  readonly found: Uint8Array;
}

/** A map of u32 to u32. */
export interface HostMap {
  readonly name: string;
  insert(keys: Uint32Array, values: Uint32Array): unknown;
  find(keys: Uint32Array): HostAnswer | Promise<HostAnswer>;
  /** Leaves the map empty, and its device at rest. */
  clear(): unknown;
}

/** Maps with room for as many entries, to call in turn. */
export interface HostMaps extends AsyncDisposable {
  readonly maps: readonly HostMap[];
}

/** Opens empty maps: on the device, on the cpu engine unless that is the device, and a JS Map. */
export async function openHostMaps(device: Device, capacity: number): Promise<HostMaps> {
  const beside = device.backend === "cpu" ? null : await openDevice({ backend: "cpu" });
  const tables: StaticMap[] = [];
  const close = async () => {
    for (const table of tables) await table[Symbol.asyncDispose]();
    beside?.destroy();
  };
  try {
    const maps: HostMap[] = [];
    for (const each of beside ? [device, beside] : [device]) {
      const table = await StaticMap.create(each, { key: "u32", value: "u32", capacity });
      tables.push(table);
      maps.push({
        name: engineName(each),
        insert: (keys, values) => table.insert(keys, values),
        find: (keys) => table.find(keys),
        clear: async () => {
          await table.clear();
          await settle(each);
        },
      });
    }
    return { maps: [...maps, javascriptMap()], [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

function javascriptMap(): HostMap {
  let map = new Map<number, number>();
  return {
    name: "JS Map",
    insert(keys, values) {
      for (let i = 0; i < keys.length; i++) map.set(keys[i], values[i]);
    },
    find: (keys) => findInMap(map, keys),
    clear() {
      map = new Map();
    },
  };
}

/** Keys of a workload to look up, with the values that they have. */
function lookupsOf(workload: Workload, count: number): { keys: Uint32Array; values: Uint32Array } {
  const values = Uint32Array.from({ length: count }, (_, i) => workload.lookedUpAt(i % workload.size));
  return { keys: values.map((number) => workload.keyOf(number)), values };
}

/**
 * Times finds of as many keys, in turn on each map, after one whose answers are checked.
 * @param bench what to call the benchmark in errors
 */
export async function timeFinds(
  bench: string,
  maps: readonly HostMap[],
  workload: Workload,
  count: number,
  repeats: Repeats,
): Promise<Timing[]> {
  const lookups = lookupsOf(workload, count);
  await checkFinds(bench, maps, lookups);
  return timeInTurn(
    maps.map((map) => ({ call: () => map.find(lookups.keys) })),
    repeats,
  );
}

/** @throws EngineError where a map does not find every key with its value. */
export async function checkFinds(
  bench: string,
  maps: readonly HostMap[],
  { keys, values }: { keys: Uint32Array; values: Uint32Array },
): Promise<void> {
  for (const map of maps) {
    const answer = await map.find(keys);
    for (let i = 0; i < keys.length; i++) {
      if (answer.found[i] === 1 && answer.values[i] === values[i]) continue;
      throw new EngineError(`${bench}: ${map.name} did not find key number ${values[i]} with its value.`);
    }
  }
}
