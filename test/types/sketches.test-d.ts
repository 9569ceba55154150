/** What the generics of sketches promise, checked by `npm run typecheck`. Nothing here runs. */
import type { Device, DeviceArray } from "../../src/index.js";
import { BloomFilter, HyperLogLog } from "../../src/sketches/index.js";

export async function sketches(
  device: Device,
  words: Uint32Array,
  big: BigUint64Array,
  floats: Float32Array,
) {
  const filter = await BloomFilter.create(device, { key: "u64", capacity: 10 });
  await filter.add(big);
  // @ts-expect-error: keys of another type
  await filter.add(words);
  const onHost: Uint8Array = await filter.contains(big);
  const mask: DeviceArray<"u8"> = await filter.contains(big, { output: "device" });
  await filter.add(big, { mask });
  // @ts-expect-error: sketches probe nothing
  await filter.add(big, { groupSize: 4 });
  // @ts-expect-error: no capacity
  await BloomFilter.create(device, { key: "u32" });
  const small = await BloomFilter.create(device, { key: "u32", capacity: 10, falsePositives: 0.1 });
  // @ts-expect-error: filters of different keys
  await small.merge(filter);
  // @ts-expect-error: made by create
  new BloomFilter({});
  const counter = await HyperLogLog.create(device, { key: "f32", precision: 12 });
  await counter.add(floats);
  const estimate: number = await counter.estimate();
  // @ts-expect-error: a HyperLogLog answers no keys
  await counter.contains(floats);
  // @ts-expect-error: nor has it an intersection
  await counter.intersect(counter);
  const back: BloomFilter<"u64"> = await BloomFilter.fromBytes<"u64">(device, await filter.toBytes());
  return { onHost, estimate, back };
}
