/**
 * Grouping rows on the cpu engine: find equal rows (leaders.ts), number and count the groups, list their rows (members.ts).
 * Groups are numbered in the order of their first rows, with any number of threads.
 *
 * Threads share sorting and finding; numbering and listing are the calling thread's. The results are device arrays over the
 * engine's memory. When the call does not succeed, all its memory is given back.
 */
import type { DeviceArray } from "../../device-array.js";
import type { PlanLog } from "../../plan.js";
import { type GroupCall, RowGroups } from "../../row-groups.js";
import type { RowKeys } from "../../rows.js";
import type { CpuEngine } from "../cpu-engine.js";
import { Pace } from "../rows/pace.js";
import { ALL_BITS, RowRun } from "../rows/row-run.js";
import { rowThreads } from "../rows/row-threads.js";
import { findLeaders } from "./leaders.js";
import { listMembers, numberGroups, sumCounts } from "./members.js";

/** Rows numbered or listed between two looks at the signal. */
const STEP_ROWS = 2 ** 20;

/**
 * Groups rows.
 * @param hashMask for tests: hashes are and-ed with it, so few bits make keys collide
 * @throws LimitError when there is no memory for the result, or for the work
 */
export async function groupRows(
  engine: CpuEngine,
  keys: RowKeys,
  call: GroupCall,
  hashMask = ALL_BITS,
): Promise<RowGroups> {
  call.signal?.throwIfAborted();
  const threads = rowThreads(engine);
  const work = threads.memory(keys.rows);
  const columns = new Columns(engine);
  const pace = new Pace(call, keys.rows, () => engine.guard());
  try {
    const groups = await group(new RowRun(threads, work, pace, hashMask), keys, call, columns);
    pace.finish();
    return groups;
  } catch (error) {
    columns.destroy();
    throw error;
  } finally {
    work.release();
  }
}

async function group(run: RowRun, keys: RowKeys, call: GroupCall, columns: Columns): Promise<RowGroups> {
  const { rows } = keys;
  const phase = phaseClock(call.log);
  const groupOf = columns.add(rows, true);
  const { repeats, plan } = await findLeaders(run, keys, call.nullsEqual, groupOf.words, phase);
  call.log?.beginChunk(plan);

  const included = call.nullsEqual ? null : withoutNulls(keys);
  const counts = columns.add(countRows(included, rows) - repeats, true);
  let numbered = 0;
  await inSteps(run, rows, (from, to) => {
    numbered = numberGroups(groupOf.words, included, counts.words, from, to, numbered);
  });
  const offsets = columns.add(numbered + 1);
  sumCounts(counts.words, offsets.words);
  phase("number groups");

  const members = columns.add(offsets.words[numbered]);
  const next = offsets.words.slice(0, -1);
  await inSteps(run, rows, (from, to) => listMembers(groupOf.words, 0, next, members.words, from, to));
  phase("list members");
  return new RowGroups({
    groupOf: groupOf.array,
    counts: counts.array,
    offsets: offsets.array,
    members: members.array,
  });
}

/** A result column and the words under it. */
interface Column {
  readonly array: DeviceArray<"u32">;
  readonly words: Uint32Array;
}

/** The device arrays of one call. */
class Columns {
  readonly #engine: CpuEngine;
  readonly #arrays: DeviceArray<"u32">[] = [];

  constructor(engine: CpuEngine) {
    this.#engine = engine;
  }

  /** A new column, which holds anything unless zeroed. @throws LimitError */
  add(length: number, zeroed = false): Column {
    const array = this.#engine.newArray("u32", length, zeroed);
    this.#arrays.push(array);
    return { array, words: array.storage.host as Uint32Array };
  }

  destroy(): void {
    for (const array of this.#arrays) array.destroy();
  }
}

/** Goes through the rows in steps; before each the event loop runs and the signal is looked at. */
async function inSteps(
  { pace }: RowRun,
  rows: number,
  step: (from: number, to: number) => void,
): Promise<void> {
  for (let from = 0; from < rows; from += STEP_ROWS) {
    await pace.pause();
    step(from, Math.min(rows, from + STEP_ROWS));
  }
}

/** Notes the time since the last phase, or the start, under a name. */
function phaseClock(log: PlanLog | undefined): (name: string) => void {
  let last = performance.now();
  return (name) => {
    const now = performance.now();
    log?.add(name, now - last);
    last = now;
  };
}

/** Bitmap of the rows without a null; null when there is no column with nulls. */
function withoutNulls({ columns, rows }: RowKeys): Uint8Array | null {
  let bits: Uint8Array | null = null;
  for (const { validity } of columns) {
    if (validity === null) continue;
    bits ??= new Uint8Array((rows + 7) >>> 3).fill(0xff);
    for (let i = 0; i < bits.length; i++) bits[i] &= validity[i];
  }
  return bits;
}

/** Bits set among the first `rows`; all of them for null. */
function countRows(bits: Uint8Array | null, rows: number): number {
  if (bits === null) return rows;
  let count = 0;
  for (let i = 0; i < bits.length; i++) {
    const left = rows - 8 * i;
    let byte = left >= 8 ? bits[i] : bits[i] & ((1 << left) - 1);
    for (; byte !== 0; byte &= byte - 1) count++;
  }
  return count;
}
