/** gups on a GPU: what gups.wgsl does, checked and timed. */
import { type Device, type DeviceArray, EngineError, LimitError } from "../src/index.js";
import { GpuClock } from "./gpu-clock.js";
import type { GupsFigures, GupsSize } from "./gups.js";
import source from "./gups.wgsl";
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
  pipeline: GPUComputePipeline;
  bindings: GPUBindGroup;
  workgroups: number;
  operations: number;
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
  const clock = new GpuClock(gpu);
  try {
    const kernel = kernels(gpu, entries);
    const stride = Math.min(8192, Math.ceil(entries / WORKGROUP));
    await clock.time(record([await kernel("fillTable", table, table, stride, entries)]));
    const read = (workgroups: number) =>
      kernel("readAtRandom", table, sums, workgroups, workgroups * WORKGROUP * READS);
    await check(entries, sums, clock, await read(4));
    const reading = await sampleOf(clock, read, MOST_INVOCATIONS / WORKGROUP);
    const reads = await sample(clock, reading, runs);
    await check(entries, sums, clock, reading[0]);
    const copying = await repeatOf(clock, await kernel("copyTable", table, target, stride, entries * 16));
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

function kernels(gpu: GPUDevice, entries: number) {
  const module = gpu.createShaderModule({ label: "gups", code: source });
  return async (
    entryPoint: "fillTable" | "readAtRandom" | "copyTable",
    from: DeviceArray,
    to: DeviceArray,
    workgroups: number,
    operations: number,
  ): Promise<Work> => {
    const constants: Record<string, number> = { ENTRIES: entries };
    if (entryPoint === "readAtRandom") constants.READS = READS;
    const pipeline = await gpu.createComputePipelineAsync({
      layout: "auto",
      compute: { module, entryPoint, constants },
    });
    const bound = entryPoint === "fillTable" ? [[1, to] as const] : [[0, from] as const, [1, to] as const];
    const bindings = gpu.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: bound.map(([binding, array]) => ({
        binding,
        resource: { buffer: array.buffer as GPUBuffer },
      })),
    });
    return { pipeline, bindings, workgroups, operations };
  };
}

function record(work: readonly Work[]): (pass: GPUComputePassEncoder) => void {
  return (pass) => {
    for (const { pipeline, bindings, workgroups } of work) {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bindings);
      pass.dispatchWorkgroups(workgroups);
    }
  };
}

/** The work that takes about as long as the clock wants: one dispatch as long as it may be large enough, else several. */
async function sampleOf(
  clock: GpuClock,
  make: (workgroups: number) => Promise<Work>,
  mostWorkgroups: number,
): Promise<Work[]> {
  for (let workgroups = 16; ; workgroups = Math.min(mostWorkgroups, workgroups * 4)) {
    const work = await make(workgroups);
    if (workgroups === mostWorkgroups) return repeatOf(clock, work);
    if ((await clock.time(record([work]))) >= clock.leastSampleMs) return [work];
  }
}

async function repeatOf(clock: GpuClock, work: Work): Promise<Work[]> {
  await clock.time(record([work]));
  const ms = await clock.time(record([work]));
  return new Array(Math.min(64, Math.ceil(clock.leastSampleMs / Math.max(ms, 0.01)))).fill(work);
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
