// Batches that take more than their values: of many columns, or of few rows.
import { type Table, tableFromArrays } from "@uwdata/flechette";
import { expect, it } from "vitest";
import { TableStream } from "../../src/arrow/table-stream.js";
import { groupBy, join, sum } from "../../src/relational/index.js";
import { temporaryFolder } from "../io/temporary.js";

const path = temporaryFolder();
const MIB = 2 ** 20;

function wideTable(columns: number, rows: number, letter: string): Record<string, Int32Array> {
  const table: Record<string, Int32Array> = { k: Int32Array.from({ length: rows }, (_, row) => row) };
  for (let c = 1; c < columns; c++) table[letter + c] = table.k.map((row) => (row * 7 + c) % 101);
  return table;
}

it("wide tables are cut into few partitions, and what is written is in proportion to their values", async () => {
  const [columns, rows] = [100, 1500];
  const [left, right] = ["l", "r"].map((letter) => wideTable(columns, rows, letter));
  const values = 2 * 4 * columns * rows;
  let told = { bytes: 0, partitions: 0, depth: 0 };
  const memory = { limit: MIB, folder: path(""), onSpill: (report: typeof told) => (told = report) };
  let found = 0;
  for await (const table of join(left, right, { on: ["k"], memory }).batches()) {
    expect(table.numCols).toBe(2 * columns - 1);
    const [k, l, r] = ["k", "l99", "r99"].map((name) => table.getChild(name).toArray() as Int32Array);
    found += k.filter((key, i) => l[i] === left.l99[key] && r[i] === right.r99[key]).length;
  }
  expect(found).toBe(rows);
  expect(told.partitions).toBeLessThan(32);
  expect(told.bytes).toBeGreaterThan(values);
  expect(told.bytes).toBeLessThan(4 * values);
});

it("small tables of thousands of columns write nothing", async () => {
  const table = wideTable(2000, 50, "c");
  let told = { bytes: -1 };
  const memory = { limit: MIB, onSpill: (report: typeof told) => (told = report) };
  const grouped = await groupBy(table, { by: ["k"], aggregate: { x: sum("c1") }, memory });
  expect([grouped.numRows, told.bytes]).toEqual([50, 0]);
  expect((await join(table, table, { on: ["k"], memory })).numRows).toBe(50);
  expect(told.bytes).toBe(0);
});

it("batches of one row are put together before what they take besides is much", async () => {
  const rows = 3000;
  const ones = function* (): Generator<Table> {
    for (let i = 0; i < rows; i++) yield tableFromArrays({ id: Int32Array.of(i) });
  };
  const stream = new TableStream(ones(), "", undefined);
  const shape = await stream.need([0]);
  const bytes = 2 ** 13;
  const ids: number[] = [];
  const sizes: number[] = [];
  for await (const piece of stream.pieces(bytes)) {
    sizes.push(piece.rows);
    ids.push(...(piece.toTable().getChildAt(0).toArray() as Int32Array));
  }
  expect(ids).toEqual(Array.from({ length: rows }, (_, i) => i));
  // of 8 bytes a row: more than an eighth of a piece are rows, where a batch of its own takes a kilobyte
  expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(bytes / 8 / 8);
  expect(shape.fixedBytes).toBeGreaterThan(bytes / 16);
});
