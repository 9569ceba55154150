/** A column of a Parquet file that another thread decodes. */
import { type PackedColumn, packedColumn, viewsOf } from "./packed-column.js";
import { prepareCodecs } from "./parquet-codecs.js";
import { type ChunkBytes, type ColumnPlan, columnReader } from "./parquet-column-reader.js";

/** A column for another thread. */
export interface PackedChunks {
  readonly plan: ColumnPlan;
  /** By row group, one a leaf. */
  readonly groups: readonly (readonly ChunkBytes[])[];
}

/** What became of it. */
export interface PackedResult {
  readonly column: PackedColumn;
  readonly isText: boolean;
}

export async function decodeChunks({ plan, groups }: PackedChunks): Promise<PackedResult> {
  await prepareCodecs(groups.flat().map(({ codec, bytes }) => ({ codec, bytes: bytes.length })));
  const reader = columnReader(plan);
  for (const chunks of groups) reader.add(chunks);
  const { column, isText } = reader.finish();
  return { column: packedColumn(column), isText };
}

export const viewsOfColumn = ({ column }: PackedResult) => viewsOf(column);
