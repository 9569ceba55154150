/**
 * The benchmark wide: what static-map measures, of a StaticMap of u64 to u64, whose slots are claimed in other ways than those of 8 bytes,
 * at a low and a high load, and fresh tables. Every table is checked key by key first.
 */
import { type Device, LimitError, StaticMap, ValidationError } from "../src/index.js";
import { type GupsFigures, gupsOf, gupsParameters } from "./gups.js";
import { freshTables } from "./lifecycle/tables.js";
import { CUCO_WIDE } from "./published.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  engineName,
  isRealGpu,
} from "./report.js";
import { LOAD_FACTOR, type Operation, staticMap } from "./static-map-contestants.js";
import { DEFAULT_RUNS, timeRows } from "./static-map-rows.js";
import { openWorkload, Workload } from "./static-map-workload.js";

const LOADS = [LOAD_FACTOR, 0.95];
const OPERATIONS: readonly Operation[] = ["insert", "find present", "find absent", "erase"];
const PAIR_BYTES = 16;
const MOST_KEYS = 2 ** 28;

/** `options.size`: keys of the map. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const size = options.size ?? byDevice(device, { gpu: 2 ** 26, cpu: 2 ** 20, software: 2 ** 12 });
  if (!(Number.isInteger(size) && size >= 1 && size <= MOST_KEYS)) {
    throw new ValidationError(`wide does not measure ${size} keys.`, "Give a whole number from 1 to 2^28.");
  }
  const runs = options.runs ?? DEFAULT_RUNS;
  const where = circumstances(device);
  const step = (what: string) => {
    options.signal?.throwIfAborted();
    options.onProgress?.(what);
  };
  step("gups");
  const gups = await gupsOf(device, runs);
  const rows: BenchRow[] = [];
  const notes = [
    "ms is the median wall time of the awaited call, inputs and results on the device. GB/s = 16 bytes × keys / time, GB are 10^9 bytes.",
    "Before it was timed, each table was checked: every key found with its value, every absent key absent, retrieveAll pair by pair; at load 0.5 also erased keys gone, inserts over tombstones.",
    "Rows of fresh tables: a table is created, filled, asked for every key once and destroyed, by a warm process.",
  ];
  for (const load of LOADS) {
    try {
      rows.push(
        ...(await measure(device, new Workload(size, "u64"), { ...options, load, runs, gups, step })),
      );
    } catch (error) {
      if (!(error instanceof LimitError)) throw error;
      if (load === LOADS.at(-1) && rows.length === 0) throw error;
      notes.push(`${size} keys at load ${load} do not fit this device. ${error.message}`);
    }
  }
  return {
    bench: "wide",
    state: "by row",
    ...where,
    parameters: {
      key: "u64",
      value: "u64",
      hash: "murmur3",
      threads: device.info.threads,
      ...gupsParameters(gups),
    },
    rows,
    ...(isRealGpu(device) && { published: CUCO_WIDE }),
    notes,
  };
}

interface Asked extends BenchOptions {
  readonly load: number;
  readonly runs: number;
  readonly gups: GupsFigures | null;
  readonly step: (what: string) => void;
}

async function measure(
  device: Device,
  workload: Workload<"u64">,
  { load, runs, gups, step, ...options }: Asked,
): Promise<BenchRow[]> {
  const { size } = workload;
  const at = `${size} keys at load ${load}`;
  const rows: BenchRow[] = [];
  const slotBytes = await bytesOfSlot(device, load);
  step(`checking ${at}`);
  {
    // past its tombstones a full table answers misses slowly: at high load that is not what is checked
    const how = { maxLoadFactor: load, thorough: load <= LOAD_FACTOR };
    await using contestant = await staticMap(device, engineName(device), workload, how);
    for (const operation of OPERATIONS) {
      step(`${operation} of ${at}`);
      const subject = { size, load, operation, pairBytes: PAIR_BYTES };
      const timed = await timeRows([contestant], subject, { runs, gups });
      rows.push(...timed.map((row) => ({ state: "warm loop", ...row, "bytes a slot": slotBytes })));
    }
  }
  step(`fresh tables of ${at}`);
  using columns = await openWorkload(device, workload);
  const { state, ...phases } = await freshTables(device, columns, { ...options, runs }, load);
  return [...rows, { state, load, ...phases, "bytes a slot": slotBytes }];
}

/** Bytes that a slot takes of the table, those that tell which are taken with them. */
async function bytesOfSlot(device: Device, maxLoadFactor: number): Promise<number> {
  const options = { key: "u64", value: "u64", capacity: 1 << 10, maxLoadFactor } as const;
  await using map = await StaticMap.create(device, options);
  const { bytes, slots } = await map.stats();
  return bytes / slots;
}
