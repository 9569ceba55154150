/** Times one operation of all contestants in turn, and says it in rows: wall time, time of the kernels, ratios. */
import type { Plan } from "../src/index.js";
import { type GupsFigures, gupsGigabytes } from "./gups.js";
import { PassTimer, type PassTimes } from "./pass-times.js";
import { type BenchRow, isRealGpu } from "./report.js";
import { type Contestant, FEW_KEYS, type Operation } from "./static-map-contestants.js";
import { type TimedCall, type Timing, timeInTurn } from "./timing.js";

/** Runs of a figure sum up to this at least: at small sizes five would say little. */
const LEAST_TOTAL_MS = 300;
/** Unmeasured calls on a real GPU, before each operation; timing.ts says why. */
const WARM_UP_MS = 500;
/** Calls whose kernel times are averaged where a call is short: timestamps come in steps of 65.5 us. */
const AVERAGED_SHORT_CALLS = 25;
const AVERAGED_LONG_CALLS = 5;
const SHORT_CALL_MS = 5;

export const DEFAULT_RUNS = 5;

/** What a row says beside its times. */
export interface RowSubject {
  readonly size: number;
  readonly load: number;
  readonly operation: Operation;
  /** Bytes of a key and a value. Default 8. */
  readonly pairBytes?: number;
}

export interface RowTiming {
  readonly runs: number;
  readonly gups: GupsFigures | null;
  /** Many points are measured: less warming up for each, and no kernel times. */
  readonly brief?: boolean;
}

/** How one operation went for one contestant. */
interface Result {
  readonly contestant: Contestant;
  readonly timing: Timing;
  /** Mean milliseconds by kernel; null where no GPU tells. */
  readonly kernels: PassTimes | null;
  /** How the engine went about it; null where nobody says. */
  readonly strategy: string | null;
}

/** The rows of an operation: one for each contestant that can do it. */
export async function timeRows(
  contestants: readonly Contestant[],
  subject: RowSubject,
  { runs, gups, brief = false }: RowTiming,
): Promise<BenchRow[]> {
  const able = contestants.flatMap((contestant) => {
    const call = contestant.calls[subject.operation];
    return call ? [{ contestant, call }] : [];
  });
  const hardware = able.some(({ contestant: { device } }) => device && isRealGpu(device));
  const timings = await timeInTurn(
    able.map(({ call }) => call),
    {
      runs,
      // who asks for fewer runs is in a hurry
      leastTotalMs: runs < DEFAULT_RUNS ? 0 : brief ? LEAST_TOTAL_MS / 6 : LEAST_TOTAL_MS,
      warmUpMs: !hardware ? 0 : brief ? WARM_UP_MS / 3 : WARM_UP_MS,
    },
  );
  const results: Result[] = [];
  for (const [i, { contestant, call }] of able.entries()) {
    const gpu = brief ? undefined : contestant.device?.gpuDevice;
    const calls = timings[i].median < SHORT_CALL_MS ? AVERAGED_SHORT_CALLS : AVERAGED_LONG_CALLS;
    const kernels = gpu ? await meanKernels(gpu, call, Math.min(calls, runs * 5)) : null;
    const strategy = await strategyOf(contestant, subject.operation);
    results.push({ contestant, timing: timings[i], kernels, strategy });
  }
  return results.map((result) => describe(subject, result, results, gups));
}

/** Runs a call once, for what it says about itself. */
async function strategyOf({ planned }: Contestant, operation: Operation): Promise<string | null> {
  if (planned === undefined) return null;
  let plan: Plan | undefined;
  const { before, call, after } = (await planned((told) => (plan = told)))[operation];
  await before?.();
  plan = undefined;
  const result = await call();
  await after?.(result as never);
  if (plan === undefined) return null;
  const { strategies } = plan as Plan;
  return [...new Set(strategies.map(({ strategy }) => strategy))].join(" and ");
}

/** Kernel times, averaged over the middle half of a number of calls: not thrown by a slow call, and finer than a timestamp. */
async function meanKernels(gpu: GPUDevice, { before, call, after }: TimedCall, calls: number) {
  const timer = PassTimer.open(gpu);
  if (timer === null) return null;
  const each: PassTimes[] = [];
  while (each.length < calls) {
    await before?.();
    const { times, result } = await timer.time(call);
    await after?.(result as never);
    each.push(times);
  }
  timer.destroy();
  each.sort((a, b) => totalMs(a) - totalMs(b));
  const middle = each.slice(calls >> 2, calls - (calls >> 2));
  const means = new Map<string, number>();
  for (const times of middle) {
    for (const [label, ms] of times) means.set(label, (means.get(label) ?? 0) + ms / middle.length);
  }
  return means;
}

/** Milliseconds of all passes of a call. */
export function totalMs(times: PassTimes): number {
  return [...times.values()].reduce((sum, ms) => sum + ms, 0);
}

function describe(
  { size, load, operation, pairBytes = 8 }: RowSubject,
  { contestant, timing, kernels, strategy }: Result,
  results: readonly Result[],
  gups: GupsFigures | null,
): BenchRow {
  const few = operation === "find of 1,000 host keys";
  const keys = few ? Math.min(FEW_KEYS, size) : size;
  const bytes = pairBytes * keys;
  const bandwidth = bytes / timing.median / 1e6;
  const map = results.find((other) => other.contestant.device === null);
  return {
    size,
    load,
    operation,
    on: contestant.name,
    ...(strategy !== null && { strategy }),
    ms: timing.median,
    "fastest ms": timing.fastest,
    runs: timing.runs,
    "G ops/s": keys / timing.median / 1e6,
    "GB/s": bandwidth,
    ...(gups && {
      "ratio to GUPS": bandwidth / gupsGigabytes(gups, contestant.device?.info.threads ?? 1),
    }),
    ...(map && { "ratio to JS Map": map.timing.median / timing.median }),
    ...(kernels && kernelColumns(bytes, kernels, gups)),
  };
}

function kernelColumns(bytes: number, kernels: PassTimes, gups: GupsFigures | null): BenchRow {
  const ms = totalMs(kernels);
  // shorter than a step of the timestamps
  if (ms === 0) return {};
  const bandwidth = bytes / ms / 1e6;
  return {
    "kernel ms": ms,
    "kernel GB/s": bandwidth,
    ...(gups && { "kernel ratio to GUPS": bandwidth / gupsGigabytes(gups) }),
    kernels: [...kernels].map(([label, each]) => `${label} ${each.toFixed(3)}`).join(", "),
  };
}
