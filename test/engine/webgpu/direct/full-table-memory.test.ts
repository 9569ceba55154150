/** Over-full batches: one copy of the table a call, none of its memory left behind, and no kernel compiled once slots are claimed. */
import { expect, it } from "vitest";
import { CapacityError, openDevice, StaticMap } from "../../../../src/index.js";
import { rejection } from "../../../conformance/helpers/checks.js";
import { absentKeys, counting, uniqueKeys } from "../../../conformance/helpers/keys.js";
import { sharedGpuDevice, withMembers } from "../helpers/own-gpu.js";
import { openVariant } from "../helpers/variants.js";

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
  const sizing = { key: "u32", capacity: slots, loadFactor: 1, hash: "identity" } as const;
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
  expect(engine.gpu.software).toBe(false);
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
