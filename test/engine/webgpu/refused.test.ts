/** Submissions that the GPU refuses: the call that made them fails, and nothing has changed. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BufferUsage } from "../../../src/engine/webgpu/device/gpu-flags.js";
import { Device, EngineError, StaticMap } from "../../../src/index.js";
import { rejection } from "../../conformance/helpers/checks.js";
import { counting, uniqueKeys } from "../../conformance/helpers/keys.js";
import { Modelled } from "../../conformance/helpers/model.js";
import { openVariant } from "./helpers/variants.js";

const COUNT = 3000;

let device: Device;
beforeAll(async () => {
  device = new Device(await openVariant({ strategy: "partitioned" }), "A test of refusals.");
});
afterAll(() => device?.destroy());

/** Keys in a buffer that is of no use any more once `destroy` was called. */
function brittleKeys() {
  const { STORAGE, COPY_SRC, COPY_DST } = BufferUsage;
  const buffer = (device.gpuDevice as GPUDevice).createBuffer({
    size: COUNT * 4,
    usage: STORAGE | COPY_SRC | COPY_DST,
  });
  return { keys: device.wrap(buffer, { type: "u32" }), destroy: () => buffer.destroy() };
}

async function mapWith(entries: number, capacity = 4 * COUNT) {
  const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity });
  const model = Modelled.map(map as never);
  if (entries > 0) await model.insert("keep", uniqueKeys(entries), counting(entries));
  return { map, model };
}

describe("a multisplit that is refused changes nothing", () => {
  const values = counting(COUNT);
  const calls: Record<string, [number, (map: StaticMap<"u32", "u32">, keys: never) => Promise<unknown>]> = {
    "insert into an empty table": [0, (map, keys) => map.insert(keys, values)],
    "insert into a table with entries": [1000, (map, keys) => map.insert(keys, values)],
    insertOrApply: [1000, (map, keys) => map.insertOrApply(keys, values, "add")],
    insertAndFind: [1000, (map, keys) => map.insertAndFind(keys, values)],
    erase: [1000, (map, keys) => map.erase(keys)],
    find: [1000, (map, keys) => map.find(keys)],
  };
  it.each(Object.entries(calls))("%s", async (_name, [entries, call]) => {
    const { map, model } = await mapWith(entries);
    // what scratch memory holds then is of no table of this test
    const other = await mapWith(2 * COUNT);
    other.map.destroy();
    const { keys, destroy } = brittleKeys();
    destroy();
    await rejection(call(map, keys as never), EngineError);
    expect((await map.stats()).live).toBe(entries);
    await model.expectEqual();
    map.destroy();
  });
});

it("a refused multisplit that nothing waits for fails its own call", async () => {
  const { map, model } = await mapWith(1000);
  const { keys, destroy } = brittleKeys();
  const gpu = device.gpuDevice as GPUDevice;
  const create = gpu.createCommandEncoder;
  gpu.createCommandEncoder = function (descriptor) {
    if (descriptor?.label === "split") destroy();
    return create.call(this, descriptor);
  };
  try {
    // no element is left to look up
    await rejection(map.find(keys, { mask: new Uint8Array(COUNT) }), EngineError);
  } finally {
    gpu.createCommandEncoder = create;
  }
  await model.insert("keep", uniqueKeys(2000), counting(2000));
  expect(model.rejections).toBe(0);
  await model.expectEqual();
  map.destroy();
});
