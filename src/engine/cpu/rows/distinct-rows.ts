/** Distinct rows on the cpu engine: rows are grouped (../groups), in the order of their first rows. Masks of rows. */
import type { DeviceArray } from "../../device-array.js";
import type { DeviceKeys, Words } from "../../device-columns.js";
import type { Keep } from "../../keep.js";
import type { JoinCall } from "../../row-operations.js";
import type { CpuEngine } from "../cpu-engine.js";
import { sumGroups } from "../groups/sum-groups.js";
import { hostKeys, hostWords } from "./device-columns.js";

export async function distinctRows(
  engine: CpuEngine,
  keys: DeviceKeys,
  keep: Keep,
  call: Omit<JoinCall, "nullsEqual">,
): Promise<Words> {
  const counted = keep === "none" ? ([{ kind: "rows", validity: null }] as const) : [];
  const numbers = keep === "last";
  const { firsts, groupOf, columns } = await sumGroups(engine, hostKeys(keys), counted, { ...call, numbers });
  let kept = firsts;
  if (keep === "none") {
    const [rows] = columns[0].sums[0].parts;
    kept = firsts.filter((_, group) => rows[group] === 1);
  } else if (groupOf !== null) {
    for (let row = 0; row < groupOf.length; row++) kept[groupOf[row]] = row;
    kept.sort();
  }
  const rows = engine.newArray("u32", kept.length, false);
  hostWords(rows).set(kept);
  return rows;
}

export function maskRows(engine: CpuEngine, rows: Words, length: number): DeviceArray<"u8"> {
  const mask = engine.newArray("u8", length, true);
  const bytes = mask.storage.host as Uint8Array;
  for (const row of hostWords(rows).subarray(0, rows.length)) bytes[row] = 1;
  return mask;
}
