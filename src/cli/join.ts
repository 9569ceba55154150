/** `warpmap join`: two files in, their join on the screen or in a file, and how long each stage took. */
import { JOIN_KINDS } from "../engine/join-kinds.js";
import { ValidationError } from "../errors.js";
import { formatOf } from "../io/formats.js";
import { type JoinKind, join as joinTables } from "../relational/index.js";
import { CallError } from "./failure.js";
import type { Host } from "./host.js";
import { runTableCommand, type TableCommand, type TableCommandOptions } from "./table-command.js";

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
  const { how, nullsEqual } = options;
  checkKind(how);
  const command: TableCommand = {
    inputs: [
      { path: left, stage: "read left", columns: on.map(([name]) => name) },
      { path: right, stage: "read right", columns: on.map(([, name]) => name) },
    ],
    purpose: "to join",
    stage: "hash join",
    work: (tables, call) =>
      joinTables(tables[0], tables[1], { ...call, on, how, nullsEqual }).catch((error: unknown) => {
        throw withTypeHint(error, [left, right], on);
      }),
  };
  await runTableCommand(command, options, host);
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
