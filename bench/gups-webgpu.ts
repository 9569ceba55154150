/** gups on a GPU: what gups.wgsl does, checked and timed. */
import { type Device, type DeviceArray, EngineError, LimitError } from "../src/index.js";
import { GpuClock } from "./gpu-clock.js";
import type { GupsFigures, GupsSize } from "./gups.js";
import source from "./gups.wgsl";
import { type BoundKernel, bind, compile, dispatch, elementsOf, type Resources } from "./kernel.js";
import { mix } from "./mix.js";
import { summarise } from "./timing.js";

/** Reads of one invocation: enough to hide its start, and a sum that 2^22 invocations write costs nothing beside them. */
const READS = 64;
const WORKGROUP = 256;
/** Most invocations of a dispatch: 2^28 reads, about 9 ms on an H100. */
const MOST_INVOCATIONS = 2 ** 22;
/** Reads that are computed again on the host. */
const CHECKED_READS = 2 ** 22;

/** One dispatch, with the number of operations it does. */
interface Work {
  readonly kernel: BoundKernel;
  readonly workgroups: number;
  readonly operations: number;
}

/** Measures random 8-byte reads and copying. @throws LimitError when the table is larger than a binding can be. */
export async function measureGupsOnGpu(device: Device, { entries, runs }: GupsSize): Promise<GupsFigures> {
  const gpu = device.gpuDevice as GPUDevice;
  const most = gpu.limits.maxStorageBufferBindingSize;
  if (entries * 8 > most) {
    throw new LimitError("maxStorageBufferBindingSize", entries * 8, most, "Measure a smaller table.");
  }
  using table = await device.allocate("u32", entries * 2);
  using target = await device.allocate("u32", entries * 2);
  using sums = await device.allocate("u32", MOST_INVOCATIONS);
  const kernel = async (
    name: string,
    constants: Record<string, number>,
    arrays: Record<number, DeviceArray>,
  ) => {
    const pipeline = await compile(gpu, source, name, { ENTRIES: entries, ...constants });
    const resources = Object.entries(arrays).map(([binding, array]) => [binding, elementsOf(array)]);
    return bind(gpu, pipeline, Object.fromEntries(resources) as Resources);
  };
  const fill = await kernel("fillTable", {}, { 1: table });
  const read = await kernel("readAtRandom", { READS }, { 0: table, 1: sums });
  const copy = await kernel("copyTable", {}, { 0: table, 1: target });

  const clock = new GpuClock(gpu);
  try {
    const workgroups = Math.min(8192, Math.ceil(entries / WORKGROUP));
    await clock.time(record([{ kernel: fill, workgroups, operations: entries }]));
    const reading = await readsFor(clock, read);
    await check(entries, sums, clock, reading[0]);
    const reads = await sample(clock, reading, runs);
    const copying = await repeatFor(clock, { kernel: copy, workgroups, operations: entries * 16 });
    const copies = await sample(clock, copying, runs);
    return {
      entries,
      clock: clock.name,
      reads: [{ ...reads, threads: null }],
      copies: [{ ...copies, threads: null }],
    };
  } finally {
    clock.destroy();
  }
}

function record(work: readonly Work[]): (pass: GPUComputePassEncoder) => void {
  return (pass) => {
    for (const { kernel, workgroups } of work) dispatch(pass, kernel, workgroups);
  };
}

/** Reads that take as long as the clock wants: in one dispatch if it can be so large, else in several. */
async function readsFor(clock: GpuClock, kernel: BoundKernel): Promise<Work[]> {
  const most = MOST_INVOCATIONS / WORKGROUP;
  for (let workgroups = 16; ; workgroups = Math.min(most, workgroups * 4)) {
    const work = { kernel, workgroups, operations: workgroups * WORKGROUP * READS };
    if (workgroups === most) return repeatFor(clock, work);
    if ((await warmTime(clock, work)) >= clock.leastSampleMs) return [work];
  }
}

/** A dispatch as often as the clock wants. */
async function repeatFor(clock: GpuClock, work: Work): Promise<Work[]> {
  const ms = await warmTime(clock, work);
  return new Array(Math.min(64, Math.ceil(clock.leastSampleMs / Math.max(ms, 0.01)))).fill(work);
}

/** The time of a dispatch after others: drivers compile a kernel when it first runs. */
async function warmTime(clock: GpuClock, work: Work): Promise<number> {
  await clock.time(record([work]));
  return Math.min(await clock.time(record([work])), await clock.time(record([work])));
}

async function sample(clock: GpuClock, work: readonly Work[], runs: number) {
  const samples: number[] = [];
  await clock.time(record(work));
  while (samples.length < runs) samples.push(await clock.time(record(work)));
  return { operations: work.length * work[0].operations, timing: summarise(samples) };
}

/** Runs the reads and compares the sums of invocations evenly spread over them with what they should be. */
async function check(entries: number, sums: DeviceArray<"u32">, clock: GpuClock, work: Work): Promise<void> {
  await clock.time(record([work]));
  const invocations = work.workgroups * WORKGROUP;
  const written = await sums.read(0, invocations);
  const step = Math.max(1, Math.ceil((invocations * READS) / CHECKED_READS));
  for (let i = 0; i < invocations; i += step) {
    if (written[i] !== expectedSum(entries, i)) {
      throw new EngineError(
        `gups: invocation ${i} of ${invocations} read ${written[i]} and not ${expectedSum(entries, i)}.`,
      );
    }
  }
}

function expectedSum(entries: number, invocation: number): number {
  let [low, high] = [0, 0];
  for (let k = 0; k < READS; k++) {
    const place = (mix((invocation * READS + k) >>> 0) & (entries - 1)) >>> 0;
    low = (low + place) | 0;
    high = (high + mix(~place)) | 0;
  }
  return (low ^ high) >>> 0;
}
