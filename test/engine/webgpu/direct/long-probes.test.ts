/**
 * Probes longer than one dispatch takes: the kernels leave such elements to later dispatches, in a list, and work without the
 * list when it is full.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Scalar } from "../../../../src/engine/scalars.js";
import { CapacityError, Device, StaticMap, StaticSet } from "../../../../src/index.js";
import { rejection } from "../../../conformance/helpers/checks.js";
import {
  absentKeys,
  counting,
  fromBits,
  sentinelPatterns,
  uniqueKeys,
} from "../../../conformance/helpers/keys.js";
import { Modelled } from "../../../conformance/helpers/model.js";
import { isLong } from "../../../helpers/rounds.js";

/** Slots of the tables, and how many of them the block fills: more than 2048 × 8, where the third dispatch takes over. */
const SLOTS = 2 ** 15;
const BLOCK = 17_000;
/** Under `identity`, one key for each of the first slots. Inserting them takes no probes. */
const block = counting(BLOCK).map((slot) => slot * (2 ** 32 / SLOTS));
/** Keys at home in slot 0, which find a place behind the block only. */
const walkers = counting(8, 1);
const absent = counting(4, 1000);
const sizing = { key: "u32", capacity: SLOTS, maxLoadFactor: 1, hash: "identity" } as const;

/** Every key three times, in another order each time. */
const thrice = (keys: Uint32Array) => Uint32Array.of(...keys, ...keys.toReversed(), ...keys.toSorted());

const variants = {
  "": {},
  ", worklists hold 5 elements": { worklistRoom: 5 },
  ", full tables copied": { copyAboveSteps: 0 },
};

for (const [name, tuning] of Object.entries(variants)) {
  describe(`probes past ${BLOCK} slots${name}`, () => {
    let device: Device;
    beforeAll(async () => {
      const engine = await openVariant({ tuning });
      device = new Device(engine, "A test of the worklists.");
    });
    afterAll(() => device?.destroy());

    async function newMap(value: Scalar): Promise<Modelled> {
      const map = await StaticMap.create(device, { ...sizing, value });
      const model = Modelled.map(map as never);
      await map.insert(block, fromBits(value, counting(BLOCK)));
      block.forEach((key, slot) => {
        model.pairs.set(key, slot);
      });
      return model;
    }

    it("insert, find, contains, erase and insertAndFind", async () => {
      const model = await newMap("u32");
      const { table } = model;
      await model.insert("keep", thrice(walkers.subarray(0, 4)), counting(12));
      await model.find(Uint32Array.of(...walkers, ...absent), 7);
      await model.contains(Uint32Array.of(...absent, ...walkers));
      await model.erase(thrice(walkers.subarray(2, 6)));
      await model.erase(block.subarray(100, 150));
      await model.insertAndFind(thrice(walkers), counting(24, 1000));
      await model.contains(Uint32Array.of(...walkers, ...block.subarray(0, 200)));
      expect((await table.stats()).maxProbeLength).toBeGreaterThan(BLOCK);
      expect(table.size).toBe(BLOCK - 50 + 8);
      table.destroy();
    });

    it("insertOrAssign and insertOrApply", async () => {
      const ones = new Uint32Array(Float32Array.from(counting(24), () => 1).buffer);
      for (const [value, values, policies] of [
        ["u32", counting(24, 1), ["max", "assign"]],
        ["f32", ones, ["add"]],
      ] as const) {
        const model = await newMap(value);
        for (const policy of policies) {
          await model.insert(policy, thrice(walkers), values);
          await model.insert(policy, thrice(walkers.toReversed()), values);
        }
        await model.find(walkers, 0);
        model.table.destroy();
      }
    });

    it("a full table with more unfinished elements than a list holds", async () => {
      using map = await StaticMap.create(device, {
        key: "u32",
        value: "u32",
        capacity: 200,
        maxLoadFactor: 1,
      });
      const model = Modelled.map(map);
      await model.insert("keep", uniqueKeys(200), counting(200));
      const batch = Uint32Array.of(...uniqueKeys(300), ...uniqueKeys(300));
      for (const policy of ["keep", "assign", "add"] as const) {
        await model.insert(policy, batch, counting(600));
      }
      await model.insertAndFind(Uint32Array.of(...batch, ...sentinelPatterns), counting(603));
      expect(model.rejections).toBe(4);
      const where = batch.map((_, i) => i % 3) as never;
      await model.insert("max", batch, counting(600, 5000), Uint8Array.from(where));
      await model.erase(uniqueKeys(10));
      await model.insert("keep", Uint32Array.of(...absentKeys(30), ...batch), counting(630));
      await model.expectEqual();
      expect(model.rejections).toBe(6);
    });

    // what follows needs no list
    if (!isLong() && name !== "") return;
    it("retrieveAll and rehash", async () => {
      using set = await StaticSet.create(device, sizing);
      await set.insert(block);
      await set.insert(walkers);
      await set.rehash(SLOTS + 1);
      expect(new Set((await set.retrieveAll()).keys)).toEqual(new Set([...block, ...walkers]));
    });

    it("rejects long probes of a full table", async () => {
      using set = await StaticSet.create(device, { ...sizing, capacity: 8000 });
      const full = counting(8000).map((slot) => Math.ceil((slot * 2 ** 32) / 8000));
      await set.insert(full);
      const error = await rejection(
        set.insert(Uint32Array.of(...absent, ...full.subarray(0, 20))),
        CapacityError,
      );
      expect(error).toMatchObject({ inserted: 0, rejected: 4 });
      expect(set.size).toBe(8000);
    });
  });
}

import { openVariant } from "../helpers/variants.js";
