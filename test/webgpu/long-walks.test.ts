/**
 * Walks longer than one dispatch takes: the kernels leave such elements to later dispatches, in a list, and work without the
 * list when it is full.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ValueType } from "../../src/engine/scalars.js";
import { openWebgpuEngine } from "../../src/engine/webgpu/webgpu-engine.js";
import { CapacityError, Device, StaticMap, StaticSet } from "../../src/index.js";
import { rejection } from "../conformance/helpers/checks.js";
import { onSoftwareGpu } from "../conformance/helpers/device.js";
import { absentKeys, counting, uniqueKeys } from "../conformance/helpers/keys.js";
import { Modelled } from "../conformance/helpers/model.js";

/** Slots of the tables, and how many of them the block fills: more than 2048 × 8, where the third dispatch takes over. */
const SLOTS = 2 ** 15;
const BLOCK = 17_000;
/** Under `identity`, one key for each of the first slots. Inserting them takes no walks. */
const block = counting(BLOCK).map((slot) => slot * (2 ** 32 / SLOTS));
/** Keys at home in slot 0, which find a place behind the block only. */
const walkers = counting(16, 1);
const absent = counting(8, 1000);
const sizing = { key: "u32", capacity: SLOTS, loadFactor: 1, hash: "identity" } as const;

/** Every key three times, in another order each time. */
const thrice = (keys: Uint32Array) => Uint32Array.of(...keys, ...keys.toReversed(), ...keys.toSorted());

for (const listRoom of [undefined, 10]) {
  describe(`walks past ${BLOCK} slots${listRoom ? `, lists hold ${listRoom} elements` : ""}`, () => {
    let device: Device;
    beforeAll(async () => {
      const engine = await openWebgpuEngine({ software: onSoftwareGpu, kernelOverrides: { listRoom } });
      device = new Device(engine, "A test of the lists.");
    });
    afterAll(() => device?.destroy());

    async function newMap(value: ValueType): Promise<Modelled> {
      const map = await StaticMap.create(device, { ...sizing, value });
      const model = Modelled.map(map as never);
      await model.insert("keep", block, counting(BLOCK));
      return model;
    }

    it("insert, find, contains, erase and insertAndFind", async () => {
      const model = await newMap("u32");
      const { table } = model;
      await model.insert("keep", thrice(walkers.subarray(0, 8)), counting(24));
      await model.find(Uint32Array.of(...walkers, ...absent), 7);
      await model.contains(Uint32Array.of(...absent, ...walkers));
      await model.erase(thrice(walkers.subarray(4, 12)));
      await model.erase(block.subarray(100, 150));
      await model.insertAndFind(thrice(walkers), counting(48, 1000));
      await model.contains(Uint32Array.of(...walkers, ...block.subarray(0, 200)));
      expect((await table.stats()).maxProbeLength).toBeGreaterThan(BLOCK);
      expect(table.size).toBe(BLOCK - 50 + 16);
      table.destroy();
    });

    it("insertOrAssign and insertOrApply", async () => {
      for (const value of ["u32", "f32"] as const) {
        const model = await newMap(value);
        const ones = Float32Array.from(counting(48), () => 1);
        const values = value === "f32" ? new Uint32Array(ones.buffer) : counting(48);
        for (const policy of ["add", "max", "assign"] as const) {
          await model.insert(policy, thrice(walkers), values);
          await model.find(walkers, 0);
        }
        model.table.destroy();
      }
    });

    it("retrieveAll and rehash", async () => {
      using set = await StaticSet.create(device, sizing);
      await set.insert(block);
      await set.insert(walkers);
      await set.rehash(SLOTS + 1);
      expect(new Set((await set.retrieveAll()).keys)).toEqual(new Set([...block, ...walkers]));
    });

    it("a full table with more unfinished elements than a list holds", async () => {
      using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 200, loadFactor: 1 });
      const model = Modelled.map(map);
      await model.insert("keep", uniqueKeys(200), counting(200));
      const batch = Uint32Array.of(...uniqueKeys(300), ...uniqueKeys(300));
      for (const policy of ["keep", "assign", "add"] as const) {
        await model.insert(policy, batch, counting(600));
      }
      expect(model.rejections).toBe(3);
      const where = batch.map((_, i) => i % 3) as never;
      await model.insert("max", batch, counting(600, 5000), Uint8Array.from(where));
      await model.erase(uniqueKeys(10));
      await model.insert("keep", Uint32Array.of(...absentKeys(30), ...batch), counting(630));
      await model.expectEqual();
      expect(model.rejections).toBe(5);
    });

    it("rejects long walks of a full table", async () => {
      using set = await StaticSet.create(device, { ...sizing, capacity: 8000 });
      const full = counting(8000).map((slot) => Math.ceil((slot * 2 ** 32) / 8000));
      await set.insert(full);
      const error = await rejection(
        set.insert(Uint32Array.of(...absent, ...full.subarray(0, 20))),
        CapacityError,
      );
      expect(error).toMatchObject({ inserted: 0, rejected: 8 });
      expect(set.size).toBe(8000);
    });
  });
}
