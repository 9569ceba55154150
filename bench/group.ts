/**
 * The benchmark group: rows counted and a u32 column added up by a u32 key, in three ways. `device to device`: table and answer stay on the
 * device. `Arrow to Arrow`: from a flechette table to a flechette table. `JS Map`: a loop over the two typed arrays. They take turns. On a
 * CPU DuckDB and Arquero do so, too, where they are installed, and flights are grouped by route. A sweep varies the share of rows that
 * one group has.
 *
 * Every group of the first answer of each way is checked before anything is timed.
 */
import { type Table, tableFromArrays } from "@uwdata/flechette";
import { type Device, EngineError, ValidationError } from "../src/index.js";
import { count, type DeviceTable, groupBy, sum } from "../src/relational/index.js";
import { type Duck, openDuck } from "./flight-files.js";
import { flightsByRoute, peersOf } from "./group-peers.js";
import { mix } from "./mix.js";
import { type BenchOptions, type BenchReport, type BenchRow, byDevice, circumstances } from "./report.js";
import { settle, type TimedCall, timeInTurn } from "./timing.js";

export const sweeps = ["skew"] as const;

/** What one point groups. */
interface Point {
  readonly rows: number;
  readonly groups: number;
  /** Share of rows that are of the first group, besides those that any group has. */
  readonly skew: number;
}

/** The columns, and what comes out: group g is the g-th, for it comes first at row g. */
interface Workload extends Point {
  readonly key: Uint32Array;
  readonly value: Uint32Array;
  readonly counts: Float64Array;
  readonly sums: Float64Array;
}

const WARM_UP_MS = 2000;
const MOST_ROWS = 2 ** 28;
/** A loop over more rows takes minutes of the run. */
const MOST_MAP_ROWS = 2 ** 24;

/** `options.size`: rows. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const { size, sweep, signal, onProgress } = options;
  if (size !== undefined && !(Number.isInteger(size) && size >= 1 && size <= MOST_ROWS)) {
    throw new ValidationError(`group does not measure ${size} rows.`, "Give a whole number from 1 to 2^28.");
  }
  const where = circumstances(device);
  const runs = options.runs ?? 5;
  const isCpu = device.backend === "cpu";
  using duck = isCpu ? await openDuck(device.info.threads) : null;
  const rows: BenchRow[] = [];
  for (const point of pointsOf(device, size, sweep)) {
    signal?.throwIfAborted();
    onProgress?.(`${point.rows} rows, ${point.groups} groups`);
    rows.push(...(await measure(device, point, runs, duck)));
  }
  if (isCpu && sweep === undefined && duck !== null) {
    onProgress?.("flights by route");
    const { ways, ...flights } = await flightsByRoute(device, duck, size ?? Number.POSITIVE_INFINITY);
    rows.push(...(await timeWays(ways, { table: "flights", ...flights, skew: null }, runs)));
  }
  return {
    bench: "group",
    state: "warm loop",
    ...where,
    parameters: { ...(sweep && { sweep }), key: "u32", aggregates: "count, sum of u32" },
    rows,
    notes: [
      'device to device: `groupBy(table, { output: "device" })` of a table with a key and a value column, until the answer is complete. On the cpu engine the columns are copied out of the device\'s arrays first. Arrow to Arrow: `groupBy` of a flechette table, upload and read-back included. JS Map: a loop over the typed arrays, up to 2^24 rows.',
      "On a CPU: DuckDB with as many threads, from a table of a database in memory to a result there, and Arquero; both where they are installed. ratio above 1: Arrow to Arrow is faster.",
      "Every group's key, count and sum was checked in each way before it was timed.",
    ],
  };
}

function pointsOf(device: Device, size: number | undefined, sweep: string | undefined): Point[] {
  const rows = size ?? byDevice(device, { gpu: 2 ** 27, cpu: 2 ** 22, software: 2 ** 12 });
  const atMost = (groups: number) => Math.min(groups, rows);
  if (sweep === "skew") {
    return [0, 0.5, 0.9, 0.99, 1].map((skew) => ({ rows, groups: atMost(2 ** 20), skew }));
  }
  const counts = [8, 1000, 2 ** 20, 2 ** 24].map(atMost);
  const points = [...new Set(counts)].map((groups) => ({ rows, groups, skew: 0 }));
  // a size that others publish
  if (size === undefined && device.backend === "cpu")
    points.push({ rows: 2 ** 23, groups: 2 ** 20, skew: 0 });
  return points;
}

async function measure(device: Device, point: Point, runs: number, duck: Duck | null): Promise<BenchRow[]> {
  const workload = workloadOf(point);
  const { key, value } = workload;
  const arrow = tableFromArrays({ key, value });
  using there = await device.uploadTable(arrow);
  const aggregate = { n: count(), total: sum("value") };
  const options = { by: ["key"], aggregate, device };
  const onDevice = async () => {
    const made = await groupBy(there, { ...options, output: "device" });
    await settle(device);
    return made;
  };
  const onHost = () => groupBy(arrow, options);
  {
    using made = await onDevice();
    checkTable(await made.toArrow(), workload, "device to device");
  }
  checkTable(await onHost(), workload, "Arrow to Arrow");
  const ways: Record<string, TimedCall> = {
    "device to device": { call: onDevice, after: (made: DeviceTable) => made.destroy() },
    "Arrow to Arrow": { call: onHost },
  };
  if (point.rows <= MOST_MAP_ROWS) {
    const { keys, counts, sums } = groupByMap(workload);
    check(workload, "JS Map", keys, counts, sums);
    ways["JS Map"] = { call: () => groupByMap(workload) };
  }
  if (device.backend === "cpu")
    Object.assign(ways, await peersOf(arrow, { by: ["key"], value: "value" }, duck));
  const warmUpMs = byDevice(device, { gpu: WARM_UP_MS, cpu: 0, software: 0 });
  return await timeWays(ways, { table: "integers", ...point }, runs, warmUpMs); // the table is destroyed behind this
}

async function timeWays(
  ways: Record<string, TimedCall>,
  { rows, ...what }: BenchRow & { readonly rows: number },
  runs: number,
  warmUpMs = 0,
): Promise<BenchRow[]> {
  const timings = await timeInTurn(Object.values(ways), { runs, leastTotalMs: 50, warmUpMs });
  const own = timings[Object.keys(ways).indexOf("Arrow to Arrow")].median;
  return Object.keys(ways).map((way, i) => ({
    way,
    ...what,
    rows,
    ms: timings[i].median,
    "fastest ms": timings[i].fastest,
    runs: timings[i].runs,
    "G rows/s": rows / timings[i].median / 1e6,
    "ratio to Arrow to Arrow": timings[i].median / own,
  }));
}

/** Each group comes once among the first rows, the others in no order. Sums stay below 2^52. */
function workloadOf(point: Point): Workload {
  const { rows, groups, skew } = point;
  const [key, value] = [new Uint32Array(rows), new Uint32Array(rows)];
  const [counts, sums] = [new Float64Array(groups), new Float64Array(groups)];
  for (let row = 0; row < rows; row++) {
    const any = mix(row);
    const group = row < groups ? row : any < skew * 2 ** 32 ? 0 : mix(any) % groups;
    key[row] = mix(group);
    value[row] = any >>> 8;
    counts[group]++;
    sums[group] += value[row];
  }
  return { ...point, key, value, counts, sums };
}

function groupByMap({ key, value }: Workload) {
  const numbers = new Map<number, number>();
  const counts: number[] = [];
  const sums: number[] = [];
  for (let row = 0; row < key.length; row++) {
    const group = numbers.get(key[row]);
    if (group === undefined) {
      numbers.set(key[row], counts.length);
      counts.push(1);
      sums.push(value[row]);
    } else {
      counts[group]++;
      sums[group] += value[row];
    }
  }
  return { keys: [...numbers.keys()], counts, sums };
}

function checkTable(made: Table, workload: Workload, way: string): void {
  const [keys, counts, sums] = ["key", "n", "total"].map((name) =>
    Array.from(made.getChild(name) as Iterable<number | bigint>, Number),
  );
  check(workload, way, keys, counts, sums);
}

/** @throws EngineError unless every group is there, with its count and its sum. */
function check(
  workload: Workload,
  way: string,
  keys: readonly number[],
  counts: readonly number[],
  sums: readonly number[],
): void {
  const { groups } = workload;
  if (keys.length !== groups)
    throw new EngineError(`group: ${keys.length} groups in place of ${groups}, ${way}.`);
  for (let group = 0; group < groups; group++) {
    const found = [keys[group], counts[group], sums[group]];
    const expected = [mix(group), workload.counts[group], workload.sums[group]];
    if (found.some((number, i) => number !== expected[i])) {
      throw new EngineError(`group: group ${group} is ${found} in place of ${expected}, ${way}.`);
    }
  }
}
