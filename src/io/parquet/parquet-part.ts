/** Some row groups of a Parquet file as plain data, decoded to a table on any thread. */
import { type Column, Endianness, field, Table, Version } from "@uwdata/flechette";
import { fileErrorFrom } from "../errors.js";
import { notUtf8 } from "../utf8.js";
import { isNotSupported } from "./not-supported.js";
import { prepareCodecs } from "./parquet-codecs.js";
import { type ChunkBytes, type ColumnPlan, columnReader } from "./parquet-column-reader.js";
import { ColumnRoom } from "./parquet-columns.js";
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
 * @throws FileError as readParquet
 */
export async function decodePart({ file, columns }: ParquetPart, rooms: ColumnRoom[]): Promise<Table> {
  const made: Column<unknown>[] = [];
  for (const { name, plan, groups } of columns) {
    const selected = { name, node: plan.node };
    try {
      await prepareCodecs(groups.flat().map(({ codec, bytes }) => ({ codec, bytes: bytes.length })));
      rooms[made.length] ??= new ColumnRoom();
      const reader = columnReader(plan, rooms[made.length]);
      for (const chunks of groups) reader.add(chunks);
      const { column, isText } = reader.finish();
      if (!isText) throw fileErrorFrom(file, notUtf8(name), DAMAGED, REWRITE);
      made.push(column);
    } catch (error) {
      throw columnError(selected, file, error);
    }
  }
  return tableOf(
    columns.map(({ name, plan: { node } }) => ({ name, node })),
    made,
  );
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
