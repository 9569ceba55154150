/** Deals the rows of a part out to partitions, each a temporary file. */
import type { Part } from "./part.js";
import { type BatchShape, RowBatch } from "./row-batch.js";
import { rowsByPartition } from "./row-partitions.js";
import type { SpillFile } from "./spill-file.js";
import type { SpillSession } from "./spill-session.js";

/** Tells the partition of each row of a batch. */
export type PartitionOf = (batch: RowBatch) => Uint8Array;

/** Rows of a partition that are not written yet. */
interface Waiting {
  batches: RowBatch[];
  bytes: number;
}

/** Partitions the rows. Rows of a partition keep their order. The caller releases the files. */
export async function partition(
  session: SpillSession,
  shape: BatchShape,
  batches: AsyncIterable<RowBatch>,
  count: number,
  partitionOf: PartitionOf,
): Promise<Part[]> {
  const files = Array.from({ length: count }, () => session.file(shape));
  const waiting = Array.from({ length: count }, (): Waiting => ({ batches: [], bytes: 0 }));
  const most = session.writeBytes / count;
  for await (const batch of batches) {
    session.pause();
    const rows = rowsByPartition(partitionOf(batch), count);
    for (let i = 0; i < count; i++) {
      if (rows[i].length === 0) continue;
      const taken = batch.take(rows[i]);
      waiting[i].batches.push(taken);
      waiting[i].bytes += taken.bytes;
      if (waiting[i].bytes >= most) await flush(shape, files[i], waiting[i]);
    }
  }
  for (const [i, file] of files.entries()) {
    await flush(shape, file, waiting[i]);
    await file.written();
  }
  return files;
}

async function flush(shape: BatchShape, file: SpillFile, waiting: Waiting): Promise<void> {
  const { batches } = waiting;
  waiting.batches = [];
  waiting.bytes = 0;
  if (batches.length > 0) await file.append(RowBatch.concat(shape, batches));
}
