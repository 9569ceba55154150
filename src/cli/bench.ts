/** `warpmap bench`: runs one of the benchmarks in bench/, prints its table, and keeps the numbers if asked to. */
import { writeFile } from "node:fs/promises";
import type { BenchModule, BenchReport } from "../../bench/report.js";
import { openDevice } from "../device.js";
import { fileErrorFrom } from "../io/errors.js";
import { checkWritable } from "../io/index.js";
import { CallError } from "./failure.js";
import { renderGrid } from "./grid.js";
import { type Host, isStyled, widthOf } from "./host.js";
import { openProgress } from "./progress.js";
import { measured } from "./text.js";

/** Options as commander gives them. */
export interface BenchCommandOptions {
  readonly size?: string;
  readonly json?: string;
  readonly device: "auto" | "webgpu" | "cpu";
  readonly software?: boolean;
}

const BENCHES: Record<string, () => Promise<BenchModule>> = {
  "static-map": () => import("../../bench/static-map.js"),
  gups: () => import("../../bench/gups.js"),
};

/** Benchmarks that have a name already and nothing behind it yet. */
const LATER = ["load-factor", "group-size", "probe-depth", "retrieve-all", "multimap", "join", "stream"];

/** Runs the command. @throws CallError for a wrong call */
export async function bench(name: string, options: BenchCommandOptions, host: Host): Promise<void> {
  const load = benchNamed(name);
  const size = options.size === undefined ? undefined : parseSize(options.size);
  if (options.json !== undefined) await checkWritable(options.json);
  const { run } = await load();
  const progress = await openProgress(host, false);
  try {
    using device = await openDevice({ backend: options.device, software: options.software });
    const report = await run(device, {
      size,
      signal: host.signal,
      onProgress: (label) => progress.step(label),
    });
    progress.stop();
    printReport(report, host);
    if (options.json !== undefined) await keep(report, options.json);
  } finally {
    progress.stop();
  }
}

function benchNamed(name: string): () => Promise<BenchModule> {
  if (Object.hasOwn(BENCHES, name)) return BENCHES[name];
  const problem = LATER.includes(name)
    ? `The benchmark "${name}" is not available in this version.`
    : `There is no benchmark "${name}".`;
  throw new CallError(problem, `Use one of: ${Object.keys(BENCHES).join(", ")}.`);
}

/** "1048576" or "2^20" as a number. */
function parseSize(text: string): number {
  const match = /^(\d+)(?:\^(\d+))?$/.exec(text);
  const size = match === null ? Number.NaN : Number(match[1]) ** Number(match[2] ?? 1);
  if (Number.isSafeInteger(size) && size >= 1) return size;
  throw new CallError(`--size "${text}" is not a number of entries.`, "Write it as 1048576 or as 2^20.");
}

/** The table to stdout; where it was measured and what to know about it to stderr. */
function printReport(report: BenchReport, { stdout, stderr, env }: Host): void {
  const names = [...new Set(report.rows.flatMap((row) => Object.keys(row)))];
  const columns = names.map((name) => {
    const values = report.rows.map((row) => row[name] ?? null);
    return {
      name,
      cells: values.map((value) => (typeof value === "number" ? measured(value) : (value ?? "–"))),
      numeric: values.every((value) => value === null || typeof value === "number"),
    };
  });
  const { text } = renderGrid(columns, {
    width: widthOf(stdout),
    styled: isStyled(stdout, env),
  });
  stdout.write(text);
  stderr.write(`\n${report.bench} on ${report.device}; ${report.machine}; Node ${report.node}\n`);
  for (const note of report.notes) stderr.write(`${note}\n`);
}

async function keep(report: BenchReport, path: string): Promise<void> {
  try {
    await writeFile(path, `${JSON.stringify(report, null, 2)}\n`);
  } catch (error) {
    throw fileErrorFrom(path, error, "cannot be written", "Check the path.");
  }
}
