/** Who is timed in benchmarks of maps: a StaticMap on a device, and JavaScript's own Map. */
import { type Device, DeviceArray, EngineError, type Plan, StaticMap } from "../src/index.js";
import { type CheckedCall, checkFilled, checkMap } from "./static-map-check.js";
import {
  type BenchMap,
  type DeviceWorkload,
  openWorkload,
  type Width,
  type Workload,
} from "./static-map-workload.js";
import { settle, type TimedCall } from "./timing.js";
import { zipfNumbers } from "./zipf.js";

/** The operations, in the order they are timed. */
export const operations = [
  "insert",
  "insert zipf(1.0)",
  "find present",
  "find half absent",
  "find absent",
  "erase",
  "retrieveAll",
  "find of 1,000 host keys",
] as const;
export type Operation = (typeof operations)[number];

/** Keys of the last operation, which is about latency. */
export const FEW_KEYS = 1000;

/** Something that can do some of the operations. */
export interface Contestant extends AsyncDisposable {
  readonly name: string;
  /** Where it runs; null for a JS Map. */
  readonly device: Device | null;
  readonly calls: Readonly<Partial<Record<Operation, TimedCall>>>;
  /** The same calls, which tell their plans; none of a JS Map. */
  readonly planned?: (onPlan: (plan: Plan) => void) => Promise<Readonly<Record<Operation, TimedCall>>>;
}

/** Entries per slot when all keys are in: the load of NVIDIA's article Fig. 5. */
export const LOAD_FACTOR = 0.5;

export interface MapContestantOptions {
  /** Default {@link LOAD_FACTOR}. */
  readonly maxLoadFactor?: number;
  /** Given to every bulk call. */
  readonly call?: CheckedCall;
  /** Whether erasing and inserting over tombstones is checked too. Default true. */
  readonly thorough?: boolean;
}

/** A map, checked, with inputs and outputs in the device's memory. */
export async function staticMap<T extends Width>(
  device: Device,
  name: string,
  workload: Workload<T>,
  { maxLoadFactor = LOAD_FACTOR, call = {}, thorough = true }: MapContestantOptions = {},
): Promise<Contestant> {
  const open = await openMap(device, workload, maxLoadFactor);
  try {
    await (thorough ? checkMap : checkFilled)(open.map as unknown as BenchMap<T>, open.columns, call);
    const calls = await open.calls(call);
    const planned: Contestant["planned"] = (onPlan) => open.calls({ ...call, onPlan });
    return { name, device, calls, planned, [Symbol.asyncDispose]: () => open[Symbol.asyncDispose]() };
  } catch (error) {
    await open[Symbol.asyncDispose]();
    throw error;
  }
}

/** A map with the columns of a workload. */
export interface OpenMap<T extends Width = "u32"> extends AsyncDisposable {
  readonly map: StaticMap<T, T>;
  readonly columns: DeviceWorkload<T>;
  /**
   * What can be timed, each with these options. `insert` starts from a cleared map, `erase` from one that was cleared and
   * filled, the others from a full one.
   */
  calls(options: CheckedCall): Promise<Record<Operation, TimedCall>>;
}

/** Makes an empty map that the keys of a workload fill to a load factor. */
export async function openMap<T extends Width>(
  device: Device,
  workload: Workload<T>,
  maxLoadFactor: number,
): Promise<OpenMap<T>> {
  const { size, type } = workload;
  const created = await StaticMap.create(device, { key: type, value: type, capacity: size, maxLoadFactor });
  const map = created as unknown as BenchMap<T>;
  const columns = await openWorkload(device, workload);
  const zipf = zipfKeys(device, workload);
  const output = "device" as const;
  return {
    map: created,
    columns,
    async calls(options) {
      const [keys, values] = [await columns.keys(), await columns.values()];
      const empty = async () => {
        await map.clear();
        await settle(device);
      };
      const refill = async () => {
        await map.clear();
        await map.insert(keys, values, options);
        await settle(device);
      };
      const full = async () => {
        if (map.size !== size) await refill();
      };
      const discard = async (results: Record<string, unknown>) => {
        for (const column of Object.values(results)) if (column instanceof DeviceArray) column.destroy();
        await settle(device);
      };
      const find = (column: "lookups" | "half" | "absent"): TimedCall => ({
        before: async () => {
          await full();
          await columns[column]();
        },
        call: async () => map.find(await columns[column](), { ...options, output }),
        after: discard,
      });
      const few = workload.column("lookups", 0, Math.min(FEW_KEYS, size));
      return {
        insert: { before: empty, call: () => map.insert(keys, values, options) },
        "insert zipf(1.0)": {
          before: async () => {
            await zipf.keys();
            await empty();
          },
          call: async () => map.insert(await zipf.keys(), values, options),
          after: zipf.check,
        },
        "find present": find("lookups"),
        "find half absent": find("half"),
        "find absent": find("absent"),
        erase: {
          before: async () => {
            await columns.lookups();
            await refill();
          },
          call: async () => map.erase(await columns.lookups(), options),
          after: ({ erased }: { erased: number }) => {
            if (erased === size) return;
            throw new EngineError(`static-map: ${erased} of ${size} keys were erased.`);
          },
        },
        retrieveAll: { before: full, call: () => map.retrieveAll({ output }), after: discard },
        "find of 1,000 host keys": { before: full, call: () => created.find(few as never, options) },
      };
    },
    async [Symbol.asyncDispose]() {
      await created[Symbol.asyncDispose]();
      columns[Symbol.dispose]();
      zipf[Symbol.dispose]();
    },
  };
}

/** As many keys as there are numbers, by zipf(1.0) over them, so that keys repeat. Drawn on the host when first asked for. */
function zipfKeys<T extends Width>(device: Device, workload: Workload<T>) {
  const { size } = workload;
  let distinct = 0;
  let made: Promise<DeviceArray<T>> | undefined;
  const draw = async () => {
    const drawn = zipfNumbers(size, 1, size);
    distinct = drawn.distinct;
    const keys = workload.keysOf(size, (i) => drawn.numbers[i]);
    return device.upload(keys) as unknown as Promise<DeviceArray<T>>;
  };
  return {
    keys() {
      made ??= draw();
      return made;
    },
    check({ inserted, existing }: { inserted: number; existing: number }) {
      if (inserted === distinct && existing === size - distinct) return;
      throw new EngineError(
        `static-map: insert of ${size} zipf(1.0) keys, ${distinct} of them distinct, answered ${inserted} and ${existing}.`,
      );
    },
    [Symbol.dispose]() {
      void made?.then((array) => array.destroy());
    },
  };
}

/** Entries beyond which a JS Map throws: 2^24, and with room for how it grows. */
export const MOST_MAP_ENTRIES = 2 ** 23;

/** JavaScript's Map, on the calling thread: as many new pairs, and the same answers in the same typed arrays. */
export function javascriptMap(workload: Workload): Contestant {
  const [keys, values, lookups, half, absent] = [
    workload.keys(),
    workload.values(),
    workload.lookups(),
    workload.column("half"),
    workload.absent(),
  ];
  let map = new Map<number, number>();
  const insert = () => {
    for (let i = 0; i < keys.length; i++) map.set(keys[i], values[i]);
  };
  const find = (wanted: Uint32Array) => findInMap(map, wanted);
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
      "find half absent": { before: full, call: () => find(half) },
      "find absent": { before: full, call: () => find(absent) },
    },
    async [Symbol.asyncDispose]() {
      map.clear();
    },
  };
}

/** What StaticMap.find answers, of a JS Map. */
export function findInMap(
  map: ReadonlyMap<number, number>,
  wanted: Uint32Array,
): { values: Uint32Array; found: Uint8Array } {
  const result = { values: new Uint32Array(wanted.length), found: new Uint8Array(wanted.length) };
  for (let i = 0; i < wanted.length; i++) {
    const value = map.get(wanted[i]);
    if (value === undefined) continue;
    result.values[i] = value;
    result.found[i] = 1;
  }
  return result;
}
