/** How the probing fragments (hash.wgsl, probe.wgsl) are specialised for a table: in the engine's kernels and in users' own. */
import { hashNames } from "../../hash.js";
import type { TableSpec } from "../../layout.js";
import { slotFormat } from "../../slot-format.js";

export function tableConstants(spec: TableSpec): { HASH: number; SLOT_WORDS: number; KEY_F32: number } {
  return {
    HASH: hashNames.indexOf(spec.hash),
    SLOT_WORDS: slotFormat(spec).slotWords,
    KEY_F32: Number(spec.key === "f32"),
  };
}
