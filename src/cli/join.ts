/** `warpmap join`: two files in, their join on the screen or in a file, and how long each stage took. */
import { basename } from "node:path";
import type { Table } from "@uwdata/flechette";
import { openDevice } from "../device.js";
import type { Plan } from "../engine/plan.js";
import { ValidationError } from "../errors.js";
import { type AskedType, formatOf, readTable } from "../io/index.js";
import { type JoinKind, join as joinTables } from "../relational/index.js";
import { JOIN_KINDS } from "../relational/join-kinds.js";
import { CallError } from "./failure.js";
import type { Host } from "./host.js";
import { openProgress, type Progress } from "./progress.js";
import { StageClock } from "./stage-clock.js";
import {
  askedTypes,
  checkColumn,
  checkFiles,
  checkTypes,
  sizeOf,
  type TableCommandOptions,
  tellOutcome,
} from "./table-command.js";

/** Options as commander gives them. */
export interface JoinCommandOptions extends TableCommandOptions {
  readonly on: string;
  readonly how: string;
  readonly nullsEqual?: boolean;
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
  await checkFiles([left, right], options.out, "to join");

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
    await tellOutcome({ table: joined, device, clock, plan, start }, "hash join", options, progress, host);
  } finally {
    progress.stop();
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
  return new ValidationError(error.problem, fix, { cause: error });
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

function checkKind(how: string): asserts how is JoinKind {
  if (JOIN_KINDS.some((kind) => kind === how)) return;
  throw new CallError(`There is no join kind "${how}".`, `The kinds are ${JOIN_KINDS.join(", ")}.`);
}
