/** Over-full batches: one copy of the table a call, none of its memory left behind, and no kernel compiled once slots are claimed. */
import { expect, it, vi } from "vitest";
import { GpuMemory } from "../../../../src/engine/gpu/memory/gpu-memory.js";
import { CapacityError, openDevice, StaticMap } from "../../../../src/index.js";
import { rejection } from "../../../conformance/helpers/checks.js";
import { absentKeys, counting, uniqueKeys } from "../../../conformance/helpers/keys.js";
import { sharedGpuDevice, withMembers, withSmallBindings } from "../helpers/own-gpu.js";
import { openVariant } from "../helpers/variants.js";

/** Chunks of 2^15 elements: five of them in a call. The table is bound in two windows. */
const MAX_BINDING = 2 ** 17;

it("makes one copy a call, and gives its memory back", async () => {
  const real = await sharedGpuDevice();
  const device = await openDevice({ gpuDevice: withSmallBindings(real, MAX_BINDING) });
  const slots = 2 ** 15;
  const [keys, values] = [absentKeys(5 * slots), counting(5 * slots)];
  const sizing = { key: "u32", capacity: slots, maxLoadFactor: 1, hash: "identity" } as const;
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

it("an insertAndFind that fills the table looks keys up by the kernels that were compiled before", async () => {
  const events: string[] = [];
  const engine = await openVariant({}, (real) =>
    withMembers(real, {
      // slots a step go with the load on a GPU that is not emulated
      adapterInfo: { vendor: "none", architecture: "", device: "", description: "" } as GPUAdapterInfo,
      createShaderModule(descriptor) {
        if (descriptor.code.includes("const COUNTED: bool = true")) events.push("compile");
        return real.createShaderModule(descriptor);
      },
      createCommandEncoder(descriptor) {
        events.push(descriptor?.label ?? "");
        return real.createCommandEncoder(descriptor);
      },
    }),
  );
  expect(engine.gpu.traits.isEmulated).toBe(false);
  // a probe of the first dispatch does not see all of them
  const slots = 4096;
  const table = await engine.createTable({ key: "u32", value: "u32", slots, hash: "murmur3" });
  const keys = uniqueKeys(2 * slots);
  await table.insert(keys.subarray(0, slots / 2), counting(slots / 2), "keep", {});
  events.length = 0;
  const { inserted, existing, rejected } = await table.insertAndFind(keys, counting(2 * slots), "host", {});
  expect({ inserted, existing, rejected }).toEqual({
    inserted: slots / 2,
    existing: slots / 2,
    rejected: slots,
  });
  expect(events).toContain("compile");
  expect(events.lastIndexOf("compile")).toBeLessThan(events.indexOf("insert"));
  table.destroy();
});
