/**
 * The frame of commands that turn tables into a table: files are read, the work is done, the result is written or
 * printed.
 */

import { once } from "node:events";
import { basename } from "node:path";
import { Table } from "@uwdata/flechette";
import type { Cluster, ClusterResult, InputOptions, RunCall } from "warpmap-cluster";
import { firstRows } from "../arrow/first-rows.js";
import { type Device, type OpenDeviceOptions, openDevice } from "../device.js";
import type { Plan } from "../engine/plan.js";
import { HOST_ENGINE } from "../engine/registry.js";
import { collectGarbage } from "../host/garbage.js";
import type { TaskKind } from "../host/pool.js";
import { readBatches, readTable, type TransferOptions, tableBlocks, writeTable } from "../io/index.js";
import { noColumn } from "../io/select-columns.js";
import { jsonLine, visible } from "../io/visible.js";
import type { MemoryOptions } from "../spill/memory-options.js";
import { deviceOptions } from "./device-choice.js";
import type { Host } from "./host.js";
import { openProgress, type Progress, readUnit, writeUnit } from "./progress.js";
import { StageClock } from "./stage-clock.js";
import { checkTypes, memoryOptions, rowLimit } from "./table-checks.js";
import { type CommandFiles, checkFiles, type FileOptions, type NamedFile, STANDARD } from "./table-files.js";
import { counted } from "./text.js";

/** Options that all such commands have, as commander gives them. */
export interface TableCommandOptions extends FileOptions, WorkersOptions {
  readonly limit?: string;
  readonly device: string;
  readonly software?: boolean;
  readonly explain?: boolean;
  readonly memory?: string;
  readonly tmp?: string;
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
  /** With --memory; then inputs come in batches. */
  readonly memory?: MemoryOptions;
}

/** What a command makes: a table, or its rows table by table. */
export interface CommandResult extends PromiseLike<Table> {
  batches(): AsyncIterable<Table>;
  /** The table's record batches, with the same dictionaries. */
  pieces?(): AsyncIterable<Table>;
}

/** Options of where the work is done: on processes of this machine, or on workers of a queue. */
export interface WorkersOptions {
  readonly workers?: string;
  readonly queue?: string;
  readonly exchange?: string;
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
  /**
   * Makes the result of the files' tables, in the order of `inputs`.
   * @param writesValues whether it goes to a file of a format without dictionaries, which is the same if columns are
   * such
   */
  readonly work: (
    tables: readonly (Table | AsyncIterable<Table>)[],
    call: OperatorCall,
    writesValues: boolean,
  ) => CommandResult;
  /** Whether it takes one of two inputs in batches while it holds the other one. */
  readonly isStreamed?: boolean;
  /** Whether it takes the parts of a file, which it has decoded where it works on them. */
  readonly takesParts?: boolean;
  /** Starts workers for the parts. @param more kinds of tasks that they are to do besides */
  readonly startWorkers?: (device: Device, more: readonly TaskKind<never, unknown>[]) => Promise<void>;
  /** The same on workers. */
  readonly onWorkers: (cluster: Cluster, call: RunCall & InputOptions) => Promise<ClusterResult>;
  /** What is left of a table of the result. Default: all of it. */
  readonly pick?: (table: Table) => Table;
  /** Words an error of the work in terms of the call. */
  readonly explained?: (error: unknown) => unknown;
}

/** Runs a command. @throws CallError for a wrong call; whatever reading, the work and writing throw */
export async function runTableCommand(
  command: TableCommand,
  options: TableCommandOptions,
  host: Host,
): Promise<void> {
  if (options.workers !== undefined || options.queue !== undefined || options.exchange !== undefined)
    return (await import("./run-on-workers.js")).runOnWorkers(command, options, host);
  const limit = rowLimit(options.limit);
  const memory = memoryOptions(options);
  const paths = command.inputs.map(({ path }) => path);
  const files = await checkFiles(paths, options, command.purpose, host);
  const { signal } = host;
  const start = performance.now();
  const progress = await openProgress(host, options.json === true);
  const clock = new StageClock();
  const notes: string[] = [];
  try {
    using device = await openDevice({
      ...deviceOptions(options.device),
      software: options.software,
      threads: files.threads,
      ...(memory && withinMemory(options, memory, files.threads)),
    });
    const onNote = (note: string) => notes.push(note);
    const reading = { clock, progress, host, onNote };
    if (memory !== null) {
      const { runWithin } = await import("./run-within.js");
      await runWithin(command, memory, { files, reading, options, limit, device, start });
      return;
    }
    const { comesInParts, heldInput, runStreamed, runInPieces, startEarly } = await import(
      "./run-streamed.js"
    );
    const isPlain = limit === undefined && !options.explain;
    const held = isPlain ? await heldInput(command, files, device) : null;
    if (held !== null && (await runStreamed(command, held, { files, reading, options, device, start })))
      return;
    notes.length = 0; // they come again
    const asked = new AskedColumns(files);
    const inParts = isPlain && (await comesInParts(command, files, device));
    if (inParts) await startEarly(command, files, device);
    const tables = inParts
      ? [readBatches(paths[0], { ...asked.readingOf(command.inputs[0], 0), signal, onNote })]
      : await readInputs(command, asked, reading);
    const inPieces = isPlain && files.out?.format === "arrow" && files.out.path !== STANDARD;
    if (
      inPieces &&
      (await runInPieces(command, tables as Table[], { files, reading, options, device, start }))
    )
      return;
    let plan: Plan | undefined;
    const onPlan = (told: Plan) => {
      plan = told;
    };
    let rows = 0;
    const tell = progress.stage(command.stage, "rows");
    const call = {
      device,
      signal,
      onProgress: (done: number, total: number) => {
        rows = total;
        tell(done, total);
      },
      onPlan: options.explain ? onPlan : undefined,
      onStage: (stage: string, seconds: number) => {
        clock.add(stage, seconds);
        if (device.backend === HOST_ENGINE && device.trim() > LARGE_GARBAGE) collectGarbage();
      },
    };
    const writesValues = files.out !== undefined && files.out.format !== "arrow";
    const made = await worked(command, async () => command.work(tables, call, writesValues));
    if (inParts) {
      asked.check(command.check);
      clock.note(command.stage, `${shortName(files.inputs[0])}, ${counted(rows, "row")}`);
    }
    const table = limit === undefined ? made : firstRows(made, limit);
    const outcome = { table, device, clock, plan, start, files };
    await tellOutcome(outcome, command.stage, options, progress, host);
  } finally {
    progress.stop();
    for (const note of notes) host.stderr.write(`note: ${visible(note)}\n`);
  }
}

/**
 * A GPU and threads have memory of their own, which no limit is for, so there are none unless asked for; what is kept
 * for later calls is part of the limit.
 */
function withinMemory(
  { device, software }: TableCommandOptions,
  { limit }: MemoryOptions,
  threads = 1,
): OpenDeviceOptions {
  const chosen = device === "auto" && !software ? { backend: HOST_ENGINE } : deviceOptions(device);
  return { ...chosen, threads, memory: { keep: Math.floor(limit / 16) } };
}

/** Bytes of memory that a stage took and no later one does, for which collecting garbage pays. */
const LARGE_GARBAGE = 2 ** 26;

/** A table of the result, and errors of the work in terms of the call. */
export async function worked<T extends Table | undefined>(
  { pick, explained }: TableCommand,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const made = await work();
    return made === undefined || pick === undefined ? made : (pick(made) as T);
  } catch (error) {
    throw explained === undefined ? error : explained(error);
  }
}

/** What reading needs of the frame. */
export interface Reading {
  readonly clock: StageClock;
  readonly progress: Progress;
  readonly host: Host;
  readonly onNote: (note: string) => void;
}

/** What a run is made of besides the command. */
export interface Run {
  readonly files: CommandFiles;
  readonly reading: Reading;
  readonly options: TableCommandOptions;
  readonly device: Device;
  /** When the command began, by performance.now(). */
  readonly start: number;
}

async function readInputs(command: TableCommand, asked: AskedColumns, reading: Reading): Promise<Table[]> {
  const tables: Table[] = [];
  const { inputs, check } = command;
  const { clock, progress, host, onNote } = reading;
  const { files } = asked;
  for (const [i, input] of inputs.entries()) {
    const { path, format } = files.inputs[i];
    const source = path === STANDARD ? host.stdin : path;
    const onProgress = progress.stage(input.stage, readUnit(format));
    const options = { ...asked.readingOf(input, i), signal: host.signal, onProgress, onNote };
    const table = await clock.time(input.stage, shortName(files.inputs[i]), () => readTable(source, options));
    clock.note(input.stage, sizeOf(table));
    tables.push(table);
  }
  asked.check(check);
  return tables;
}

/** Which columns of files are read, and what there are. */
export class AskedColumns {
  readonly #names: (readonly string[])[] = [];

  constructor(readonly files: CommandFiles) {}

  /** How a file is read. @throws ValidationError while it is read, where it lacks a column that the call names */
  readingOf({ columns, isNeeded = () => true }: CommandInput, i: number) {
    const { name, format } = this.files.inputs[i];
    const select = (there: readonly string[]) => {
      this.#names[i] = there;
      const missing = columns.find((column) => !there.includes(column));
      if (missing !== undefined) throw noColumn(missing, there, name);
      return there.filter((column) => columns.includes(column) || isNeeded(column));
    };
    return { ...this.files.reading, format, name, columns: select };
  }

  /** When all files were begun. @throws ValidationError for types of other columns, and what the command throws */
  check(command: TableCommand["check"]): void {
    checkTypes(this.files.reading.types ?? {}, this.files.inputs, this.#names);
    command?.(this.#names);
  }
}

export function shortName({ path, name }: NamedFile): string {
  return path === STANDARD ? name : basename(path);
}

/** The columns of a table that --select names, in its order; all of them without. */
export function selected(table: Table, select: readonly string[] | undefined): Table {
  if (select === undefined) return table;
  const names = table.names.map(String);
  const columns = select.map((name) => {
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
  readonly files: CommandFiles;
}

/** Writes or prints the result, and says how long what took. `stage` names what the plan is of: "hash join". */
async function tellOutcome(
  { table, device, clock, plan, start, files: { out, threads } }: Outcome,
  stage: string,
  { json, explain }: TableCommandOptions,
  progress: Progress,
  host: Host,
): Promise<void> {
  if (out !== undefined) {
    const onProgress = progress.stage("write", writeUnit(out.format));
    await clock.time("write", shortName(out), () => writeResult(out, table, { onProgress, threads }, host));
  }
  progress.stop();
  const seconds = (performance.now() - start) / 1000;
  if (json) {
    const { numRows: rows, names: columns } = table;
    host.stdout.write(jsonLine({ rows, columns, seconds, device: device.backend, plan }));
    return;
  }
  if (out === undefined) (await import("./preview.js")).printTable(table, host);
  else tellWritten(table, out, host);
  host.stderr.write(`\n${deviceLine(device)}\n${clock.text(seconds, explain)}`);
  if (plan) host.stderr.write(planText(stage, plan));
}

/** Says what was written. */
export function tellWritten(result: Size, { path, name }: NamedFile, { stdout, stderr }: Host): void {
  (path === STANDARD ? stderr : stdout).write(`wrote ${sizeOf(result)} to ${visible(name)}\n`);
}

export async function writeResult(
  { path, format }: NamedFile,
  table: Table | AsyncIterable<Table>,
  writing: Pick<TransferOptions, "onProgress" | "threads">,
  { stdout, signal }: Host,
): Promise<void> {
  const options = { ...writing, format, signal };
  if (path !== STANDARD) return writeTable(path, table, options);
  for await (const block of tableBlocks(table, options)) {
    if (!stdout.write(block)) await once(stdout, "drain", { signal });
  }
}

export function deviceLine({ backend, info }: Device): string {
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

/** Of a table. */
interface Size {
  readonly numRows: number;
  readonly numCols: number;
}

/** "2 rows × 3 columns". */
export function sizeOf({ numRows, numCols }: Size): string {
  return `${counted(numRows, "row")} × ${counted(numCols, "column")}`;
}
