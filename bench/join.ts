/**
 * The benchmark join: inner joins of two tables whose keys are all different and each on both sides, in two ways. `device to device`: both
 * tables and the result stay on the device. `Arrow to Arrow`: from flechette tables to a flechette table, with a payload column on
 * either side. Sweeps vary the share of left rows that match, and how often a key comes on the right.
 *
 * Every row of the first answer is checked before anything is timed.
 */
import { type Column, type Table, tableFromArrays } from "@uwdata/flechette";
import { type Device, EngineError, ValidationError } from "../src/index.js";
import { type DeviceTable, join } from "../src/relational/index.js";
import { lumaJoin } from "./luma-join.js";
import { mix } from "./mix.js";
import { CUDF_JOINS } from "./published.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  isRealGpu,
} from "./report.js";
import { settle, type Timing, timeInTurn } from "./timing.js";

export const sweeps = ["selectivity", "multiplicity"] as const;

type KeyType = "u32" | "i64";

/** What one point joins. */
interface Point {
  readonly key: KeyType;
  readonly rows: number;
  /** Share of left rows that have a partner. */
  readonly selectivity: number;
  /** Right rows of a key. */
  readonly multiplicity: number;
  readonly arrow: boolean;
}

const ONE_TO_ONE = { selectivity: 1, multiplicity: 1 };
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
  const rows: BenchRow[] = [];
  for (const point of pointsOf(device, size, sweep)) {
    signal?.throwIfAborted();
    onProgress?.(`${point.rows} rows, ${point.key}${point.arrow ? ", Arrow to Arrow" : ""}`);
    rows.push(...(await measure(device, point, options.runs ?? 5)));
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
      "G rows/s counts the rows of both inputs. The result has as many rows as the left, times selectivity and multiplicity.",
      "Each point's answer was checked row by row before it was timed: with payload columns, that say which rows were joined.",
    ],
  };
}

function pointsOf(device: Device, size: number | undefined, sweep: string | undefined): Point[] {
  const most = size ?? byDevice(device, { gpu: 2 ** 27, cpu: 2 ** 22, software: 2 ** 12 });
  const there = { key: "u32", rows: most, arrow: false, ...ONE_TO_ONE } as const;
  if (sweep === "selectivity")
    return [0.01, 0.1, 0.3, 0.5, 1].map((selectivity) => ({ ...there, selectivity }));
  const several = { ...there, rows: Math.ceil(most / 8) };
  if (sweep === "multiplicity") {
    return [1, 8, 64, 1024, 65536].map((multiplicity) => ({ ...several, multiplicity }));
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

async function measure(device: Device, point: Point, runs: number): Promise<BenchRow[]> {
  const { left, right, expected } = tablesOf(point);
  const options = { on: ["key"], device };
  const repeats = {
    runs,
    leastTotalMs: 50,
    warmUpMs: byDevice(device, { gpu: WARM_UP_MS, cpu: 0, software: 0 }),
  };
  const row = (timing: Timing, by = "warpmap"): BenchRow => ({
    by,
    way: point.arrow ? "Arrow to Arrow" : "device to device",
    key: point.key,
    rows: point.rows,
    selectivity: point.selectivity,
    multiplicity: point.multiplicity,
    "result rows": expected,
    ms: timing.median,
    "fastest ms": timing.fastest,
    runs: timing.runs,
    "G rows/s": (2 * point.rows) / timing.median / 1e6,
  });
  if (point.arrow) {
    checkRows(await join(left, right, options), point, expected);
    const [timing] = await timeInTurn([{ call: () => join(left, right, options) }], repeats);
    return [row(timing)];
  }
  {
    using l = await device.uploadTable(left);
    using r = await device.uploadTable(right);
    using joined = await join(l, r, { ...options, output: "device" });
    checkRows(await joined.toArrow(), point, expected);
  }
  using l = await device.uploadTable(left, { columns: ["key"] });
  using r = await device.uploadTable(right, { columns: ["key"] });
  const call = async () => {
    const joined = await join(l, r, { ...options, output: "device" });
    await settle(device);
    return joined;
  };
  const own = { call, after: (joined: DeviceTable) => joined.destroy() };
  const luma = isForLuma(device, point) ? await lumaJoin(device, keysOf(left), keysOf(right)) : null;
  try {
    const [timing, others] = await timeInTurn(luma ? [own, luma] : [own], repeats);
    return others ? [row(timing), row(others, "luma.gl")] : [row(timing)];
  } finally {
    luma?.destroy();
  }
}

/** It takes u32 keys and, on the right, one row of a key. */
function isForLuma(device: Device, { key, rows, selectivity, multiplicity }: Point): boolean {
  const fits = rows <= MOST_LUMA_ROWS && selectivity === 1 && multiplicity === 1;
  return device.backend === "webgpu" && key === "u32" && fits;
}

const keysOf = (table: Table) => (table.getChild("key") as Column<number>).toArray() as Uint32Array;

/**
 * Left row i has key number i and a = i. Right row j has key number floor(j' / multiplicity) of those that the left has in the wanted
 * share, others beyond, and b = j', where j' are the numbers of right rows in another order.
 */
function tablesOf({ key, rows, selectivity, multiplicity }: Point) {
  const keys = Math.ceil(rows / multiplicity);
  const shift = keys - Math.max(1, Math.round(Math.min(keys, rows) * selectivity));
  const a = numbersTo(rows);
  const b = shuffled(rows);
  const keyOf = (j: number) => {
    const number = Math.floor(j / multiplicity);
    return number < shift ? rows + number : number - shift;
  };
  const columnOf = (of: (row: number) => number) => {
    if (key === "u32") return a.map((row) => mix(of(row)));
    const words = new Uint32Array(2 * rows);
    for (let row = 0; row < rows; row++) {
      words[2 * row] = mix(of(row));
      words[2 * row + 1] = of(row);
    }
    return new BigInt64Array(words.buffer);
  };
  let expected = 0;
  for (let j = 0; j < rows; j++) if (keyOf(j) < rows) expected++;
  return {
    left: tableFromArrays({ key: columnOf((row) => row), a }),
    right: tableFromArrays({ key: columnOf((row) => keyOf(b[row])), b }),
    expected,
  };
}

function numbersTo(rows: number): Uint32Array {
  const numbers = new Uint32Array(rows);
  for (let i = 0; i < rows; i++) numbers[i] = i;
  return numbers;
}

/** The numbers below `rows` in an order without a pattern. */
function shuffled(rows: number): Uint32Array {
  const numbers = numbersTo(rows);
  for (let i = rows - 1; i > 0; i--) {
    const j = mix(i) % (i + 1);
    [numbers[i], numbers[j]] = [numbers[j], numbers[i]];
  }
  return numbers;
}

/** @throws EngineError unless every row joins a left with a right row of its key, and no right row comes twice. */
function checkRows(joined: Table, { rows, selectivity, multiplicity }: Point, expected: number): void {
  const keys = Math.ceil(rows / multiplicity);
  const shift = keys - Math.max(1, Math.round(Math.min(keys, rows) * selectivity));
  const seen = new Uint8Array(rows);
  let at = 0;
  const columns = ["a", "b"].map((name) => (joined.getChild(name) as Column<number>).data);
  for (const [batch, { values }] of columns[0].entries()) {
    const left = values as Uint32Array;
    const right = columns[1][batch].values as Uint32Array;
    for (let i = 0; i < left.length; i++, at++) {
      const number = Math.floor(right[i] / multiplicity) - shift;
      if (left[i] !== number || seen[right[i]]++ > 0) {
        throw new EngineError(`join: row ${at} joins left row ${left[i]} with right row ${right[i]}.`);
      }
    }
  }
  if (at !== expected) throw new EngineError(`join: ${at} rows in place of ${expected}.`);
}
