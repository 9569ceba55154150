/**
 * The result table of a join: every output column gathered by row number, column by column, in record batches of at most
 * 2^24 rows. Columns of a side whose rows all come through once and in order are not gathered: they share the input's memory.
 */
import { Column, Endianness, type Field, Table, Version } from "@uwdata/flechette";
import type { RowPairs } from "../engine/rows.js";
import type { Chunk } from "./chunk.js";
import type { SourceColumn } from "./columns.js";
import { gather } from "./gather.js";
import { sliceChunk } from "./slice-chunk.js";
import { BatchMaker } from "./to-flechette.js";

/** A column of the result: which side it is taken from, and what it is called. */
export interface OutputColumn {
  readonly side: keyof RowPairs;
  readonly column: SourceColumn;
  readonly name: string;
}

/** Rows of a record batch, at most: strings of 128 bytes on average still fit 32-bit offsets. */
const MAX_BATCH_ROWS = 2 ** 24;

/**
 * Builds the table. Time and memory are proportional to the bytes of the result.
 * @param pause called between columns; may throw to stop
 * @throws LimitError when a batch's strings or lists outgrow their offsets
 */
export async function materialise(
  outputs: readonly OutputColumn[],
  pairs: RowPairs,
  pause: () => Promise<void>,
  maxBatchRows = MAX_BATCH_ROWS,
): Promise<Table> {
  const total = pairs.left.length;
  const maker = new BatchMaker();
  const columns: Column<unknown>[] = [];
  const inOrder = { left: isIdentity(pairs.left), right: isIdentity(pairs.right) };
  for (const { side, column } of outputs) {
    const chunk = column.contiguous();
    const whole = inOrder[side] && chunk.length === total;
    const batches = [];
    for (let from = 0; from < total || from === 0; from += maxBatchRows) {
      const to = Math.min(total, from + maxBatchRows);
      batches.push(maker.batch(takeRows(chunk, whole ? null : pairs[side], from, to)));
      await pause();
    }
    columns.push(new Column(batches, batches[0].type));
  }
  return new Table(schemaOf(outputs, columns), columns);
}

function takeRows(chunk: Chunk, rows: Uint32Array | null, from: number, to: number): Chunk {
  return rows === null ? sliceChunk(chunk, from, to) : gather(chunk, rows.subarray(from, to));
}

function isIdentity(rows: Uint32Array): boolean {
  for (let i = 0; i < rows.length; i++) if (rows[i] !== i) return false;
  return true;
}

function schemaOf(outputs: readonly OutputColumn[], columns: readonly Column<unknown>[]) {
  const fields: Field[] = outputs.map(({ column, name }, i) => ({
    ...column.field,
    name,
    type: columns[i].type,
  }));
  return { version: Version.V5, endianness: Endianness.Little, fields, metadata: null };
}
