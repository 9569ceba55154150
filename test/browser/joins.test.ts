/**
 * Joins in a page: on the browser's WebGPU, and on the cpu engine with workers that share memory with the page. Results are compared
 * with nested loops over the rows. test/relational compares with DuckDB in Node, which a page does not have.
 */
import * as flechette from "@uwdata/flechette";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Device } from "../../src/device.js";
import { type CpuEngine, openCpuEngine } from "../../src/engine/cpu/cpu-engine.js";
import { ROW_JOBS } from "../../src/engine/cpu/rows/row-threads.js";
import { murmur3 } from "../../src/engine/hash.js";
import { join } from "../../src/relational/index.js";
import { useDevice } from "../conformance/helpers/device.js";
import { countWorkers, type WorkerCount } from "../helpers/count-workers.js";

type Key = string | number | bigint | null;
/** Key columns by name, each with one key a row. */
type Keys = Readonly<Record<string, readonly Key[]>>;

const types: Readonly<Record<string, () => flechette.DataType>> = {
  string: () => flechette.utf8(),
  coded: () => flechette.dictionary(flechette.utf8()),
  integer: () => flechette.int32(),
  wide: () => flechette.int64(),
};

/** A number below `below` that looks random. */
const random = (row: number, below: number, seed: number) => murmur3(seed * 0x1000193 + row) % below;

/** One key a row, of `different` in all; about an eleventh of them null if `some` may be. */
function keys(rows: number, seed: number, key: (n: number) => Key, different: number, some = false): Key[] {
  return Array.from({ length: rows }, (_, row) =>
    some && random(row, 11, seed + 1) === 0 ? null : key(random(row, different, seed)),
  );
}

/** A table of key columns, the number of each row, and a text that follows from it. */
function tableOf(side: "left" | "right", columns: Keys): flechette.Table {
  const rows = Object.values(columns)[0].length;
  const numbers = Array.from({ length: rows }, (_, row) => row);
  return flechette.tableFromColumns({
    ...Object.fromEntries(
      Object.entries(columns).map(([name, values]) => [
        name,
        flechette.columnFromArray([...values], types[name]()),
      ]),
    ),
    [`${side}Row`]: flechette.columnFromArray(numbers, flechette.int32()),
    [`${side}Text`]: flechette.columnFromArray(
      numbers.map((row) => textOf(side, row)),
      flechette.utf8(),
    ),
  });
}

/** A text of a row's own; null for some rows. */
function textOf(side: string, row: number): string | null {
  return row % 13 === 5 ? null : `${side} ${"é".repeat(row % 4)}${row}`;
}

/** What the join must answer: pairs of row numbers, in order. */
function nestedLoops(left: Keys, right: Keys, nullsEqual: boolean): [number, number][] {
  const names = Object.keys(left);
  const [rows, others] = [left[names[0]].length, right[names[0]].length];
  const equal = (a: Key, b: Key) => a === b && (a !== null || nullsEqual);
  const pairs: [number, number][] = [];
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < others; j++) {
      if (names.every((name) => equal(left[name][i], right[name][j]))) pairs.push([i, j]);
    }
  }
  return pairs;
}

/** Joins and compares pairs of rows, keys and gathered columns. Answers how many pairs there are. */
async function expectJoin(device: Device, left: Keys, right: Keys, nullsEqual: boolean): Promise<number> {
  const names = Object.keys(left);
  const joined = await join(tableOf("left", left), tableOf("right", right), {
    on: names,
    device,
    nullsEqual,
  });
  expect(joined.names).toEqual([...names, "leftRow", "leftText", "rightRow", "rightText"]);
  const column = (name: string) => [...joined.getChild(name)];
  const [lefts, rights] = [column("leftRow"), column("rightRow")] as number[][];
  const pairs = lefts.map((row, i): [number, number] => [row, rights[i]]);
  const expected = nestedLoops(left, right, nullsEqual);
  expect(pairs.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])).toEqual(expected);
  for (const name of names)
    expect(column(name).map(plain)).toEqual(lefts.map((row) => plain(left[name][row])));
  expect(column("leftText")).toEqual(lefts.map((row) => textOf("left", row)));
  expect(column("rightText")).toEqual(rights.map((row) => textOf("right", row)));
  return expected.length;
}

/** Integers of 64 bits are read as numbers or as bigints. */
const plain = (key: unknown) => (typeof key === "bigint" ? Number(key) : key);

/** Key columns of one side, by name. Both sides draw from the same keys, with duplicates. */
const shapes: Readonly<Record<string, (rows: number, seed: number) => Keys>> = {
  strings: (rows, seed) => ({ string: keys(rows, seed, (n) => `key ${n} ${"ü".repeat(n % 40)}`, 500) }),
  "strings with nulls": (rows, seed) => ({ string: keys(rows, seed, (n) => n.toString(36), 400, true) }),
  "a dictionary's strings with nulls": (rows, seed) => ({
    coded: keys(rows, seed, (n) => `name ${n}`, 300, true),
  }),
  integers: (rows, seed) => ({ integer: keys(rows, seed, (n) => n - 300, 600) }),
  "wide integers with nulls": (rows, seed) => ({
    wide: keys(rows, seed, (n) => 2 ** 40 * (n - 300), 600, true),
  }),
  "two columns": (rows, seed) => ({
    integer: keys(rows, seed, (n) => n, 20),
    string: keys(rows, seed + 7, (n) => `part ${n}`, 20),
  }),
  "two columns with nulls": (rows, seed) => ({
    string: keys(rows, seed, (n) => (n === 0 ? "" : `part ${n}`), 20, true),
    wide: keys(rows, seed + 7, (n) => n * 2 ** 33, 20, true),
  }),
};

function joinsOn(device: () => Device) {
  for (const [name, shape] of Object.entries(shapes)) {
    for (const nullsEqual of [false, true]) {
      it(`${name}, nullsEqual ${nullsEqual}`, async () => {
        const [large, small] = [shape(1500, 1), shape(700, 100)];
        expect(await expectJoin(device(), large, small, nullsEqual)).toBeGreaterThan(1000);
        expect(await expectJoin(device(), small, large, nullsEqual)).toBeGreaterThan(1000);
      });
    }
  }

  it("nulls meet nulls only when they are equal", async () => {
    const [left, right] = [{ string: ["a", null, null] }, { string: [null, "a", ""] }];
    expect(await expectJoin(device(), left, right, false)).toBe(1);
    expect(await expectJoin(device(), left, right, true)).toBe(3);
  });

  it("no rows on one side, on both, and no matches", async () => {
    const [none, some] = [{ string: [] }, { string: keys(900, 1, (n) => `${n}`, 90, true) }];
    const others = { string: keys(900, 1, (n) => `other ${n}`, 90) };
    for (const [left, right] of [
      [none, some],
      [some, none],
      [none, none],
      [some, others],
    ]) {
      expect(await expectJoin(device(), left, right, true)).toBe(0);
    }
  });
}

describe("on the browser's WebGPU", () => {
  const device = useDevice();
  it("is where they run", () => expect(device().backend).toBe("webgpu"));
  joinsOn(device);
});

describe("on the cpu engine with threads", () => {
  let device: Device;
  let workers: WorkerCount;

  beforeAll(async () => {
    // so small that workers come to batches that nested loops can check
    const rows = { chunk: 2 ** 10, slice: 2 ** 7, share: 2 ** 6, sortAbove: 2 ** 8 };
    const engine = (await openCpuEngine({ threads: 2, tuning: { rows } })) as CpuEngine;
    device = new Device(engine, "it was asked for");
    workers = await countWorkers(engine.host, ROW_JOBS);
  });
  afterAll(() => {
    workers.expectSome();
    device.destroy();
  });

  it("share memory with the page", () => {
    expect(globalThis.crossOriginIsolated).toBe(true);
    expect(device.info).toMatchObject({ backend: "cpu", threads: 2, features: ["shared-memory"] });
  });
  joinsOn(() => device);
});
