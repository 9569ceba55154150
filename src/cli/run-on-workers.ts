/** Commands with `--workers` or `--queue`: the work of a command on processes or machines, by the package warpmap-cluster. */
import type { Table } from "@uwdata/flechette";
import type { ClusterProgress, ClusterResult, StageReport } from "warpmap-cluster";
import { concatTables } from "../arrow/first-rows.js";
import { jsonLine, visible } from "../io/visible.js";
import { clusterPackage } from "./cluster-package.js";
import { CallError } from "./failure.js";
import type { Host } from "./host.js";
import { openProgress } from "./progress.js";
import { askedTypes, memoryOptions, threadCount, wholeNumber } from "./table-checks.js";
import type { TableCommand, TableCommandOptions } from "./table-command.js";
import { checkedFormat, STANDARD } from "./table-files.js";
import { counted, FIRST_ROWS } from "./text.js";

/** Runs a command. @throws CallError for a wrong call; what warpmap-cluster throws */
export async function runOnWorkers(
  command: TableCommand,
  options: TableCommandOptions,
  host: Host,
): Promise<void> {
  checkCall(command, options);
  const start = performance.now();
  const opening = openingOf(options);
  const { openCluster } = await clusterPackage();
  const progress = await openProgress(host, options.json === true);
  const cluster = await openCluster(opening);
  try {
    if (options.queue !== undefined && (await cluster.workers()).length === 0)
      host.stderr.write("note: the queue has no workers; jobs wait for one (warpmap worker --queue)\n");
    let stage = "";
    let tell = progress.stage("", "parts");
    const { delimiter, quote, header, out } = options;
    const call = {
      types: Object.fromEntries(askedTypes(options.type)),
      ...{ delimiter, quote, header, out },
      format: checkedFormat(options.format),
      signal: host.signal,
      onProgress: (told: ClusterProgress) => {
        if (told.stage !== stage) tell = progress.stage(told.stage, "parts");
        stage = told.stage;
        tell(told.done, told.jobs, amounts(told));
      },
    };
    const result = await command.onWorkers(cluster, call);
    progress.stop();
    await tellResult(result, options, (performance.now() - start) / 1000, host);
  } finally {
    progress.stop();
    await cluster.close();
  }
}

function checkCall({ inputs }: TableCommand, options: TableCommandOptions): void {
  const { queue, exchange } = options;
  const where = queue === undefined ? "--workers" : "--queue";
  if (inputs.some(({ path }) => path === STANDARD) || options.out === STANDARD)
    throw new CallError(`With ${where} there is no standard input and output.`, "Name files.");
  if (options.limit !== undefined) throw new CallError(`--limit does not go with ${where}.`, "Leave it out.");
  if (queue === undefined && exchange === undefined) return;
  if (queue === undefined)
    throw new CallError("--exchange is for workers of a --queue.", "Add --queue, or leave it out.");
  if (exchange === undefined) {
    throw new CallError(
      "--queue needs --exchange, where workers hand files to each other.",
      "Add --exchange file:///shared/dir or s3://bucket/prefix.",
    );
  }
  const asked = { ...options, device: options.device === "auto" ? undefined : options.device };
  const own = (["workers", "memory", "tmp", "threads", "device", "software"] as const).find(
    (name) => asked[name] !== undefined,
  );
  if (own !== undefined)
    throw new CallError(
      `--${own} is for workers of this machine; those of a queue have their own.`,
      "Give it to warpmap worker.",
    );
}

function openingOf(options: TableCommandOptions) {
  const { queue, exchange, device, software } = options;
  if (queue !== undefined) return { queue, exchange };
  const workers = wholeNumber("--workers", options.workers as string, 256);
  const memory = memoryOptions(options);
  const threads = threadCount(options.threads);
  return {
    workers,
    ...{ device, software },
    ...(memory !== null && { memory: Math.floor(memory.limit / workers) }),
    ...(threads !== undefined && { threads: Math.max(1, Math.floor(threads / workers)) }),
  };
}

function amounts({ rows, bytes, retries }: { rows: number; bytes: number; retries: number }): string {
  const again = retries > 0 ? `, ${counted(retries, "retry", "retries")}` : "";
  return `, ${counted(rows, "row")}, ${(bytes / 1e6).toFixed(1)} MB${again}`;
}

async function tellResult(
  result: ClusterResult,
  { json, explain, out }: TableCommandOptions,
  seconds: number,
  host: Host,
): Promise<void> {
  const { rows, columns, parts, stages, partitions } = result;
  const engines = [...new Set(stages.flatMap((stage) => stage.engines))];
  const workers = [...new Set(stages.flatMap((stage) => stage.workers))];
  if (json) {
    await result.close();
    const plan = explain ? { partitions, stages, parts } : undefined;
    host.stdout.write(
      jsonLine({ rows, columns, seconds, device: engines.join(", "), workers: workers.length, plan }),
    );
    return;
  }
  if (out === undefined) await printFirst(result, host);
  else {
    const size = `${counted(rows, "row")} × ${counted(columns.length, "column")}`;
    const files = parts.length > 1 ? `, ${counted(parts.length, "part")}` : "";
    host.stdout.write(`wrote ${size} to ${visible(out)}${files}\n`);
  }
  host.stderr.write(`\nworkers: ${workers.length} on ${engines.join(", ")}\n${stageText(stages, seconds)}`);
  if (explain) host.stderr.write(explained(partitions, stages));
}

async function printFirst(result: ClusterResult, host: Host): Promise<void> {
  const first: Table[] = [];
  let rows = 0;
  for await (const table of result.batches()) {
    first.push(table);
    rows += table.numRows;
    if (rows >= FIRST_ROWS) break;
  }
  (await import("./preview.js")).printTable(concatTables(first), host, result.rows);
}

function stageText(stages: readonly StageReport[], seconds: number): string {
  const lines = stages.map(({ stage, jobs, rows, bytesWritten, seconds, retries }) => {
    const again = retries > 0 ? `, ${counted(retries, "retry", "retries")}` : "";
    const amount = `${counted(rows, "row")}, ${(bytesWritten / 1e6).toFixed(1)} MB`;
    return `${stage.padEnd(18)} ${seconds.toFixed(2).padStart(8)} s  ${counted(jobs, "part")}, ${amount}${again}\n`;
  });
  return `${lines.join("")}${"total".padEnd(18)} ${seconds.toFixed(2).padStart(8)} s\n`;
}

function explained(partitions: number, stages: readonly StageReport[]): string {
  const lines = stages.map(({ stage, skew, slowest, reasons }) => {
    const slow = slowest.map(
      ({ part, seconds, worker }) => `part ${part} ${seconds.toFixed(2)} s (${worker})`,
    );
    const why = reasons.length > 0 ? `; tried again: ${reasons.map(visible).join("; ")}` : "";
    return `${stage}: the slowest part took ${skew.toFixed(1)} times the median; ${slow.join(", ")}${why}\n`;
  });
  return `${counted(partitions, "partition")}\n${lines.join("")}`;
}
