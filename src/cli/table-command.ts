/** The frame of commands that turn tables into a table: files are read, the work is done, the result is written or printed. */
import { basename } from "node:path";
import type { Table } from "@uwdata/flechette";
import { type Device, openDevice } from "../device.js";
import type { Plan } from "../engine/plan.js";
import { readTable, writeTable } from "../io/index.js";
import type { Host } from "./host.js";
import { printTable } from "./preview.js";
import { openProgress, type Progress } from "./progress.js";
import { StageClock } from "./stage-clock.js";
import { askedTypes, checkColumn, checkFiles, checkTypes } from "./table-checks.js";
import { counted, jsonLine, visible } from "./text.js";

/** Options that all such commands have, as commander gives them. */
export interface TableCommandOptions {
  readonly type?: string;
  readonly out?: string;
  readonly device: "auto" | "webgpu" | "cpu";
  readonly software?: boolean;
  readonly explain?: boolean;
  readonly json?: boolean;
}

/** A file that a command reads. */
export interface CommandInput {
  readonly path: string;
  /** Its stage: "read left". */
  readonly stage: string;
  /** Columns that the call names; the file must have them. */
  readonly columns: readonly string[];
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
  /** Makes the result of the files' tables, in the order of `inputs`. */
  readonly work: (tables: readonly Table[], call: OperatorCall) => Promise<Table>;
}

/** Runs a command. @throws CallError for a wrong call; whatever reading, the work and writing throw */
export async function runTableCommand(
  command: TableCommand,
  options: TableCommandOptions,
  host: Host,
): Promise<void> {
  const types = askedTypes(options.type);
  const paths = command.inputs.map(({ path }) => path);
  await checkFiles(paths, options.out, command.purpose);
  const { signal } = host;
  const start = performance.now();
  const progress = await openProgress(host, options.json === true);
  const clock = new StageClock();
  try {
    using device = await openDevice({ backend: options.device, software: options.software });
    const tables: Table[] = [];
    for (const { path, stage, columns } of command.inputs) {
      const reading = { signal, types: Object.fromEntries(types), onProgress: progress.stage(stage) };
      const table = await clock.time(stage, basename(path), () => readTable(path, reading));
      clock.note(stage, sizeOf(table));
      for (const name of columns) checkColumn(table, name, path);
      tables.push(table);
    }
    checkTypes(types, paths, tables);
    let plan: Plan | undefined;
    const onPlan = (told: Plan) => {
      plan = told;
    };
    const table = await command.work(tables, {
      device,
      signal,
      onProgress: progress.stage(command.stage),
      onPlan: options.explain ? onPlan : undefined,
      onStage: (stage, seconds) => clock.add(stage, seconds),
    });
    await tellOutcome({ table, device, clock, plan, start }, command.stage, options, progress, host);
  } finally {
    progress.stop();
  }
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
}

/** Writes or prints the result, and says how long what took. `stage` names what the plan is of: "hash join". */
async function tellOutcome(
  { table, device, clock, plan, start }: Outcome,
  stage: string,
  { out, json }: TableCommandOptions,
  progress: Progress,
  host: Host,
): Promise<void> {
  if (out !== undefined) {
    await clock.time("write", basename(out), () =>
      writeTable(out, table, { onProgress: progress.stage("write"), signal: host.signal }),
    );
  }
  progress.stop();
  const seconds = (performance.now() - start) / 1000;
  if (json) {
    const { numRows: rows, names: columns } = table;
    host.stdout.write(jsonLine({ rows, columns, seconds, device: device.backend, plan }));
    return;
  }
  if (out === undefined) printTable(table, host);
  else host.stdout.write(`wrote ${sizeOf(table)} to ${visible(out)}\n`);
  host.stderr.write(`\n${deviceLine(device)}\n${clock.text(seconds)}`);
  if (plan) host.stderr.write(planText(stage, plan));
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
  return `${stage}: ${how}, because ${reason}\n${times.text(milliseconds / 1000)}`;
}

/** "2 rows × 3 columns". */
function sizeOf(table: Table): string {
  return `${counted(table.numRows, "row")} × ${counted(table.numCols, "column")}`;
}
