/** Every call of a container, by name, for tests that say the same of all of them. */
import type { StaticMap, StaticSet } from "../../../src/index.js";

type TestMap = StaticMap<"u32", "u32">;
type TestSet = StaticSet<"u32">;
type Keys = Uint32Array;

export const mapCalls: Readonly<Record<string, (map: TestMap, keys: Keys) => Promise<unknown>>> = {
  insert: (map, keys) => map.insert(keys, keys),
  insertOrAssign: (map, keys) => map.insertOrAssign(keys, keys),
  insertOrApply: (map, keys) => map.insertOrApply(keys, keys, "add"),
  insertAndFind: (map, keys) => map.insertAndFind(keys, keys),
  "insertAndFind on the device": (map, keys) => map.insertAndFind(keys, keys, { output: "device" }),
  find: (map, keys) => map.find(keys),
  "find on the device": (map, keys) => map.find(keys, { output: "device" }),
  contains: (map, keys) => map.contains(keys),
  "contains on the device": (map, keys) => map.contains(keys, { output: "device" }),
  erase: (map, keys) => map.erase(keys),
  retrieveAll: (map) => map.retrieveAll(),
  "retrieveAll on the device": (map) => map.retrieveAll({ output: "device" }),
  forEach: (map) => map.forEach(() => {}),
  chunks: (map) => map.chunks().next(),
  clone: async (map) => (await map.clone()).destroy(),
  merge: (map) => map.merge(map),
  toBytes: (map) => map.toBytes(),
  clear: (map) => map.clear(),
  rehash: (map) => map.rehash(),
  stats: (map) => map.stats(),
};

export const setCalls: Readonly<Record<string, (set: TestSet, keys: Keys) => Promise<unknown>>> = {
  insert: (set, keys) => set.insert(keys),
  insertAndFind: (set, keys) => set.insertAndFind(keys),
  find: (set, keys) => set.find(keys),
  contains: (set, keys) => set.contains(keys),
  erase: (set, keys) => set.erase(keys),
  retrieveAll: (set) => set.retrieveAll(),
  forEach: (set) => set.forEach(() => {}),
  chunks: (set) => set.chunks().next(),
  clone: async (set) => (await set.clone()).destroy(),
  merge: (set) => set.merge(set),
  toBytes: (set) => set.toBytes(),
  clear: (set) => set.clear(),
  rehash: (set) => set.rehash(),
  stats: (set) => set.stats(),
};
