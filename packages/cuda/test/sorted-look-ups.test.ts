/**
 * Look-ups of several GPUs whose keys are sorted by owner and partition, and looked up from where they are. The stand-in
 * runs the commands of a stream only when somebody waits for them, so that what is not ordered goes wrong.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Device, openDevice, StaticMap, StaticSet } from "../../../src/index.js";
import { expectSame } from "../../../test/conformance/helpers/checks.js";
import { counting, uniqueKeys } from "../../../test/conformance/helpers/keys.js";
import { planned } from "../../../test/conformance/helpers/plan.js";
import { useFaults } from "./helpers/emulator.js";
import { openSeveral, restoreEngine } from "./helpers/several.js";

const inject = useFaults();
beforeEach(() => inject("LAZY", 1));
afterEach(restoreEngine);

function openRounds(gpus: number, round: number, peers = true): Promise<Device> {
  inject("DEVICES", 2);
  openSeveral(
    Array.from({ length: gpus }, (_, i) => i % 2),
    { peers, least: { round } },
  );
  return openDevice({ backend: "cuda", seed: 11 });
}

const COUNT = 20_000;
const numbers = uniqueKeys(COUNT, 3);
/** Different floats, with those whose bits are not what is stored. */
const floatOf = (_: number, i: number) => (i === 5 ? -0 : i === 6 ? Number.NaN : i / 4 + 1);
const columns = {
  u32: numbers,
  i32: Int32Array.from(numbers),
  f32: Float32Array.from(numbers, floatOf),
  u64: BigUint64Array.from(numbers, (n) => BigInt(n) << 20n),
  i64: BigInt64Array.from(numbers, (n) => -(BigInt(n) << 30n)),
  f64: Float64Array.from(numbers, floatOf),
};

const strategy = "partitioned";

describe.each([
  ["u32", "u32", 2, 2 ** 16],
  ["u64", "u32", 3, 2 ** 16],
  ["f32", "f64", 2, 1024],
  ["i64", "i64", 7, 512],
  ["f64", "f32", 3, 1024],
  ["i32", null, 5, 2 ** 16],
  ["u64", null, 2, 1024],
] as const)("%s → %s on %s GPUs, %s elements of a GPU in a round", (key, value, gpus, round) => {
  it("answers as one GPU does, wherever keys and results are", async () => {
    using device = await openRounds(gpus, round);
    const before = device.memory.inUse;
    {
      const keys = columns[key] as Uint32Array;
      const half = keys.subarray(0, COUNT / 2);
      const isThere = new Uint8Array(COUNT).fill(1, 0, COUNT / 2);
      using onDevice = await device.upload(keys);
      using pinned = await device.pinned(key as "u32", COUNT, "upload");
      pinned.array.set(keys);
      const asked = [keys, onDevice, pinned, onDevice];
      const how = { key: key as "u32", capacity: COUNT };
      if (value === null) {
        await using set = await StaticSet.create(device, how);
        await set.insert(half);
        for (const each of asked) expectSame(await set.contains(each, { strategy }), isThere);
      } else {
        const values = columns[value] as Uint32Array;
        const expected = values.slice().fill((typeof values[0] === "bigint" ? 0n : 0) as never, COUNT / 2);
        await using map = await StaticMap.create(device, { ...how, value: value as "u32" });
        await map.insert(half, values.subarray(0, COUNT / 2));
        for (const each of asked) {
          const { answer, plan } = await planned((onPlan) => map.find(each, { strategy, onPlan }));
          expect(plan).toMatchObject({ strategy, reason: expect.stringContaining("from where they are") });
          expect(plan.phases.map(({ name }) => name)).toEqual(["exchange", expect.stringMatching("find")]);
          expectSame(answer.found, isThere);
          expectSame(answer.values, expected);
          expectSame(await map.contains(each, { strategy }), isThere);
          const there = await map.find(each, { strategy, output: "device" });
          expectSame(await there.values.read(), expected);
          expectSame(await there.found.read(), isThere);
          const into = {
            values: await device.pinned(value as "u32", COUNT, "readback"),
            found: await device.pinned("u8", COUNT, "readback"),
          };
          await map.find(each, { strategy, into });
          expectSame(into.values.array, expected);
          expectSame(into.found.array, isThere);
          for (const array of [there.values, there.found, into.values, into.found]) array.destroy();
        }
      }
    }
    expect(device.memory.inUse).toBe(before);
  });
});

describe("all others", () => {
  it("go to the owners: of composite keys, with a mask, or without a way between the GPUs", async () => {
    const reasons: string[] = [];
    const ask = async (device: Device, where?: Uint8Array) => {
      await using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 5000 });
      const keys = numbers.subarray(0, 5000);
      await map.insert(keys, counting(5000));
      const { answer, plan } = await planned((onPlan) => map.find(keys, { strategy, onPlan, where }));
      expectSame(answer.values, where ? new Uint32Array(5000) : counting(5000));
      reasons.push(plan.reason);
    };
    {
      using device = await openRounds(2, 2 ** 16);
      await ask(device, new Uint8Array(5000));
      await using map = await StaticMap.create(device, { key: ["u32", "u32"], value: "u32", capacity: 5000 });
      await map.insert([counting(5000), counting(5000)], counting(5000));
      const asked = [counting(5000), counting(5000)] as const;
      const { answer, plan } = await planned((onPlan) => map.find(asked, { strategy, onPlan }));
      expectSame(answer.values, counting(5000));
      reasons.push(plan.reason);
    }
    using device = await openRounds(2, 2 ** 16, false);
    await ask(device);
    for (const reason of reasons) expect(reason).not.toContain("from where they are");
  });
});
