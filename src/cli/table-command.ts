/** What commands that turn tables into a table share: their options, checks of files and columns, and how a result is told. */
import { basename } from "node:path";
import type { Table } from "@uwdata/flechette";
import type { Device } from "../device.js";
import type { Plan } from "../engine/plan.js";
import { ValidationError } from "../errors.js";
import { ASKED_TYPES, type AskedType, checkWritable, formatOf, sameFile, writeTable } from "../io/index.js";
import { nearestOf } from "../options.js";
import { CallError } from "./failure.js";
import type { Host } from "./host.js";
import { printTable } from "./preview.js";
import type { Progress } from "./progress.js";
import { StageClock } from "./stage-clock.js";
import { counted, jsonLine, listed, visible } from "./text.js";

/** Options that all such commands have, as commander gives them. */
export interface TableCommandOptions {
  readonly type?: string;
  readonly out?: string;
  readonly device: "auto" | "webgpu" | "cpu";
  readonly software?: boolean;
  readonly explain?: boolean;
  readonly json?: boolean;
}

/**
 * Checks formats, and that the result can be written.
 * @param purpose what the files are for, in words: "to join"
 */
export async function checkFiles(
  inputs: readonly string[],
  out: string | undefined,
  purpose: string,
): Promise<void> {
  for (const path of [...inputs, out ?? inputs[0]]) formatOf(path);
  if (out === undefined) return;
  await refuseInput(out, inputs, purpose);
  await checkWritable(out);
}

/** Writing over an input would destroy it. Paths are compared by the files they lead to. */
async function refuseInput(out: string, inputs: readonly string[], purpose: string): Promise<void> {
  for (const input of inputs) {
    if (!(await sameFile(input, out))) continue;
    const which = inputs.length === 1 ? "the file" : "one of the files";
    throw new CallError(`--out ${out} is ${which} ${purpose}.`, "Name another file.");
  }
}

/** What a command made, and how. */
export interface Outcome {
  readonly table: Table;
  readonly device: Device;
  readonly clock: StageClock;
  /** Set with --explain. */
  readonly plan: Plan | undefined;
  /** When the command began, by performance.now(). */
  readonly start: number;
}

/** Writes or prints the result, and says how long what took. `stage` names what the plan is of: "hash join". */
export async function tellOutcome(
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
export function sizeOf(table: Table): string {
  return `${counted(table.numRows, "row")} × ${counted(table.numCols, "column")}`;
}

/** @throws ValidationError that names the file, the nearest column and the others */
export function checkColumn(table: Table, name: string, path: string): void {
  const names = table.names.map(String);
  if (names.includes(name)) return;
  const near = nearestOf(name, names);
  throw new ValidationError(
    `${path} has no column "${name}".`,
    `${near === undefined ? "" : `Did you mean "${near}"? `}Its columns are: ${listed(names)}.`,
  );
}

/** "a=utf8,b=int64" by column. The last "=" counts: types have none, names may. */
export function askedTypes(text: string | undefined): Map<string, AskedType> {
  const types = new Map<string, AskedType>();
  for (const item of text?.split(",") ?? []) {
    const at = item.lastIndexOf("=");
    const type = ASKED_TYPES.find((name) => name === item.slice(at + 1));
    if (at <= 0 || type === undefined) {
      throw new CallError(
        `"${item}" in --type does not give a column a type.`,
        `Write --type COLUMN=TYPE, with commas between pairs; the types are ${ASKED_TYPES.join(", ")}.`,
      );
    }
    types.set(item.slice(0, at), type);
  }
  return types;
}

/** A type is for csv columns: elsewhere it would be ignored in silence. */
export function checkTypes(
  types: ReadonlyMap<string, AskedType>,
  paths: readonly string[],
  tables: readonly Table[],
): void {
  for (const name of types.keys()) {
    const used = paths.some((path, i) => formatOf(path) === "csv" && tables[i].names.includes(name));
    if (used) continue;
    const elsewhere = tables.findIndex((table) => table.names.includes(name));
    const nowhere = paths.length === 1 ? "the file does not have" : "neither file has";
    throw new ValidationError(
      elsewhere < 0
        ? `--type names a column "${name}" that ${nowhere}.`
        : `--type names the column "${name}" of ${paths[elsewhere]}, which says itself what type it has.`,
      "Name columns of csv files only.",
    );
  }
}
