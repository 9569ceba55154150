/** gups on the CPU: on the calling thread, and on as many workers as the engine has threads. */
import { type Device, EngineError } from "../src/index.js";
import type { GupsFigures, GupsRate, GupsSize } from "./gups.js";
import { perform, type Task } from "./gups-cpu-loops.js";
import { type Team, workers } from "./gups-team.js";
import { mix } from "./mix.js";
import { timeInTurn } from "./timing.js";

/** Reads of each thread in a run: 0.05 to 0.2 s where a read misses all caches. */
const MOST_READS = 2 ** 22;
/** For each entry of a table that caches hold. */
const READS_OF_ENTRY = 64;
/** Reads that are computed again without the table, at most. */
const CHECKED_READS = 2 ** 18;

/** Measures random 8-byte reads and copying, with one thread and with all of them. */
export async function measureGupsOnCpu(device: Device, { entries, runs }: GupsSize): Promise<GupsFigures> {
  const { threads } = device.info;
  // a page may have no shared memory, and then it has one thread
  const memory = () =>
    threads > 1 ? new Float64Array(new SharedArrayBuffer(entries * 8)) : new Float64Array(entries);
  const arrays = { table: memory(), target: memory() };
  const count = Math.min(MOST_READS, READS_OF_ENTRY * entries);
  const teams = threads > 1 ? [callingThread(), workers(threads)] : [callingThread()];
  try {
    perform({ kind: "fill", ...arrays, from: 0, to: entries });
    for (const team of teams) await check(team, arrays, count);
    const reads = await rates(teams, runs, (team) => {
      const part = (thread: number) => ({
        kind: "read" as const,
        ...arrays,
        from: thread * count,
        to: (thread + 1) * count,
      });
      return { operations: count * team.threads, call: () => team.share(part) };
    });
    const copies = await rates(teams, runs, (team) => {
      const part = (thread: number) => ({
        kind: "copy" as const,
        ...arrays,
        ...slice(entries, team, thread),
      });
      return { operations: entries * 16, call: () => team.share(part) };
    });
    return { entries, clock: "wall clock", reads, copies };
  } finally {
    for (const team of teams) team.end();
  }
}

function callingThread(): Team {
  return { threads: 1, share: async (part) => [perform(part(0))], end: () => {} };
}

async function rates(
  teams: readonly Team[],
  runs: number,
  work: (team: Team) => { operations: number; call: () => unknown },
): Promise<GupsRate[]> {
  const all = teams.map(work);
  const timings = await timeInTurn(all, { runs, leastTotalMs: 0 });
  return all.map(({ operations }, i) => ({ operations, timing: timings[i], threads: teams[i].threads }));
}

function slice(entries: number, { threads }: Team, thread: number): { from: number; to: number } {
  return {
    from: Math.floor((entries * thread) / threads),
    to: Math.floor((entries * (thread + 1)) / threads),
  };
}

/** Every thread's sum is what it should be. */
async function check(team: Team, arrays: Pick<Task, "table" | "target">, count: number): Promise<void> {
  const { length } = arrays.table;
  const checked = Math.min(CHECKED_READS, count);
  const sums = await team.share((thread) => ({
    kind: "read",
    ...arrays,
    from: thread * count,
    to: thread * count + checked,
  }));
  for (const [thread, sum] of sums.entries()) {
    let expected = 0;
    for (let number = thread * count; number < thread * count + checked; number++) {
      expected = (expected + mix(mix(number) & (length - 1))) % 2 ** 32;
    }
    if (sum !== expected) throw new EngineError(`gups: thread ${thread} read ${sum} and not ${expected}.`);
  }
}
