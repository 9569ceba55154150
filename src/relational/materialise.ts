/**
 * The result table of a join: every output column gathered by row number, column by column, in record batches of at most
 * 2^19 rows. Columns of a side whose rows all come through once and in order are not gathered: they share the input's memory.
 */
import { Column, Endianness, type Field, Table, Version } from "@uwdata/flechette";
import type { GatherTask } from "../engine/gather-buffers.js";
import { gatherHere } from "../engine/row-operations.js";
import type { RowPairs } from "../engine/rows.js";
import type { SourceColumn } from "./columns.js";
import { type GatherPlan, planGather } from "./gather.js";
import { sliceChunk } from "./slice-chunk.js";
import { BatchMaker } from "./to-flechette.js";

/** A column of the result: which side it is taken from, and what it is called. */
export interface OutputColumn {
  readonly side: "left" | "right";
  readonly column: SourceColumn;
  readonly name: string;
}

/**
 * Rows of a record batch, at most. Buffers of some megabytes are given memory that others gave back; larger ones get fresh
 * memory from the system, page by page, which costs more than gathering (216 MB: 112 ms in buffers of 72 MB, 20 to 55 ms
 * in buffers of 8 to 24 MB; EPYC 9004, Node 20, glibc 2.36). Threads share a column batch by batch, too.
 */
const MAX_BATCH_ROWS = 2 ** 19;

/** Runs gather tasks: `gather` of an engine's row operations, or `gatherHere`. */
export type GatherRunner = (
  tasks: readonly GatherTask[],
  pause: () => Promise<void>,
) => Promise<readonly (readonly ArrayBuffer[])[]>;

/**
 * Builds the table. Time and memory are proportional to the bytes of the result.
 * @param pause called between columns; may throw to stop
 * @throws LimitError when a batch's strings or lists outgrow their offsets
 */
export async function materialise(
  outputs: readonly OutputColumn[],
  pairs: Pick<RowPairs, "left" | "right" | "inOrder">,
  pause: () => Promise<void>,
  maxBatchRows = MAX_BATCH_ROWS,
  runTasks: GatherRunner = gatherHere,
): Promise<Table> {
  const total = pairs.left.length;
  const inOrder = {
    left: pairs.inOrder === "left" || isIdentity(pairs.left),
    right: pairs.inOrder === "right" || isIdentity(pairs.right),
  };
  const plans = outputs.map(({ side, column }) => {
    const chunk = column.contiguous();
    const whole = inOrder[side] && chunk.length === total;
    const batches: GatherPlan[] = [];
    for (let from = 0; from < total || from === 0; from += maxBatchRows) {
      const to = Math.min(total, from + maxBatchRows);
      batches.push(
        whole
          ? { tasks: [], finish: () => sliceChunk(chunk, from, to) }
          : planGather(chunk, pairs[side].subarray(from, to)),
      );
    }
    return batches;
  });
  const tasks = plans.flatMap((batches) => batches.flatMap((plan) => plan.tasks));
  const made = await runTasks(tasks, pause);
  const maker = new BatchMaker();
  const columns: Column<unknown>[] = [];
  let next = 0;
  for (const batches of plans) {
    const done = [];
    for (const { tasks, finish } of batches) {
      done.push(maker.batch(finish(made.slice(next, next + tasks.length))));
      next += tasks.length;
      await pause();
    }
    columns.push(new Column(done, done[0].type));
  }
  return new Table(schemaOf(outputs, columns), columns);
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
