/** Bulk operations whose pages are worked on by the workgroups that own them, in workgroup memory. */
import type { InsertTally } from "../engine.js";
import type { BoundChunk } from "./chunk-rounds.js";
import { eraseChunk } from "./erase-chunk.js";
import type { FullTable } from "./full-table.js";
import { insertChunk } from "./insert-chunk.js";
import { splitByPage } from "./pages.js";
import { Partitioner } from "./partition.js";
import type { TableState } from "./table-state.js";

/** Inserts a chunk into a table without entries or tombstones. Of equal keys any one stays. Null when its pages do not fit the GPU. */
export async function buildPages(
  state: TableState,
  chunk: BoundChunk,
  policy: "keep" | "assign",
  full: FullTable,
): Promise<InsertTally | null> {
  const kind = state.spec.value === null ? "key" : "pair";
  const operation = Partitioner.of(state.host).sources.build(kind);
  const paged = await chunk.scratch.attempt(() => splitByPage(state, chunk, kind, operation));
  if (!paged) return null;
  const { inserted, spilled } = await state.submit("build", [], (encoder) => paged.record(encoder));
  // in a table without an empty slot, what does not fit may have been carried around, past its own home
  if (spilled > 0 && state.full) state.ordered = false;
  const rest = paged.rest(spilled);
  const tally = rest ? await insertChunk(state, rest, policy, full) : { inserted: 0, rejected: 0 };
  const { selected } = paged;
  const all = inserted + tally.inserted;
  // keys that equal others were left out, and those may be among what does not fit
  const rejected = tally.rejected && (await full.countRejected(chunk, { selected, rejected: 0, rest: null }));
  return { inserted: all, rejected, existing: selected - all - rejected };
}

/** Erases a chunk's keys. Answers how many there were; null when its pages do not fit the GPU. */
export async function erasePages(state: TableState, chunk: BoundChunk): Promise<number | null> {
  const operation = Partitioner.of(state.host).sources.erase(state.spec.value === null ? "key" : "pair");
  const paged = await chunk.scratch.attempt(() => splitByPage(state, chunk, "key", operation));
  if (!paged) return null;
  const { erased, spilled } = await state.submit("page-erase", [], (encoder) => paged.record(encoder));
  const rest = paged.rest(spilled);
  return erased + (rest ? await eraseChunk(state, rest) : 0);
}
