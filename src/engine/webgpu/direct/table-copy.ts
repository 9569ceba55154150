/** A copy of a full table's keys, in which those that are absent are told soon. */
import { LimitError } from "../../../errors.js";
import type { DeviceArray } from "../../device-array.js";
import { boundChunk } from "../../gpu/batch/bound-chunk.js";
import { forEachChunk } from "../../gpu/batch/chunks.js";
import { bindAt, placeOf, Scratch } from "../../gpu/batch/columns.js";
import { MAX_SLOTS } from "../../layout.js";
import { retrieveKeys } from "../scan/retrieve-all.js";
import { newState, type TableState } from "../table/table-state.js";
import { claimsOf } from "./prepare-insert.js";
import { runOverChunk } from "./rounds.js";

/**
 * A set of a table's keys at load 0.5, or null when there is no memory for it. The two keys with a side slot are in it
 * in any case: when an insert stops at the full table, they have their slots.
 */
export async function roomyCopy(state: TableState): Promise<TableState | null> {
  const { host, spec, live } = state;
  let copy: TableState | null = null;
  let keys: DeviceArray<"u32"> | null = null;
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

/** Inserts distinct keys, given in words, into an empty set that has room for them. */
async function copyKeys(copy: TableState, keys: DeviceArray<"u32">): Promise<void> {
  const bytes = copy.sources.format.keyWords * 4;
  const { buffer } = placeOf(keys);
  const { gpu, pacer } = copy.host;
  const constants = { REUSE: false, FLAGGED: false, ASSIGN: false, FILL: false };
  const bindable = gpu.traits.maxBinding / bytes;
  const limits = { operation: "copy keys", bindable };
  await forEachChunk(pacer, limits, (keys.length * 4) / bytes, {}, async (chunk) => {
    const scratch = new Scratch(gpu);
    try {
      const bound = boundChunk(chunk, scratch, {
        keys: bindAt(buffer, chunk.first * bytes, chunk.count * bytes),
      });
      const claims = await claimsOf(copy, bound);
      await runOverChunk(copy, bound, { kernel: copy.sources.insert, constants, ...claims });
    } finally {
      scratch.release();
    }
  });
}
