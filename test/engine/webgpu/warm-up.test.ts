/** Kernels that are ready before they are asked for: calls after `prepare`, or on a table that was created long enough ago, compile nothing. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { BulkCall } from "../../../src/engine/engine.js";
import type { TableSpec } from "../../../src/engine/layout.js";
import type { Strategy } from "../../../src/engine/plan.js";
import type { WebgpuEngine } from "../../../src/engine/webgpu/webgpu-engine.js";
import { counting, uniqueKeys } from "../../conformance/helpers/keys.js";
import { withMembers } from "./helpers/own-gpu.js";
import { openVariant } from "./helpers/variants.js";

const COUNT = 3000;
const u32Map = { key: "u32", value: "u32", slots: 2 * COUNT, hash: "murmur3" } as const;

/** Names of the kernels that were compiled. */
let compiled: string[] = [];
let buffers = 0;
let submissions = 0;
beforeEach(() => {
  compiled = [];
});

/** Watches a device; with `hardware`, one that says it is not emulated. */
function watched(real: GPUDevice, hardware = false): GPUDevice {
  return withMembers(real, {
    ...(hardware && {
      adapterInfo: { vendor: "none", architecture: "", device: "", description: "" } as GPUAdapterInfo,
    }),
    createShaderModule(descriptor) {
      compiled.push(descriptor.label ?? "");
      return real.createShaderModule(descriptor);
    },
    createBuffer(descriptor) {
      buffers++;
      return real.createBuffer(descriptor);
    },
    createCommandEncoder(descriptor) {
      submissions++;
      return real.createCommandEncoder(descriptor);
    },
  });
}

let engine: WebgpuEngine | undefined;
afterEach(() => engine?.destroy());

async function open(strategy: Strategy, hardware = false): Promise<WebgpuEngine> {
  engine = await openVariant({ strategy }, (real) => watched(real, hardware));
  return engine;
}

/** Makes a call on a new table that holds half of the keys if it is to find any. */
async function make(on: WebgpuEngine, spec: TableSpec, call: BulkCall): Promise<void> {
  const { strategy } = on.defaults;
  const wide = spec.key === "u64";
  const keys = wide ? BigUint64Array.from(uniqueKeys(COUNT), BigInt) : uniqueKeys(COUNT);
  const values =
    spec.value === null ? null : spec.value === "u64" ? (keys as BigUint64Array) : counting(COUNT);
  const table = await on.createTable(spec);
  if (!call.startsWith("insert")) await table.insert(keys, values, "keep", { strategy });
  compiled = [];
  if (call === "insert") await table.insert(keys, values, "keep", { strategy });
  if (call === "insertOrAssign") await table.insert(keys, values, "assign", { strategy });
  if (call === "insertAndFind") await table.insertAndFind(keys, values, "host", { strategy });
  if (call === "find") await table.find(keys, wide ? 0n : 0, "device", { strategy });
  if (call === "contains") await table.contains(keys, "host", { strategy });
  if (call === "erase") await table.erase(keys, { strategy });
  table.destroy();
}

describe.each([
  ["a map", u32Map, ["insert", "insertOrAssign", "insertAndFind", "find", "contains", "erase"]],
  ["a set", { ...u32Map, value: null }, ["insert", "insertAndFind", "find", "contains", "erase"]],
  ["a map of 64 bits", { ...u32Map, key: "u64", value: "u64" }, ["insert", "find", "contains", "erase"]],
] satisfies [string, TableSpec, BulkCall[]][])("%s", (_, spec, calls) => {
  it.each(["auto", "partitioned"] as const)(
    "compiles nothing in calls it was prepared for (%s)",
    async (strategy) => {
      const on = await open(strategy);
      const before = [buffers, submissions];
      await on.prepare(spec, COUNT, calls);
      expect([buffers, submissions]).toEqual(before);
      expect(compiled.length).toBeGreaterThan(2);
      for (const call of calls) {
        await make(on, spec, call);
        expect({ call, compiled }).toEqual({ call, compiled: [] });
      }
    },
  );
});

it("a call that was not prepared compiles its kernels", async () => {
  const on = await open("auto");
  await on.prepare(u32Map, COUNT, ["insert"]);
  await make(on, u32Map, "erase");
  expect(compiled).toContain("erase");
});

it("a table that is created makes ready for inserts and finds, once, and not on a software GPU", async () => {
  for (const hardware of [true, false]) {
    const on = await open("auto", hardware);
    compiled = [];
    const table = await on.createTable(u32Map, COUNT);
    // what was started before it is done when this is
    await on.prepare(u32Map, COUNT, []);
    const ready = [...compiled];
    expect(ready.includes("insert")).toBe(hardware);
    table.destroy();
    on.destroy();
  }
});

it("a kernel that does not compile is told by prepare, and by the call that needs it", async () => {
  engine = await openVariant({}, (real) =>
    withMembers(real, {
      createComputePipelineAsync: (descriptor) =>
        descriptor.label === "insert"
          ? Promise.reject(new Error("injected"))
          : real.createComputePipelineAsync(descriptor),
    }),
  );
  await expect(engine.prepare(u32Map, COUNT, ["insert"])).rejects.toThrow(
    /insert does not compile: injected/,
  );
  const table = await engine.createTable(u32Map);
  await expect(table.insert(uniqueKeys(10), counting(10), "keep", {})).rejects.toThrow(/injected/);
  expect(await table.contains(uniqueKeys(10), "host", {})).toEqual(new Uint8Array(10));
  table.destroy();
});
