/** Tables whose batches go by pages, each batch as one chunk. */
import { afterAll, beforeAll, expect, vi } from "vitest";
import { Pacer } from "../../../../src/engine/gpu/pacer.js";
import { Partitioner } from "../../../../src/engine/webgpu/partitioned/partitioner.js";
import type { WebgpuEngine } from "../../../../src/engine/webgpu/webgpu-engine.js";
import { Device, StaticMap, StaticSet } from "../../../../src/index.js";
import { scaled } from "../../../conformance/helpers/device.js";
import { counting, keysWithHome } from "../../../conformance/helpers/keys.js";
import { Modelled } from "../../../conformance/helpers/model.js";
import { openVariant } from "./variants.js";

export const PAGE_SLOTS = scaled(2048, 1024);

/**
 * An engine for the tests of a file: call it there, and its results inside tests.
 * @param windowBytes bytes of the largest range of a table that is bound at once.
 */
export function usePagedTables(windowBytes: number) {
  let engine: WebgpuEngine | undefined;
  let device: Device | undefined;
  beforeAll(async () => {
    engine = await openVariant({
      strategy: "partitioned",
      tuning: { maxTableBinding: windowBytes },
    });
    expect(pageSlotsOf(engine)).toBe(PAGE_SLOTS);
    device = new Device(engine, "A test of pages.");
    // a batch is one chunk, however long its kernels took to compile
    vi.spyOn(Pacer.prototype, "next").mockReturnValue(2 ** 20);
  });
  afterAll(() => {
    vi.restoreAllMocks();
    device?.destroy();
  });
  const open = () => device as Device;
  return {
    engine: () => engine as WebgpuEngine,
    device: open,
    async newTable(kind: "map" | "set", capacity: number, maxLoadFactor = 1): Promise<Modelled> {
      const sizing = { key: "u32", capacity, maxLoadFactor } as const;
      if (kind === "set") return Modelled.set((await StaticSet.create(open(), sizing)) as never);
      return Modelled.map((await StaticMap.create(open(), { ...sizing, value: "u32" })) as never);
    },
  };
}

/** Slots of a page of an engine's maps from u32 to u32. */
export function pageSlotsOf({ tableHost }: WebgpuEngine): number {
  const spec = { key: "u32", value: "u32", slots: 1, hash: "murmur3" } as const;
  return Partitioner.of({ host: tableHost, spec }).pageSlots;
}

/** Keys whose homes are in a page, spread over its slots: more than one a slot once all have one. */
export function inPage(slots: number, page: number, count: number, firstNumber = 0): Uint32Array {
  return counting(count).map((i) => {
    const number = firstNumber + Math.floor(i / PAGE_SLOTS);
    return keysWithHome(page * PAGE_SLOTS + (i % PAGE_SLOTS), slots, number + 1)[number];
  });
}
