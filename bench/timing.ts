/**
 * Repeating a call and keeping the median. Contestants take turns, run by run, so that a neighbour on the machine or a
 * change of clock slows all of them alike and their ratios hold.
 */
import type { Device } from "../src/index.js";

/** Times of one figure, in milliseconds. */
export interface Timing {
  readonly median: number;
  readonly fastest: number;
  /** Runs that count. */
  readonly runs: number;
}

/** A call to time, with what belongs before and after it outside the time. */
export interface TimedCall {
  readonly before?: () => unknown;
  readonly call: () => unknown;
  /** Given what `call` answered. */
  readonly after?: (result: never) => unknown;
}

/** How often to run. */
export interface Repeats {
  /** Fewest runs that count, each after one that does not. */
  readonly runs: number;
  /** More runs are made, up to 50, until a call's runs sum up to this. */
  readonly leastTotalMs: number;
  /**
   * Calls are repeated unmeasured for this long first. On an H100 a table's memory is two to three times slower for
   * some 200 ms after large buffers were made or freed beside it.
   */
  readonly warmUpMs?: number;
}

const MOST_RUNS = 50;

/** The middle of the samples; the lower one of an even number, so that it is a time that was seen. */
export function median(samples: readonly number[]): number {
  return [...samples].sort((a, b) => a - b)[(samples.length - 1) >> 1];
}

/** Median and fastest of the samples. */
export function summarise(samples: readonly number[]): Timing {
  return { median: median(samples), fastest: Math.min(...samples), runs: samples.length };
}

/** Runs every call unmeasured to warm up, then all of them in turn until each has run often and long enough. */
export async function timeInTurn(
  calls: readonly TimedCall[],
  { runs, leastTotalMs, warmUpMs = 0 }: Repeats,
): Promise<Timing[]> {
  for (const call of calls) {
    // the first one may make its columns
    await timeOnce(call);
    const start = performance.now();
    while (performance.now() - start < warmUpMs) await timeOnce(call);
  }
  const samples = calls.map((): number[] => []);
  const wants = (times: number[]) =>
    times.length < runs ||
    (times.length < MOST_RUNS && times.reduce((sum, ms) => sum + ms, 0) < leastTotalMs);
  while (samples.some(wants)) {
    for (const [i, call] of calls.entries()) {
      if (wants(samples[i])) samples[i].push(await timeOnce(call));
    }
  }
  return samples.map(summarise);
}

/** A call that keeps the processor's time of each run, of all threads of this process: neighbours on the machine change it less. */
export function withCpuTime(way: TimedCall): { way: TimedCall; cpuMs: number[] } {
  const cpuMs: number[] = [];
  const call = async () => {
    const start = process.cpuUsage();
    await way.call();
    const { user, system } = process.cpuUsage(start);
    cpuMs.push((user + system) / 1000);
  };
  return { way: { ...way, call }, cpuMs };
}

/** Answers the milliseconds since it was asked last. */
export function stopwatch(): () => number {
  let last = performance.now();
  return () => {
    const now = performance.now();
    const ms = now - last;
    last = now;
    return ms;
  };
}

/** Lets time go by. @throws the signal's reason */
export async function rest(seconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(end, seconds * 1000);
    signal?.addEventListener("abort", end);
    function end() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    }
  });
  signal?.throwIfAborted();
}

async function timeOnce({ before, call, after }: TimedCall): Promise<number> {
  await before?.();
  const start = performance.now();
  const result = await call();
  const ms = performance.now() - start;
  await after?.(result as never);
  return ms;
}

/** Waits for the GPU: a call is done when its results are known, but a clear is not when it answers, nor is memory that was freed. */
export async function settle(device: Device): Promise<void> {
  if (device.gpuDevice) return void (await device.gpuDevice.queue.onSubmittedWorkDone());
  if (device.backend === "cpu") return;
  const word = await device.upload(Uint32Array.of(0)); // behind all that was begun
  await word.read();
  word.destroy();
}
