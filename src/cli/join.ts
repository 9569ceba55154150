/** `warpmap join`: two files in, their join on the screen or in a file, and how long each stage took. */
import { basename } from "node:path";
import type { Table } from "@uwdata/flechette";
import { type Device, openDevice } from "../device.js";
import type { Plan } from "../engine/plan.js";
import { ValidationError } from "../errors.js";
import {
  ASKED_TYPES,
  type AskedType,
  checkWritable,
  formatOf,
  readTable,
  sameFile,
  writeTable,
} from "../io/index.js";
import { type JoinKind, join as joinTables } from "../relational/index.js";
import { JOIN_KINDS } from "../relational/join-kinds.js";
import { CallError, problemOf } from "./failure.js";
import type { Host } from "./host.js";
import { printTable } from "./preview.js";
import { openProgress, type Progress } from "./progress.js";
import { StageClock } from "./stage-clock.js";
import { counted, jsonLine, listed, visible } from "./text.js";

/** Options as commander gives them. */
export interface JoinCommandOptions {
  readonly on: string;
  readonly how: string;
  readonly type?: string;
  readonly out?: string;
  readonly device: "auto" | "webgpu" | "cpu";
  readonly software?: boolean;
  readonly nullsEqual?: boolean;
  readonly explain?: boolean;
  readonly json?: boolean;
}

/** Runs the command. @throws CallError for a wrong call; whatever reading, joining and writing throw */
export async function join(
  left: string,
  right: string,
  options: JoinCommandOptions,
  host: Host,
): Promise<void> {
  const on = keyPairs(options.on);
  const { how } = options;
  checkKind(how);
  const types = askedTypes(options.type);
  for (const path of [left, right, options.out ?? left]) formatOf(path);
  if (options.out !== undefined) {
    await refuseInput(options.out, [left, right]);
    await checkWritable(options.out);
  }

  const start = performance.now();
  const progress = await openProgress(host, options.json === true);
  const clock = new StageClock();
  try {
    using device = await openDevice({ backend: options.device, software: options.software });
    const tables = await readBoth(left, right, { on, types }, clock, progress, host);
    const report = progress.stage("hash join");
    let plan: Plan | undefined;
    const onPlan = (told: Plan) => {
      plan = told;
    };
    const joined = await joinTables(tables.left, tables.right, {
      on,
      how,
      device,
      nullsEqual: options.nullsEqual,
      signal: host.signal,
      onProgress: report,
      onPlan: options.explain ? onPlan : undefined,
      onStage: (stage, seconds) => clock.add(stage, seconds),
    }).catch((error: unknown) => {
      throw withTypeHint(error, [left, right], on);
    });
    if (options.out !== undefined) {
      const { out } = options;
      await clock.time("write", basename(out), () =>
        writeTable(out, joined, { onProgress: progress.stage("write"), signal: host.signal }),
      );
    }
    progress.stop();
    const seconds = (performance.now() - start) / 1000;
    if (options.json) {
      const { numRows: rows, names: columns } = joined;
      host.stdout.write(jsonLine({ rows, columns, seconds, device: device.backend, plan }));
    } else {
      printResult(joined, options.out, host);
      host.stderr.write(`\n${deviceLine(device)}\n${clock.text(seconds)}`);
      if (plan) host.stderr.write(planText(plan));
    }
  } finally {
    progress.stop();
  }
}

/** Writing over an input would destroy it. Paths are compared by the files they lead to. */
async function refuseInput(out: string, inputs: readonly string[]): Promise<void> {
  for (const input of inputs) {
    if (!(await sameFile(input, out))) continue;
    throw new CallError(`--out ${out} is one of the files to join.`, "Name another file.");
  }
}

/** What a call says about columns of its files. */
interface AskedColumns {
  readonly on: readonly (readonly [string, string])[];
  readonly types: ReadonlyMap<string, AskedType>;
}

async function readBoth(
  left: string,
  right: string,
  { on, types }: AskedColumns,
  clock: StageClock,
  progress: Progress,
  { signal }: Host,
): Promise<{ left: Table; right: Table }> {
  const read = (side: string, path: string) => {
    const options = { signal, types, onProgress: progress.stage(`read ${side}`) };
    return clock.time(`read ${side}`, basename(path), async () => readTable(path, options));
  };
  const tables = { left: await read("left", left), right: await read("right", right) };
  clock.note("read left", sizeOf(tables.left));
  clock.note("read right", sizeOf(tables.right));
  for (const [leftName, rightName] of on) {
    checkColumn(tables.left, leftName, left);
    checkColumn(tables.right, rightName, right);
  }
  checkTypes(types, [left, right], [tables.left, tables.right]);
  return tables;
}

/** Keys of types that do not compare: in csv files the call can change them. */
function withTypeHint(
  error: unknown,
  paths: readonly string[],
  on: readonly (readonly [string, string])[],
): unknown {
  const ofTypes = error instanceof ValidationError && error.message.includes("cannot be compared");
  const csv = paths.findIndex((path) => formatOf(path) === "csv");
  if (!ofTypes || csv < 0) return error;
  const pair = on.find((names) => names.every((name) => error.message.includes(`"${name}"`))) ?? on[0];
  const fix = `Read a csv column as another type, for example --type ${pair[csv]}=utf8.`;
  return new ValidationError(problemOf(error), fix, { cause: error });
}

function printResult(joined: Table, out: string | undefined, host: Host): void {
  if (out === undefined) printTable(joined, host);
  else host.stdout.write(`wrote ${sizeOf(joined)} to ${visible(out)}\n`);
}

function deviceLine({ backend, info }: Device): string {
  return visible(`device: ${backend}, ${info.name}. ${info.reason}`);
}

/** How the hash join was done, and the time of its phases. */
function planText({ strategy, reason, partitions, phases, clock, milliseconds }: Plan): string {
  const how = partitions > 1 ? `${strategy}, ${partitions} partitions` : strategy;
  const times = new StageClock();
  for (const phase of phases) times.add(phase.name, phase.milliseconds / 1000, clock);
  return `hash join: ${how}, because ${reason}\n${times.text(milliseconds / 1000)}`;
}

function sizeOf(table: Table): string {
  return `${counted(table.numRows, "row")} × ${counted(table.numCols, "column")}`;
}

function checkColumn(table: Table, name: string, path: string): void {
  if (table.names.includes(name)) return;
  throw new ValidationError(
    `${path} has no column "${name}".`,
    `Its columns are: ${listed(table.names.map(String))}.`,
  );
}

/** "a=b,c" as pairs: a and b, c and c. */
function keyPairs(text: string): [string, string][] {
  return text.split(",").map((pair) => {
    const [left, right = left, ...more] = pair.split("=");
    if (left !== "" && right !== "" && more.length === 0) return [left, right];
    throw new CallError(
      `"${pair}" in --on is not a pair of columns.`,
      "Write --on LEFT=RIGHT, or one name for both sides, with commas between pairs: --on origin=iata or --on id,day=date.",
    );
  });
}

/** "a=utf8,b=int64" by column. The last "=" counts: types have none, names may. */
function askedTypes(text: string | undefined): Map<string, AskedType> {
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
function checkTypes(
  types: ReadonlyMap<string, AskedType>,
  paths: readonly string[],
  tables: readonly Table[],
): void {
  for (const name of types.keys()) {
    const used = paths.some((path, i) => formatOf(path) === "csv" && tables[i].names.includes(name));
    if (used) continue;
    const elsewhere = tables.findIndex((table) => table.names.includes(name));
    throw new ValidationError(
      elsewhere < 0
        ? `--type names a column "${name}" that neither file has.`
        : `--type names the column "${name}" of ${paths[elsewhere]}, which says itself what type it has.`,
      "Name columns of csv files only.",
    );
  }
}

function checkKind(how: string): asserts how is JoinKind {
  if (JOIN_KINDS.some((kind) => kind === how)) return;
  throw new CallError(`There is no join kind "${how}".`, `The kinds are ${JOIN_KINDS.join(", ")}.`);
}
