/** Many invocations insert one key at once: exactly one of them does. */
import { describe, it } from "vitest";
import { StaticMap, StaticSet } from "../../../../src/index.js";
import { useDevice } from "../../../conformance/helpers/device.js";
import {
  absentKeys,
  counting,
  keysWithHome,
  sentinelPatterns,
  uniqueKeys,
} from "../../../conformance/helpers/keys.js";
import { Modelled } from "../../../conformance/helpers/model.js";

const device = useDevice();
const TIMES = 1000;

/** 1,000 of each key: neighbours in the batch, or far apart, so that equal keys meet in a workgroup or between them. */
const arrangements: Record<string, (keys: Uint32Array) => Uint32Array> = {
  neighbours: (keys) => counting(keys.length * TIMES).map((i) => keys[Math.floor(i / TIMES)]),
  "far apart": (keys) => counting(keys.length * TIMES).map((i) => keys[i % keys.length]),
};

for (const [name, repeat] of Object.entries(arrangements)) {
  describe(`every key 1,000 times in a batch, ${name}`, () => {
    const keys = Uint32Array.of(
      ...uniqueKeys(20),
      ...keysWithHome(500, 512, 20),
      ...sentinelPatterns.subarray(0, 2),
    );

    it("a fresh table", async () => {
      using set = await StaticSet.create(device(), { key: "u32", capacity: 256 });
      const model = Modelled.set(set as never);
      await model.insert("keep", repeat(keys), keys);
      await model.expectEqual();
      await model.erase(repeat(keys));
      await model.expectEqual();
    });

    it("tombstones on the chains", async () => {
      using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 256 });
      const model = Modelled.map(map);
      // slots 500 to 511 and on from 0: a chain with the present keys between and behind tombstones
      const chain = keysWithHome(500, 512, 60);
      await model.insert("keep", Uint32Array.of(...chain, ...absentKeys(150)), counting(210));
      await model.erase(
        Uint32Array.of(...chain.subarray(0, 15), ...chain.subarray(25, 45), ...absentKeys(100)),
      );
      await model.insertAndFind(repeat(keys), counting(keys.length * TIMES));
      await model.expectEqual();
      await model.erase(chain.subarray(0, 60));
      await model.insert("add", repeat(chain.subarray(20, 60)), counting(40 * TIMES));
      await model.expectEqual();
    });
  });
}
