/**
 * Commands with --memory: files are read batch by batch, the result is written as it comes, and what does not fit
 * between is in temporary files. Tells how much memory the process had at most.
 */
import { readFileSync } from "node:fs";
import type { Table } from "@uwdata/flechette";
import { lateBatches } from "../io/index.js";
import { jsonLine } from "../io/visible.js";
import type { MemoryOptions, SpillReport } from "../spill/memory-options.js";
import { StreamedResult } from "./streamed-result.js";
import {
  AskedColumns,
  deviceLine,
  type OperatorCall,
  type Run,
  shortName,
  type TableCommand,
  tellWritten,
  writeResult,
} from "./table-command.js";
import { STANDARD } from "./table-files.js";
import { grouped } from "./text.js";

interface LimitedRun extends Run {
  /** Rows of the result, at most; undefined: all. */
  readonly limit: number | undefined;
}

/** @throws as runTableCommand */
export async function runWithin(
  command: TableCommand,
  memory: MemoryOptions,
  run: LimitedRun,
): Promise<void> {
  const readers: AsyncGenerator<Table>[] = [];
  try {
    await runOn(readers, command, memory, run);
  } finally {
    for (const reader of readers) await reader.return(undefined);
  }
}

/** @param readers filled with those of the files, which the caller ends */
async function runOn(
  readers: AsyncGenerator<Table>[],
  command: TableCommand,
  memory: MemoryOptions,
  run: LimitedRun,
): Promise<void> {
  const { files, reading, limit, device } = run;
  const { clock, progress, host } = reading;
  const counts = new RowCounts();
  const inputs = (await openInputs(readers, command, memory, run)).map((input) => counts.of("read", input));
  const stages = new Map<string, number>();
  let spilled: SpillReport = { bytes: 0, partitions: 0, depth: 0 };
  const call: OperatorCall = {
    device,
    signal: host.signal,
    onProgress: () => {},
    onStage: (stage, seconds) => stages.set(stage, (stages.get(stage) ?? 0) + seconds),
    memory: {
      ...memory,
      onSpill: (report) => {
        spilled = report;
      },
    },
  };
  const writesValues = files.out !== undefined && files.out.format !== "arrow";
  const batches = command.work(inputs, call, writesValues).batches();
  const { out } = files;
  const result = new StreamedResult(command, counts.of("made", batches), {
    limit,
    hasPreview: out === undefined,
  });
  counts.tell = progress.step(command.stage);
  const { threads } = device.info;
  await clock.time(command.stage, out === undefined ? "" : `and write ${shortName(out)}`, async () => {
    if (out !== undefined) await writeResult(out, result.tables(), { threads }, host);
    else for await (const _ of result.tables());
  });
  await tell(result, stages, { limit: memory.limit, peak: peakMemory(), ...spilled }, run);
}

/** Rows so far, told as they come. */
class RowCounts {
  tell: (amount: string) => void = () => {};
  readonly #rows = { read: 0, made: 0 };

  /** The tables, counted. Does not hold on to them, as a generator would. */
  of(which: "read" | "made", tables: AsyncIterable<Table>): AsyncIterableIterator<Table> {
    const iterator = tables[Symbol.asyncIterator]();
    const rows = this.#rows;
    return {
      next: async () => {
        const next = await iterator.next();
        if (!next.done) rows[which] += next.value.numRows;
        this.tell(`${grouped(rows.read)} rows read, ${grouped(rows.made)} made`);
        return next;
      },
      return: async () => (await iterator.return?.()) ?? { value: undefined, done: true },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}

/** What is read of a record lies in memory up to four times; the operator has memory, too. */
const RECORD_SHARE = 8;

/** Begins all files, which says what columns they have. A csv file is read through for that. */
async function openInputs(
  readers: AsyncGenerator<Table>[],
  { inputs, check }: TableCommand,
  memory: MemoryOptions,
  { files, reading: { clock, progress, host, onNote } }: Run,
): Promise<AsyncGenerator<Table>[]> {
  const asked = new AskedColumns(files);
  const opened: AsyncGenerator<Table>[] = [];
  for (const [i, input] of inputs.entries()) {
    const { path } = files.inputs[i];
    const source = path === STANDARD ? host.stdin : path;
    const reading = {
      ...asked.readingOf(input, i),
      signal: host.signal,
      onNote,
      folder: memory.folder,
      maxRecordBytes: Math.floor(memory.limit / RECORD_SHARE),
    };
    progress.step(input.stage);
    const reader = lateBatches(source, reading);
    readers.push(reader);
    const first = await clock.time(input.stage, shortName(files.inputs[i]), () => reader.next());
    opened.push(startingWith([first.value as Table], reader));
  }
  asked.check(check);
  return opened;
}

/** Does not hold on to what it gave. */
async function* startingWith(first: Table[], rest: AsyncGenerator<Table>): AsyncGenerator<Table> {
  for (let table = first.pop(); table !== undefined; table = first.pop()) yield table;
  yield* rest;
}

/** Bytes of memory that the process had at most: pages that it touched, its code and its heap included. */
function peakMemory(): number {
  return (peakOfLinux() ?? process.resourceUsage().maxRSS) * 1024;
}

/** KiB. On Linux maxRSS is no less than what the process had that started this one. */
function peakOfLinux(): number | undefined {
  try {
    const [, peak] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    return peak === undefined ? undefined : Number(peak);
  } catch {
    return undefined; // another system
  }
}

interface MemoryReport extends SpillReport {
  readonly limit: number;
  /** Bytes. */
  readonly peak: number;
}

async function tell(
  { numRows: rows, names: columns, head }: StreamedResult,
  stages: ReadonlyMap<string, number>,
  memory: MemoryReport,
  { files: { out }, reading: { clock, progress, host }, options: { json, explain }, device, start }: Run,
): Promise<void> {
  progress.stop();
  const seconds = (performance.now() - start) / 1000;
  if (json) {
    const { bytes: spilled, ...numbers } = memory;
    host.stdout.write(
      jsonLine({ rows, columns, seconds, device: device.backend, memory: { ...numbers, spilled } }),
    );
    return;
  }
  if (out !== undefined) tellWritten({ numRows: rows, numCols: columns.length }, out, host);
  else if (head !== undefined) (await import("./preview.js")).printTable(head, host, rows);
  host.stderr.write(`\n${deviceLine(device)}\n${clock.text(seconds, explain)}${memoryText(memory)}`);
  if (!explain) return;
  for (const [stage, spent] of stages) host.stderr.write(`  of which ${stage}: ${spent.toFixed(3)} s\n`);
}

function memoryText({ limit, peak, bytes, partitions, depth }: MemoryReport): string {
  const mib = (amount: number) => `${(amount / 2 ** 20).toFixed(1)} MiB`;
  const again = depth > 0 ? `, cut again up to ${depth} times` : "";
  const files = partitions === 0 ? "nothing" : `${mib(bytes)} in ${partitions} partitions${again},`;
  return `memory: limit ${mib(limit)}, the process had ${mib(peak)} at most; ${files} written to temporary files\n`;
}
