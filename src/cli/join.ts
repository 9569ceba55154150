/** `warpmap join`: two files in, their join on the screen or in a file, and how long each stage took. */
import { Table } from "@uwdata/flechette";
import type { SourceTable } from "../arrow/columns.js";
import { JOIN_KINDS } from "../engine/join-kinds.js";
import { ValidationError } from "../errors.js";
import { type Format, isTextFormat, knownFormatOf } from "../io/formats.js";
import { noColumn } from "../io/select-columns.js";
import { type JoinKind, join as joinTables } from "../relational/index.js";
import { possibleColumns } from "../relational/join/join-columns.js";
import { CallError } from "./failure.js";
import type { Host } from "./host.js";
import { columnList } from "./table-checks.js";
import { runTableCommand, type TableCommand, type TableCommandOptions } from "./table-command.js";

/** Options as commander gives them. */
export interface JoinCommandOptions extends TableCommandOptions {
  readonly on: string;
  readonly how: string;
  readonly select?: string;
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
  const select = options.select === undefined ? undefined : columnList("--select", options.select);
  const isNeeded = select && neededFor(select);
  const keysAlone = how === "semi" || how === "anti" ? () => false : isNeeded;
  const command: TableCommand = {
    inputs: [
      { path: left, stage: "read left", columns: on.map(([name]) => name), isNeeded },
      { path: right, stage: "read right", columns: on.map(([, name]) => name), isNeeded: keysAlone },
    ],
    purpose: "to join",
    check: (names) => checkSelect(select ?? [], resultNames(names, on, how)),
    stage: "hash join",
    isStreamed: true,
    work: (tables, call, writesValues) => {
      const dictionaries = writesValues ? smallSide(tables) : undefined;
      return joinTables(tables[0], tables[1], { ...call, on, how, nullsEqual, select, dictionaries });
    },
    onWorkers: (cluster, call) => cluster.join(left, right, { ...call, on, how, nullsEqual, select }),
    explained: (error) => {
      const isCsv = (path: string) =>
        isTextFormat(knownFormatOf(path) ?? (options.format as Format | undefined) ?? "arrow");
      return withTypeHint(error, [left, right].findIndex(isCsv), on);
    },
  };
  await runTableCommand(command, options, host);
}

/** A side whose rows come many times in the result: that is far smaller than the other one, or is held. */
function smallSide(tables: readonly (Table | AsyncIterable<Table>)[]): "left" | "right" | undefined {
  if (!tables.every((table) => table instanceof Table)) return tables[0] instanceof Table ? "left" : "right";
  const [left, right] = tables.map(({ numRows }) => numRows);
  if (left >= MANY_TIMES * right) return "right";
  return right >= MANY_TIMES * left ? "left" : undefined;
}

const MANY_TIMES = 4;

/**
 * Which columns of a file names of the result can come from: the columns of those names and, since a right column whose
 * name is taken gets "_right" at its end, of what the names are without it, on either side.
 */
function neededFor(select: readonly string[]): (name: string) => boolean {
  const needed = new Set(select);
  for (const name of needed) if (name.endsWith(SUFFIX)) needed.add(name.slice(0, -SUFFIX.length));
  return (name) => needed.has(name);
}

const SUFFIX = "_right";

/** The columns that the result has without --select. The joined tables may lack those that are not needed. */
function resultNames(
  [left, right]: readonly (readonly string[])[],
  on: readonly (readonly [string, string])[],
  how: JoinKind,
): string[] {
  const tables = { left: { names: left } as SourceTable, right: { names: right } as SourceTable };
  const keys = {
    left: on.map(([name]) => left.indexOf(name)),
    right: on.map(([, name]) => right.indexOf(name)),
  };
  return possibleColumns(how, tables, keys).map(({ name }) => name);
}

function checkSelect(select: readonly string[], names: readonly string[]): void {
  const missing = select.find((name) => !names.includes(name));
  if (missing !== undefined) throw noColumn(missing, names, "the result");
}

/**
 * Keys of types that do not compare: in a csv file the call can change them. @param csv which side is one; -1: neither
 */
function withTypeHint(error: unknown, csv: number, on: readonly (readonly [string, string])[]): unknown {
  const ofTypes = error instanceof ValidationError && error.message.includes("cannot be compared");
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
