/** Runs the variants of retrieve-all over the buffers of a live map: checks what each wrote, then times it. */
import { type Device, type DeviceArray, EngineError, type StaticMap } from "../../src/index.js";
import { GpuClock } from "../gpu-clock.js";
import {
  type BoundKernel,
  bind,
  COPY_DST,
  COPY_SRC,
  compile,
  dispatch,
  elementsOf,
  MAP_MODE_READ,
  MAP_READ,
  STORAGE,
} from "../kernel.js";
import type { DeviceWorkload } from "../static-map-workload.js";
import { summarise, type Timing } from "../timing.js";
import { type Variant, variantsFor } from "./kernels.js";

/** Key and value of a slot. */
const SLOT_BYTES = 8;
/** SIDE_SLOTS of layout.ts: slots behind the table for two keys. */
const SIDE_SLOTS = 2;
/** Ranges of a table begin at a multiple of the largest tile, and of what bindings have to be aligned to. */
const RANGE_STEP = 2 ** 16;
/** Unmeasured runs before a variant's samples, on a real GPU: timing.ts says why. */
const WARM_UP_MS = 300;
/** Runs of a kernel in one sample have a counter each, aligned as bindings have to be. */
const MOST_REPEATS = 64;
const COUNTER_STEP = 256;
const UNIFORM = 0x40;

/** How one variant went. */
export interface VariantResult {
  readonly variant: Variant;
  readonly timing: Timing;
}

/** Part of the table that one binding holds. */
interface Range {
  readonly first: number;
  readonly count: number;
}

/** Measures variants, all that the device can run unless told. `map` is full of the workload's keys, and has an even number of slots. */
export async function measureVariants(
  device: Device,
  map: StaticMap,
  columns: DeviceWorkload,
  runs: number,
  onVariant: (name: string) => void,
  variants?: readonly Variant[],
): Promise<VariantResult[]> {
  const gpu = device.gpuDevice as GPUDevice;
  using keys = await device.allocate("u32", map.size);
  using values = await device.allocate("u32", map.size);
  const counters = gpu.createBuffer({
    size: MOST_REPEATS * COUNTER_STEP,
    usage: STORAGE | COPY_DST | COPY_SRC,
  });
  const ranges = rangesOf(map, gpu.limits.maxStorageBufferBindingSize);
  const uniforms = ranges.map(({ first, count }) => uniform(gpu, Uint32Array.of(first, count, map.slots, 0)));
  const clock = new GpuClock(gpu);
  const results: VariantResult[] = [];
  try {
    for (const variant of variants ?? variantsFor(gpu)) {
      onVariant(`${variant.name}, ${variant.tile} slots`);
      const pipeline = await compile(gpu, variant.code, "main", {});
      const tableBuffer = slotsOf(map);
      const kernels = (repeat: number): { kernel: BoundKernel; workgroups: number }[] =>
        ranges.map(({ first, count }, i) => ({
          workgroups: Math.ceil(count / variant.tile),
          kernel: bind(gpu, pipeline, {
            0: { buffer: uniforms[i] },
            1: { buffer: tableBuffer, offset: first * SLOT_BYTES, size: count * SLOT_BYTES },
            2: { buffer: counters, offset: repeat * COUNTER_STEP, size: 4 },
            3: elementsOf(keys),
            4: elementsOf(values),
          }),
        }));
      const run = (repeats: number) =>
        timeRepeats(
          gpu,
          clock,
          counters,
          Array.from({ length: repeats }, (_, i) => kernels(i)),
        );
      clearArrays(gpu, [keys, values]);
      await run(1);
      await check(variant, columns, { keys, values }, counters, gpu);
      const ms = Math.min(await run(1), await run(1));
      const repeats = Math.min(MOST_REPEATS, Math.ceil(clock.leastSampleMs / Math.max(ms, 0.01)));
      const samples: number[] = [];
      const start = performance.now();
      do await run(repeats);
      while (performance.now() - start < (device.info.software ? 0 : WARM_UP_MS));
      while (samples.length < runs) samples.push((await run(repeats)) / repeats);
      results.push({ variant, timing: summarise(samples) });
    }
  } finally {
    clock.destroy();
    counters.destroy();
    for (const buffer of uniforms) buffer.destroy();
  }
  return results;
}

function slotsOf(map: StaticMap): GPUBuffer {
  const buffer = map.device.engine.interop?.buffers?.tableOf(map.engineTable).slots;
  if (buffer === undefined) throw new EngineError("retrieve-all: the table is not on a GPU.");
  return buffer;
}

/** The table in pieces that a binding can hold, side slots in the last. */
export function rangesOf({ slots }: { slots: number }, mostBytes: number): Range[] {
  const all = slots + SIDE_SLOTS;
  const most = Math.floor(mostBytes / SLOT_BYTES / RANGE_STEP) * RANGE_STEP;
  const ranges: Range[] = [];
  for (let first = 0; first < all; first += most) ranges.push({ first, count: Math.min(most, all - first) });
  return ranges;
}

function uniform(gpu: GPUDevice, words: Uint32Array<ArrayBuffer>): GPUBuffer {
  const buffer = gpu.createBuffer({ size: words.byteLength, usage: UNIFORM | COPY_DST });
  gpu.queue.writeBuffer(buffer, 0, words);
  return buffer;
}

function clearArrays(gpu: GPUDevice, arrays: readonly DeviceArray[]): void {
  const encoder = gpu.createCommandEncoder();
  for (const array of arrays) {
    const { buffer, offset, size } = elementsOf(array);
    encoder.clearBuffer(buffer, offset, size);
  }
  gpu.queue.submit([encoder.finish()]);
}

async function timeRepeats(
  gpu: GPUDevice,
  clock: GpuClock,
  counters: GPUBuffer,
  repeats: readonly (readonly { kernel: BoundKernel; workgroups: number }[])[],
): Promise<number> {
  const encoder = gpu.createCommandEncoder();
  encoder.clearBuffer(counters);
  gpu.queue.submit([encoder.finish()]);
  return clock.time((pass) => {
    for (const repeat of repeats) {
      for (const { kernel, workgroups } of repeat) dispatch(pass, kernel, workgroups);
    }
  });
}

/** As many pairs as the map has, each of them right and none twice. */
async function check(
  { name, tile }: Variant,
  { workload, gpu: columns }: DeviceWorkload,
  answer: { keys: DeviceArray; values: DeviceArray },
  counters: GPUBuffer,
  gpu: GPUDevice,
): Promise<void> {
  const counted = await readWord(gpu, counters);
  const verdict = await columns?.checkPairs(answer);
  if (counted === workload.size && verdict?.wrong === 0) return;
  throw new EngineError(
    `retrieve-all: ${name} with tiles of ${tile} slots counted ${counted} of ${workload.size} pairs, and wrote ${verdict?.wrong} wrong ones.`,
  );
}

async function readWord(gpu: GPUDevice, buffer: GPUBuffer): Promise<number> {
  const staging = gpu.createBuffer({ size: 4, usage: MAP_READ | COPY_DST });
  const encoder = gpu.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, staging, 0, 4);
  gpu.queue.submit([encoder.finish()]);
  await staging.mapAsync(MAP_MODE_READ);
  const [word] = new Uint32Array(staging.getMappedRange().slice(0));
  staging.destroy();
  return word;
}
