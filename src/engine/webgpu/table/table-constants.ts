/** How the probing fragments (hash.wgsl, probe.wgsl) are specialised for a table: in the engine's kernels and in users' own. */
import { hashNames } from "../../hash.js";
import { slotWords, type TableSpec } from "../../layout.js";

export function tableConstants(spec: TableSpec): { HASH: number; SLOT_WORDS: number; KEY_F32: number } {
  return {
    HASH: hashNames.indexOf(spec.hash),
    SLOT_WORDS: slotWords(spec),
    KEY_F32: Number(spec.key === "f32"),
  };
}
