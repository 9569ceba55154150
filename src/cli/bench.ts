/**
 * `warpmap bench`: runs a benchmark, prints its table, and keeps the numbers and their picture if asked to. The package
 * has the benchmarks that say something about a user's machine; bench/run.mjs runs all of bench/ in a clone, by the
 * same call.
 */
import type { BenchModule, BenchReport, BenchRow } from "../../bench/report.js";
import { openDevice } from "../device.js";
import { engineNamed, HOST_ENGINE } from "../engine/registry.js";
import { fileErrorFrom } from "../io/errors.js";
import { checkWritable, replaceFile } from "../io/output.js";
import { asCallError, parseCount, parseSize } from "./bench-call.js";
import { deviceOptions } from "./device-choice.js";
import { CallError } from "./failure.js";
import { renderGrid } from "./grid.js";
import { type Host, isStyled, type Output, widthOf } from "./host.js";
import { openProgress } from "./progress.js";
import { threadCount } from "./table-checks.js";
import { measured } from "./text.js";

/** Options as commander gives them. */
export interface BenchCommandOptions {
  readonly size?: string;
  readonly runs?: string;
  readonly sweep?: string;
  /** Of benchmarks in a clone. */
  readonly multiplicity?: string;
  readonly json?: string;
  readonly svg?: string;
  readonly device: string;
  readonly software?: boolean;
  readonly threads?: string;
}

/** A benchmark, and the URL of what users import, for those that start processes. */
export interface Bench {
  readonly load: () => Promise<BenchModule>;
  readonly library: () => Promise<string>;
}

/** Those of the package. */
const BENCHES: Record<string, () => Promise<BenchModule>> = {
  "static-map": () => import("../../bench/static-map.js"),
  gups: () => import("../../bench/gups.js"),
  stream: () => import("../../bench/stream.js"),
  lifecycle: () => import("../../bench/lifecycle.js"),
  join: () => import("../../bench/join.js"),
  group: () => import("../../bench/group.js"),
};

/** Two folders up lies the package, from src/cli as from dist/cli and dist/chunks. */
const LIBRARY = new URL("../../dist/index.js", import.meta.url).href;

/** A file name that means standard output. */
const STDOUT = "-";

/** Runs the command. @throws CallError for a wrong call */
export async function bench(
  name: string,
  options: BenchCommandOptions,
  host: Host,
  { load, library }: Bench = packaged(name),
): Promise<void> {
  const threads = threadCount(options.threads);
  const chosen = deviceOptions(options.device);
  checkThreads(options, chosen.backend);
  const size = options.size === undefined ? undefined : parseSize(options.size);
  for (const path of [options.json, options.svg]) {
    if (path !== undefined && path !== STDOUT) await checkWritable(path);
  }
  if (options.json !== undefined && options.json === options.svg) {
    throw new CallError("--json and --svg name one file.", "Name two.");
  }
  const module = await load();
  const { run, sweeps = [] } = module;
  checkSweep(name, options.sweep, sweeps);
  const runs = countOf("--runs", options.runs);
  const multiplicity = countOf("--multiplicity", options.multiplicity);
  if (multiplicity !== undefined && !module.takesMultiplicity) {
    throw new CallError(`The benchmark "${name}" has no multiplicity.`, "Leave out --multiplicity.");
  }
  const progress = await openProgress(host, false);
  try {
    using device = await openDevice({ ...chosen, software: options.software, threads });
    checkThreads(options, device.backend);
    const given = { size, runs, sweep: options.sweep, multiplicity, library };
    const { signal } = host;
    const report = await run(device, { ...given, signal, onProgress: (label) => progress.step(label) }).catch(
      (error: unknown) => {
        throw asCallError(error);
      },
    );
    progress.stop();
    try {
      // before printing, which ends the process where nobody reads on, as behind `| head`
      const json = `${JSON.stringify(report, null, 2)}\n`;
      if (options.json === STDOUT) host.stdout.write(json);
      else if (options.json !== undefined) await keep(options.json, json);
      if (options.svg !== undefined) await keepPicture(report, options.svg);
    } finally {
      // one JSON object and nothing else
      printReport(report, options.json === STDOUT ? { ...host, stdout: host.stderr } : host);
    }
  } finally {
    progress.stop();
  }
}

/** @throws CallError where the package has no such benchmark */
function packaged(name: string): Bench {
  if (Object.hasOwn(BENCHES, name)) return { load: BENCHES[name], library: async () => LIBRARY };
  throw new CallError(
    `The package has no benchmark "${name}".`,
    `Use one of: ${Object.keys(BENCHES).join(", ")}. All others run in a clone of the repository: npm run bench -- NAME.`,
  );
}

function countOf(option: string, value: string | undefined): number | undefined {
  return value === undefined ? undefined : parseCount(option, value);
}

/** @param backend that the benchmark runs on, as far as it is known */
function checkThreads({ threads }: BenchCommandOptions, backend = "auto"): void {
  const kind = engineNamed(backend);
  if (threads === undefined || kind === undefined || kind.options.split(" ").includes("threads")) return;
  const problem = `--threads is for the ${HOST_ENGINE} engine, and the device is ${backend}.`;
  throw new CallError(problem, "Leave one of them out.");
}

function checkSweep(name: string, sweep: string | undefined, sweeps: readonly string[]): void {
  if (sweep === undefined || sweeps.includes(sweep)) return;
  throw new CallError(
    `The benchmark "${name}" has no sweep over "${sweep}".`,
    sweeps.length > 0 ? `Use one of: ${sweeps.join(", ")}.` : "Leave out --sweep.",
  );
}

/** The table to stdout; where it was measured, what to know about it and what others have published to stderr. */
function printReport(report: BenchReport, host: Host): void {
  const { stdout, stderr } = host;
  stdout.write(
    tablesOf(report)
      .map((rows) => gridOf(rows, stdout, host))
      .join("\n"),
  );
  const { bench, device, machine, node, state } = report;
  stderr.write(`\n${bench} on ${device}; ${machine}; Node ${node}; state: ${state}\n`);
  for (const note of report.notes) stderr.write(`${note}\n`);
  const { published = [] } = report;
  if (published.length === 0) return;
  stderr.write("\nFigures of others, not from this run:\n");
  stderr.write(
    gridOf(
      published.map(({ source: _, ...figure }) => figure),
      stderr,
      host,
    ),
  );
  for (const source of new Set(published.map(({ source }) => source))) stderr.write(`Source: ${source}.\n`);
}

/** Rows in one table, or in one for each state and what a row of it says. */
function tablesOf({ state, rows }: BenchReport): BenchRow[][] {
  if (state !== "by row") return [[...rows]];
  const tables = new Map<string, BenchRow[]>();
  for (const row of rows) {
    const kind = `${row.state} ${"keys" in row}`;
    tables.set(kind, [...(tables.get(kind) ?? []), row]);
  }
  return [...tables.values()];
}

function gridOf(rows: readonly BenchRow[], output: Output, { env }: Host): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = names.map((name) => {
    const values = rows.map((row) => row[name] ?? null);
    return {
      name,
      cells: values.map((value) => (typeof value === "number" ? measured(value) : (value ?? "–"))),
      numeric: values.every((value) => value === null || typeof value === "number"),
    };
  });
  const options = { width: widthOf(output), styled: isStyled(output, env) };
  const blocks = [];
  // columns that have no room come below, beside the first again
  for (let rest = columns; rest.length > 0; ) {
    const { text, omitted } = renderGrid(rest, options);
    blocks.push(text);
    const left = omitted.length > 0 ? rest.slice(-omitted.length) : [];
    const repeats = rest.length - left.length > 1; // else nothing fits beside the first
    rest = left.length > 0 && repeats ? [columns[0], ...left] : left;
  }
  return blocks.join("\n");
}

async function keepPicture(report: BenchReport, path: string): Promise<void> {
  const { svgOf } = await import("../../bench/figures/index.js");
  await keep(path, svgOf(report) as string);
}

async function keep(path: string, text: string): Promise<void> {
  try {
    await replaceFile(path, [new TextEncoder().encode(text)]);
  } catch (error) {
    throw fileErrorFrom(path, error, "cannot be written", "Check the path.");
  }
}
