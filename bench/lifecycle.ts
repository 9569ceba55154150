/**
 * The benchmark lifecycle: what a program meets that makes a table, fills it, asks it once and drops it. Each row says its state:
 * a cold process, the first table on a device, a fresh table in a warm process, calls after a rest, small calls from host memory.
 * bench/lifecycle/ has the parts.
 */
import { type Device, LimitError, openDevice, ValidationError } from "../src/index.js";
import { findsAfterRest } from "./lifecycle/after-rest.js";
import { coldRow } from "./lifecycle/cold.js";
import { hostKeyRows } from "./lifecycle/host-keys.js";
import { firstTable, freshJavascriptMaps, freshTables, LEAST_RUNS } from "./lifecycle/tables.js";
import { CUCO_LIFECYCLE } from "./published.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  isRealGpu,
} from "./report.js";
import { MOST_KEYS, openWorkload, Workload } from "./static-map-workload.js";

const SIZES = [2 ** 16, 2 ** 18, 2 ** 20, 2 ** 22, 2 ** 24, 2 ** 27];
/** A small table beside the largest in cold processes, and the maps of calls with few keys. */
const SMALL = 2 ** 20;
/** Largest fresh tables of those who stand beside a GPU: more take minutes. */
const MOST_ON_CPU = 2 ** 22;
const MOST_IN_JS_MAP = 2 ** 20;

/** `options.size`: keys of the largest table. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const largest = options.size ?? byDevice(device, { gpu: 2 ** 27, cpu: 2 ** 22, software: 2 ** 16 });
  if (!(Number.isInteger(largest) && largest >= 1 && largest <= MOST_KEYS)) {
    throw new ValidationError(
      `lifecycle does not measure ${largest} keys.`,
      "Give a whole number from 1 to 2^31.",
    );
  }
  const where = circumstances(device);
  const sizes = [...SIZES.filter((size) => size < largest), largest];
  const notes = [...NOTES];
  const cold = await coldRows(device, sizes, options, notes);
  const tables = await tableRows(device, sizes, options, notes);
  const small = Math.min(SMALL, largest);
  const host = await hostKeyRows(device, small, options);
  return {
    bench: "lifecycle",
    state: "by row",
    ...where,
    parameters: { key: "u32", value: "u32", "load factor": 0.5, "least runs": options.runs ?? LEAST_RUNS },
    rows: [...cold, ...tables, ...host],
    ...(isRealGpu(device) && { published: CUCO_LIFECYCLE }),
    notes,
  };
}

const NOTES = [
  "cold process: a new Node process with the caller's environment, from typed arrays to typed arrays, once. import is that of the library; total is from its start to the found values. A driver may keep compiled kernels on disk from earlier processes: point its cache to an empty folder to leave that out. This process has the device open meanwhile.",
  "first table, fresh table: create, insert, find, destroy, with keys and results on the device; destroy gives back the table and the results. first table is once, at the largest size, on the device as it was opened. fresh table is the median of tables one after the other, after some that do not count; total is the median of their sums. The JS Map is dropped, not destroyed.",
  "after rest: the device did nothing for so many seconds, then came ten finds; each rest once. The warm loop beside it is the median of ten finds call after call.",
  "Rows with a number of keys: one call with so many keys in typed arrays, contestants in turn. size is the number of entries of the map that find asks; insert fills an empty map with room for as many.",
  "Every answer was checked, outside the times, in calls like those that were timed or in these.",
];

async function coldRows(
  device: Device,
  sizes: readonly number[],
  options: BenchOptions,
  notes: string[],
): Promise<BenchRow[]> {
  const largest = sizes[sizes.length - 1];
  const rows: BenchRow[] = [];
  for (const size of new Set([Math.min(SMALL, largest), largest])) {
    options.signal?.throwIfAborted();
    options.onProgress?.(`a cold process, ${size} keys`);
    const row = await coldRow(device, size, options);
    if (typeof row === "string") notes.push(row);
    else rows.push(row);
  }
  return rows;
}

/** The first table and the finds after rests, at the largest size that fits, and fresh tables at all sizes. */
async function tableRows(
  device: Device,
  sizes: readonly number[],
  options: BenchOptions,
  notes: string[],
): Promise<BenchRow[]> {
  const first: BenchRow[] = [];
  const fresh: BenchRow[] = [];
  const rests: BenchRow[] = [];
  for (const size of sizes.toReversed()) {
    options.signal?.throwIfAborted();
    options.onProgress?.(`tables of ${size} keys`);
    try {
      using columns = await openWorkload(device, new Workload(size));
      if (first.length === 0) first.push(await firstTable(device, columns));
      fresh.unshift(await freshTables(device, columns, options));
      if (rests.length === 0) rests.push(...(await findsAfterRest(device, columns, options)));
    } catch (error) {
      if (!(error instanceof LimitError) || size === sizes[0]) throw error;
      notes.push(`${size} keys do not fit this device. ${error.message}`);
    }
  }
  return [...first, ...fresh, ...(await besideRows(device, sizes, options)), ...rests];
}

/** Fresh tables of the cpu engine, unless it is the device, and of a JS Map. */
async function besideRows(
  device: Device,
  sizes: readonly number[],
  options: BenchOptions,
): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  using cpu = device.backend === "cpu" ? null : await openDevice({ backend: "cpu" });
  for (const size of cpu ? sizes.filter((size) => size <= MOST_ON_CPU) : []) {
    options.signal?.throwIfAborted();
    options.onProgress?.(`tables of ${size} keys on the cpu engine`);
    using columns = await openWorkload(cpu as Device, new Workload(size));
    rows.push(await freshTables(cpu as Device, columns, options));
  }
  for (const size of sizes.filter((size) => size <= MOST_IN_JS_MAP)) {
    options.signal?.throwIfAborted();
    options.onProgress?.(`a JS Map of ${size} keys`);
    rows.push(await freshJavascriptMaps(new Workload(size), options));
  }
  return rows;
}
