/** Bulk operations whose pages are worked on by the workgroups that own them, in workgroup memory. */

import type { InsertPolicy, InsertTally } from "../../engine.js";
import type { BoundChunk } from "../../gpu/batch/bound-chunk.js";
import type { ItemKind } from "../../gpu/partitioning.js";
import type { Scalar } from "../../scalars.js";
import { isWide, slotFormat } from "../../slot-format.js";
import { combining } from "../direct/combine.js";
import { eraseChunk } from "../direct/erase.js";
import { type InsertArguments, insertChunk } from "../direct/insert.js";
import { prepareInsert } from "../direct/prepare-insert.js";
import type { Counters } from "../table/control.js";
import type { TableState } from "../table/table-state.js";
import { type PagedChunk, type PageOperation, splitByPage } from "./pages.js";
import { Partitioner } from "./partitioner.js";

type Insert = (chunk: BoundChunk) => Promise<InsertTally>;

/**
 * Inserts a chunk under a policy, by making all pages of the table anew. Null when they do not fit the GPU, or the
 * chunk may not fit the table, or its pages are too crowded; the table is as it was then.
 */
export async function insertByPage(
  state: TableState,
  chunk: BoundChunk,
  args: InsertArguments,
): Promise<InsertTally | null> {
  const { policy, full } = args;
  const { live, homeSorted } = state;
  const rebuilds = live > 0;
  // entries without a place in their pages have to find one elsewhere
  if (rebuilds && live + chunk.count > state.spec.slots) return null;
  const operation = building(state, policy, rebuilds);
  // until it is known that all went well
  state.homeSorted = false;
  const ready = (paged: PagedChunk) => prepareRests(state, chunk, operation, paged, args);
  const worked = await workOnPages(state, chunk, operation, operation.combining === undefined, ready);
  if (!worked || worked.aborted > 0) {
    state.homeSorted = homeSorted;
    return null;
  }
  let inserted = worked.inserted - worked.erased;
  // there are none in pages that were made anew
  state.noTombstones();
  const { paged, inserts } = worked;
  const displaced = paged.displaced(worked);
  const fallbacks = paged.fallbacks(worked);
  // in a table without an empty slot, what does not fit may have been propagated around, past its own home
  state.homeSorted = !(displaced || fallbacks.length > 0) || !state.full;
  let rejected = 0;
  const add = (tally: InsertTally) => {
    inserted += tally.inserted;
    rejected += tally.rejected;
  };
  if (displaced) add(await inserts.displaced(displaced));
  for (const rest of fallbacks) add(await inserts.fallbacks(rest));
  const { selected } = paged;
  // keys that equal others were left out, and those may be among what does not fit
  if (rejected > 0) rejected = selected - (await (await full()).countPresent(chunk));
  return { inserted, rejected, existing: selected - inserted - rejected };
}

/**
 * Makes ready for what pages leave over, before they are written: entries that are displaced must not get lost then,
 * and values that are combined must all be.
 */
async function prepareRests(
  state: TableState,
  chunk: BoundChunk,
  { rebuilds, combining }: PageOperation,
  { most }: PagedChunk,
  { policy, full }: InsertArguments,
): Promise<{ displaced: Insert; fallbacks: Insert }> {
  const at = (rest: BoundChunk, how: InsertPolicy) =>
    prepareInsert(state, rest, { policy: how, full }, chunk.count);
  const later =
    (how: InsertPolicy): Insert =>
    (rest) =>
      insertChunk(state, rest, { policy: how, full });
  return {
    displaced: rebuilds || combining ? await at(most.displaced, "keep") : later("keep"),
    fallbacks: combining ? await at(most.fallbacks, policy) : later(policy),
  };
}

function building(state: TableState, policy: InsertPolicy, rebuilds: boolean): PageOperation {
  const { value } = state.spec;
  const kind = slotKind(state);
  const applies = value !== null && policy !== "keep" && policy !== "assign";
  const combined = applies ? combining(policy, value as Scalar) : undefined;
  return {
    label: "build",
    kind,
    kernels: Partitioner.of(state).pageSources.build(kind, combined),
    constants: {
      REBUILDS: rebuilds,
      ASSIGNS: policy === "assign",
      COMBINES: applies,
    },
    combining: combined,
    rebuilds,
  };
}

/** What the slots of a table are, and items that become slots. */
function slotKind({ spec }: TableState): ItemKind {
  return spec.value === null ? "key" : "pair";
}

/** Erases a chunk's keys. Answers how many there were; null when its pages do not fit the GPU. */
export async function eraseByPage(state: TableState, chunk: BoundChunk): Promise<number | null> {
  const kernels = Partitioner.of(state).pageSources.erase();
  const keepsEqual = isWide(slotFormat(state.spec));
  const operation = { label: "page-erase", kind: "key", kernels, keepsEqual } as const;
  const worked = await workOnPages(state, chunk, operation, true, async () => null);
  if (!worked) return null;
  let { erased } = worked;
  const displaced = worked.paged.displaced(worked);
  for (const rest of [...(displaced ? [displaced] : []), ...worked.paged.fallbacks(worked)]) {
    erased += await eraseChunk(state, rest);
  }
  return erased;
}

type Worked<T> = Counters & { paged: PagedChunk; inserts: T };

/**
 * Splits a chunk by page and submits an operation on the pages; null when they do not fit the GPU. When the sample of a
 * batch was wrong the pages are as they were, and all is done again from exact counts.
 * @param ready makes ready for what pages leave over; its answer is the `inserts` of this one's.
 */
async function workOnPages<T>(
  state: TableState,
  chunk: BoundChunk,
  operation: PageOperation,
  sampled: boolean,
  ready: (paged: PagedChunk) => Promise<T>,
): Promise<Worked<T> | null> {
  const prepared = await chunk.scratch.attempt(async () => {
    const paged = await splitByPage(state, chunk, operation, sampled);
    return { paged, inserts: await ready(paged) };
  });
  if (!prepared) return null;
  const { paged } = prepared;
  const counters = await state.submit(operation.label, paged.reads, (recorder) => paged.record(recorder));
  if (paged.lost()) return workOnPages(state, chunk, operation, false, ready);
  return { ...counters, ...prepared };
}
