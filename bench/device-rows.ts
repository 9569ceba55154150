/**
 * The benchmark device-rows: joins and group-bys of tables that lie on the device, results left there. Inner joins of unique keys
 * with a payload a side, ids in order and keys spread over 32 or 64 bits; group-bys with count and sum, of integers and of f64.
 * Each first answer is checked before it is timed: every row of a join, every group.
 */
import { type Column, type Table, tableFromArrays } from "@uwdata/flechette";
import { type Device, EngineError, type Plan, ValidationError } from "../src/index.js";
import { count, type DeviceTable, groupBy, join, mean, sum } from "../src/relational/index.js";
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
import { settle, timeInTurn } from "./timing.js";

const WARM_UP_MS = 300;
const MOST_ROWS = 2 ** 28;

/** A call on tables of the device. */
interface Case {
  readonly task: string;
  readonly rows: number;
  open(device: Device): Promise<Opened>;
}

interface Opened extends Disposable {
  call(onPlan?: (plan: Plan) => void): Promise<DeviceTable>;
  /** @throws EngineError for a wrong answer */
  check(made: Table): void;
}

/** `options.size`: rows of the largest. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const { signal, onProgress, runs = 5 } = options;
  const most = options.size ?? byDevice(device, { gpu: 2 ** 27, cpu: 2 ** 22, software: 2 ** 12 });
  if (!(Number.isInteger(most) && most >= 1 && most <= MOST_ROWS))
    throw new ValidationError(
      `device-rows does not measure ${most} rows.`,
      "Give a whole number from 1 to 2^28.",
    );
  const where = circumstances(device);
  const rows: BenchRow[] = [];
  for (const each of casesOf(most)) {
    signal?.throwIfAborted();
    onProgress?.(`${each.task}, ${each.rows} rows`);
    rows.push(await measure(device, each, runs));
  }
  return {
    bench: "device-rows",
    state: "warm loop",
    ...where,
    parameters: { "largest rows": most },
    rows,
    ...(isRealGpu(device) && { published: CUDF_JOINS }),
    notes: [
      "ms is the median wall time of the awaited call; tables and results are on the device. first ms is the first call of its kind in the process.",
      "Every row of the first join, and every group, was checked against the columns that the keys were made from.",
    ],
  };
}

function casesOf(most: number): Case[] {
  const atMost = (rows: number) => Math.min(rows, most);
  const [some, all] = [atMost(2 ** 24), atMost(2 ** 27)];
  const cases = [
    ...[...new Set([some, all])].flatMap((rows) => [joinOf("ids", rows), joinOf("spread", rows)]),
    joinOf("i64", atMost(10_000_000)),
    groupsOf("f64", some, 100_000),
    ...[8, 1000, 2 ** 20, 2 ** 24].map((groups) => groupsOf("u32", all, groups)),
  ];
  return cases;
}

async function measure(device: Device, { task, rows, open }: Case, runs: number): Promise<BenchRow> {
  using opened = await open(device);
  let plan: Plan | undefined;
  const start = performance.now();
  {
    using made = await opened.call((told) => (plan = told));
    await settle(device);
    const first = performance.now() - start;
    opened.check(await made.toArrow());
    const call = async () => {
      const made = await opened.call();
      await settle(device);
      return made;
    };
    const warmUpMs = byDevice(device, { gpu: WARM_UP_MS, cpu: 0, software: 0 });
    const [timing] = await timeInTurn([{ call, after: (made: DeviceTable) => made.destroy() }], {
      runs,
      leastTotalMs: 50,
      warmUpMs,
    });
    return {
      task,
      rows,
      ms: timing.median,
      "fastest ms": timing.fastest,
      runs: timing.runs,
      "first ms": first,
      "G rows/s": rows / timing.median / 1e6,
      plan: plan?.strategies.map(({ strategy }) => strategy).join(", ") ?? null,
    };
  }
}

/** Row r of either side has the key of number r: the right side's rows come in another order. */
function joinOf(keys: "ids" | "spread" | "i64", rows: number): Case {
  return {
    task: `inner join, ${keys === "i64" ? "i64 keys" : keys === "ids" ? "u32 ids" : "spread u32 keys"}, an i32 payload a side`,
    rows,
    async open(device) {
      const spread = (number: number) => (keys === "ids" ? number : mix(number));
      const turn = (row: number) => (row + Math.floor(rows / 3)) % rows;
      const key = (row: number) => spread(row);
      const column = (at: (row: number) => number) =>
        keys === "i64"
          ? BigInt64Array.from({ length: rows }, (_, row) => BigInt(key(at(row))) * 4_294_967_291n)
          : filled(Uint32Array, rows, (row) => key(at(row)));
      const payload = (salt: number) => (row: number) => mix(row ^ salt) | 0;
      const [ofLeft, ofRight] = [payload(0x51ed), payload(0xbead)];
      const left = await device.uploadTable(
        tableFromArrays({ key: column((row) => row), a: filled(Int32Array, rows, ofLeft) }),
      );
      const right = await device.uploadTable(
        tableFromArrays({ key: column(turn), b: filled(Int32Array, rows, (row) => ofRight(turn(row))) }),
      );
      return {
        call: (onPlan) => join(left, right, { on: ["key"], device, output: "device", onPlan }),
        check(made) {
          if (made.numRows !== rows) throw new EngineError(`device-rows: ${made.numRows} rows of ${rows}.`);
          // rows come in any order: payloads are multiplied with each other, and all products added up
          const [a, b] = [valuesOf(made, "a"), valuesOf(made, "b")];
          let [sum, expected] = [0, 0];
          for (let row = 0; row < rows; row++) {
            sum = (sum + Math.imul(mix(Number(a[row])), mix(Number(b[row]) ^ 1))) >>> 0;
            expected = (expected + Math.imul(mix(ofLeft(row)), mix(ofRight(row) ^ 1))) >>> 0;
          }
          if (sum !== expected) throw new EngineError("device-rows: rows of a join do not belong together.");
        },
        [Symbol.dispose]() {
          left.destroy();
          right.destroy();
        },
      };
    },
  };
}

/** Row r is of group r until each came once, then of any. */
function groupsOf(type: "u32" | "f64", rows: number, wanted: number): Case {
  const groups = Math.min(wanted, rows);
  return {
    task: `group-by, ${groups} groups: ${type === "u32" ? "count and sum of u32" : "sum and mean of f64"}`,
    rows,
    async open(device) {
      const groupOf = (row: number) => (row < groups ? row : mix(row) % groups);
      const key = filled(Uint32Array, rows, (row) => mix(groupOf(row)));
      // eighths: their sums are exact
      const value =
        type === "u32"
          ? filled(Uint32Array, rows, (row) => mix(row) >>> 8)
          : filled(Float64Array, rows, (row) => (mix(row) >>> 8) / 8);
      const table = await device.uploadTable(tableFromArrays({ key, value }));
      const total = sum("value");
      const aggregate = type === "u32" ? { total, other: count() } : { total, other: mean("value") };
      return {
        call: (onPlan) => groupBy(table, { by: ["key"], aggregate, device, output: "device", onPlan }),
        check(made) {
          const [sums, counts] = [new Float64Array(groups), new Float64Array(groups)];
          for (let row = 0; row < rows; row++) {
            sums[groupOf(row)] += value[row];
            counts[groupOf(row)]++;
          }
          const [keys, totals] = [valuesOf(made, "key"), valuesOf(made, "total")];
          const others = valuesOf(made, "other");
          if (made.numRows !== groups)
            throw new EngineError(`device-rows: ${made.numRows} groups of ${groups}.`);
          for (let group = 0; group < groups; group++) {
            const other = type === "u32" ? counts[group] : sums[group] / counts[group];
            if (
              Number(keys[group]) === mix(group) &&
              Number(totals[group]) === sums[group] &&
              Number(others[group]) === other
            )
              continue;
            throw new EngineError(
              `device-rows: group ${group} is ${totals[group]}, ${others[group]}, not ${sums[group]}, ${other}.`,
            );
          }
        },
        [Symbol.dispose]: () => table.destroy(),
      };
    },
  };
}

function filled<A extends Int32Array | Uint32Array | Float64Array>(
  Type: new (length: number) => A,
  length: number,
  at: (row: number) => number,
): A {
  const values = new Type(length);
  for (let row = 0; row < length; row++) values[row] = at(row);
  return values;
}

/** Typed arrays, for no value is null. */
const valuesOf = (table: Table, name: string) =>
  (table.getChild(name) as Column<number>).toArray() as Float64Array | Int32Array | BigInt64Array;
