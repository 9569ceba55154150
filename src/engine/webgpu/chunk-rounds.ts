/**
 * What happens to one chunk of a batch: rounds of dispatches until no element is unfinished. The kernels do the probing;
 * this file decides which of them run over which elements.
 */
import { LimitError } from "../../errors.js";
import { DeviceArray } from "../device-array.js";
import type { InsertPolicy, InsertTally } from "../engine.js";
import type { KeyType, ValueType } from "../scalars.js";
import { applyIdentity } from "./apply-identity.js";
import { type Chunk, type Column, Scratch } from "./columns.js";
import type { Counters } from "./control.js";
import type { Readback } from "./gpu.js";
import type { Constants, Kernel, KernelSource } from "./kernel.js";
import { againAfter, listedAfter, type Selection, wholeChunk } from "./selection.js";
import { applyCodes, BATCH_TILE, type TableParams, tableParams, tableRanges } from "./table-kernels.js";
import { retrieveAll } from "./table-scans.js";
import { newState, type TableState } from "./table-state.js";

/** The columns of one chunk, bound. */
export interface BoundChunk extends Chunk {
  scratch: Scratch;
  keys: Column;
  values?: Column;
  mask?: Column;
  flags?: Column;
  known?: Column;
  lists?: GPUBuffer;
  /** Looked at between rounds, where stopping loses nothing. */
  signal?: AbortSignal;
}

/** One dispatch over a selection of a chunk. */
interface Round {
  kernel: KernelSource;
  constants: Constants;
  selection: Selection;
  fill?: number;
  reads?: readonly Readback[];
}

/** What claiming slots came to. */
interface ClaimTally {
  inserted: number;
  /** Elements that the mask lets through. */
  selected: number;
  rejected: number;
  /** True when elements whose keys are there did not come to their slots. */
  skipped: boolean;
}

/** Inserts a chunk under a policy: claims slots, then combines values where claiming could not. */
export async function insertChunk(
  state: TableState,
  chunk: BoundChunk,
  policy: InsertPolicy,
): Promise<InsertTally> {
  const applies = policy !== "keep" && policy !== "assign";
  const fill = applies ? applyIdentity(policy, state.spec.value as ValueType) : undefined;
  // what combining needs is there before a slot is claimed: a claimed slot holds no value of the caller's until then
  const apply = applies ? await prepareApply(state, chunk, policy) : null;
  const claimed = await claimChunk(state, chunk, policy === "assign", fill);
  if (apply) await apply();
  else if (policy === "assign" && claimed.skipped && state.spec.value !== null) {
    await (await prepareApply(state, chunk, "assign"))();
  }
  const { inserted, selected, rejected } = claimed;
  return { inserted, rejected, existing: selected - inserted - rejected };
}

/** Runs the insert kernel until every element has its slot, meets its key, or is known not to fit. */
async function claimChunk(
  state: TableState,
  chunk: BoundChunk,
  assign: boolean,
  fill: number | undefined,
): Promise<ClaimTally> {
  const reuse = state.tombstones > 0;
  const constants = {
    REUSE: Number(reuse),
    FLAGGED: Number(chunk.flags !== undefined),
    ASSIGN: Number(assign),
    FILL: Number(fill !== undefined),
  };
  const tally: ClaimTally = { inserted: 0, selected: 0, rejected: 0, skipped: reuse };
  let selection: Selection = wholeChunk(chunk.count, state.host.listRoom);
  for (;;) {
    if (reuse && !selection.listed) await findKnown(state, chunk);
    const counters = await round(state, chunk, { kernel: state.sources.insert, constants, selection, fill });
    tally.inserted += counters.inserted + counters.sideInserted;
    if (!selection.listed) {
      tally.selected = chunk.mask ? counters.selected : chunk.count;
      tally.rejected = 0;
    }
    tally.rejected += counters.rejected;
    const next = afterRound(selection, counters, chunk.count);
    if (next === null) return tally;
    if (state.full) return settleFull(state, chunk, next, tally);
    selection = next;
  }
}

/**
 * With no slot free, what is unfinished either meets its key or does not fit. In a full table a key that is not there is
 * walked for as far as the longest walk goes, which may be all slots: many such keys are looked up in a roomy copy.
 */
async function settleFull(
  state: TableState,
  chunk: BoundChunk,
  rest: Selection,
  tally: ClaimTally,
): Promise<ClaimTally> {
  const steps = rest.count * state.maxProbe;
  const copy = steps > COPY_ABOVE_STEPS ? await roomyCopy(state) : null;
  try {
    const found = await countFound(copy ?? state, chunk, rest);
    // over the whole chunk, elements that were rejected before are among those not found
    const rejected = rest.listed ? tally.rejected + rest.count - found : tally.selected - found;
    return { ...tally, rejected, skipped: true };
  } finally {
    copy?.destroy();
  }
}

/** Steps above which copying a table's keys is cheaper: some ten milliseconds on a GPU. */
const COPY_ABOVE_STEPS = 2 ** 28;

/** A set of a table's keys at load 0.5, or null when there is no memory for it. */
async function roomyCopy(state: TableState): Promise<TableState | null> {
  const { host, spec, live } = state;
  const scratch = new Scratch(host.gpu);
  let copy: TableState | null = null;
  let entries: Awaited<ReturnType<typeof retrieveAll>> | null = null;
  try {
    copy = await newState(host, { ...spec, value: null, slots: 2 * live });
    entries = await retrieveAll(state, "device", {});
    const keys = entries.keys as DeviceArray<KeyType>;
    const all = { first: 0, count: live };
    await insertChunk(copy, { ...all, scratch, keys: await scratch.input(spec.key, keys, all) }, "keep");
    return copy;
  } catch (error) {
    copy?.destroy();
    if (error instanceof LimitError) return null;
    throw error;
  } finally {
    for (const column of [entries?.keys, entries?.values]) {
      if (column instanceof DeviceArray) column.destroy();
    }
    scratch.release();
  }
}

/**
 * Leaves 1 in `chunk.known` for the keys that are in the table. Not to be aborted: slots may be claimed already whose
 * values are applied only when the claims are done.
 */
async function findKnown(state: TableState, chunk: BoundChunk): Promise<void> {
  chunk.known ??= await chunk.scratch.column("u8", chunk.count);
  const plain = { ...chunk, flags: chunk.known, known: undefined, values: undefined, signal: undefined };
  await lookUpChunk(state, plain, 0, []);
}

/** Looks a chunk up into its `values` and `flags` columns, as far as it has them, and reads results back. */
export async function lookUpChunk(
  state: TableState,
  chunk: BoundChunk,
  fill: number,
  reads: readonly Readback[],
): Promise<void> {
  const constants = {
    VALUED: Number(chunk.values !== undefined),
    FLAGGED: Number(chunk.flags !== undefined),
    COUNTED: 0,
  };
  const kernel = state.sources.lookup;
  let selection = wholeChunk(chunk.count, state.host.listRoom);
  let counters = await round(state, chunk, { kernel, constants, selection, fill, reads });
  if (counters.unfinished === 0) return;
  while (counters.unfinished > 0) {
    chunk.signal?.throwIfAborted();
    selection = listedAfter(selection, counters.unfinished);
    counters = await round(state, chunk, { kernel, constants, selection, fill });
  }
  await state.host.gpu.submit("results", () => {}, reads);
}

/** How many elements of a selection have their key in the table. */
async function countFound(state: TableState, chunk: BoundChunk, start: Selection): Promise<number> {
  const constants = { VALUED: 0, FLAGGED: 0, COUNTED: 1 };
  const plain = { ...chunk, values: undefined, flags: undefined };
  let found = 0;
  for (let selection = start; ; ) {
    const counters = await round(state, plain, { kernel: state.sources.lookup, constants, selection });
    found += counters.found;
    if (counters.unfinished === 0) return found;
    selection = listedAfter(selection, counters.unfinished);
  }
}

/** Allocates and compiles what it takes to combine the values of a chunk with those of its keys; the answer does it. */
async function prepareApply(
  state: TableState,
  chunk: BoundChunk,
  op: keyof typeof applyCodes,
): Promise<() => Promise<void>> {
  const isF32 = state.spec.value === "f32" && op !== "assign";
  const constants = { OP: applyCodes[op], VALUE_F32: Number(isF32) };
  const whole = wholeChunk(chunk.count, isF32 ? chunk.count : state.host.listRoom);
  const all = { ...chunk, lists: await chunk.scratch.buffer(whole.room * 8) };
  const kernel = state.sources.apply;
  for (const listed of [false, true])
    await compileRound(state, chunk, { kernel, constants, selection: { ...whole, listed } });
  return async () => {
    for (let selection = whole; ; ) {
      const counters = await round(state, all, { kernel, constants, selection });
      if (counters.unfinished === 0) return;
      selection = listedAfter(selection, counters.unfinished);
    }
  };
}

/** Erases a chunk's keys. Answers how many there were. */
export async function eraseChunk(state: TableState, chunk: BoundChunk): Promise<number> {
  let erased = 0;
  let selection: Selection | null = wholeChunk(chunk.count, state.host.listRoom);
  while (selection) {
    chunk.signal?.throwIfAborted();
    const kernel = state.sources.erase;
    const counters: Counters = await round(state, chunk, { kernel, constants: {}, selection });
    erased += counters.erased + counters.sideErased;
    selection = afterRound(selection, counters, chunk.count);
  }
  return erased;
}

/** One dispatch over a selection of a chunk. */
async function round(state: TableState, chunk: BoundChunk, each: Round): Promise<Counters> {
  const { selection } = each;
  chunk.lists ??= await chunk.scratch.buffer(selection.room * 8);
  const kernel = await compileRound(state, chunk, each);
  const params: TableParams = {
    slots: state.spec.slots,
    count: selection.count,
    keyShift: chunk.keys.shift,
    valueShift: chunk.values?.shift,
    maskShift: chunk.mask?.shift,
    flagShift: chunk.flags?.shift,
    fill: each.fill,
    stepBudget: selection.budget,
    maxProbe: state.maxProbe,
    listFrom: selection.from,
    listTo: selection.to,
    listRoom: selection.room,
  };
  const ranges = tableRanges({
    ...state.bindings,
    keys: chunk.keys.range,
    mask: chunk.mask?.range,
    lists: { buffer: chunk.lists, offset: 0, size: selection.room * 8 },
    values: chunk.values?.range,
    flags: chunk.flags?.range,
    known: chunk.known?.range,
  });
  return state.submit(each.kernel.label, each.reads ?? [], (encoder) => {
    kernel.record(encoder, ranges, tableParams(params), Math.ceil(selection.count / BATCH_TILE));
  });
}

function compileRound(
  state: TableState,
  chunk: BoundChunk,
  { kernel, constants, selection }: Round,
): Promise<Kernel> {
  const flags = { listed: selection.listed, masked: chunk.mask !== undefined && !selection.listed };
  return state.host.kernels.compile(kernel, { ...state.sources.batchConstants(flags), ...constants });
}

/** The next selection after a round, or null when nothing is unfinished. */
function afterRound(selection: Selection, counters: Counters, chunkCount: number): Selection | null {
  if (counters.unfinished === 0) return null;
  if (counters.unfinished <= selection.room) return listedAfter(selection, counters.unfinished);
  return againAfter(selection, chunkCount);
}
