/** Where a map's keys lie, and where their homes are. */

import { expect } from "vitest";
import { readBytes } from "../../../../src/engine/gpu/memory/read-bytes.js";
import { homeSlot, murmur3 } from "../../../../src/engine/hash.js";
import { TOMBSTONE } from "../../../../src/engine/layout.js";
import type { WebgpuEngine } from "../../../../src/engine/webgpu/webgpu-engine.js";
import type { StaticMap } from "../../../../src/index.js";

/** The home of each slot's key, null for slots without one. */
export async function homesOf(
  engine: WebgpuEngine,
  map: StaticMap<"u32", "u32">,
): Promise<(number | null)[]> {
  const { slots } = engine.interop.buffers!.tableOf(map.engineTable);
  const words = new Uint32Array(map.slots * 2);
  const into = new Uint8Array(words.buffer);
  await readBytes(engine.tableHost.gpu, "slots", { buffer: slots, offset: 0, into });
  return Array.from({ length: map.slots }, (_, slot) => {
    const key = words[2 * slot];
    return key >= TOMBSTONE ? null : homeSlot(murmur3(key), map.slots);
  });
}

/** Every key is behind those of lower homes that lie between its own home and its slot; some are `far` or more from home. */
export function expectInOrder(homes: readonly (number | null)[], far: number): void {
  const slots = homes.length;
  const distances = homes.map((home, slot) => (home === null ? -1 : (slot - home + slots) % slots));
  expect(Math.max(...distances)).toBeGreaterThanOrEqual(far);
  const wrong = distances.filter((distance, slot) => {
    const before = distances[(slot - 1 + slots) % slots];
    return distance > 0 && before >= 0 && before + 1 < distance;
  });
  expect(wrong).toEqual([]);
}
