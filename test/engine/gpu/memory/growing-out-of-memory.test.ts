/** A map that grows on a GPU that runs out of memory at any of a call's allocations: all of the batch goes in, or nothing. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { Pacer } from "../../../../src/engine/gpu/pacer.js";
import { Device, DynamicMap, LimitError } from "../../../../src/index.js";
import { uniqueKeys } from "../../../conformance/helpers/keys.js";
import { openVariant } from "../../webgpu/helpers/variants.js";
import { Scarcity } from "../../webgpu/helpers/watched-gpu.js";

const ENTRIES = 500;
/** More elements than are looked at as a whole. */
const SIZE = 6000;
const scarcity = new Scarcity();
let device: Device;

beforeAll(async () => {
  const engine = await openVariant({}, (gpuDevice) => scarcity.on(gpuDevice));
  device = new Device(engine, "A test of too little memory.");
  // a batch is one chunk: those that are done stay done
  vi.spyOn(Pacer.prototype, "next").mockReturnValue(2 ** 20);
});
afterAll(() => {
  vi.restoreAllMocks();
  device?.destroy();
});

/** Adds 1 for each key to a full map of entries with value 5, while `most` allocations succeed. */
async function add(keys: Uint32Array, most: number) {
  using map = await DynamicMap.create(device, { key: "u32", value: "u32", capacity: ENTRIES });
  const entries = uniqueKeys(ENTRIES);
  await map.insert(entries, new Uint32Array(ENTRIES).fill(5));
  device.trim();
  const before = device.memory.inUse;
  scarcity.after(most);
  const error = await map.insertOrApply(keys, new Uint32Array(keys.length).fill(1), "add").then(
    () => null,
    (error: unknown) => error,
  );
  const { tried } = scarcity;
  scarcity.after(Number.POSITIVE_INFINITY);
  const sums = new Map(Array.from(entries, (key) => [key, 5]));
  if (error === null) for (const key of keys) sums.set(key, (sums.get(key) ?? 0) + 1);
  else {
    expect(error).toBeInstanceOf(LimitError);
    // where growing was not what failed, the map may have grown
    if (map.capacity === ENTRIES) expect(device.memory.inUse).toBe(before);
  }
  const all = await map.retrieveAll();
  expect([all.keys.length, map.size]).toEqual([sums.size, sums.size]);
  all.keys.forEach((key, i) => {
    if (all.values[i] !== sums.get(key))
      expect([most, key, all.values[i]]).toEqual([most, key, sums.get(key)]);
  });
  return { tried, isRefused: error !== null };
}

const batches = {
  "new keys, looked at as a whole": uniqueKeys(1000, 100),
  "long and new": uniqueKeys(SIZE, 100),
  "long, with few new keys": Uint32Array.from({ length: SIZE }, (_, i) => uniqueKeys(1, i % 700)[0]),
  "long, and larger than its sample": Uint32Array.from({ length: SIZE }, (_, i) =>
    i % 4 ? 7 : uniqueKeys(1, i)[0],
  ),
};
for (const [what, keys] of Object.entries(batches)) {
  it(`all of a batch, or nothing: ${what}`, async () => {
    let refused = 0;
    for (let most = 0; ; most++) {
      const { tried, isRefused } = await add(keys, most);
      refused += Number(isRefused);
      if (tried <= most) break;
    }
    expect(refused).toBeGreaterThan(3);
  });
}
