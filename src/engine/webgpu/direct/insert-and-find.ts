/** insertAndFind on a chunk: slots are claimed, and then what is stored is looked up. */
import type { InsertTally } from "../../engine.js";
import type { BoundChunk, ResultColumns } from "../../gpu/batch/bound-chunk.js";
import type { Column } from "../../gpu/batch/columns.js";
import type { Readback, Recorder } from "../../gpu/runtime.js";
import type { TableState } from "../table/table-state.js";
import { type InsertArguments, insertChunk } from "./insert.js";
import { lookUpChunk } from "./look-up.js";

export interface InsertAndFindArguments {
  /** Flags of the elements that insert their keys, and in maps the values that are stored now. */
  readonly results: ResultColumns & { readonly flags: Column };
  readonly full: InsertArguments["full"];
  /** Is read back: with the submission of `step`, or later. */
  readonly readBack: (step: (now: readonly Readback[]) => Promise<unknown>) => Promise<unknown>;
}

/** @param after recorded after the results, with the submission that reads them back. */
export async function insertAndFindChunk(
  state: TableState,
  chunk: BoundChunk,
  { results, full, readBack }: InsertAndFindArguments,
  after?: (recorder: Recorder) => void,
): Promise<InsertTally> {
  const { gpu } = state.host;
  const { flags, values } = results;
  const { present, ...tally } = await insertChunk(state, chunk, { policy: "keep", full, flags });
  if (values === undefined) {
    await readBack(async (now) => {
      if (after || now.length > 0) await gpu.submit("flags", (recorder) => after?.(recorder), now);
    });
    return tally;
  }
  const found = { ...chunk, mask: present ?? chunk.mask };
  await readBack((reads) => lookUpChunk(state, found, { results: { values }, fill: [], reads }, { after }));
  return tally;
}
