/**
 * The benchmark probe-depth: how many slots behind its home a key lies, mean and deepest, at load 0.5 and 0.97, as
 * SimpleGPUHashTable's article measures it ("probes after the first"), and at the loads between them. Not a time: the figures
 * are the same on every engine but for the order in which keys race for slots.
 */
import { type Device, EngineError, StaticMap, ValidationError } from "../src/index.js";
import { openBatches } from "./batches.js";
import { SIMPLE_DEPTHS } from "./published.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  engineName,
} from "./report.js";

const LOADS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97];
/** Steps of the load between which keys are added: every load is a multiple. */
const STEPS = 100;

/** `options.size`: slots of the table. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const slots = options.size ?? byDevice(device, { gpu: 2 ** 27, cpu: 2 ** 22, software: 2 ** 17 });
  if (!(Number.isInteger(slots) && slots >= 1000 && slots <= 2 ** 31)) {
    throw new ValidationError(
      `probe-depth does not measure ${slots} slots.`,
      "Give a whole number from 1000 to 2^31.",
    );
  }
  const where = circumstances(device);
  const step = Math.floor(slots / STEPS);
  const last = Math.round(LOADS[LOADS.length - 1] * STEPS);
  using columns = await openBatches(device, step * last, step);
  await using map = await StaticMap.create(device, {
    key: "u32",
    value: "u32",
    capacity: slots,
    maxLoadFactor: 1,
  });
  const rows: BenchRow[] = [];
  let filled = 0;
  for (const load of LOADS) {
    options.signal?.throwIfAborted();
    options.onProgress?.(`load ${load} of ${slots} slots`);
    for (; filled < Math.round(load * STEPS); filled++) {
      const { keys, values } = columns.batches[filled];
      await map.insert(keys, values);
    }
    rows.push(await depths(engineName(device), map, step * filled));
  }
  return {
    bench: "probe-depth",
    state: "not timed",
    ...where,
    parameters: { slots, key: "u32", value: "u32", hash: map.hash },
    rows,
    published: SIMPLE_DEPTHS,
    notes: [
      "mean depth and deepest count the probes after the first: a key in its home slot has depth 0. They are stats() of the table, less one. Before they count, stats() is checked: it saw every key, and its histogram adds up to its mean.",
      "expected is Knuth's mean for linear probing of distinct keys at that load: (1 / (1 - load) - 1) / 2.",
      "SimpleGPUHashTable inserts random keys, of which some repeat: its tables are a little less full than the load says.",
    ],
  };
}

async function depths(on: string, map: StaticMap, keys: number): Promise<BenchRow> {
  const { live, probeLengths, meanProbeLength, maxProbeLength, loadFactor } = await map.stats();
  const counted = probeLengths.reduce((sum, count) => sum + count, 0);
  const sum = probeLengths.reduce((total, count, i) => total + count * (i + 1), 0);
  // the last element of the histogram counts longer probes too: then its sum is a lower bound
  const exact = maxProbeLength <= probeLengths.length;
  const right = exact ? Math.abs(sum / counted - meanProbeLength) < 1e-6 : sum / counted <= meanProbeLength;
  if (live !== keys || counted !== keys || !right) {
    throw new EngineError(
      `probe-depth: stats() saw ${live} of ${keys} keys, a mean of ${meanProbeLength}, and ${counted} probes with a mean of ${sum / counted}.`,
    );
  }
  return {
    load: Math.round(loadFactor * 1000) / 1000,
    on,
    keys,
    "mean depth": meanProbeLength - 1,
    expected: (1 / (1 - loadFactor) - 1) / 2,
    deepest: maxProbeLength - 1,
  };
}
