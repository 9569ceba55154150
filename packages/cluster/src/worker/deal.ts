/** A job that deals out rows of files: by the hash of their keys, as they are or grouped already. One file an attempt. */
import { serialize } from "node:v8";
import type { Table } from "@uwdata/flechette";
import { firstRows, groupUnit, partitionRows, partitionSide, readUnit } from "warpmap/stages";
import type { Task, Unit } from "../jobs.js";
import type { JobCall, TaskResult } from "./run-job.js";

/** What one partition gets: an Arrow IPC stream, or groups as v8.serialize() writes them. */
interface Dealt {
  readonly rows: number;
  readonly bytes: readonly Uint8Array[];
}

export async function deal(
  { input, units, grouped }: Extract<Task, { kind: "deal" }>,
  call: JobCall,
): Promise<TaskResult> {
  const parts = await dealt(input, unitTables(units, input, call), grouped, call);
  const offsets = [0];
  let rows = 0;
  for (const part of parts) {
    rows += part?.rows ?? 0;
    offsets.push(
      (offsets.at(-1) as number) + (part?.bytes ?? []).reduce((sum, { length }) => sum + length, 0),
    );
  }
  if (rows === 0) return { dealt: null, made: null, rows, bytesWritten: 0 };
  const file = `${call.run}/dealt/${call.attempt}`;
  const bytesWritten = await call.exchange.write(
    file,
    parts.flatMap((part) => part?.bytes ?? []),
  );
  return { dealt: { file, offsets }, made: null, rows, bytesWritten };
}

/** Rows of a sample: they are grouped in a fraction of a second. */
const SAMPLE = 2 ** 18;

/** Counts the groups of the first rows. */
export async function sample(
  { units }: Extract<Task, { kind: "sample" }>,
  call: JobCall,
): Promise<TaskResult> {
  const { operator } = call.plan;
  const by = operator.kind === "group" ? operator.by : [];
  let rowsRead = 0;
  async function* first() {
    for await (const table of unitTables(units, 0, call)) {
      const taken = firstRows(table, SAMPLE - rowsRead);
      rowsRead += taken.numRows;
      yield taken;
      if (rowsRead === SAMPLE) return;
    }
  }
  const [groups] = await groupUnit(first(), { by, aggregate: {}, device: call.device }, 1);
  return { dealt: null, made: null, rows: groups?.groups ?? 0, rowsRead, bytesWritten: 0 };
}

async function dealt(
  input: number,
  tables: AsyncGenerator<Table>,
  grouped: boolean,
  { plan, likes, device }: JobCall,
): Promise<(Dealt | null)[]> {
  const { operator, partitions } = plan;
  if (operator.kind === "join") {
    const { on, how, nullsEqual } = operator;
    const side = input === 0 ? "left" : "right";
    return partitionSide(
      tables,
      side,
      { left: likes[0], right: likes[1] },
      { on, how, nullsEqual },
      partitions,
    );
  }
  const { by, aggregate } = operator;
  if (!grouped) return partitionRows(tables, likes[0], by, partitions);
  const groups = await groupUnit(tables, { by, aggregate, device }, partitions);
  return groups.map((states) => states && { rows: states.groups, bytes: [serialize(states)] });
}

/** The rows of units, one table after the other. @param ahead as readUnit */
export async function* unitTables(
  units: readonly Unit[],
  input: number,
  { plan, settings, read, readRows }: JobCall,
  ahead?: readonly string[],
): AsyncGenerator<Table> {
  const { reading } = plan.inputs[input];
  for (const unit of units) {
    read(unit.bytes);
    for await (const table of readUnit(unit, { ...reading, threads: settings.threads }, ahead)) {
      readRows(table.numRows);
      yield table;
    }
  }
}
