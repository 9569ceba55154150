/** `warpmap join`: two files in, their join on the screen or in a file, and how long each stage took. */
import { realpath } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { Table } from "@uwdata/flechette";
import { type Device, openDevice } from "../device.js";
import type { Plan } from "../engine/plan.js";
import { ValidationError } from "../errors.js";
import { checkWritable, formatOf, readTable, writeTable } from "../io/index.js";
import { join as joinTables } from "../relational/index.js";
import { CallError } from "./failure.js";
import type { Host } from "./host.js";
import { printTable } from "./preview.js";
import { openProgress, type Progress } from "./progress.js";
import { StageClock } from "./stage-clock.js";
import { counted } from "./text.js";

/** Options as commander gives them. */
export interface JoinCommandOptions {
  readonly on: string;
  readonly how: string;
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
  checkKind(options.how);
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
    const tables = await readBoth(left, right, on, clock, progress, host);
    const report = progress.stage("hash join");
    let plan: Plan | undefined;
    const onPlan = (told: Plan) => {
      plan = told;
    };
    const joined = await joinTables(tables.left, tables.right, {
      on,
      device,
      nullsEqual: options.nullsEqual,
      signal: host.signal,
      onProgress: report,
      onPlan: options.explain ? onPlan : undefined,
      onStage: (stage, seconds) => clock.add(stage, seconds),
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
      const result = { rows, columns, seconds, device: device.backend, plan };
      host.stdout.write(`${JSON.stringify(result)}\n`);
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
  const real = (path: string) => realpath(path).catch(() => resolve(path));
  const target = await real(out);
  for (const input of inputs) {
    if ((await real(input)) !== target) continue;
    throw new CallError(`--out ${out} is one of the files to join.`, "Name another file.");
  }
}

async function readBoth(
  left: string,
  right: string,
  on: readonly (readonly [string, string])[],
  clock: StageClock,
  progress: Progress,
  { signal }: Host,
): Promise<{ left: Table; right: Table }> {
  const read = (side: string, path: string) => {
    const options = { signal, onProgress: progress.stage(`read ${side}`) };
    return clock.time(`read ${side}`, basename(path), async () => readTable(path, options));
  };
  const tables = { left: await read("left", left), right: await read("right", right) };
  clock.note("read left", sizeOf(tables.left));
  clock.note("read right", sizeOf(tables.right));
  for (const [leftName, rightName] of on) {
    checkColumn(tables.left, leftName, left);
    checkColumn(tables.right, rightName, right);
  }
  return tables;
}

function printResult(joined: Table, out: string | undefined, host: Host): void {
  if (out === undefined) printTable(joined, host);
  else host.stdout.write(`wrote ${sizeOf(joined)} to ${out}\n`);
}

function deviceLine({ backend, info }: Device): string {
  return `device: ${backend}, ${info.name}. ${info.reason}`;
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
    `Its columns are: ${table.names.join(", ")}.`,
  );
}

/** "a=b,c=d" as pairs. */
function keyPairs(text: string): [string, string][] {
  return text.split(",").map((pair) => {
    const names = pair.split("=");
    if (names.length === 2 && names[0] !== "" && names[1] !== "") return [names[0], names[1]];
    throw new CallError(
      `"${pair}" in --on is not a pair of columns.`,
      "Write --on LEFT=RIGHT, with commas between pairs: --on origin=iata or --on id=id,day=date.",
    );
  });
}

const LATER_KINDS = ["left", "right", "full", "semi", "anti"];

function checkKind(how: string): void {
  if (how === "inner") return;
  const problem = LATER_KINDS.includes(how)
    ? `The join kind "${how}" is not available in this version.`
    : `There is no join kind "${how}".`;
  throw new CallError(problem, "Use --how inner, or leave it out.");
}
