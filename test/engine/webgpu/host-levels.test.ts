/** An engine with arrays and tables alone: what it lacks runs on the host, and answers as the cpu engine does. */
import * as flechette from "@uwdata/flechette";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BareEngine } from "../../../src/engine/engine.js";
import { ENGINE_PROTOCOL, registerEngine } from "../../../src/engine/registry.js";
import { type Device, openDevice, StaticMap, StaticMultimap } from "../../../src/index.js";
import { count, distinct, groupBy, isIn, JoinIndex, join, sum } from "../../../src/relational/index.js";
import { BloomFilter, HyperLogLog } from "../../../src/sketches/index.js";
import { openEngine } from "./helpers/open-engine.js";
import { sharedGpuDevice } from "./helpers/own-gpu.js";

const LACKING = { rows: undefined, lists: undefined, sketches: undefined, dictionary: undefined };

const forget = registerEngine("bare", {
  protocol: ENGINE_PROTOCOL,
  order: 100,
  options: "",
  async open() {
    const engine = await openEngine({ gpuDevice: await sharedGpuDevice() });
    return { engine: Object.assign(engine, LACKING) as BareEngine, reason: "A test asked." };
  },
});
afterAll(forget);

let bare: Device;
let host: Device;
beforeAll(async () => {
  bare = await openDevice({ backend: "bare", threads: 3 });
  host = await openDevice({ backend: "cpu", threads: 1 });
});
afterAll(() => {
  bare?.destroy();
  host?.destroy();
});

const keys = Uint32Array.from({ length: 3000 }, (_, i) => Math.imul(i, 2654435761) % 700);
const rows = keys.map((_, i) => i);

describe("an engine without rows, lists, sketches and dictionaries", () => {
  it("still has tables of its own", async () => {
    using map = await StaticMap.create(bare, { key: "u32", value: "u32", capacity: 5000 });
    await map.insert(keys, rows, { duplicates: "first" });
    const found = await map.find(keys, { output: "device" });
    expect(found.values.type).toBe("u32");
    expect(Array.from(await found.values.read())).toEqual(Array.from(keys, (key) => keys.indexOf(key)));
  });

  it("works on the threads that its device has for other work, and on no others", async () => {
    await bare.engine.rows();
    const pool = await bare.host();
    expect(pool).toBe(bare.engine.host);
    expect(pool.threads).toBe(3);
  });

  it("has multimaps, from host memory and from the device's", async () => {
    const retrieved = async (device: Device) => {
      using map = await StaticMultimap.create(device, { key: "u32", value: "u32", capacity: 6000 });
      using there = await device.upload(keys);
      await map.insert(there, rows);
      await map.insert(keys.subarray(0, 100), rows.subarray(0, 100));
      await map.erase(Uint32Array.of(3));
      const { offsets, values } = await map.retrieve(Uint32Array.of(1, 3, 8, 5000), { outer: false });
      const lists = Array.from(offsets.subarray(1), (end, i) =>
        Array.from(values.subarray(offsets[i], end)).sort(),
      );
      return { lists, size: map.size, keyCount: map.keyCount };
    };
    expect(await retrieved(bare)).toEqual(await retrieved(host));
  });

  it("has maps of strings", async () => {
    using map = await StaticMap.create(bare, { key: "utf8", value: "u32", capacity: 5000 });
    const names = Array.from(keys, (key) => `key ${key}`);
    await map.insertOrAssign(names, rows, { duplicates: "last" });
    const expected = names.map((name) => names.lastIndexOf(name));
    expect(Array.from((await map.find(names)).values)).toEqual(expected);
    expect((await map.contains(["key 1", "no such"])).at(-1)).toBe(0);
  });

  it("has sketches, which keep their bytes", async () => {
    const sketched = async (device: Device) => {
      using filter = await BloomFilter.create(device, { key: "u32", capacity: 1000 });
      using counts = await HyperLogLog.create(device, { key: "u32" });
      using there = await device.upload(keys);
      await filter.add(there);
      await counts.add(keys);
      const found = await filter.contains(Uint32Array.of(keys[0], 123456), { output: "device" });
      return { bytes: await filter.toBytes(), found: await found.read(), estimate: await counts.estimate() };
    };
    expect(await sketched(bare)).toEqual(await sketched(host));
  });

  it("joins and groups tables of the host and of the device", async () => {
    const left = flechette.tableFromArrays({ key: keys, row: rows });
    const right = flechette.tableFromArrays({
      key: Uint32Array.from({ length: 400 }, (_, i) => 2 * i),
      name: rows.slice(0, 400),
    });
    const answers = async (device: Device) => {
      using placed = await device.uploadTable(left);
      using index = await JoinIndex.create(device, right, { on: ["key"] });
      const joined = await join(placed, right, { on: ["key"], how: "left", device, output: "device" });
      const grouped = await groupBy(placed, {
        by: ["key"],
        aggregate: { n: count(), total: sum("row") },
        device,
      });
      const inOrder = (table: flechette.Table) =>
        table
          .toArray()
          .map((row) => JSON.stringify(row, (_, value) => (typeof value === "bigint" ? `${value}` : value)))
          .sort();
      return {
        joined: inOrder(await joined.toArrow()),
        indexed: inOrder(await index.join(placed, { how: "semi" })),
        grouped: inOrder(grouped),
        distinct: (await distinct(placed, { on: ["key"], device })).numRows,
        isIn: Array.from((await isIn(keys, Uint32Array.of(1, 2, 3), { device })) as Iterable<number>),
      };
    };
    expect(await answers(bare)).toEqual(await answers(host));
  });
});
