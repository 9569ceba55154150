/**
 * Inserting a chunk where a slot may be claimed before its value is there, or a key may find none: values that are
 * combined, tombstones that are taken, slots that are claimed by row, and tables that fill up. Loaded by the first
 * insert that is not plain: see insert.ts.
 */
import type { ApplyOp, InsertTally } from "../../engine.js";
import type { BoundChunk } from "../../gpu/batch/bound-chunk.js";
import type { Column } from "../../gpu/batch/columns.js";
import type { Recorder } from "../../gpu/runtime.js";
import type { Scalar } from "../../scalars.js";
import { isWide } from "../../slot-format.js";
import type { TableState } from "../table/table-state.js";
import { fillOf, prepareApply } from "./apply.js";
import type { FullTable } from "./full-table.js";
import { compileRun } from "./further-rounds.js";
import type { InsertArguments, Inserted } from "./insert.js";
import { clearFlags, lookupRun } from "./look-up.js";
import { groupSizeAt, type Run, runOverChunk } from "./rounds.js";

interface Claimed extends Pick<InsertTally, "inserted" | "rejected"> {
  /** Elements that the mask lets through. */
  readonly selected: number;
  /** True when elements whose keys are there did not come to their slots. */
  readonly skipped: boolean;
  readonly present?: Column;
}

/**
 * Allocates and compiles what combining needs before a slot is claimed: a claimed slot holds no value of the caller's
 * until then. The answer inserts the chunk, or others like it that have no more elements.
 * @param before elements that go into the table between this and the first chunk, and leave no tombstones. When there
 * are any, nothing that comes after this call allocates or compiles.
 */
export async function prepareInsert(
  state: TableState,
  chunk: BoundChunk,
  args: InsertArguments,
  before = 0,
): Promise<(chunk: BoundChunk) => Promise<Inserted>> {
  const { policy, flags } = args;
  const full = await args.full();
  const isMap = state.spec.value !== null;
  const combines = isMap && policy !== "keep";
  const assigns = policy === "assign" && !isWide(state.sources.format);
  const applies = combines && !assigns;
  const fill = combines ? fillOf(policy, state.spec.value as Scalar) : undefined;
  const looksAgain = (combines || (isMap && flags !== undefined)) && state.mayFill(before + chunk.count);
  // one that goes with the load would ask for other kernels meanwhile
  const fixes = combines || looksAgain || before > 0;
  const groupSize = chunk.groupSize ?? (fixes ? groupSizeAt(state, false) : undefined);
  const sized = { ...chunk, groupSize };
  const present = looksAgain ? await full.prepare(sized) : undefined;
  const apply = applies && (await prepareApply(state, sized, policy as ApplyOp, present));
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
    else if (combines && claimed.skipped) {
      await (await prepareApply(state, own, "assign", present))(own, mask);
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
  const before = (recorder: Recorder) => {
    if (claims) recorder.clear(claims.range.buffer, 0, count * 4);
    if (flags) clearFlags(recorder, flags, count);
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
