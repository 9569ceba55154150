/** Distinct rows on the cpu engine: rows are grouped (../groups), whose lists of members ascend. Masks of rows. */
import type { DeviceArray } from "../../device-array.js";
import type { DeviceKeys, Words } from "../../device-columns.js";
import type { Keep } from "../../keep.js";
import type { JoinCall, RowOperations } from "../../row-operations.js";
import type { CpuEngine } from "../cpu-engine.js";
import { hostKeys, hostWords } from "./device-columns.js";

/** The rows that stay; see engine/device-columns.ts. */
export async function distinctRows(
  engine: CpuEngine,
  operations: RowOperations,
  keys: DeviceKeys,
  keep: Keep,
  call: Omit<JoinCall, "nullsEqual">,
): Promise<Words> {
  const groups = await operations.group(hostKeys(keys), { ...call, nullsEqual: true });
  try {
    const kept = keptRows(hostWords(groups.offsets), hostWords(groups.members), groups.groups, keep);
    const rows = engine.newArray("u32", kept.length, false);
    hostWords(rows).set(kept);
    return rows;
  } finally {
    groups.destroy();
  }
}

/** Groups come in the order of their first rows. */
function keptRows(offsets: Uint32Array, members: Uint32Array, groups: number, keep: Keep): Uint32Array {
  const kept = new Uint32Array(groups);
  let count = 0;
  for (let group = 0; group < groups; group++) {
    const [from, to] = [offsets[group], offsets[group + 1]];
    if (keep === "none" && to - from > 1) continue;
    kept[count++] = members[keep === "last" ? to - 1 : from];
  }
  const rows = kept.subarray(0, count);
  return keep === "last" ? rows.sort() : rows;
}

/** Lists rows as a mask; see engine/device-columns.ts. */
export function maskRows(engine: CpuEngine, rows: Words, length: number): DeviceArray<"u8"> {
  const mask = engine.newArray("u8", length, true);
  const bytes = mask.storage.host as Uint8Array;
  for (const row of hostWords(rows).subarray(0, rows.length)) bytes[row] = 1;
  return mask;
}
