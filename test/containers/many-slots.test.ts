/** Containers of more than 2^32 slots, on an engine whose tables are numbers: what is computed with sizes. */
import { expect, it } from "vitest";
import { columnPlaces } from "../../src/containers/bytes-header.js";
import { DeviceArray } from "../../src/engine/device-array.js";
import { type CallOptions, type Input, PROBE_HISTOGRAM, type Table } from "../../src/engine/engine.js";
import { checkSlots, MAX_SLOTS, type TableSpec } from "../../src/engine/layout.js";
import { type Device, DynamicMap, LimitError, openDevice, StaticMap, StaticSet } from "../../src/index.js";
import { rejection } from "../conformance/helpers/checks.js";

const MOST = 2 ** 34;

/** A column that nobody has: element i is i. */
function column(engine: Device["engine"], length: number): DeviceArray<"u32"> {
  return DeviceArray.of(engine, "u32", length, {
    read: async (start, end) => Uint32Array.from({ length: end - start }, (_, i) => start + i),
    write: async () => {},
    destroy: () => {},
  });
}

/** A device whose tables take all keys for new ones. */
async function deviceOfNumbers(): Promise<{ device: Device; made: TableSpec[] }> {
  const device = await openDevice({ backend: "cpu", threads: 1 });
  const { engine } = device;
  Object.assign(engine, { traits: { ...engine.traits, maxSlots: MOST } });
  const made: TableSpec[] = [];
  engine.createTable = (async (spec: TableSpec) => {
    checkSlots(spec.slots, MOST);
    made.push(spec);
    const table = {
      spec,
      live: 0,
      tombstones: 0,
      insert: async (keys: Input<"u32">, _values: unknown, _policy: unknown, call: CallOptions) => {
        table.live += keys.length;
        call.onProgress?.(keys.length, keys.length);
        return { inserted: keys.length, existing: 0, rejected: 0 };
      },
      contains: async (keys: Input<"u32">) => new Uint8Array(keys.length),
      retrieveAll: async (_output: unknown, call: CallOptions) => {
        call.onProgress?.(table.live, table.live);
        return { keys: column(engine, table.live), values: column(engine, table.live) };
      },
      stats: async () => ({
        live: table.live,
        tombstones: 0,
        probeLengths: new Float64Array(PROBE_HISTOGRAM).fill(table.live, 0, 1),
        meanProbeLength: 1,
        maxProbeLength: 1,
      }),
      destroy: () => {},
    };
    return table as unknown as Table;
  }) as never;
  return { device, made };
}

it("a map has more slots than a number of 32 bits, and says so in all it tells", async () => {
  const { device, made } = await deviceOfNumbers();
  using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 2 ** 32 });
  const half = column(device.engine, 3 * 2 ** 30);
  for (let i = 1; i <= 2; i++) {
    expect(await map.insert(half, half)).toEqual({ inserted: 3 * 2 ** 30, existing: 0 });
    expect(map.size).toBe(i * 3 * 2 ** 30);
  }
  expect([map.capacity, map.slots]).toEqual([2 ** 32, 2 ** 33]);
  const { probeLengths, bytes, loadFactor } = await map.stats();
  expect([probeLengths[0], bytes, loadFactor]).toEqual([3 * 2 ** 31, 8 * (2 ** 33 + 2), 0.75]);
  const progress: number[] = [];
  await map.rehash({
    capacity: 2 ** 32 + 2 ** 31 + 1,
    onProgress: (done, total) => progress.push(done, total),
  });
  expect([map.slots, map.size]).toEqual([3 * 2 ** 32 + 2, 3 * 2 ** 31]);
  expect(progress).toEqual([3 * 2 ** 30, 3 * 2 ** 31, 3 * 2 ** 31, 3 * 2 ** 31]);
  using clone = await map.clone();
  expect([clone.slots, clone.size]).toEqual([map.slots, map.size]);
  expect(made.map(({ slots }) => slots)).toEqual([2 ** 33, map.slots, map.slots]);
  const { limit, need } = await rejection(map.toBytes(), LimitError);
  expect([limit, need > 8 * 3 * 2 ** 31]).toEqual(["memory", true]);
  const tooMany = { limit: "slots", need: MOST + 2, have: MOST };
  expect(await rejection(map.rehash(2 ** 33 + 1), LimitError)).toMatchObject(tooMany);
  const options = { key: "u32", value: "u32", capacity: 2 ** 33 + 1 } as const;
  expect(await rejection(StaticMap.create(device, options), LimitError)).toMatchObject(tooMany);
  device.destroy();
});

it("a map grows beyond 2^32 slots, and to the engine's limit", async () => {
  const { device } = await deviceOfNumbers();
  using map = await DynamicMap.create(device, { key: "u32", value: "u32", capacity: 2 ** 31 });
  const insert = async (length: number) => {
    const keys = column(device.engine, length);
    return map.insert(keys, keys);
  };
  await insert(2 ** 31);
  await insert(7);
  expect([map.capacity, map.slots]).toEqual([2 ** 32, 2 ** 33]);
  await map.reserve(2 ** 32 + 1);
  expect([map.capacity, map.slots]).toEqual([2 ** 32 + 1, 2 ** 33 + 2]);
  await insert(2 ** 32);
  expect([map.capacity, map.slots, map.size]).toEqual([2 ** 33, MOST, 2 ** 31 + 2 ** 32 + 7]);
  const { limit, have } = await rejection(map.reserve(2 ** 33 + 1), LimitError);
  expect([limit, have, map.capacity]).toEqual(["slots", MOST, 2 ** 33]);
  device.destroy();
});

it("without that engine 2^32 is the limit", async () => {
  using device = await openDevice({ backend: "cpu" });
  const call = StaticSet.create(device, { key: "u32", capacity: 2 ** 32, maxLoadFactor: 1 });
  expect(await rejection(call, LimitError)).toMatchObject({ limit: "slots", need: 2 ** 32, have: MAX_SLOTS });
});

it("columns of bytes lie behind more than 2^32 elements", () => {
  const places = columnPlaces({ key: "u32", value: "u64" });
  const [keys, values] = [places.next("u32", 2 ** 32 + 1), places.next("u64", 2 ** 32 + 1)];
  expect(values.at - keys.at).toBe(4 * 2 ** 32 + 8);
  expect(places.end - values.at).toBe(8 * (2 ** 32 + 1));
});
