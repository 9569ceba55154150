import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { boundChunk } from "../../../../src/engine/gpu/batch/bound-chunk.js";
import { Scratch } from "../../../../src/engine/gpu/batch/columns.js";
import { readBytes } from "../../../../src/engine/gpu/memory/read-bytes.js";
import type { Range } from "../../../../src/engine/gpu/runtime.js";
import { homeSlot, murmur3 } from "../../../../src/engine/hash.js";
import { type TableSpec, TOMBSTONE } from "../../../../src/engine/layout.js";
import {
  binsFor,
  type Partitions,
  splitByPartition,
} from "../../../../src/engine/webgpu/partitioned/multisplit.js";
import { Partitioner } from "../../../../src/engine/webgpu/partitioned/partitioner.js";
import { newState } from "../../../../src/engine/webgpu/table/table-state.js";
import type { WebgpuEngine } from "../../../../src/engine/webgpu/webgpu-engine.js";
import { onSoftwareGpu } from "../../../conformance/helpers/device.js";
import { openEngine } from "../helpers/open-engine.js";
import { ownGpuDevice } from "../helpers/own-gpu.js";

const spec: TableSpec = { key: "u32", value: "u32", slots: 100_003, hash: "murmur3" };

/** Splits keys with their numbers as values; answers what arrived where. */
async function split(engine: WebgpuEngine, keys: Uint32Array, partitions: Partitions, mask?: Uint8Array) {
  const { gpu, tableHost } = engine;
  const state = await newState(tableHost, spec);
  const scratch = new Scratch(gpu);
  try {
    const chunk = { first: 0, count: keys.length };
    const columns = {
      keys: await scratch.input("u32", keys, chunk),
      values: await scratch.input(
        "u32",
        Uint32Array.from(keys, (_, i) => i),
        chunk,
      ),
      mask: mask && (await scratch.input("u8", mask, chunk)),
    };
    const found = await splitByPartition(state, boundChunk(chunk, scratch, columns), partitions, {
      kind: "pair",
      put: "columns",
      placed: true,
    });
    const read = async (range: Range | undefined, words: number) => {
      const { buffer } = range as Range;
      const result = new Uint32Array(words);
      await readBytes(gpu, "read", { buffer, offset: 0, into: new Uint8Array(result.buffer) });
      return result;
    };
    const records = await read(found.places, (found.places?.size as number) / 4);
    const bins = binsFor(partitions.count);
    const { items: tile } = Partitioner.of(state).tileOf("pair", bins);
    return {
      selected: found.selected,
      starts: await read(found.starts, partitions.count + 1),
      keys: await read(found.keys, found.selected),
      values: await read(found.values, found.selected),
      places: placesOf(records, keys.length, tile, bins),
    };
  } finally {
    scratch.release();
    state.destroy();
  }
}

/** Reads what places.wgsl describes. Answers 0xffffffff for elements that went nowhere. */
function placesOf(records: Uint32Array, count: number, tile: number, bins: number) {
  const run = 2 ** 15 / bins;
  const record = tile / 2 + bins + Math.floor(tile / run);
  return Uint32Array.from({ length: count }, (_, element) => {
    const first = Math.floor(element / tile) * record;
    const item = element % tile;
    const upper = item >= tile / 2;
    const place = (records[first + (item % (tile / 2))] >>> (upper ? 16 : 0)) & 0xffff;
    return place === 0xffff
      ? 0xffffffff
      : records[first + tile / 2 + Math.floor(place / run)] + (place % run);
  });
}

const partitions: Partitions = { shift: 11, count: Math.ceil(spec.slots / 2 ** 11) };

const random = (count: number) => Uint32Array.from({ length: count }, (_, i) => Math.imul(i + 1, 0x9e3779b1));

const inputs: Record<string, Uint32Array> = {
  "one key": Uint32Array.of(7),
  "a tile and one": random(2049),
  "many tiles": random(20_000),
  "all keys equal": new Uint32Array(5000).fill(12_345),
  "two keys in turn": Uint32Array.from({ length: 5000 }, (_, i) => i % 2),
  "sentinels and borders": Uint32Array.of(0, 0xffffffff, 0xfffffffe, 0x80000000, 1, 0, 0xffffffff),
};

const engines = {
  "all features": () => openEngine({ software: onSoftwareGpu }),
  "default limits, no features": async () => openEngine({ gpuDevice: await ownGpuDevice() }),
};

for (const [name, open] of Object.entries(engines)) {
  describe(`multisplit by partition, ${name}`, () => {
    let engine: WebgpuEngine;
    beforeAll(async () => {
      engine = (await open()) as WebgpuEngine;
    });
    afterAll(() => engine?.destroy());

    test.for(Object.entries(inputs))("keeps every element: %s", async ([, keys]) => {
      const found = await split(engine, keys, partitions);
      checkSplit(found, keys, keys.map(() => 1) as unknown as Uint8Array);
    });

    test("leaves masked elements out", async () => {
      const keys = random(5000);
      const mask = Uint8Array.from(keys, (key) => Number(key % 3 !== 0));
      checkSplit(await split(engine, keys, partitions, mask), keys, mask);
    });
  });
}

function checkSplit(
  found: Awaited<ReturnType<typeof split>>,
  keys: Uint32Array,
  mask: ArrayLike<number>,
): void {
  const taken = new Set<number>();
  for (const [i, key] of keys.entries()) {
    const place = found.places[i];
    if (!mask[i]) {
      expect(place).toBe(0xffffffff);
      continue;
    }
    expect(taken.has(place)).toBe(false);
    taken.add(place);
    expect(found.keys[place]).toBe(key);
    expect(found.values[place]).toBe(i);
    const partition =
      key < TOMBSTONE ? homeSlot(murmur3(key), spec.slots) >> partitions.shift : partitions.count - 1;
    expect(place).toBeGreaterThanOrEqual(found.starts[partition]);
    expect(place).toBeLessThan(found.starts[partition + 1]);
  }
  expect(found.selected).toBe(taken.size);
  expect(found.starts[partitions.count]).toBe(taken.size);
}
