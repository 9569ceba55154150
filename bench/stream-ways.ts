/**
 * The ways of the benchmark stream to hand columns over and get results back: typed arrays, typed arrays for results that are used
 * again, and pinned arrays. All have the same keys and values.
 */
import { type Device, EngineError, type PinnedArray, type PinnedUse, type StaticMap } from "../src/index.js";
import type { Workload } from "./static-map-workload.js";

/** One way. Without `insert`, it inserts as another does. */
export interface Way {
  readonly name: string;
  readonly insert?: () => Promise<{ inserted: number; existing: number }>;
  readonly find: () => Promise<{ values: Uint32Array; found: Uint8Array }>;
}

/** The ways, whose columns live until this is disposed of. */
export class Ways implements Disposable {
  readonly all: Way[] = [];
  readonly #pinned: PinnedArray[] = [];

  static async open(device: Device, map: StaticMap, workload: Workload): Promise<Ways> {
    const ways = new Ways();
    try {
      await ways.#make(device, map, workload);
      return ways;
    } catch (error) {
      ways[Symbol.dispose]();
      throw error;
    }
  }

  async #make(device: Device, map: StaticMap, workload: Workload): Promise<void> {
    const { size } = workload;
    const [keys, values, lookups] = [workload.keys(), workload.values(), workload.lookups()];
    this.all.push({
      name: "host to host",
      insert: () => map.insert(keys, values),
      find: () => map.find(lookups),
    });
    const again = { values: new Uint32Array(size), found: new Uint8Array(size) };
    this.all.push({ name: "arrays used again", find: () => map.find(lookups, { into: again }) });
    const pin = async <T extends "u8" | "u32", U extends PinnedUse>(type: T, use: U) => {
      const array = await device.pinned(type, size, use);
      this.#pinned.push(array);
      return array;
    };
    const upload = async (elements: Uint32Array) => {
      const array = await pin("u32", "upload");
      array.array.set(elements);
      return array;
    };
    const [k, v, l] = [await upload(keys), await upload(values), await upload(lookups)];
    const into = { values: await pin("u32", "readback"), found: await pin("u8", "readback") };
    this.all.push({
      name: "pinned arrays",
      insert: () => map.insert(k, v),
      find: () => map.find(l, { into }),
    });
  }

  [Symbol.dispose](): void {
    for (const array of this.#pinned) array.destroy();
  }
}

/** Checks every answer of a way. The map has all keys afterwards. */
export async function checkWay(
  map: StaticMap,
  workload: Workload,
  { name, insert, find }: Way,
): Promise<void> {
  if (insert) {
    await map.clear();
    const { inserted, existing } = await insert();
    if (inserted !== workload.size || existing !== 0) {
      throw new EngineError(`stream, ${name}: ${inserted} of ${workload.size} keys were inserted.`);
    }
  }
  const { values, found } = await find();
  for (let i = 0; i < workload.size; i++) {
    const number = workload.lookedUpAt(i);
    if (found[i] === 1 && values[i] === number) continue;
    throw new EngineError(`stream, ${name}: key number ${number} was not found with its value.`);
  }
}
