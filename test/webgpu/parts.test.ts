/** Chunks in the order of their parts, in tables of several windows and in full ones. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { homeSlot, murmur3 } from "../../src/engine/hash.js";
import { openWebgpuEngine } from "../../src/engine/webgpu/webgpu-engine.js";
import { Device, StaticMap, StaticSet } from "../../src/index.js";
import { onSoftwareGpu } from "../conformance/helpers/device.js";
import { absentKeys, counting, keysWithHome } from "../conformance/helpers/keys.js";
import { Modelled } from "../conformance/helpers/model.js";

/** Bytes of a window: 4,096 slots of a map and the two behind the last, or twice as many of a set. */
const WINDOW_BYTES = 4098 * 8;
const WINDOW_SLOTS = 4096;
const SLOTS = 5000;

const variants = {
  "tables as they are": {},
  "full tables copied, lists that hold 16 elements, chunks of 1,024": {
    copyAboveSteps: 0,
    listRoom: 16,
    hostChunk: 1024,
  },
};

describe.each(Object.entries(variants))("%s", (_name, variant) => {
  const copies = "copyAboveSteps" in variant;
  let device: Device;
  beforeAll(async () => {
    const engine = await openWebgpuEngine({
      software: onSoftwareGpu,
      strategy: "partitioned",
      kernelOverrides: { maxTableBinding: WINDOW_BYTES, ...variant },
    });
    device = new Device(engine, "A test of parts.");
  });
  afterAll(() => device?.destroy());

  async function newTable(kind: "map" | "set", capacity: number): Promise<Modelled> {
    const sizing = { key: "u32", value: "u32", capacity, loadFactor: 1 } as const;
    if (kind === "set") return Modelled.set((await StaticSet.create(device, sizing)) as never);
    return Modelled.map((await StaticMap.create(device, sizing)) as never);
  }

  it.runIf(copies)("keys are met in a full table's copy, whose slots are others", async () => {
    const model = await newTable("map", SLOTS);
    const { slots } = model.table;
    expect(slots).toBe(SLOTS);
    // with the keys of the side slots, so that a window of the copy ends inside one of the table's parts
    const copySlots = 2 * (slots + 2);
    const home = Math.floor((2 * WINDOW_SLOTS * slots) / copySlots);
    const below = keysWithHome(home, slots, 9);
    const above = keysWithHome(2 * WINDOW_SLOTS, copySlots, 9);
    expect(homeSlot(murmur3(above[0]), slots)).toBe(home);
    expect(homeSlot(murmur3(below[0]), copySlots)).toBe(2 * WINDOW_SLOTS - 1);
    const all = Uint32Array.of(...below, ...above, 0xffffffff, 0xfffffffe, ...absentKeys(slots - 18));
    await model.insert("keep", all, counting(all.length));
    expect([model.rejections, model.table.size]).toEqual([0, slots + 2]);
    const absent = keysWithHome(home - 1, slots, 1);
    for (const batch of [
      [...absent, ...above, ...below],
      [...above, ...below, ...absent],
      [...below, ...absent, ...above.subarray(0, 2), ...below],
    ]) {
      await model.insert("keep", Uint32Array.from(batch), counting(batch.length));
    }
    expect(model.rejections).toBe(3);
  });
});
