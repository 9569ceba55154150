/** A growing table on an engine that has no memory for one of the tables or masks that it asks for: nothing is changed. */
import { expect, it } from "vitest";
import { DynamicMap, LimitError, openDevice } from "../../src/index.js";
import { expectPairs, pairsByBits, rejection } from "../conformance/helpers/checks.js";
import { counting, uniqueKeys } from "../conformance/helpers/keys.js";

const SIZE = 20_000;
const calls = {
  insert: (map: DynamicMap, keys: Uint32Array) => map.insert(keys, counting(keys.length)),
  insertOrAssign: (map: DynamicMap, keys: Uint32Array) => map.insertOrAssign(keys, counting(keys.length)),
  insertOrApply: (map: DynamicMap, keys: Uint32Array) =>
    map.insertOrApply(keys, counting(keys.length), "add"),
  insertAndFind: (map: DynamicMap, keys: Uint32Array) => map.insertAndFind(keys, counting(keys.length)),
};
const batches = {
  "of new keys": uniqueKeys(SIZE),
  "of keys that come twice": Uint32Array.from({ length: SIZE }, (_, i) => uniqueKeys(1, i >> 1)[0]),
  "that a sample takes for smaller than it is": Uint32Array.from({ length: SIZE }, (_, i) =>
    i % 4 ? 7 : uniqueKeys(1, i)[0],
  ),
};

for (const [name, call] of Object.entries(calls)) {
  for (const [what, keys] of Object.entries(batches)) {
    it(`${name} of a batch ${what} is done as a whole or not at all, and leaks no memory`, async () => {
      using device = await openDevice({ backend: "cpu", threads: 1 });
      const { engine } = device;
      const [createTable, allocate] = [engine.createTable.bind(engine), engine.allocate.bind(engine)];
      let left = Number.POSITIVE_INFINITY;
      const limited =
        <A extends unknown[], R>(make: (...args: A) => Promise<R>) =>
        async (...args: A) => {
          if (left-- <= 0) throw new LimitError("memory", 1, Number.NaN, "Use less.");
          return make(...args);
        };
      engine.createTable = limited(createTable) as typeof engine.createTable;
      engine.allocate = limited(allocate) as typeof engine.allocate;
      let refused = 0;
      for (let most = 0; ; most++) {
        left = Number.POSITIVE_INFINITY;
        using map = await DynamicMap.create(device, { key: "u32", value: "u32", capacity: 1000 });
        await map.insert(uniqueKeys(1000), counting(1000));
        const before = device.memory.inUse;
        left = most;
        const outcome = call(map, keys);
        const error = await outcome.then(
          () => null,
          () => rejection(outcome, LimitError),
        );
        if (error === null && left >= 0) {
          expect(map.size).toBe(new Set([...keys, ...uniqueKeys(1000)]).size);
          break;
        }
        if (error === null) continue;
        refused++;
        expect([map.capacity, device.memory.inUse]).toEqual([1000, before]);
        await expectPairs(map, pairsByBits("u32", uniqueKeys(1000), counting(1000)));
      }
      expect(refused).toBeGreaterThan(0);
    });
  }
}

it("where there is memory for less than the policy wants, the table grows to what it needs", async () => {
  using device = await openDevice({ backend: "cpu" });
  using map = await DynamicMap.create(device, { key: "u32", value: "u32", capacity: 1000, growthFactor: 16 });
  await map.insert(uniqueKeys(1000), counting(1000));
  const { engine } = device;
  const createTable = engine.createTable.bind(engine);
  engine.createTable = (async (spec: { slots: number }, ...rest: []) => {
    if (spec.slots > 5000) throw new LimitError("memory", spec.slots, Number.NaN, "Use less.");
    return createTable(spec as never, ...rest);
  }) as typeof engine.createTable;
  await map.insert(uniqueKeys(10, 1000), counting(10));
  expect(map.capacity).toBe(1010);
  await rejection(map.insert(uniqueKeys(2000, 2000), counting(2000)), LimitError);
  expect([map.size, map.capacity]).toEqual([1010, 1010]);
  // erasing does not fail for want of memory
  engine.createTable = (() => Promise.reject(new LimitError("memory", 1, 0, "."))) as typeof createTable;
  expect(await map.erase(uniqueKeys(900))).toEqual({ erased: 900 });
  expect((await map.stats()).tombstones).toBe(900);
});
