/** A copy of a full table's keys, in which those that are absent are told soon. */
import { LimitError } from "../../../errors.js";
import type { DeviceArray } from "../../device-array.js";
import { MAX_SLOTS } from "../../layout.js";
import { type KeyType, scalarBytes } from "../../scalars.js";
import { boundChunk } from "../batch/bound-chunk.js";
import { forEachChunk } from "../batch/chunks.js";
import { Scratch } from "../batch/columns.js";
import { retrieveKeys } from "../scan/retrieve-all.js";
import { newState, type TableState } from "../table/table-state.js";
import { claimsOf } from "./insert.js";
import { runOverChunk } from "./rounds.js";

/**
 * A set of a table's keys at load 0.5, or null when there is no memory for it. The two keys with a side slot are in it in any
 * case: when an insert stops at the full table, they have their slots.
 */
export async function roomyCopy(state: TableState): Promise<TableState | null> {
  const { host, spec, live } = state;
  let copy: TableState | null = null;
  let keys: DeviceArray<KeyType> | null = null;
  try {
    copy = await newState(host, { ...spec, value: null, slots: Math.min(2 * live, MAX_SLOTS) });
    keys = await retrieveKeys(state);
    await copyKeys(copy, keys);
    // SIDE_PRESENT is 0
    const { sideSlots } = copy.sources.format;
    host.gpu.write(copy.buffers.slots, copy.spec.slots * 4, new Uint8Array(sideSlots * 4));
    return copy;
  } catch (error) {
    copy?.destroy();
    if (error instanceof LimitError) return null;
    throw error;
  } finally {
    keys?.destroy();
  }
}

/** Inserts distinct keys into an empty set that has room for them. */
async function copyKeys(copy: TableState, keys: DeviceArray<KeyType>): Promise<void> {
  const { gpu, pacer } = copy.host;
  const constants = { REUSE: false, FLAGGED: false, ASSIGN: false, FILL: false };
  const bindable = gpu.device.limits.maxStorageBufferBindingSize / scalarBytes[copy.spec.key];
  const limits = { operation: "copy keys", bindable };
  await forEachChunk(pacer, limits, keys.length, {}, async (chunk) => {
    const scratch = new Scratch(gpu);
    try {
      const bound = boundChunk(chunk, scratch, { keys: await scratch.input(copy.spec.key, keys, chunk) });
      const claims = await claimsOf(copy, bound);
      await runOverChunk(copy, bound, { kernel: copy.sources.insert, constants, ...claims });
    } finally {
      scratch.release();
    }
  });
}
