/** Part (b) of lifecycle: a table is created, filled, asked once and destroyed, the first time on a device and ever again. */
import { type Device, EngineError, StaticMap } from "../../src/index.js";
import { type BenchOptions, type BenchRow, byDevice, engineName, type State } from "../report.js";
import { checkFound, missingOf } from "../static-map-check.js";
import { findInMap } from "../static-map-contestants.js";
import type { BenchMap, DeviceWorkload, Width, Workload } from "../static-map-workload.js";
import { median, settle, stopwatch } from "../timing.js";

/** Fewest timed tables of a figure. */
export const LEAST_RUNS = 5;
const MOST_RUNS = 50;
/** More tables are timed until they sum up to this. */
const LEAST_TOTAL_MS = 300;
/** Tables that do not count, of which all answers are checked. */
const CHECKED = 2;
/** Milliseconds of unmeasured tables after these: a GPU that has rested needs half a second of load for its clocks. */
const WARM_UP_MS = { gpu: 700, cpu: 50, software: 0 };

const PHASES = ["create", "insert", "find", "destroy"] as const;
/** Milliseconds. */
type Phases = Readonly<Partial<Record<(typeof PHASES)[number], number>>>;

/** Makes, uses and drops the first table of a device. */
export async function firstTable(device: Device, columns: DeviceWorkload): Promise<BenchRow> {
  const phases = await oneTable(device, columns, true);
  return rowOf("first table", engineName(device), columns.workload.size, [phases]);
}

/** The same again and again, warm. */
export async function freshTables<T extends Width>(
  device: Device,
  columns: DeviceWorkload<T>,
  options: BenchOptions,
  maxLoadFactor?: number,
): Promise<BenchRow> {
  for (let i = 0; i < CHECKED; i++) await oneTable(device, columns, true, maxLoadFactor);
  await settle(device);
  const tables = await repeated(
    () => oneTable(device, columns, false, maxLoadFactor),
    byDevice(device, WARM_UP_MS),
    options,
  );
  return rowOf("fresh table", engineName(device), columns.workload.size, tables);
}

/** A JS Map in place of the table, with the same answers in typed arrays. It is dropped, not destroyed. */
export async function freshJavascriptMaps(workload: Workload, options: BenchOptions): Promise<BenchRow> {
  const [keys, values, lookups] = [workload.keys(), workload.values(), workload.lookups()];
  const once = (): Phases => {
    const lap = stopwatch();
    const map = new Map<number, number>();
    const create = lap();
    for (let i = 0; i < keys.length; i++) map.set(keys[i], values[i]);
    const insert = lap();
    const { found } = findInMap(map, lookups);
    const find = lap();
    if (found.includes(0)) throw new EngineError("lifecycle: a JS Map did not find a key.");
    return { create, insert, find };
  };
  return rowOf("fresh table", "JS Map", workload.size, await repeated(async () => once(), 0, options));
}

/** @param check whether to look at all answers, outside the times. */
async function oneTable<T extends Width>(
  device: Device,
  columns: DeviceWorkload<T>,
  check: boolean,
  maxLoadFactor?: number,
): Promise<Phases> {
  const { size, type } = columns.workload;
  const [keys, values, lookups] = [await columns.keys(), await columns.values(), await columns.lookups()];
  const lap = stopwatch();
  const created = await StaticMap.create(device, { key: type, value: type, capacity: size, maxLoadFactor });
  const map = created as unknown as BenchMap<T>;
  try {
    const create = lap();
    const { inserted } = await map.insert(keys, values);
    const insert = lap();
    const answer = await map.find(lookups, { output: "device", missing: missingOf(type) });
    const find = lap();
    if (inserted !== size) throw new EngineError(`lifecycle: ${inserted} of ${size} keys were inserted.`);
    if (check) await checkFound(columns, "lookups", "all", answer);
    lap();
    answer.values.destroy();
    answer.found.destroy();
    await created[Symbol.asyncDispose]();
    return { create, insert, find, destroy: lap() };
  } finally {
    created.destroy();
  }
}

async function repeated(
  once: () => Promise<Phases>,
  warmUpMs: number,
  { runs = LEAST_RUNS, signal }: BenchOptions,
): Promise<Phases[]> {
  const start = performance.now();
  do await once();
  while (performance.now() - start < warmUpMs);
  const tables: Phases[] = [];
  let spent = 0;
  while (
    tables.length < runs ||
    (runs >= LEAST_RUNS && tables.length < MOST_RUNS && spent < LEAST_TOTAL_MS)
  ) {
    signal?.throwIfAborted();
    const phases = await once();
    tables.push(phases);
    spent += together(phases);
  }
  return tables;
}

function together(phases: Phases): number {
  return Object.values(phases).reduce((sum, ms) => sum + ms, 0);
}

/** The median of each phase, and of the sums. */
function rowOf(state: State, on: string, size: number, tables: readonly Phases[]): BenchRow {
  const phases = PHASES.flatMap((phase) => {
    const samples = tables.flatMap((table) => table[phase] ?? []);
    return samples.length > 0 ? [[`${phase} ms`, median(samples)] as const] : [];
  });
  const sums = tables.map(together);
  return {
    state,
    on,
    size,
    ...Object.fromEntries(phases),
    "total ms": median(sums),
    "fastest total ms": Math.min(...sums),
    runs: tables.length,
  };
}
