/** Bulk operations whose pages are worked on by the workgroups that own them, in workgroup memory. */
import type { InsertTally } from "../engine.js";
import type { BoundChunk } from "./chunk-rounds.js";
import type { Counters } from "./control.js";
import { eraseChunk } from "./erase-chunk.js";
import type { FullTable } from "./full-table.js";
import { insertChunk } from "./insert-chunk.js";
import { type PagedChunk, splitByPage } from "./pages.js";
import { Partitioner } from "./partition.js";
import type { ItemKind, PageKernels } from "./partition-kernels.js";
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
  // until it is known that all went well
  state.ordered = false;
  let worked = await workOnPages(state, chunk, kind, operation, "build", true);
  if (worked?.paged.lost()) {
    await state.clear();
    state.ordered = false;
    worked = await workOnPages(state, chunk, kind, operation, "build", false);
  }
  if (!worked) return null;
  const { paged, inserted, spilled } = worked;
  // in a table without an empty slot, what does not fit may have been carried around, past its own home
  state.ordered = spilled === 0 || !state.full;
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
  const worked = await workOnPages(state, chunk, "key", operation, "page-erase", true);
  if (!worked) return null;
  let { paged, erased, spilled } = worked;
  if (paged.lost()) {
    // what is erased already is not there any more
    const again = await workOnPages(state, chunk, "key", operation, "page-erase", false);
    if (!again) return erased + (await eraseChunk(state, chunk));
    erased += again.erased;
    ({ paged, spilled } = again);
  }
  const rest = paged.rest(spilled);
  return erased + (rest ? await eraseChunk(state, rest) : 0);
}

/** Splits a chunk by page and submits an operation on the pages; null when they do not fit the GPU. */
async function workOnPages(
  state: TableState,
  chunk: BoundChunk,
  kind: ItemKind,
  operation: PageKernels,
  label: string,
  sampled: boolean,
): Promise<(Counters & { paged: PagedChunk }) | null> {
  const paged = await chunk.scratch.attempt(() => splitByPage(state, chunk, kind, operation, sampled));
  if (!paged) return null;
  const counters = await state.submit(label, paged.reads, (encoder) => paged.record(encoder));
  return { ...counters, paged };
}
