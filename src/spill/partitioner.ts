/** Deals the rows of a part out to partitions, each a temporary file. */

import { type BatchShape, Gathered, type RowBatch } from "../arrow/row-batch.js";
import type { Part } from "./part.js";
import { rowsByPartition } from "./row-partitions.js";
import type { SpillSession } from "./spill-session.js";

/** Tells the partition of each row of a batch. */
export type PartitionOf = (batch: RowBatch) => Uint8Array;

/** Partitions the rows. Rows of a partition keep their order. The caller releases the files. */
export async function partition(
  session: SpillSession,
  shape: BatchShape,
  batches: AsyncIterable<RowBatch>,
  count: number,
  partitionOf: PartitionOf,
): Promise<Part[]> {
  const files = Array.from({ length: count }, () => session.file(shape));
  // rows that are not written yet
  const most = Math.max(session.writeBytes / count, 2 * shape.fixedBytes);
  const waiting = Array.from({ length: count }, () => new Gathered(shape, most));
  for await (const batch of batches) {
    session.pause();
    const rows = rowsByPartition(partitionOf(batch), count);
    for (let i = 0; i < count; i++) {
      if (rows[i].length === 0) continue;
      const enough = waiting[i].add(batch.take(rows[i]));
      if (enough) await files[i].append(enough);
    }
  }
  for (const [i, file] of files.entries()) {
    const rest = waiting[i].rest();
    if (rest) await file.append(rest);
    await file.written();
  }
  return files;
}
