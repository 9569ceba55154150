// Inputs in pieces: a large batch is opened some rows at a time.
import { columnFromArray, dictionary, int32, list, tableFromColumns, utf8 } from "@uwdata/flechette";
import { expect, it } from "vitest";
import type { Chunk } from "../../src/arrow/chunk.js";
import type { RowBatch } from "../../src/arrow/row-batch.js";
import { TableStream } from "../../src/arrow/table-stream.js";

const ROWS = 40_000;
const PIECE = 2 ** 16;
const text = (row: number) => `${"x".repeat(500)} ${row % 3}`;
const rows = Array.from({ length: ROWS }, (_, row) => row);
/** Its texts are 20 MB, behind codes of 3. Batches of 9,000 rows. */
const table = tableFromColumns({
  id: columnFromArray(rows, int32(), { maxBatchRows: 9000 }),
  text: columnFromArray(rows.map(text), dictionary(utf8()), { maxBatchRows: 9000 }),
  texts: columnFromArray(
    rows.map((row) => [text(row)]),
    list(dictionary(utf8())),
  ),
});

async function pieces(bytes: number): Promise<RowBatch[]> {
  const stream = new TableStream(table, "", undefined);
  const { names } = await stream.first();
  await stream.need(names.map((_, i) => i));
  const all: RowBatch[] = [];
  for await (const piece of stream.pieces(bytes)) all.push(piece);
  return all;
}

/** The largest memory that some bytes of a chunk are part of. */
function memoryOf(chunk: Chunk): number {
  const own = Object.values(chunk).map((value) => (ArrayBuffer.isView(value) ? value.buffer.byteLength : 0));
  return Math.max(...own, ...("child" in chunk ? [memoryOf(chunk.child)] : []));
}

it("expands no more of a large table's dictionaries than a piece", async () => {
  const all = await pieces(PIECE);
  const texts = all.flatMap(({ chunks }) => chunks.filter(({ layout }) => layout !== "fixed"));
  expect(Math.max(...texts.map(memoryOf))).toBeLessThan(32 * PIECE);
  expect(Math.max(...all.map(({ bytes }) => bytes))).toBeLessThan(1.1 * PIECE);
  expect(all.length).toBeLessThan(2 * (all.reduce((sum, { bytes }) => sum + bytes, 0) / PIECE));
});

it("gives all rows in their order", async () => {
  for (const bytes of [PIECE, 2 ** 20, Number.POSITIVE_INFINITY]) {
    let next = 0;
    for (const piece of await pieces(bytes)) {
      for (const row of piece.toTable().toArray()) {
        const same = row.id === next && row.text === text(next) && row.texts.at(0) === text(next);
        if (!same) expect(row).toEqual({ id: next, text: text(next), texts: [text(next)] });
        next++;
      }
    }
    expect(next).toBe(ROWS);
  }
});

it("holds on to nothing of the first batch", async () => {
  const stream = new TableStream(table, "", undefined);
  const shape = await stream.need([0, 1, 2]);
  expect(Math.max(...shape.like.map((column) => memoryOf(column.contiguous())))).toBeLessThan(64);
});
