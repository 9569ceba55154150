/** Settling an over-full batch through a copy of the table: one copy a call, and none of its memory left behind. */
import { expect, it, vi } from "vitest";
import { GpuMemory } from "../../../../src/engine/webgpu/memory/gpu-memory.js";
import { CapacityError, openDevice, StaticMap } from "../../../../src/index.js";
import { rejection } from "../../../conformance/helpers/checks.js";
import { absentKeys, counting } from "../../../conformance/helpers/keys.js";
import { sharedGpuDevice, withSmallBindings } from "../helpers/own-gpu.js";

/** Chunks of 2^15 elements: five of them in a call. The table is bound in two windows. */
const MAX_BINDING = 2 ** 17;

it("makes one copy a call, and gives its memory back", async () => {
  const real = await sharedGpuDevice();
  const device = await openDevice({ gpuDevice: withSmallBindings(real, MAX_BINDING) });
  const slots = 2 ** 15;
  const [keys, values] = [absentKeys(5 * slots), counting(5 * slots)];
  const sizing = { key: "u32", capacity: slots, loadFactor: 1, hash: "identity" } as const;
  const map = await StaticMap.create(device, { ...sizing, value: "u32" });
  // one key for each slot but the last, and one that probes from the first slot to that: what is absent may be as far
  const full = Uint32Array.of(...counting(slots - 1).map((slot) => slot * (2 ** 32 / slots)), 1);
  await map.insert(full, values.subarray(0, slots));
  const { inUse } = device.memory;
  const acquire = vi.spyOn(GpuMemory.prototype, "acquire");
  const error = await rejection(map.insert(keys, values), CapacityError);
  const present = new Set(full);
  expect(error).toMatchObject({ inserted: 0, rejected: keys.filter((key) => !present.has(key)).length });
  // the slots and the control words of a copy, and its keys: the test is about nothing without them
  const labels = acquire.mock.calls.map(([label]) => label);
  acquire.mockRestore();
  expect(["table", "array"].map((label) => labels.filter((each) => each === label).length)).toEqual([2, 1]);
  expect(device.memory.inUse).toBe(inUse);
  device.destroy();
});
