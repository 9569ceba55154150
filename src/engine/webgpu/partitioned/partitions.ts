/**
 * A chunk in the order of its parts: the same operation as on the chunk itself, by the same direct kernels, whose accesses
 * now stay within the cache. Results come back in the order of the batch (restore.ts).
 */

import { slotWords } from "../../layout.js";
import type { PlanLog } from "../../plan.js";
import { bindAt } from "../batch/columns.js";
import { lookUpChunk } from "../direct/look-up.js";
import { type BoundChunk, reserveLists } from "../direct/rounds.js";
import type { Readback } from "../memory/readback.js";
import type { TableState } from "../table/table-state.js";
import { FEW_PARTS, MOST_PARTS, type PartedItems, type Parts, splitByPart } from "./multisplit.js";
import type { Choice } from "./planner.js";
import { ABSENT, prepareRestore, type ResultColumns } from "./unpermute.js";

/** Bytes of table that a part has at most, if parts are not too many then: a fraction of a large GPU's cache. */
const PART_BYTES = 2 ** 23;

/** Parts for the direct kernels. */
export function cacheParts(state: TableState): Parts {
  const { slots } = state.spec;
  const partSlots = PART_BYTES / (slotWords(state.spec) * 4);
  const wanted = Math.min(Math.max(Math.ceil(slots / partSlots), FEW_PARTS), MOST_PARTS);
  const shift = Math.max(0, Math.ceil(Math.log2(slots / wanted)));
  return { shift, count: Math.ceil(slots / 2 ** shift) };
}

/** What a split may do that shows to be wrong only afterwards. */
interface Guesses {
  /** Parts' sizes come from a sample; then elements may be looked up that were not given. */
  sampled: boolean;
  /** Absent keys have the value ABSENT in place of flags. */
  marked: boolean;
}

/**
 * The chunk as the direct kernels are to see it. Its keys, and the values that it brings, are in the order of parts; its result
 * columns are scratch memory, and `finish` brings them to those given. An operation that brings values and answers values has one
 * column for both: what was brought is in the table before anything is answered.
 */
async function partitioned(
  state: TableState,
  chunk: BoundChunk,
  results: ResultColumns,
): Promise<BoundChunk> {
  return (await split(state, chunk, results, { sampled: false, marked: false })).parted;
}

/** The same for a lookup, which guesses, and does without when it was wrong. */
async function partitionedLookup(
  state: TableState,
  chunk: BoundChunk,
  results: ResultColumns,
  log: PlanLog | undefined,
): Promise<BoundChunk> {
  const { spoiled } = state;
  const marked = results.values !== undefined && results.flags !== undefined && !spoiled.has("marks");
  const { parted, items } = await split(state, chunk, results, { sampled: !spoiled.has("samples"), marked });
  // there may be a few more elements than were given
  await reserveLists(state, parted);
  const lookUp = async (fill: number, reads: readonly Readback[]) => {
    const first = marked ? ABSENT : fill;
    const done = await lookUpChunk(state, parted, first, [...reads, ...items.reads]);
    const wrong = whatWasWrong(items, done);
    if (wrong === null) return done;
    spoiled.add(wrong);
    return lookUpInParts(state, chunk, results, log, { fill, reads });
  };
  return { ...parted, lookUp };
}

/** Which of its guesses has spoiled a lookup, if any has. */
export function whatWasWrong(
  items: PartedItems,
  { declined }: { declined: number },
): "samples" | "marks" | null {
  if (items.lost()) return "samples";
  return declined > 0 ? "marks" : null;
}

/**
 * A chunk by parts; null, and so noted, where there is too little memory for that.
 * @param planned what the planner took: pages may have turned out not to do.
 * @param guesses for a lookup, which may guess.
 */
export async function inParts(
  state: TableState,
  chunk: BoundChunk,
  results: ResultColumns,
  log: PlanLog | undefined,
  planned: Choice["way"],
  guesses = false,
  reason = planned === "pages" ? "pages take more memory than there is, or would be too crowded" : undefined,
): Promise<BoundChunk | null> {
  const parted = await chunk.scratch.attempt(() =>
    guesses ? partitionedLookup(state, chunk, results, log) : partitioned(state, chunk, results),
  );
  if (!parted) log?.noteWay({ strategy: "direct", reason: "there is too little memory", parts: 1, pages: 0 });
  else log?.noteWay({ parts: cacheParts(state).count, pages: 0, ...(reason && { reason }) });
  return parted;
}

/** Looks a chunk up after all: by parts, or for want of memory directly. */
export async function lookUpInParts(
  state: TableState,
  chunk: BoundChunk,
  results: ResultColumns,
  log: PlanLog | undefined,
  { fill, reads }: { fill: number; reads: readonly Readback[] },
  guesses = false,
  reason?: string,
): Promise<{ declined: number }> {
  const { values, flags } = results;
  const parted = await inParts(state, chunk, results, log, "parts", guesses, reason);
  return lookUpChunk(state, parted ?? { ...chunk, values, flags }, fill, reads);
}

async function split(
  state: TableState,
  chunk: BoundChunk,
  results: ResultColumns,
  { sampled, marked }: Guesses,
): Promise<{ parted: BoundChunk; items: PartedItems }> {
  const { scratch, count } = chunk;
  const placed = results.values !== undefined || results.flags !== undefined;
  const kind = chunk.values ? "pair" : "key";
  const parts = cacheParts(state);
  const restoring = placed ? prepareRestore(state, chunk, results, parts, kind, marked) : null;
  // told where it is awaited
  restoring?.catch(() => {});
  const items = await splitByPart(state, chunk, parts, { kind, put: "columns", placed, sampled });
  const brought = items.values && bindAt(items.values.buffer, 0, count * 4);
  const parted: BoundChunk = {
    ...chunk,
    count: items.filled,
    keys: bindAt(items.keys.buffer, 0, items.filled * 4),
    values: brought,
    mask: undefined,
    partShift: parts.shift,
    marked,
  };
  if (!restoring) return { parted, items };
  const column = (type: "u32" | "u8") => scratch.column(type, items.room);
  parted.values = results.values ? (brought ?? (await column("u32"))) : brought;
  parted.flags = results.flags && !marked ? await column("u8") : undefined;
  const restore = await restoring;
  const from = { values: results.values && parted.values, flags: parted.flags };
  parted.finish = (encoder) => restore(encoder, items, from);
  return { parted, items };
}
