/** Names that were replaced mean what their successors mean, for one release. */
import { expect, it } from "vitest";
import {
  type BulkOptions,
  StaticMap,
  StaticMultimap,
  StaticMultiset,
  StaticSet,
  ValidationError,
} from "../../src/index.js";
import { BloomFilter, HyperLogLog } from "../../src/sketches/index.js";
import { rejection } from "./helpers/checks.js";
import { useDevice } from "./helpers/device.js";
import { counting } from "./helpers/keys.js";

const device = useDevice();
const keys = counting(9);
const bytes = Uint8Array.from(keys, (key) => key % 2);

/** Every kind of call that takes a mask; each answers something that depends on it. */
const calls: Record<string, (options: BulkOptions) => Promise<unknown>> = {
  async "a map"(options) {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    return [
      await map.insert(keys, keys, options),
      await map.insertOrAssign(keys, keys, options),
      await map.insertOrApply(keys, keys, "add", options),
      await map.insertAndFind(keys, keys, options),
      await map.find(keys, options),
      await map.contains(keys, options),
      await map.erase(keys, options),
    ];
  },
  async "a set"(options) {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 10 });
    return [await set.insertAndFind(keys, options), await set.find(keys, options)];
  },
  async "a multimap"(options) {
    using map = await StaticMultimap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    return [await map.insert(keys, keys, options), await map.retrieve(keys, { outer: true, ...options })];
  },
  async "a Bloom filter"(options) {
    using filter = await BloomFilter.create(device(), { key: "u32", capacity: 10 });
    await filter.add(keys, options);
    return filter.contains(keys, options);
  },
  async "a HyperLogLog"(options) {
    using sketch = await HyperLogLog.create(device(), { key: "u32" });
    await sketch.add(keys, options);
    return sketch.estimate();
  },
};

it("`info.adapter` is `info.hardware`", () => {
  const { adapter, hardware } = device().info;
  expect(adapter).toEqual(hardware);
});

for (const [name, call] of Object.entries(calls)) {
  it(`\`where\` is \`mask\`, for ${name}; both are one too many`, async () => {
    expect(await call({ where: bytes })).toEqual(await call({ mask: bytes }));
    expect(await call({ where: bytes })).not.toEqual(await call({}));
    const both = await rejection(call({ mask: bytes, where: bytes }), ValidationError);
    expect(both.fix).toContain("Give mask alone");
  });
}

it("`entries` is `chunks`", async () => {
  using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 10 });
  using set = await StaticSet.create(device(), { key: "u32", capacity: 10 });
  using multimap = await StaticMultimap.create(device(), { key: "u32", value: "u32", capacity: 10 });
  using multiset = await StaticMultiset.create(device(), { key: "u32", capacity: 10 });
  for (const each of [map, multimap]) await each.insert(keys, keys);
  for (const each of [set, multiset]) await each.insert(keys);
  for (const each of [map, set, multimap, multiset]) {
    const [former, now] = [[] as unknown[], [] as unknown[]];
    for await (const piece of each.entries({ chunk: 4 })) former.push(piece);
    for await (const piece of each.chunks({ chunk: 4 })) now.push(piece);
    expect(now).toHaveLength(3);
    expect(former).toEqual(now);
  }
});
