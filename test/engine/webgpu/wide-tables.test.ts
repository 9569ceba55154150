/** Tables of wide slots where the GPU is at its worst: compare-exchange that fails, short worklists, several windows. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Device, StaticMap } from "../../../src/index.js";
import { sumOnce } from "../../conformance/helpers/double-sums.js";
import {
  columnOf,
  edges,
  integers,
  nameOf,
  WideModel,
  type WideShape,
} from "../../conformance/helpers/wide-model.js";
import { covering } from "../../helpers/rounds.js";
import { type Injection, openWeakDevice } from "./helpers/weak-cas.js";

/** Bytes of a window: 4,096 slots of five words. */
const WINDOW_BYTES = 4096 * 20;
const SLOTS = 6000;
const LONG_TEST_MS = 300_000;

const variants: readonly (Injection & { name: string })[] = [
  { name: "half of 100 compare-exchanges fail", percent: 50 },
  { name: "99 of 100 fail, worklists hold 8 elements", percent: 99, worklistRoom: 8 },
  { name: "several windows", percent: 0, maxTableBinding: WINDOW_BYTES },
  {
    name: "several windows, half of 100 fail, worklists hold 50 elements",
    percent: 50,
    maxTableBinding: WINDOW_BYTES,
    worklistRoom: 50,
  },
  {
    name: "several windows, full tables copied",
    percent: 0,
    maxTableBinding: WINDOW_BYTES,
    copyAboveSteps: 0,
  },
];
const shapes: readonly WideShape[] = [
  { key: "u64", value: "u64" },
  { key: "u64", value: null },
];

/** `count` elements: each of `some` about equally often. */
const repeated = (some: readonly bigint[], count: number) =>
  Array.from({ length: count }, (_, i) => some[(i * 7919) % some.length]);

/** "Several windows" and failures one by one, which other variants have together. */
const implied = ["half of 100 compare-exchanges fail", "several windows"];
for (const { name, ...injection } of covering(variants, ({ name }) => !implied.includes(name))) {
  describe(name, () => {
    let device: Device;
    beforeAll(async () => {
      device = await openWeakDevice(injection);
    });
    afterAll(() => device?.destroy());
    const windowed = injection.maxTableBinding !== undefined;
    // nearly every compare-exchange fails: few keys take long enough
    const count = injection.percent > 90 ? 300 : 3000;

    // sets have the kernels of maps but for values
    for (const shape of covering(shapes, ({ value }) => value !== null || injection.percent > 90)) {
      it(
        `${nameOf(shape)}: keys that repeat, erased and inserted again`,
        async () => {
          const capacity = windowed ? SLOTS / 2 : count;
          using model = await WideModel.create(device, shape, { capacity, maxLoadFactor: 0.5 });
          const some = [...edges, ...integers(count / 4)];
          const keys = model.keys(repeated(some, count));
          await model.insert(keys, model.values(repeated(some.toReversed(), count)));
          await model.expectEqual();
          await model.erase(keys.subarray(0, count / 3));
          const others = integers(count / 4, 10_000);
          await model.insert(
            model.keys(repeated([...some, ...others], count)),
            model.values(repeated(others, count)),
          );
          await model.find(model.keys([...some, ...others, ...integers(100, 20_000)]));
          await model.expectEqual();
        },
        LONG_TEST_MS,
      );

      it(
        `${nameOf(shape)}: exactly full, and over-full`,
        async () => {
          const capacity = windowed ? SLOTS : 500;
          using model = await WideModel.create(device, shape, { capacity, maxLoadFactor: 1 });
          const fill = integers(capacity);
          await model.insert(model.keys(fill), model.values(fill));
          expect([model.entries.size, model.rejections]).toEqual([capacity, 0]);
          const more = integers(200, 10_000);
          await model.insert(model.keys([...more, ...fill.slice(0, 50)]), model.values(repeated(fill, 250)));
          expect(model.rejections).toBe(1);
          await model.erase(model.keys(fill.slice(0, 100)));
          await model.insert(model.keys(repeated(more, 300)), model.values(repeated(fill, 300)));
          expect(model.entries.size).toBe(capacity);
          await model.expectEqual();
        },
        LONG_TEST_MS,
      );
    }

    if (name === "several windows, full tables copied")
      it("doubles of a key are added up before they are rounded, in whatever window", async () => {
        const keys = columnOf("u64", repeated(integers(150), 1000));
        const values = columnOf("f64", integers(1000, 30_000));
        using map = await StaticMap.create(device, { key: "u64", value: "f64", capacity: SLOTS / 2 });
        const sums = new Map<bigint, number[]>();
        keys.forEach((key, i) => {
          sums.set(key, [...(sums.get(key) ?? []), values[i]]);
        });
        expect(await map.insertOrApply(keys, values, "add")).toEqual({ inserted: 150, applied: 850 });
        const all = await map.retrieveAll();
        expect(new Map(Array.from(all.keys, (key, i) => [key, all.values[i]]))).toEqual(
          new Map(Array.from(sums, ([key, values]) => [key, sumOnce(values)])),
        );
      });
  });
}
