/**
 * The benchmark join: inner joins of two tables whose keys are all different and each on both sides, in two ways. `device to device`: both
 * tables and the result stay on the device; @luma.gl/gpgpu's join takes turns. `Arrow to Arrow`: from flechette tables to a flechette
 * table, with a payload column on either side; a Map, and on a CPU DuckDB and Arquero, take turns. Sweeps vary the share of left rows
 * that match, the share of left rows that have one key, and how often a key comes on the right.
 *
 * Every row of the first answer is checked before anything is timed.
 */
import type { Column, Table } from "@uwdata/flechette";
import { type Device, ValidationError } from "../src/index.js";
import { type DeviceTable, join } from "../src/relational/index.js";
import { type Duck, openDuck } from "./flight-files.js";
import { peersOf } from "./join-peers.js";
import { checkRows, type Point, piecesOf, type Sides, sidesOf } from "./join-points.js";
import { lumaJoin } from "./luma-join.js";
import { CUDF_JOINS } from "./published.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  isRealGpu,
} from "./report.js";
import { settle, type TimedCall, timeInTurn } from "./timing.js";

export const sweeps = ["selectivity", "multiplicity", "skew"] as const;

const ONE_TO_ONE = { selectivity: 1, multiplicity: 1, skew: 0 };
const WARM_UP_MS = 2000;
const MOST_ROWS = 2 ** 28;
/** A dispatch of luma.gl takes no more. */
const MOST_LUMA_ROWS = 2 ** 24;

/** `options.size`: rows of either side. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const { size, sweep, signal, onProgress } = options;
  if (size !== undefined && !(Number.isInteger(size) && size >= 1 && size <= MOST_ROWS)) {
    throw new ValidationError(`join does not measure ${size} rows.`, "Give a whole number from 1 to 2^28.");
  }
  const where = circumstances(device);
  using duck = device.backend === "cpu" ? await openDuck(device.info.threads) : null;
  const rows: BenchRow[] = [];
  for (const point of pointsOf(device, size, sweep)) {
    signal?.throwIfAborted();
    onProgress?.(`${point.rows} rows, ${point.key}${point.arrow ? ", Arrow to Arrow" : ""}`);
    rows.push(...(await measure(device, point, options.runs ?? 5, duck)));
  }
  return {
    bench: "join",
    state: "warm loop",
    ...where,
    parameters: { ...(sweep && { sweep }), how: "inner" },
    rows,
    ...(isRealGpu(device) && !sweep && { published: CUDF_JOINS }),
    notes: [
      'device to device: `join(left, right, { output: "device" })` of tables with a key column each, until the result is complete. Arrow to Arrow: `join` of flechette tables of a key and a u32 column each, upload and read-back included.',
      "luma.gl: the join of @luma.gl/gpgpu on the same GPU, where it is installed; a table and its result have the room that the caller gave them before.",
      "Arrow to Arrow, in turn with warpmap: JS Map, a loop over the typed arrays, up to 2^23 rows; on a CPU DuckDB with as many threads, from tables of a database in memory to a result there, and Arquero, from its tables to its table; both where they are installed. ratio above 1: warpmap is faster.",
      "G rows/s counts the rows of both inputs. The result has as many rows as the left, times selectivity and multiplicity.",
      "Each point's answer was checked row by row before it was timed: with payload columns, that say which rows were joined.",
    ],
  };
}

function pointsOf(device: Device, size: number | undefined, sweep: string | undefined): Point[] {
  const most = size ?? byDevice(device, { gpu: 2 ** 27, cpu: 2 ** 22, software: 2 ** 12 });
  const there = { key: "u32", rows: most, arrow: false, ...ONE_TO_ONE } as const;
  // others join Arrow tables
  const ways = device.backend === "cpu" ? [there, { ...there, arrow: true }] : [there];
  if (sweep === "selectivity") {
    return [0.01, 0.1, 0.3, 0.5, 1].flatMap((selectivity) => ways.map((way) => ({ ...way, selectivity })));
  }
  if (sweep === "skew") {
    return [0, 0.5, 0.9, 0.99, 1].flatMap((skew) => ways.map((way) => ({ ...way, skew })));
  }
  if (sweep === "multiplicity") {
    const several = ways.map((way) => ({ ...way, rows: Math.ceil(most / 8) }));
    return [1, 8, 64, 1024, 65536].flatMap((multiplicity) =>
      several.map((way) => ({ ...way, multiplicity })),
    );
  }
  const arrow = { key: "u32", arrow: true, ...ONE_TO_ONE } as const;
  if (size !== undefined) return [there, { ...there, key: "i64" }, { ...arrow, rows: size }];
  const smaller = (rows: number) => Math.min(rows, most);
  return [
    { ...there, rows: smaller(100_000) },
    { ...there, rows: smaller(2 ** 20) },
    { ...there, rows: smaller(2 ** 24) },
    { ...there, key: "i64", rows: smaller(100_000) },
    { ...there, key: "i64", rows: smaller(10_000_000) },
    { ...arrow, rows: smaller(2 ** 20) },
    { ...arrow, rows: smaller(2 ** 24) },
    // what it leaves behind on the host slows the others down
    there,
  ];
}

async function measure(device: Device, point: Point, runs: number, duck: Duck | null): Promise<BenchRow[]> {
  const sides = sidesOf(point);
  const warmUpMs = byDevice(device, { gpu: WARM_UP_MS, cpu: 0, software: 0 });
  const ways = point.arrow ? arrowWays(device, point, sides, duck) : deviceWays(device, point, sides);
  const { calls, destroy } = await ways;
  try {
    const timings = await timeInTurn(Object.values(calls), { runs, leastTotalMs: 50, warmUpMs });
    const { arrow, ...what } = point;
    return Object.keys(calls).map((by, i) => ({
      by,
      way: arrow ? "Arrow to Arrow" : "device to device",
      ...what,
      "result rows": sides.expected,
      ms: timings[i].median,
      "fastest ms": timings[i].fastest,
      runs: timings[i].runs,
      "G rows/s": (2 * point.rows) / timings[i].median / 1e6,
      ratio: timings[i].median / timings[0].median,
    }));
  } finally {
    destroy?.();
  }
}

/** Who joins, warpmap first, every answer checked. */
interface Ways {
  readonly calls: Readonly<Record<string, TimedCall>>;
  readonly destroy?: () => void;
}

async function arrowWays(device: Device, point: Point, sides: Sides, duck: Duck | null): Promise<Ways> {
  const own = () => join(sides.left, sides.right, { on: ["key"], device });
  checkRows(piecesOf(await own()), point, sides.expected, "Arrow to Arrow");
  const peers = await peersOf(point, sides, device.backend === "cpu", duck);
  return { calls: { warpmap: { call: own }, ...peers } };
}

async function deviceWays(device: Device, point: Point, { left, right, expected }: Sides): Promise<Ways> {
  const options = { on: ["key"], device, output: "device" } as const;
  {
    using l = await device.uploadTable(left);
    using r = await device.uploadTable(right);
    using joined = await join(l, r, options);
    checkRows(piecesOf(await joined.toArrow()), point, expected, "device to device");
  }
  const luma = isForLuma(device, point) ? await lumaJoin(device, keysOf(left), keysOf(right)) : null;
  const l = await device.uploadTable(left, { columns: ["key"] });
  const r = await device.uploadTable(right, { columns: ["key"] });
  const call = async () => {
    const joined = await join(l, r, options);
    await settle(device);
    return joined;
  };
  const own = { call, after: (joined: DeviceTable) => joined.destroy() };
  return {
    calls: luma ? { warpmap: own, "luma.gl": luma } : { warpmap: own },
    destroy() {
      luma?.destroy();
      l.destroy();
      r.destroy();
    },
  };
}

/** It takes u32 keys and, on the right, one row of a key. */
function isForLuma(device: Device, { key, rows, selectivity, multiplicity, skew }: Point): boolean {
  const fits = rows <= MOST_LUMA_ROWS && selectivity === 1 && multiplicity === 1 && skew === 0;
  return device.backend === "webgpu" && key === "u32" && fits;
}

const keysOf = (table: Table) => (table.getChild("key") as Column<number>).toArray() as Uint32Array;
