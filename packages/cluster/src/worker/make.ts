/** A job that makes a part of the answer of some partitions, or of files as they are. */
import { deserialize } from "node:v8";
import type { Table } from "@uwdata/flechette";
import {
  concatTables,
  groupBy,
  groupParts,
  JoinIndex,
  type JoinIndexOptions,
  join,
  type PartStates,
  readTable,
  tableBlocks,
} from "warpmap/stages";
import type { JobInput, Operator, Slice, Task } from "../jobs.js";
import { unitTables } from "./deal.js";
import { ARROW, type JobCall, type TaskResult } from "./run-job.js";

/** Of the memory of a worker: inputs of a job that take more are worked on with temporary files. */
const HELD = 1 / 4;

/** The least limit that operators take. */
const LEAST_MEMORY = 2 ** 20;

export async function make(
  { part, inputs }: Extract<Task, { kind: "make" }>,
  call: JobCall,
): Promise<TaskResult> {
  const { operator, out } = call.plan;
  const tables =
    operator.kind === "join" ? joined(operator, inputs, call) : grouped(operator, inputs[0], call);
  let rows = 0;
  let columns: string[] | undefined;
  async function* counted() {
    for await (const made of tables) {
      const { select } = operator;
      const table = operator.kind === "group" && select ? made.select([...select]) : made;
      rows += table.numRows;
      columns ??= table.names.map(String);
      yield table;
    }
  }
  const file = `${out.folder}part-${String(part).padStart(5, "0")}-${call.attempt}.${out.format}`;
  const blocks = tableBlocks(counted(), { format: out.format, threads: call.settings.threads });
  const bytes = await call.out.write(file, blocks);
  return { dealt: null, made: { file, bytes }, ...(part === 0 && { columns }), rows, bytesWritten: bytes };
}

async function* joined(
  { on, how, select, nullsEqual }: Extract<Operator, { kind: "join" }>,
  inputs: readonly JobInput[],
  call: JobCall,
): AsyncGenerator<Table> {
  const { device } = call;
  const whole = inputs.flatMap((input, i) => ("units" in input && input.isWhole ? [i] : []));
  const names = (side: number) => on.map((pair) => pair[side]);
  const tables = inputs.map((input, i) => inputTables(input, i, call, names(i)));
  if (whole.length === 1) {
    const [held] = whole;
    const index = await heldIndex(tables[held], held, { on: names(held), nullsEqual }, call);
    const side = held === 0 ? "right" : "left";
    yield* index.joinAll(tables[1 - held], { on: names(1 - held), side, how, select });
    return;
  }
  const memory = memoryFor(inputs, call);
  const options = { on, how, select, nullsEqual, device, ...(memory && { memory }) };
  yield* join(tables[0], tables[1], options).batches() as AsyncIterable<Table>;
}

/** An input that all jobs read is read once. */
function heldIndex(
  tables: AsyncIterable<Table>,
  i: number,
  options: JoinIndexOptions,
  { held, device }: JobCall,
): Promise<JoinIndex> {
  const there = held.get(i);
  if (there) return there;
  const made = collected(tables).then((all) => JoinIndex.create(device, concatTables(all), options));
  held.set(i, made);
  made.catch(() => held.delete(i));
  return made;
}

async function* grouped(
  { by, aggregate }: Extract<Operator, { kind: "group" }>,
  input: JobInput,
  call: JobCall,
): AsyncGenerator<Table> {
  const { device, likes } = call;
  if ("slices" in input && input.grouped) {
    yield await groupParts(states(input.slices, call), likes[0], { by, aggregate, device });
    return;
  }
  const memory = memoryFor([input], call);
  const tables = inputTables(input, 0, call);
  const options = { by, aggregate, device };
  if (memory === null) yield await groupBy(concatTables(await collected(tables)), options);
  else yield* groupBy(tables, { ...options, memory }).batches() as AsyncIterable<Table>;
}

async function* states(slices: readonly Slice[], call: JobCall): AsyncGenerator<PartStates> {
  for (const slice of slices) {
    const part = deserialize(await bytesOf(slice, call)) as PartStates;
    // Arrow's columns have to begin at a multiple of 8 bytes
    yield { ...part, columns: part.columns.slice() };
  }
}

/** The rows of an input: at least one table, which may have none. */
async function* inputTables(
  input: JobInput,
  i: number,
  call: JobCall,
  ahead?: readonly string[],
): AsyncGenerator<Table> {
  yield call.likes[i];
  if ("units" in input) yield* unitTables(input.units, i, call, ahead);
  else for (const slice of input.slices) yield readTable(await bytesOf(slice, call), ARROW);
}

async function collected(tables: AsyncIterable<Table>): Promise<Table[]> {
  const all: Table[] = [];
  for await (const table of tables) all.push(table);
  return all;
}

async function bytesOf({ file, from, to }: Slice, { exchange, read }: JobCall): Promise<Uint8Array> {
  read(to - from);
  return exchange.read(file, from, to);
}

function memoryFor(inputs: readonly JobInput[], { settings: { memory, tmp } }: JobCall) {
  const bytes = inputs.reduce((sum, input) => sum + bytesIn(input), 0);
  return bytes <= memory * HELD ? null : { limit: Math.max(LEAST_MEMORY, memory), folder: tmp };
}

/** Of an input, about. */
export function bytesIn(input: JobInput): number {
  if ("units" in input) return input.units.reduce((sum, { bytes }) => sum + bytes, 0);
  return input.slices.reduce((sum, { from, to }) => sum + to - from, 0);
}
