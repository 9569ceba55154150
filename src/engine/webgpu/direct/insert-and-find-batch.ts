/** insertAndFind on a whole batch, loaded by the first call. */
import { type KeyType, lengthOf, type ValueType } from "../../element-types.js";
import type { CallOptions, Destination, InsertTally, Output } from "../../engine.js";
import { type Batch, eachChunk } from "../../gpu/batch/batches.js";
import { resultColumns } from "../../gpu/batch/results.js";
import { later, runOperation, type Strategies } from "../operations.js";
import type { TableState } from "../table/table-state.js";
import { addTally, finishing, type ReadStep } from "../webgpu-table.js";
import { type InsertAndFindArguments, insertAndFindChunk } from "./insert-and-find.js";

export const insertAndFind: Strategies<InsertAndFindArguments, InsertTally> = {
  direct: insertAndFindChunk,
  partitions: later((module) => module.insertAndFindByPartition),
};

export async function insertAndFindBatch<K extends KeyType, V extends ValueType>(
  state: TableState,
  batch: Batch<K, V>,
  output: Destination,
  call: CallOptions,
  full: InsertAndFindArguments["full"],
): Promise<InsertTally & { values: Output<V> | null; insertedFlags: Output<"u8"> }> {
  const { host, spec } = state;
  const tally: InsertTally = { inserted: 0, existing: 0, rejected: 0 };
  const types = ["u8", spec.value as V | null] as const;
  const results = await resultColumns(host, lengthOf(batch.keys), output, types);
  const [flags, stored] = results.columns;
  await results.keepUnlessThrown(() =>
    eachChunk(state, "insertAndFind", batch, call, output, async (chunk, choice, readBack) => {
      const isNew = await flags.bind(chunk.scratch, chunk);
      const values = await stored?.bind(chunk.scratch, chunk);
      const reads = [...isNew.readback(chunk), ...(values?.readback(chunk) ?? [])];
      const args = {
        results: { flags: isNew.column, values: values?.column },
        full,
        readBack: (step: ReadStep) => readBack(reads, finishing(values, chunk.count, step)),
      };
      addTally(tally, await runOperation(insertAndFind, state, chunk, choice, args));
    }),
  );
  return { ...tally, values: (stored?.output ?? null) as Output<V> | null, insertedFlags: flags.output };
}
