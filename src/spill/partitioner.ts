/** Deals the rows of a part out to partitions, each a temporary file. */

import type { SourceTable } from "../arrow/columns.js";
import { type BatchShape, Gathered, type RowBatch } from "../arrow/row-batch.js";
import type { Device } from "../device.js";
import type { Part } from "./part.js";
import { rowsByPartition } from "./row-partitions.js";
import type { SpillSession } from "./spill-session.js";

/** Tells the partition of each row of a batch. */
export type PartitionOf = (batch: RowBatch) => Uint8Array;

/** What is partitioned, and how. */
export interface Dealing {
  readonly shape: BatchShape;
  readonly batches: AsyncIterable<RowBatch>;
  readonly count: number;
  readonly partitionOf: PartitionOf;
}

/** The call that partitions: it works on the device when its turn has come. */
export interface Turns {
  begin(): Promise<Device>;
  onSlot<T>(device: Device, inputs: readonly SourceTable[], work: () => Promise<T>): Promise<T>;
}

/** Partitions the rows, a batch on a slot. Rows of a partition keep their order. The caller releases the files. */
export async function partition(
  session: SpillSession,
  call: Turns,
  { shape, batches, count, partitionOf }: Dealing,
): Promise<Part[]> {
  const device = await call.begin();
  const files = Array.from({ length: count }, () => session.file(shape));
  // rows that are not written yet
  const most = Math.max(session.writeBytes / count, 2 * shape.fixedBytes);
  const waiting = Array.from({ length: count }, () => new Gathered(shape, most));
  for await (const batch of batches) {
    session.pause();
    await call.onSlot(device, [batch], async () => {
      const rows = rowsByPartition(partitionOf(batch), count);
      for (let i = 0; i < count; i++) {
        if (rows[i].length === 0) continue;
        const enough = waiting[i].add(batch.take(rows[i]));
        if (enough) await files[i].append(enough);
      }
    });
  }
  for (const [i, file] of files.entries()) {
    const rest = waiting[i].rest();
    if (rest) await file.append(rest);
    await file.written();
  }
  return files;
}
