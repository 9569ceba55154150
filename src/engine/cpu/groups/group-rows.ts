/**
 * Grouping rows on the cpu engine: find equal rows (leaders.ts), number and count the groups, list their rows
 * (members.ts). Groups are numbered in the order of their first rows, with any number of threads.
 *
 * Threads share sorting and finding; numbering and listing are the calling thread's. The results are device arrays over
 * the engine's memory. When the call does not succeed, all its memory is given back.
 */
import { bitmapBytes, countSet } from "../../../bitmaps.js";
import type { DeviceArray } from "../../device-array.js";
import type { PlanLog } from "../../plan-log.js";
import { type GroupCall, RowGroups } from "../../row-groups.js";
import type { RowKeys } from "../../rows.js";
import type { CpuEngine } from "../cpu-engine.js";
import { Outputs } from "../memory/outputs.js";
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
  const outputs = new Outputs(engine, "device");
  const pace = new Pace(call, keys.rows, () => threads.guard());
  try {
    const run = new RowRun(threads, work, pace, hashMask);
    return await outputs.keepUnlessThrown(async () => {
      const groups = await group(run, keys, call, outputs);
      pace.finish();
      return groups;
    });
  } finally {
    work.release();
  }
}

async function group(run: RowRun, keys: RowKeys, call: GroupCall, outputs: Outputs): Promise<RowGroups> {
  const { rows } = keys;
  const phase = phaseClock(call.log);
  const column = (length: number) => outputs.make("u32", length) as Column;
  const groupOf = column(rows);
  const { repeats, plan } = await findLeaders(run, keys, call.nullsEqual, groupOf.array, phase);
  call.log?.beginChunk(plan);

  const included = call.nullsEqual ? null : withoutNulls(keys);
  const counts = column((included === null ? rows : countSet(included, rows)) - repeats);
  let numbered = 0;
  await inSteps(run, rows, (from, to) => {
    numbered = numberGroups(groupOf.array, included, counts.array, from, to, numbered);
  });
  phase("number groups");
  const { lists = true } = call;
  const offsets = column(lists ? numbered + 1 : 0);
  if (lists) sumCounts(counts.array, offsets.array);
  const members = column(lists ? offsets.array[numbered] : 0);
  if (lists) {
    const next = offsets.array.slice(0, -1);
    await inSteps(run, rows, (from, to) => listMembers(groupOf.array, next, members.array, from, to));
    phase("list members");
  }
  return new RowGroups({
    groupOf: groupOf.output,
    counts: counts.output,
    offsets: offsets.output,
    members: members.output,
  });
}

/** A result column and the words under it. */
interface Column {
  readonly output: DeviceArray<"u32">;
  readonly array: Uint32Array;
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
export function phaseClock(log: PlanLog | undefined): (name: string) => void {
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
    bits ??= new Uint8Array(bitmapBytes(rows)).fill(0xff);
    for (let i = 0; i < bits.length; i++) bits[i] &= validity[i];
  }
  return bits;
}
