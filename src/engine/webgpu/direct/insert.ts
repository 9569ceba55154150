/**
 * Inserting a chunk, under every policy: slots are claimed first; values that claiming could not combine are combined in
 * later dispatches, which find every key of theirs in its slot.
 */
import type { InsertPolicy, InsertTally } from "../../engine.js";
import { lazily } from "../../lazily.js";
import type { ValueType } from "../../scalars.js";
import type { Column } from "../batch/columns.js";
import type { TableState } from "../table/table-state.js";
import type { FullTable } from "./full-table.js";
import { lookupRun } from "./look-up.js";
import { type BoundChunk, compileRun, groupSizeAt, type Run, runOverChunk } from "./rounds.js";

/** What combines values with those in the table. */
export const loadCombining = lazily(() => import("./apply.js"));

/** What claiming slots came to. */
interface Claimed extends Pick<InsertTally, "inserted" | "rejected"> {
  /** Elements that the mask lets through. */
  selected: number;
  /** True when elements whose keys are there did not come to their slots. */
  skipped: boolean;
}

/** Inserts a chunk. When it met a full table, `chunk.present` may say afterwards which of its keys are in the table. */
export type Insert = (chunk: BoundChunk) => Promise<InsertTally>;

/**
 * Inserts a chunk under a policy. When it met a full table, and values or flags are of use to later dispatches,
 * `chunk.present` says afterwards which of its keys are in the table.
 * @param full what the chunks of a call share when the table is full.
 */
export async function insertChunk(
  state: TableState,
  chunk: BoundChunk,
  policy: InsertPolicy,
  full: FullTable,
): Promise<InsertTally> {
  return (await prepareInsert(state, chunk, policy, full))(chunk);
}

/**
 * Allocates and compiles what combining needs before a slot is claimed: a claimed slot holds no value of the caller's until then.
 * The answer inserts the chunk, or others like it that have no more elements.
 * @param before elements that go into the table between this and the first chunk, and leave no tombstones. When there are any, nothing
 * that comes after this call allocates or compiles.
 */
export async function prepareInsert(
  state: TableState,
  chunk: BoundChunk,
  policy: InsertPolicy,
  full: FullTable,
  before = 0,
): Promise<Insert> {
  const isMap = state.spec.value !== null;
  const combines = isMap && policy !== "keep";
  const applies = combines && policy !== "assign";
  const module = combines ? await loadCombining() : null;
  const fill = applies ? module?.combining(policy, state.spec.value as ValueType).fill : undefined;
  // one that goes with the load would ask for other kernels meanwhile
  if (combines || before > 0) chunk.groupSize ??= groupSizeAt(state, false);
  const { groupSize } = chunk;
  const looksAgain = combines || (isMap && chunk.flags !== undefined);
  const present = looksAgain && state.mayFill(before + chunk.count) ? await full.prepare(chunk) : undefined;
  const apply = applies && (await module?.prepareApply(state, chunk, policy, present));
  const claiming = claimingRun(state, chunk, { assign: policy === "assign", fill, before });
  if (combines || before > 0) await compileRun(state, { ...claiming, mask: chunk.mask }, groupSize);
  const claims = await claimsOf(state, chunk);
  return async (chunk) => {
    chunk.groupSize ??= groupSize;
    const claimed = await claimSlots(state, chunk, { ...claiming, ...claims }, { present, full });
    if (apply) await apply(chunk);
    else if (module && claimed.skipped) {
      await (await module.prepareApply(state, chunk, "assign", present))(chunk);
    }
    const { inserted, selected, rejected } = claimed;
    return { inserted, rejected, existing: selected - inserted - rejected };
  };
}

/** What a run needs that claims slots by row: a word an element. */
export async function claimsOf(
  { sources }: TableState,
  { scratch, count }: BoundChunk,
): Promise<Pick<Run, "claims" | "before">> {
  if (sources.settle === null || count === 0) return {};
  const claims = await scratch.column("u32", count);
  return { claims, before: (encoder) => encoder.clearBuffer(claims.range.buffer, 0, count * 4) };
}

/** How the insert kernel is run over chunks like this one. */
function claimingRun(
  { tombstones, sources }: TableState,
  { flags }: BoundChunk,
  { assign, fill, before }: { assign: boolean; fill: number | undefined; before: number },
): Run {
  const reuse = before === 0 && tombstones > 0;
  const constants = {
    REUSE: reuse,
    STOPS_AT_TOMBSTONES: reuse,
    FLAGGED: flags !== undefined,
    ASSIGN: assign,
    FILL: fill !== undefined,
  };
  return {
    kernel: sources.insert,
    constants,
    fill: fill === undefined ? undefined : [fill],
    stopsWhenFull: true,
  };
}

/** Runs the insert kernel until every element has its slot, meets its key, or is known not to fit. */
async function claimSlots(
  state: TableState,
  chunk: BoundChunk,
  claiming: Run,
  { present, full }: { present: Column | undefined; full: FullTable },
): Promise<Claimed> {
  const { mask, values, flags } = chunk;
  const reuse = claiming.constants.REUSE === true;
  if (reuse) await findKnown(state, chunk);
  const totals = await runOverChunk(state, chunk, { ...claiming, mask, values, flags });
  const { inserted, selected } = totals;
  if (totals.rest === null) return { inserted, selected, rejected: totals.rejected, skipped: reuse };
  const rejected = await full.countRejected(chunk, totals, present);
  chunk.present = present;
  return { inserted, selected, rejected, skipped: true };
}

/** Leaves 1 in `chunk.known` for the keys that are in the table. */
async function findKnown(state: TableState, chunk: BoundChunk): Promise<void> {
  const { count, mask } = chunk;
  const known = await chunk.scratch.column("u8", count);
  await runOverChunk(state, chunk, lookupRun(state, count, { mask, flags: known }));
  chunk.known = known;
}

/** True when combining needs worklists with room for all elements of a chunk, since none may go on in place: see apply.wgsl. */
export function needsRoomForAll({ spec, windows }: TableState, policy: InsertPolicy): boolean {
  if (policy === "keep" || spec.value === null) return false;
  return windows.length > 1 || (spec.value === "f32" && policy !== "assign");
}
