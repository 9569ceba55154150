/**
 * Groups of rows by a key of one word that may be null: every group gets a slot of a small table (key-slots.wgsl), which is its number, in
 * the pass that counts its rows and finds its first one (count-keys.wgsl). No number is written for a row: later passes find a row's
 * group by its key again.
 */
import type { DeviceKeys, Words } from "../../device-columns.js";
import { asBytes } from "../../scalars.js";
import type { Range } from "../device/kernel.js";
import type { RowParams } from "../groups/row-kernels.js";
import type { RowRun } from "../groups/row-run.js";
import { countKeysKernel } from "./reduce-kernels.js";
import { cacheShape, type RowsByGroup, SLOT_BYTES } from "./rows-by-group.js";

/** Slots of the table: more groups than caches have slots are numbered another way. */
const FEW_SLOTS = 4096;
/** Slots at least, for short inputs: key-slots.wgsl needs two. */
const LEAST_SLOTS = 256;
/** Steps of a probe: longer ones mean that there are too many groups. */
const MOST_STEPS = 32;

type KeyColumn = DeviceKeys["columns"][number];
type WordKey = Extract<KeyColumn, { kind: "words" | "device words" }>;

/** The column of keys that are one word; undefined for other keys. */
export function wordKeyOf({ columns }: DeviceKeys): WordKey | undefined {
  const [column] = columns;
  return columns.length === 1 && "width" in column && column.width === 1 ? column : undefined;
}

/** Numbers the groups of rows, if they are few; null where they are not. A pass over the rows. */
export async function numberKeys(run: RowRun, key: WordKey, rows: number): Promise<RowsByGroup | null> {
  const { gpu, overrides } = run.host;
  const slots = overrides.fewGroupSlots ?? Math.min(FEW_SLOTS, Math.max(LEAST_SLOTS, powerOfTwo(2 * rows)));
  const zeroed = async (words: number) => {
    const range = await run.range(words * 4);
    await run.submit("clear", (encoder) => encoder.clearBuffer(range.buffer, 0, range.size));
    return range;
  };
  const [table, counts, firsts] = [await zeroed(slots), await zeroed(slots + 1), await zeroed(slots + 1)];
  const bindings = { table, ...(await keyBindings(run, key, rows)) };
  const params: RowParams = {
    slots,
    slotBits: Math.log2(slots),
    steps: Math.min(MOST_STEPS, slots / 2),
    keyNullable: Number(key.validity !== null),
  };
  const shape = cacheShape(gpu, SLOT_BYTES.countKeys, rows);
  const count = await run.step(countKeysKernel(overrides), shape.constants, shape.items);
  const all = { ...bindings, counts, firsts, control: run.control };
  const onChunk = run.noting("groups are few, and found by their keys");
  await run.eachChunk(
    "count keys",
    rows,
    (encoder, chunk) => count(encoder, all, { ...params, ...shape.params, ...chunk }),
    { onChunk },
  );
  const { keyGroups, keyNulls, keysLeft } = run.counters;
  if (keysLeft > 0) return null;
  const groups = keyGroups + keyNulls;
  return { rows, groups, numbers: slots + 1, by: "keys", bindings, params, known: { firsts, counts } };
}

async function keyBindings(run: RowRun, { data, validity }: WordKey, rows: number) {
  const bits = validity instanceof Uint8Array ? validity.subarray(0, Math.ceil(rows / 8)) : validity;
  return {
    keys: await bound(run, data, rows),
    keyValidity: bits === null ? undefined : await bound(run, bits, Math.ceil(rows / 32)),
  };
}

/** Words of the host or the device, for the call. */
async function bound(run: RowRun, data: Uint32Array | Uint8Array | Words, words: number): Promise<Range> {
  if (!(data instanceof Uint32Array || data instanceof Uint8Array)) return run.bind(data, 0, words);
  const range = await run.range(words * 4);
  await run.host.gpu.upload(range.buffer, 0, asBytes(data).subarray(0, words * 4));
  return range;
}

const powerOfTwo = (least: number) => 2 ** Math.ceil(Math.log2(least));
