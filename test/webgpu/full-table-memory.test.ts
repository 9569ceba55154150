/** Settling an over-full batch through a copy of the table leaves no device array behind. */
import { expect, it } from "vitest";
import { CapacityError, openDevice, StaticMap } from "../../src/index.js";
import { rejection } from "../conformance/helpers/checks.js";
import { counting, uniqueKeys } from "../conformance/helpers/keys.js";
import { ownGpuDevice, withMembers } from "./helpers/own-gpu.js";

/** Longer than pools keep what nobody uses. */
const IDLE_MS = 4000;

it("gives the copy's memory back", async () => {
  const real = await ownGpuDevice();
  const alive = new Map<string, number>();
  const made = new Map<string, number>();
  const count = (counts: Map<string, number>, label: string, by: number) =>
    counts.set(label, (counts.get(label) ?? 0) + by);
  const counted = withMembers(real, {
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
  const [keys, values] = [uniqueKeys(5 * slots), counting(5 * slots)];
  const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: slots, loadFactor: 1 });
  // filled by these keys alone, so that the last of them end up far from home
  await map.insertOrApply(keys.subarray(0, slots), values.subarray(0, slots), "add");
  made.clear();
  await rejection(map.insert(keys, values), CapacityError);
  // the slots and the control words of a copy, its keys and its values: the test is about nothing without them
  expect([made.get("table"), made.get("array")]).toEqual([2, 2]);
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  expect([alive.get("table"), alive.get("array")]).toEqual([2, 0]);
  device.destroy();
  real.destroy();
});
