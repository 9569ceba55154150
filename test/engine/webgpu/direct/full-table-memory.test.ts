/** Settling an over-full batch through a copy of the table: one copy a call, and none of its memory left behind. */
import { expect, it } from "vitest";
import { CapacityError, openDevice, StaticMap } from "../../../../src/index.js";
import { rejection } from "../../../conformance/helpers/checks.js";
import { absentKeys, counting } from "../../../conformance/helpers/keys.js";
import { sharedGpuDevice, withMembers } from "../helpers/own-gpu.js";

/** Longer than pools keep what nobody uses. */
const IDLE_MS = 4000;

/** Chunks of 2^15 elements: five of them in a call. The table is bound in two windows. */
const MAX_BINDING = 2 ** 17;

it("makes one copy a call, and gives its memory back", async () => {
  const real = await sharedGpuDevice();
  const limits = new Proxy(real.limits, {
    get: (target, name) =>
      name === "maxStorageBufferBindingSize" ? MAX_BINDING : target[name as keyof GPUSupportedLimits],
  });
  const alive = new Map<string, number>();
  const made = new Map<string, number>();
  const count = (counts: Map<string, number>, label: string, by: number) =>
    counts.set(label, (counts.get(label) ?? 0) + by);
  const counted = withMembers(real, {
    limits,
    createBuffer(descriptor) {
      const { label = "" } = descriptor;
      const buffer = real.createBuffer(descriptor);
      count(alive, label, 1);
      count(made, label, 1);
      const destroy = buffer.destroy.bind(buffer);
      buffer.destroy = () => {
        count(alive, label, -1);
        return destroy();
      };
      return buffer;
    },
  });
  const device = await openDevice({ gpuDevice: counted });
  const slots = 2 ** 15;
  const [keys, values] = [absentKeys(5 * slots), counting(5 * slots)];
  const sizing = { key: "u32", capacity: slots, maxLoadFactor: 1, hash: "identity" } as const;
  const map = await StaticMap.create(device, { ...sizing, value: "u32" });
  // one key for each slot but the last, and one that probes from the first slot to that: what is absent may be as far
  const full = Uint32Array.of(...counting(slots - 1).map((slot) => slot * (2 ** 32 / slots)), 1);
  await map.insert(full, values.subarray(0, slots));
  made.clear();
  const error = await rejection(map.insert(keys, values), CapacityError);
  const present = new Set(full);
  expect(error).toMatchObject({ inserted: 0, rejected: keys.filter((key) => !present.has(key)).length });
  // the slots and the control words of a copy, and its keys: the test is about nothing without them
  expect([made.get("table"), made.get("array")]).toEqual([2, 1]);
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  expect([alive.get("table"), alive.get("array")]).toEqual([2, 0]);
  device.destroy();
});
