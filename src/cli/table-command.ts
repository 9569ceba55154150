/** The frame of commands that turn tables into a table: files are read, the work is done, the result is written or printed. */
import { once } from "node:events";
import { basename } from "node:path";
import { Table } from "@uwdata/flechette";
import { type Device, openDevice } from "../device.js";
import type { Plan } from "../engine/plan.js";
import { readTable, tableBlocks, writeTable } from "../io/index.js";
import { noColumn } from "../io/select-columns.js";
import { firstRows } from "../relational/first-rows.js";
import type { Host } from "./host.js";
import { printTable } from "./preview.js";
import { openProgress, type Progress, readUnit, writeUnit } from "./progress.js";
import { StageClock } from "./stage-clock.js";
import { checkTypes, columnList, rowLimit } from "./table-checks.js";
import { type CommandFiles, checkFiles, type FileOptions, type NamedFile, STANDARD } from "./table-files.js";
import { counted, jsonLine, visible } from "./text.js";

/** Options that all such commands have, as commander gives them. */
export interface TableCommandOptions extends FileOptions {
  readonly limit?: string;
  readonly device: "auto" | "webgpu" | "cpu";
  readonly software?: boolean;
  readonly explain?: boolean;
}

/** A file that a command reads. */
export interface CommandInput {
  readonly path: string;
  /** Its stage: "read left". */
  readonly stage: string;
  /** Columns that the call names; the file must have them. */
  readonly columns: readonly string[];
  /** Which other columns the result needs. Default: all. */
  readonly isNeeded?: (name: string) => boolean;
}

/** Options that commands hand on to the operator. */
export interface OperatorCall {
  readonly device: Device;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
  readonly onPlan?: (plan: Plan) => void;
  readonly onStage: (stage: string, seconds: number) => void;
}

/** What a command does. */
export interface TableCommand {
  readonly inputs: readonly CommandInput[];
  /** What the files are for, in words: "to join". */
  readonly purpose: string;
  /** The operator's stage that progress and plan are of: "hash join". */
  readonly stage: string;
  /** Told the names of all columns of the files before the work begins, in the order of `inputs`. */
  readonly check?: (names: readonly (readonly string[])[]) => void;
  /** Makes the result of the files' tables, in the order of `inputs`. */
  readonly work: (tables: readonly Table[], call: OperatorCall) => Promise<Table>;
}

/** Runs a command. @throws CallError for a wrong call; whatever reading, the work and writing throw */
export async function runTableCommand(
  command: TableCommand,
  options: TableCommandOptions,
  host: Host,
): Promise<void> {
  const limit = rowLimit(options.limit);
  const paths = command.inputs.map(({ path }) => path);
  const files = await checkFiles(paths, options, command.purpose, host);
  const { signal } = host;
  const start = performance.now();
  const progress = await openProgress(host, options.json === true);
  const clock = new StageClock();
  const notes: string[] = [];
  try {
    using device = await openDevice({ backend: options.device, software: options.software });
    const onNote = (note: string) => notes.push(note);
    const tables = await readInputs(command, files, { clock, progress, host, onNote });
    let plan: Plan | undefined;
    const onPlan = (told: Plan) => {
      plan = told;
    };
    const made = await command.work(tables, {
      device,
      signal,
      onProgress: progress.stage(command.stage, "rows"),
      onPlan: options.explain ? onPlan : undefined,
      onStage: (stage, seconds) => clock.add(stage, seconds),
    });
    const table = limit === undefined ? made : firstRows(made, limit);
    const outcome = { table, device, clock, plan, start, out: files.out };
    await tellOutcome(outcome, command.stage, options, progress, host);
  } finally {
    progress.stop();
    for (const note of notes) host.stderr.write(`note: ${visible(note)}\n`);
  }
}

/** What reading needs of the frame. */
interface Reading {
  readonly clock: StageClock;
  readonly progress: Progress;
  readonly host: Host;
  readonly onNote: (note: string) => void;
}

async function readInputs(
  { inputs, check }: TableCommand,
  files: CommandFiles,
  { clock, progress, host, onNote }: Reading,
): Promise<Table[]> {
  const tables: Table[] = [];
  const names: (readonly string[])[] = [];
  for (const [i, { stage, columns, isNeeded = () => true }] of inputs.entries()) {
    const { path, name, format } = files.inputs[i];
    const select = (there: readonly string[]) => {
      names.push(there);
      const missing = columns.find((column) => !there.includes(column));
      if (missing !== undefined) throw noColumn(missing, there, name);
      return there.filter((column) => columns.includes(column) || isNeeded(column));
    };
    const onProgress = progress.stage(stage, readUnit(format));
    const reading = {
      ...files.reading,
      format,
      name,
      columns: select,
      signal: host.signal,
      onProgress,
      onNote,
    };
    const source = path === STANDARD ? host.stdin : path;
    const table = await clock.time(stage, shortName(files.inputs[i]), () => readTable(source, reading));
    clock.note(stage, sizeOf(table));
    tables.push(table);
  }
  checkTypes(Object.keys(files.reading.types ?? {}), files.inputs, names);
  check?.(names);
  return tables;
}

function shortName({ path, name }: NamedFile): string {
  return path === STANDARD ? name : basename(path);
}

/** The columns of a table that --select names, in its order; all of them without. */
export function selected(table: Table, select: string | undefined): Table {
  if (select === undefined) return table;
  const names = table.names.map(String);
  const columns = columnList("--select", select).map((name) => {
    const index = names.indexOf(name);
    if (index < 0) throw noColumn(name, names, "the result");
    return index;
  });
  const fields = columns.map((index) => table.schema.fields[index]);
  const children = columns.map((index) => table.children[index]);
  return new Table({ ...table.schema, fields }, children);
}

/** What a command made, and how. */
interface Outcome {
  readonly table: Table;
  readonly device: Device;
  readonly clock: StageClock;
  /** Set with --explain. */
  readonly plan: Plan | undefined;
  /** When the command began, by performance.now(). */
  readonly start: number;
  /** Where the result goes; undefined: it is printed. */
  readonly out: NamedFile | undefined;
}

/** Writes or prints the result, and says how long what took. `stage` names what the plan is of: "hash join". */
async function tellOutcome(
  { table, device, clock, plan, start, out }: Outcome,
  stage: string,
  { json, explain }: TableCommandOptions,
  progress: Progress,
  host: Host,
): Promise<void> {
  if (out !== undefined) {
    const onProgress = progress.stage("write", writeUnit(out.format));
    await clock.time("write", shortName(out), () => writeResult(out, table, onProgress, host));
  }
  progress.stop();
  const seconds = (performance.now() - start) / 1000;
  if (json) {
    const { numRows: rows, names: columns } = table;
    host.stdout.write(jsonLine({ rows, columns, seconds, device: device.backend, plan }));
    return;
  }
  if (out === undefined) printTable(table, host);
  else {
    const told = out.path === STANDARD ? host.stderr : host.stdout;
    told.write(`wrote ${sizeOf(table)} to ${visible(out.name)}\n`);
  }
  host.stderr.write(`\n${deviceLine(device)}\n${clock.text(seconds, explain)}`);
  if (plan) host.stderr.write(planText(stage, plan));
}

async function writeResult(
  { path, format }: NamedFile,
  table: Table,
  onProgress: (done: number, total: number) => void,
  { stdout, signal }: Host,
): Promise<void> {
  if (path !== STANDARD) return writeTable(path, table, { format, onProgress, signal });
  for await (const block of tableBlocks(table, { format, onProgress, signal })) {
    if (!stdout.write(block)) await once(stdout, "drain", { signal });
  }
}

function deviceLine({ backend, info }: Device): string {
  return visible(`device: ${backend}, ${info.name}. ${info.reason}`);
}

/** How the engine did it, and the time of its phases. */
function planText(
  stage: string,
  { strategy, reason, partitions, phases, clock, milliseconds }: Plan,
): string {
  const how = partitions > 1 ? `${strategy}, ${partitions} partitions` : strategy;
  const times = new StageClock();
  for (const phase of phases) times.add(phase.name, phase.milliseconds / 1000, clock);
  return `${stage}: ${how}, because ${reason}\n${times.text(milliseconds / 1000, true)}`;
}

/** "2 rows × 3 columns". */
function sizeOf(table: Table): string {
  return `${counted(table.numRows, "row")} × ${counted(table.numCols, "column")}`;
}
