/**
 * One side of a join dealt out by the hash of its keys: rows that can match are in partitions of the same number,
 * whichever process deals them out.
 */
import type { Table } from "@uwdata/flechette";
import { readTable } from "../arrow/columns.js";
import { type BatchShape, RowBatch } from "../arrow/row-batch.js";
import type { Tables } from "../arrow/table-input.js";
import { TableStream } from "../arrow/table-stream.js";
import type { Sides } from "../engine/join-kinds.js";
import type { JoinOptions } from "../relational/join/join.js";
import { noting, prepareJoin } from "../relational/join/prepare-join.js";
import { encodeOwnKeys, encodeSide, keyForms } from "../relational/keys/encode-keys.js";
import { FIRST_CUT, partitionsOf, rowsByPartition } from "../spill/row-partitions.js";

/** Rows of one partition: Arrow IPC streams of one table each, which stand one behind the other. */
export interface Piece {
  readonly rows: number;
  readonly bytes: readonly Uint8Array[];
}

/** The most partitions. */
export const MOST_PARTITIONS = 256;

/** Bytes of rows that are dealt out at once. */
const PIECE_BYTES = 2 ** 24;

/** What a join asks of its sides: the names of the columns that its result is made of. Its keys can be compared. */
export function neededColumns(likes: Sides<Table>, options: JoinOptions<never>): Sides<string[]> {
  const left = noting(readTable(likes.left, "left"));
  const right = noting(readTable(likes.right, "right"));
  const { keys } = prepareJoin({ left: left.table, right: right.table }, options);
  keyForms(keys.left, keys.right);
  const names = { left: likes.left.names.map(String), right: likes.right.names.map(String) };
  // a column of both sides gives the right one its suffix
  const kept = ({ needed }: ReturnType<typeof noting>, own: readonly string[], other: readonly string[]) =>
    own.filter((name, i) => needed().includes(i) || (options.select !== undefined && other.includes(name)));
  return {
    left: kept(left, names.left, names.right),
    right: kept(right, names.right, names.left),
  };
}

/**
 * The rows of a side by partition; null for those without rows.
 * @param likes tables of both sides' columns, without rows
 */
export function partitionSide(
  tables: Tables,
  side: "left" | "right",
  likes: Sides<Table>,
  options: JoinOptions<never>,
  count: number,
): Promise<(Piece | null)[]> {
  const { keys, nullsEqual } = prepareJoin(likes, options);
  const forms = keyForms(keys.left, keys.right);
  const names = keys[side].map(({ field }) => field.name);
  return dealtOut(tables, side, likes[side], count, (batch, shape) => {
    const columns = names.map((name) => batch.column(shape.names.indexOf(name)));
    return partitionsOf(
      encodeSide(columns, forms, batch.rows, `${side}Factors`),
      count,
      FIRST_CUT,
      !nullsEqual,
    );
  });
}

/** Rows by partition of some columns: equal rows are in one. */
export function partitionRows(
  tables: Tables,
  like: Table,
  by: readonly string[],
  count: number,
): Promise<(Piece | null)[]> {
  return dealtOut(tables, "", like, count, (batch, shape) => {
    const columns = by.map((name) => batch.column(shape.names.indexOf(name)));
    return partitionsOf(encodeOwnKeys(columns, batch.rows), count, FIRST_CUT, false);
  });
}

async function dealtOut(
  tables: Tables,
  side: string,
  like: Table,
  count: number,
  partitionOf: (batch: RowBatch, shape: BatchShape) => Uint8Array,
): Promise<(Piece | null)[]> {
  const stream = new TableStream(tables, side, undefined);
  try {
    const shape = await stream.need([...like.names.keys()]);
    const waiting = Array.from({ length: count }, (): RowBatch[] => []);
    for await (const batch of stream.pieces(PIECE_BYTES)) {
      for (const [i, rows] of rowsByPartition(partitionOf(batch, shape), count).entries())
        if (rows.length > 0) waiting[i].push(batch.take(rows));
    }
    return waiting.map((batches, i) => {
      if (batches.length === 0) return null;
      waiting[i] = []; // frees memory as it is copied
      const all = RowBatch.concat(shape, batches);
      return { rows: all.rows, bytes: all.toIpc() };
    });
  } finally {
    await stream.close();
  }
}
