/** Some row groups of a Parquet file as plain data, decoded to a table on any thread. */
import { type Column, Endianness, field, Table, Version } from "@uwdata/flechette";
import type { PartRows } from "../../arrow/file-parts.js";
import { fileErrorFrom } from "../errors.js";
import { notUtf8 } from "../utf8.js";
import { isNotSupported } from "./not-supported.js";
import { prepareCodecs } from "./parquet-codecs.js";
import { type ChunkBytes, type ColumnPlan, columnReader, type ReadColumn } from "./parquet-column-reader.js";
import { ColumnRoom } from "./parquet-columns.js";
import { differentRows } from "./parquet-different.js";
import { DAMAGED, notSupported, REWRITE, type SelectedColumn } from "./parquet-open.js";
import { extensionOf } from "./parquet-schema.js";

export interface ParquetPart {
  /** What errors call the file. */
  readonly file: string;
  readonly columns: readonly PartColumn[];
}

interface PartColumn {
  readonly name: string;
  readonly plan: ColumnPlan;
  /** By row group, one a leaf. */
  readonly groups: readonly (readonly ChunkBytes[])[];
}

/**
 * The rows of a part.
 * @param rooms of the columns, made here: the table is valid until they are used again
 * @param merges whether each different row may come once, with its weight
 * @throws FileError as readParquet
 */
export async function decodePart(
  { file, columns }: ParquetPart,
  rooms: ColumnRoom[],
  merges: boolean,
): Promise<PartRows> {
  const chunks = columns.flatMap(({ groups }) => groups.flat());
  await prepareCodecs(chunks.map(({ codec, bytes }) => ({ codec, bytes: bytes.length })));
  for (const c of columns.keys()) rooms[c] ??= new ColumnRoom();
  const different = merges ? differentRows(columns, rooms) : null;
  const made = columns.map(({ name, plan, groups }, c): Column<unknown> => {
    try {
      const { column, isText } = different?.columns[c] ?? readColumn(plan, groups, rooms[c]);
      if (!isText) throw fileErrorFrom(file, notUtf8(name), DAMAGED, REWRITE);
      return column;
    } catch (error) {
      throw columnError({ name, node: plan.node }, file, error);
    }
  });
  const selected = columns.map(({ name, plan: { node } }) => ({ name, node }));
  return { table: tableOf(selected, made), weights: different?.weights ?? null };
}

function readColumn(plan: ColumnPlan, groups: PartColumn["groups"], room: ColumnRoom): ReadColumn {
  const reader = columnReader(plan, room);
  for (const chunks of groups) reader.add(chunks);
  return reader.finish();
}

export function tableOf(selected: readonly SelectedColumn[], columns: readonly Column<unknown>[]): Table {
  const fields = selected.map(({ name, node }, i) => field(name, columns[i].type, true, extensionOf(node)));
  return new Table({ version: Version.V5, endianness: Endianness.Little, fields, metadata: null }, [
    ...columns,
  ]);
}

/** What went wrong with a column, as an error of the file. */
export function columnError({ name }: SelectedColumn, file: string, error: unknown): unknown {
  if (isNotSupported(error)) return notSupported(file, name, error);
  return fileErrorFrom(file, error, `${DAMAGED} at column "${name}"`, REWRITE);
}
