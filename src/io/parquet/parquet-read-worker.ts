/** The program of the workers that decode columns of Parquet files. */

import { serveJobs } from "../threads/serve-jobs.js";
import { type PackedColumn, packedColumn, viewsOf } from "./packed-column.js";
import { prepareCodecs } from "./parquet-codecs.js";
import { type ChunkBytes, type ColumnPlan, ColumnReader } from "./parquet-column-reader.js";

/** A column for another thread. */
export interface PackedChunks {
  readonly plan: ColumnPlan;
  readonly chunks: readonly ChunkBytes[];
}

/** What became of it. */
export interface PackedResult {
  readonly column: PackedColumn;
  readonly isText: boolean;
}

serveJobs<PackedChunks, PackedResult>(
  async ({ plan, chunks }) => {
    await prepareCodecs(chunks.map(({ codec, bytes }) => ({ codec, bytes: bytes.length })));
    const reader = new ColumnReader(plan);
    for (const chunk of chunks) reader.add(chunk);
    const { column, isText } = reader.finish();
    return { column: packedColumn(column), isText };
  },
  ({ column }) => viewsOf(column),
);
