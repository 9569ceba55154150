/**
 * Inserting a chunk, under every policy: slots are claimed first; values that claiming could not combine are combined in
 * later dispatches, which find every key of theirs in its slot.
 */
import type { InsertPolicy, InsertTally } from "../../engine.js";
import { lazily } from "../../lazily.js";
import type { Scalar } from "../../scalars.js";
import { isWide } from "../../slot-format.js";
import type { BoundChunk } from "../batch/bound-chunk.js";
import type { Column } from "../batch/columns.js";
import type { TableState } from "../table/table-state.js";
import type { FullTable } from "./full-table.js";
import { clearFlags, lookupRun } from "./look-up.js";
import { compileRun, groupSizeAt, type Run, runOverChunk } from "./rounds.js";
import { WORKLIST_BYTES } from "./worklist.js";

/** What combines values with those in the table. */
const loadCombining = lazily(() => import("./apply.js"));

/** What an insert of a chunk is told. */
export interface InsertArguments {
  readonly policy: InsertPolicy;
  /** What the chunks of a call share when the table is full. */
  readonly full: FullTable;
  /** A byte an element: 1 for those that insert their keys, else 0. */
  readonly flags?: Column;
}

/** What an insert came to. */
export interface Inserted extends InsertTally {
  /** A byte an element: 1 if its key is in the table. There when the insert met a full table and later dispatches have use for it. */
  readonly present?: Column;
}

/** What claiming slots came to. */
interface Claimed extends Pick<InsertTally, "inserted" | "rejected"> {
  /** Elements that the mask lets through. */
  readonly selected: number;
  /** True when elements whose keys are there did not come to their slots. */
  readonly skipped: boolean;
  readonly present?: Column;
}

/** Inserts a chunk. */
export async function insertChunk(
  state: TableState,
  chunk: BoundChunk,
  args: InsertArguments,
): Promise<Inserted> {
  return (await prepareInsert(state, chunk, args))(chunk);
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
  args: InsertArguments,
  before = 0,
): Promise<(chunk: BoundChunk) => Promise<Inserted>> {
  const { policy, full, flags } = args;
  const isMap = state.spec.value !== null;
  const combines = isMap && policy !== "keep";
  const assigns = policy === "assign" && !isWide(state.sources.format);
  const applies = combines && !assigns;
  const module = combines ? await loadCombining() : null;
  const fill = module?.fillOf(policy, state.spec.value as Scalar);
  const looksAgain = (combines || (isMap && flags !== undefined)) && state.mayFill(before + chunk.count);
  // one that goes with the load would ask for other kernels meanwhile
  const fixes = combines || looksAgain || before > 0;
  const groupSize = chunk.groupSize ?? (fixes ? groupSizeAt(state, false) : undefined);
  const sized = { ...chunk, groupSize };
  const present = looksAgain ? await full.prepare(sized) : undefined;
  const apply = applies && (await module?.prepareApply(state, sized, policy, present));
  const claiming = {
    ...claimingRun(state, { assign: assigns, fill, before, flags }),
    ...(await claimsOf(state, chunk, flags)),
  };
  if (fixes) await compileRun(state, { ...claiming, mask: chunk.mask }, groupSize);
  return async (chunk) => {
    const own = { ...chunk, groupSize: chunk.groupSize ?? groupSize };
    const claimed = await claimSlots(state, own, claiming, present, full);
    const mask = claimed.present ?? chunk.mask;
    if (apply) await apply(own, mask);
    else if (module && claimed.skipped) {
      await (await module.prepareApply(state, own, "assign", present))(own, mask);
    }
    const { inserted, selected, rejected } = claimed;
    return { inserted, rejected, existing: selected - inserted - rejected, present: claimed.present };
  };
}

/** What a run that claims slots needs before: zeroed flags, and a word an element where slots are claimed by row. */
export async function claimsOf(
  { sources }: TableState,
  { scratch, count }: Pick<BoundChunk, "scratch" | "count">,
  flags?: Column,
): Promise<Pick<Run, "claims" | "before">> {
  const claims = sources.settle && count > 0 ? await scratch.column("u32", count) : undefined;
  const before = (encoder: GPUCommandEncoder) => {
    if (claims) encoder.clearBuffer(claims.range.buffer, 0, count * 4);
    if (flags) clearFlags(encoder, flags, count);
  };
  return claims ? { claims, before } : { before };
}

/** How the insert kernel is run. */
function claimingRun(
  { tombstones, sources }: TableState,
  at: {
    assign: boolean;
    fill: readonly number[] | undefined;
    before: number;
    flags: Column | undefined;
  },
): Run {
  const { assign, fill, before, flags } = at;
  const reuse = before === 0 && tombstones > 0;
  const constants = {
    REUSE: reuse,
    STOPS_AT_TOMBSTONES: reuse,
    FLAGGED: flags !== undefined,
    ASSIGN: assign,
    FILL: fill !== undefined,
  };
  return { kernel: sources.insert, constants, fill, flags, stopsWhenFull: true };
}

/** Runs the insert kernel until every element has its slot, meets its key, or is known not to fit. */
async function claimSlots(
  state: TableState,
  chunk: BoundChunk,
  claiming: Run,
  present: Column | undefined,
  full: FullTable,
): Promise<Claimed> {
  const { mask, values } = chunk;
  const reuse = claiming.constants.REUSE === true;
  const known = reuse ? await findKnown(state, chunk) : undefined;
  const totals = await runOverChunk(state, chunk, { ...claiming, mask, values, known });
  const { inserted, selected } = totals;
  if (totals.rest === null) return { inserted, selected, rejected: totals.rejected, skipped: reuse };
  const rejected = await full.countRejected(chunk, totals, present);
  return { inserted, selected, rejected, skipped: true, present };
}

/** A byte an element: 1 for the keys that are in the table. */
async function findKnown(state: TableState, chunk: BoundChunk): Promise<Column> {
  const { count, mask } = chunk;
  const known = await chunk.scratch.column("u8", count);
  await runOverChunk(state, chunk, lookupRun(state, count, { mask, flags: known }));
  return known;
}

/** True when combining needs worklists with room for all elements of a chunk, since none may go on in place: see apply.wgsl. */
export function needsRoomForAll({ spec, windows }: TableState, policy: InsertPolicy): boolean {
  if (policy === "keep" || spec.value === null) return false;
  return windows.length > 1 || (spec.value === "f32" && policy !== "assign");
}

/** Bytes of the words that an element has for a sum of doubles: see sums.wgsl. */
export const SUM_BYTES = 28;

/** Bytes that combining binds for an element of a chunk in one range, at most. */
export function bytesToCombine(state: TableState, policy: InsertPolicy): number {
  if (state.spec.value === "f64" && policy === "add") return SUM_BYTES;
  return needsRoomForAll(state, policy) ? WORKLIST_BYTES : 4;
}
