import { describe, expect, it } from "vitest";
import { checkMap } from "../../bench/static-map-check.js";
import { type DeviceWorkload, openWorkload, Workload } from "../../bench/static-map-workload.js";
import { type DeviceArray, EngineError, openDevice, StaticMap } from "../../src/index.js";

/** 2,654,467 is the stride of the look-ups: a size that it divides has an order of its own. */
it.each([1, 2, 1000, 65_536, 2_654_467])("looks up each of %i keys once", (size) => {
  const workload = new Workload(size);
  const seen = new Uint8Array(size);
  for (let i = 0; i < size; i++) seen[workload.lookedUpAt(i)]++;
  expect(seen.every((times) => times === 1)).toBe(true);
});

it("makes keys that are distinct, and absent keys that are none of them", () => {
  const workload = new Workload(100_000);
  const keys = new Set(workload.keys());
  expect(keys.size).toBe(100_000);
  expect(new Set(workload.lookups())).toEqual(keys);
  expect(workload.absent().some((key) => keys.has(key))).toBe(false);
});

describe("checkMap", () => {
  it("finds nothing wrong with a map that is right, and leaves it full", async () => {
    await withMap(async (map, columns) => {
      await checkMap(map, columns);
      expect(map.size).toBe(columns.workload.size);
    });
  });

  it("sees one wrong element of any answer", async () => {
    const lies: Lie[] = [
      { method: "find", call: 0, column: "values" },
      { method: "find", call: 0, column: "found" },
      { method: "find", call: 1, column: "values" },
      { method: "find", call: 1, column: "found" },
      { method: "find", call: 2, column: "values" },
      { method: "find", call: 3, column: "found" },
      { method: "find", call: 4, column: "found" },
      { method: "find", call: 7, column: "values" },
      { method: "retrieveAll", call: 0, column: "keys" },
      { method: "retrieveAll", call: 1, column: "values" },
    ];
    for (const lie of lies) {
      await withMap(async (map, columns) => {
        await expect(checkMap(lyingMap(map, lie), columns), JSON.stringify(lie)).rejects.toThrow(EngineError);
      });
    }
  });
});

/** Which call of a method answers one element that is wrong, and in which column. */
interface Lie {
  method: "find" | "retrieveAll";
  call: number;
  column: string;
}

type Method = (...args: never[]) => Promise<Record<string, DeviceArray>>;

function lyingMap(map: StaticMap, { method, call, column }: Lie): StaticMap {
  let calls = 0;
  const lying = async (...args: never[]) => {
    const answer = await (map[method] as unknown as Method)(...args);
    const elements = answer[column].storage.host as Uint32Array;
    if (calls++ === call) elements[elements.length >> 1] ^= 1;
    return answer;
  };
  return new Proxy(map, {
    get(target, name) {
      if (name === method) return lying;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function withMap(use: (map: StaticMap, columns: DeviceWorkload) => Promise<void>) {
  using device = await openDevice({ backend: "cpu", threads: 1 });
  using columns = await openWorkload(device, new Workload(999));
  using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 999 });
  await use(map, columns);
}
