/** Bulk operations whose pages are worked on by the workgroups that own them, in workgroup memory. */
import type { InsertPolicy, InsertTally } from "../engine.js";
import type { BoundChunk } from "./chunk-rounds.js";
import { combining } from "./combine.js";
import type { Counters } from "./control.js";
import { eraseChunk } from "./erase-chunk.js";
import type { FullTable } from "./full-table.js";
import { insertChunk } from "./insert-chunk.js";
import { type PagedChunk, type PageOperation, splitByPage } from "./pages.js";
import { Partitioner } from "./partition.js";
import type { ItemKind } from "./partition-kernels.js";
import type { TableState } from "./table-state.js";

/** Inserts a chunk into a table without entries or tombstones. Of equal keys any one stays. Null when its pages do not fit the GPU. */
export async function buildPages(
  state: TableState,
  chunk: BoundChunk,
  policy: "keep" | "assign",
  full: FullTable,
): Promise<InsertTally | null> {
  const kind = slotKind(state);
  const operation = {
    label: "build",
    kind,
    kernels: Partitioner.of(state.host).sources.build(kind),
  } as const;
  // until it is known that all went well
  state.ordered = false;
  let worked = await workOnPages(state, chunk, operation, true);
  if (worked?.paged.lost()) {
    await state.clear();
    state.ordered = false;
    worked = await workOnPages(state, chunk, operation, false);
  }
  if (!worked) return null;
  const { paged, inserted, spilled } = worked;
  // in a table without an empty slot, what does not fit may have been carried around, past its own home
  state.ordered = spilled === 0 || !state.full;
  return insertRest(state, chunk, policy, full, { paged, inserted, spilled });
}

/** Inserts a chunk into a table's pages under a policy. Null when they do not fit the GPU. */
export async function insertPages(
  state: TableState,
  chunk: BoundChunk,
  policy: InsertPolicy,
  full: FullTable,
): Promise<InsertTally | null> {
  const { value } = state.spec;
  const kind = slotKind(state);
  const applies = value !== null && policy !== "keep" && policy !== "assign";
  const combined = applies ? combining(policy, value) : undefined;
  const reuse = state.tombstones > 0;
  const operation = {
    label: "page-insert",
    kind,
    kernels: Partitioner.of(state.host).sources.insert(kind, combined?.type),
    constants: {
      REUSE: Number(reuse),
      KEEP: Number(policy === "keep"),
      MERGED: value === null ? 1 : Partitioner.of(state.host).pageSlots,
      ...combined?.constants,
    },
    combining: combined,
  } as const;
  const { ordered } = state;
  state.ordered = false;
  // what is combined twice would be wrong
  let worked = await workOnPages(state, chunk, operation, !applies);
  if (!worked) {
    state.ordered = ordered;
    return null;
  }
  let { inserted } = worked;
  if (worked.paged.lost()) {
    // what is inserted already is there
    worked = await workOnPages(state, chunk, operation, false);
    if (!worked) {
      const tally = await insertChunk(state, chunk, policy, full);
      return { ...tally, inserted: tally.inserted + inserted, existing: tally.existing - inserted };
    }
    inserted += worked.inserted;
  }
  const { paged, spilled } = worked;
  if (inserted === 0) state.ordered = ordered;
  return insertRest(state, chunk, policy, full, { paged, inserted, spilled });
}

/** Inserts what pages have spilled, and adds up what all of the chunk came to. */
async function insertRest(
  state: TableState,
  chunk: BoundChunk,
  policy: InsertPolicy,
  full: FullTable,
  { paged, inserted, spilled }: Pick<Worked, "paged" | "inserted" | "spilled">,
): Promise<InsertTally> {
  const rest = paged.rest(spilled);
  const tally = rest ? await insertChunk(state, rest, policy, full) : { inserted: 0, rejected: 0 };
  const { selected } = paged;
  const all = inserted + tally.inserted;
  // keys that equal others were left out, and those may be among what does not fit
  const rejected = tally.rejected && (await full.countRejected(chunk, { selected, rejected: 0, rest: null }));
  return { inserted: all, rejected, existing: selected - all - rejected };
}

/** What the slots of a table are, and items that become slots. */
function slotKind({ spec }: TableState): ItemKind {
  return spec.value === null ? "key" : "pair";
}

/** Erases a chunk's keys. Answers how many there were; null when its pages do not fit the GPU. */
export async function erasePages(state: TableState, chunk: BoundChunk): Promise<number | null> {
  const kernels = Partitioner.of(state.host).sources.erase(slotKind(state));
  const operation = { label: "page-erase", kind: "key", kernels } as const;
  const worked = await workOnPages(state, chunk, operation, true);
  if (!worked) return null;
  let { paged, erased, spilled } = worked;
  if (paged.lost()) {
    // what is erased already is not there any more
    const again = await workOnPages(state, chunk, operation, false);
    if (!again) return erased + (await eraseChunk(state, chunk));
    erased += again.erased;
    ({ paged, spilled } = again);
  }
  const rest = paged.rest(spilled);
  return erased + (rest ? await eraseChunk(state, rest) : 0);
}

type Worked = Counters & { paged: PagedChunk };

/** Splits a chunk by page and submits an operation on the pages; null when they do not fit the GPU. */
async function workOnPages(
  state: TableState,
  chunk: BoundChunk,
  operation: PageOperation,
  sampled: boolean,
): Promise<Worked | null> {
  const paged = await chunk.scratch.attempt(() => splitByPage(state, chunk, operation, sampled));
  if (!paged) return null;
  const counters = await state.submit(operation.label, paged.reads, (encoder) => paged.record(encoder));
  return { ...counters, paged };
}
