/**
 * Chunks of host memory whose copies go by streams of their own, beside the work. The stand-in runs the commands of a
 * stream only when somebody waits for them, so that what is not ordered goes wrong.
 */
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { registerEngine } from "warpmap/engine";
import { type Device, LimitError, openDevice, StaticMap } from "../../../src/index.js";
import { expectSame, rejection } from "../../../test/conformance/helpers/checks.js";
import { absentKeys, counting, maskOf, uniqueKeys } from "../../../test/conformance/helpers/keys.js";
import { CudaContext } from "../src/driver/context.js";
import { cudaEngine } from "../src/index.js";
import { open } from "../src/open.js";
import { CudaRuntime } from "../src/runtime/cuda-runtime.js";
import { useFaults } from "./helpers/emulator.js";
import { restoreEngine } from "./helpers/several.js";

const COUNT = 20_001;
const inject = useFaults();
let device: Device;
beforeEach(async () => {
  inject("LAZY", 1);
  registerEngine("cuda", {
    ...cudaEngine,
    open: (request) => open({ ...request, tuning: { hostChunk: 1024 } }),
  });
  device = await openDevice({ backend: "cuda" });
});
afterEach(() => {
  device.destroy();
  restoreEngine();
  vi.restoreAllMocks();
});

const pinned = async (elements: Uint32Array | Uint8Array, use: "upload" | "readback" = "upload") => {
  const type = elements instanceof Uint8Array ? "u8" : "u32";
  const array = await device.pinned(type, elements.length, use);
  array.array.set(elements);
  return array as never;
};
/** Results are waited for, and so copied, after the next chunk was worked on. */
function delayResults(): void {
  const { arrived } = CudaContext.prototype;
  vi.spyOn(CudaContext.prototype, "arrived").mockImplementation(async function (this: CudaContext, what) {
    if (what === "results") await setTimeout(20);
    return arrived.call(this, what);
  });
}
const keys = uniqueKeys(COUNT);
const values = counting(COUNT);
const mixed = keys.map((key, i) => (i % 3 === 0 ? absentKeys(COUNT)[i] : key));

describe.each(["direct", "partitioned"] as const)("%s", (strategy) => {
  it("pinned columns and results are what typed arrays are", async () => {
    const lanes = vi.spyOn(CudaRuntime.prototype, "lane");
    delayResults();
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: COUNT });
    const given = [await pinned(keys), await pinned(values)] as const;
    for (let round = 0; round < 3; round++) {
      await map.clear();
      expect(await map.insert(...given, { strategy })).toEqual({ inserted: COUNT, existing: 0 });
      const into = {
        values: await pinned(new Uint32Array(COUNT), "readback"),
        found: await pinned(new Uint8Array(COUNT), "readback"),
      };
      const answer = await map.find(await pinned(mixed), { into, missing: 7, strategy });
      expectSame(
        answer.found,
        new Uint8Array(COUNT).map((_, i) => Number(i % 3 !== 0)),
      );
      expectSame(
        answer.values,
        values.map((value, i) => (i % 3 === 0 ? 7 : value)),
      );
    }
    expect(lanes).toHaveBeenCalledTimes(2);
    expect(await map.erase(given[0], { strategy })).toEqual({ erased: COUNT });
  });

  it("typed arrays too", async () => {
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: COUNT });
    await map.insert(keys, values, { strategy });
    const { found, values: stored } = await map.find(keys, { strategy });
    expectSame(stored, values);
    expectSame(found, new Uint8Array(COUNT).fill(1));
  });
});

it("columns of composites, and masks", async () => {
  using map = await StaticMap.create(device, {
    key: ["u32", "u32"],
    value: ["u32", "u32"],
    capacity: COUNT,
  });
  const mask = maskOf(COUNT);
  const [low, high] = [await pinned(keys), await pinned(values)];
  await map.insert([low, high], [high, low], { mask: await pinned(mask) });
  const into = async () => pinned(new Uint32Array(COUNT), "readback");
  const answer = await map.find([low, high], {
    into: { values: [await into(), await into()], found: await pinned(new Uint8Array(COUNT), "readback") },
  });
  expectSame(answer.found, mask);
  expectSame(
    answer.values[0],
    values.map((value, i) => (mask[i] ? value : 0)),
  );
  expectSame(
    answer.values[1],
    keys.map((key, i) => (mask[i] ? key : 0)),
  );
});

it("columns that are read ahead give their memory up where it is needed", async () => {
  using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: COUNT });
  const given = [await pinned(keys), await pinned(values)] as const;
  await map.insert(...given);
  inject("MEMORY", device.memory.held + 8192);
  for (let round = 0; round < 4; round++) {
    device.trim();
    const calls = [
      map.find(given[0], {
        into: { values: await pinned(new Uint32Array(COUNT), "readback"), found: new Uint8Array(COUNT) },
      }),
      rejection(device.allocate("u32", 2 ** 22), LimitError),
    ] as const;
    const [answer] = await Promise.all(calls);
    expectSame(answer.values, values);
  }
});
