/**
 * A command of two large files whose result goes to a file: the smaller one is held, the other one comes by batch by
 * batch, and the result is written as it is made.
 */
import { stat } from "node:fs/promises";
import type { Table } from "@uwdata/flechette";
import { type Device, openDevice } from "../device.js";
import { HOST_ENGINE } from "../engine/registry.js";
import { ValidationError } from "../errors.js";
import { sharePool } from "../host/in-order.js";
import { GuessError } from "../io/errors.js";
import { isTextFormat } from "../io/formats.js";
import { lateBatches, readTable, writePieces } from "../io/index.js";
import { WRITE_TASKS } from "../io/parquet/parquet-write-tasks.js";
import { jsonLine } from "../io/visible.js";
import { readUnit } from "./progress.js";
import { StreamedResult } from "./streamed-result.js";
import {
  AskedColumns,
  type CommandInput,
  deviceLine,
  type Run,
  shortName,
  sizeOf,
  type TableCommand,
  tellWritten,
  writeResult,
} from "./table-command.js";
import { type CommandFiles, type NamedFile, STANDARD } from "./table-files.js";

/** Bytes of both files that are worth it: what is smaller is read at once before a second thread is up. */
const LARGE = 1 << 22;
/**
 * Bytes of a side that is not held where the other one is about as large: an index of so many keys is outside of the
 * processor's caches, where joining parts of both sides is twice as fast (10 million ids with as many, EPYC, 2 threads).
 */
const CACHED = 1 << 26;
/** Bytes of text for one byte of the same rows in a binary file, about. */
const TEXT = 4;

/**
 * Which input is held; null where all are read at once: of small files, of two that are large alike, of streams, and
 * for devices that are the faster the more rows they get at a time.
 */
export async function heldInput(
  { isStreamed = false }: TableCommand,
  { inputs, out }: CommandFiles,
  device: Device,
): Promise<number | null> {
  const isFile = ({ path }: NamedFile) => path !== STANDARD;
  const files = out && [...inputs, out];
  if (!isStreamed || device.backend !== HOST_ENGINE || !files?.every(isFile)) return null;
  const sizes: number[] = [];
  for (const { path, format } of inputs) {
    const found = await stat(path).catch(() => undefined);
    if (!found?.isFile()) return null;
    sizes.push(found.size / (isTextFormat(format) ? TEXT : 1));
  }
  const [small, large] = [Math.min(...sizes), Math.max(...sizes)];
  const isAlike = small > CACHED && 2 * small > large;
  const held = sizes.lastIndexOf(small);
  const isArrow = [inputs[1 - held], out as NamedFile].some(({ format }) => format === "arrow");
  return small + large < LARGE || isAlike || isArrow ? null : held;
}

/**
 * Whether a command's one file is large and has parts. Their text comes as values, which Arrow files and the screen
 * show.
 */
export async function comesInParts(
  { takesParts = false }: TableCommand,
  { inputs: [{ path, format }], out }: CommandFiles,
  device: Device,
): Promise<boolean> {
  const shows = out === undefined || out.format === "arrow";
  if (!takesParts || shows || path === STANDARD || format !== "parquet" || device.backend !== HOST_ENGINE)
    return false;
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true && found.size >= LARGE;
}

/** Starts workers for a file that comes in parts, and for writing the result, while the file is opened. */
export async function startEarly(
  { startWorkers }: TableCommand,
  { out }: CommandFiles,
  device: Device,
): Promise<void> {
  sharePool(await device.host());
  await startWorkers?.(device, out?.format === "parquet" ? [WRITE_TASKS] : []);
}

/**
 * @param held which input is held
 * @returns false where nothing was done: the first rows of a csv file did not show what types the others have
 * @throws as runTableCommand
 */
export async function runStreamed(command: TableCommand, held: number, run: Run): Promise<boolean> {
  const stages = new Stages();
  const { inputs } = command;
  const streamed = 1 - held;
  const file = run.files.inputs[streamed];
  const asked = new AskedColumns(run.files);
  const threads = run.files.threads ?? run.device.info.threads;
  const options = { ...readingOf(run, asked, inputs[streamed], streamed), threads };
  const isStored = run.files.out?.format === "parquet";
  const reader = lateBatches(file.path, options, {
    late: isStored ? { ahead: inputs[streamed].columns } : undefined,
    dictionaries: true,
    guess: true,
  });
  try {
    const whole = await heldTable(run, asked, inputs[held], held, stages);
    const first = await stages.time(inputs[streamed].stage, () => reader.next());
    asked.check(command.check);
    const total = { numRows: 0, numCols: (first.value as Table).numCols };
    const tables: (Table | AsyncIterable<Table>)[] = [];
    tables[held] = whole;
    tables[streamed] = counted(first, reader, total, (work) => stages.time(inputs[streamed].stage, work));
    const result = await written(command, tables, stages, run);
    const sizes = [];
    sizes[held] = whole;
    sizes[streamed] = total;
    for (const [i, { stage }] of inputs.entries()) {
      const note = `${shortName(run.files.inputs[i])}, ${sizeOf(sizes[i])}`;
      run.reading.clock.add(stage, stages.taken(stage), note);
    }
    tell(result, stages, run);
    return true;
  } catch (error) {
    const isGuess = isTextFormat(file.format) && error instanceof ValidationError;
    if (isGuess || error instanceof GuessError) return false;
    throw error;
  } finally {
    await reader.return(undefined);
  }
}

function readingOf({ reading }: Run, asked: AskedColumns, input: CommandInput, i: number) {
  return { ...asked.readingOf(input, i), signal: reading.host.signal, onNote: reading.onNote };
}

function heldTable(
  run: Run,
  asked: AskedColumns,
  input: CommandInput,
  i: number,
  stages: Stages,
): Promise<Table> {
  const { path, format } = run.files.inputs[i];
  const onProgress = run.reading.progress.stage(input.stage, readUnit(format));
  return stages.time(input.stage, () => readTable(path, { ...readingOf(run, asked, input, i), onProgress }));
}

/**
 * Writes the result of tables as an Arrow file in pieces, so that it is never in memory as a whole.
 * @returns false where nothing was done: of columns whose pieces have different dictionaries
 * @throws as runTableCommand
 */
export async function runInPieces(
  command: TableCommand,
  tables: readonly Table[],
  run: Run,
): Promise<boolean> {
  const { files, reading } = run;
  const { path } = files.out as NamedFile;
  const { signal } = reading.host;
  const stages = new Stages();
  const onProgress = reading.progress.stage(command.stage, "rows");
  using alone = await openDevice({ backend: HOST_ENGINE, threads: 1 });
  const made = command.work(tables, { ...callOf(run, stages), device: alone, onProgress }, false).pieces?.();
  if (made === undefined) return false;
  const result = new StreamedResult(command, made, { hasPreview: false });
  try {
    await stages.rest("write", () => writePieces(path, result.tables(), { signal }));
  } catch (error) {
    if (error instanceof GuessError) return false;
    throw error;
  }
  tell(result, stages, run);
  return true;
}

function callOf({ reading }: Run, stages: Stages) {
  return {
    signal: reading.host.signal,
    onProgress: () => {},
    onStage: (stage: string, seconds: number) => stages.add(stage, seconds),
  };
}

/** Does the work, and writes what it makes. One thread works while others read and write. */
async function written(
  command: TableCommand,
  tables: readonly (Table | AsyncIterable<Table>)[],
  stages: Stages,
  run: Run,
): Promise<StreamedResult> {
  const { files, reading, device } = run;
  const out = files.out as NamedFile;
  using alone = await openDevice({ backend: HOST_ENGINE, threads: 1 });
  const call = { ...callOf(run, stages), device: alone };
  const made = command.work(tables, call, out.format !== "arrow").batches();
  const result = new StreamedResult(command, made, { hasPreview: false });
  reading.progress.step(command.stage);
  const threads = files.threads ?? device.info.threads;
  await stages.rest("write", () => writeResult(out, result.tables(), { threads }, reading.host));
  return result;
}

function tell(result: StreamedResult, stages: Stages, run: Run): void {
  const { files, reading, options, device, start } = run;
  const { clock, progress, host } = reading;
  const out = files.out as NamedFile;
  for (const [stage, seconds] of stages.all)
    clock.add(stage, seconds, stage === "write" ? shortName(out) : "");
  progress.stop();
  const seconds = (performance.now() - start) / 1000;
  if (options.json) {
    const { numRows: rows, names: columns } = result;
    host.stdout.write(jsonLine({ rows, columns, seconds, device: device.backend }));
    return;
  }
  tellWritten(result, out, host);
  host.stderr.write(`\n${deviceLine(device)}\n${clock.text(seconds)}`);
}

/** The seconds of stages that come in pieces. */
class Stages {
  readonly #seconds = new Map<string, number>();

  get all(): Iterable<[stage: string, seconds: number]> {
    return this.#seconds;
  }

  get #total(): number {
    return [...this.#seconds.values()].reduce((sum, seconds) => sum + seconds, 0);
  }

  /** A stage's, which is not told any more. */
  taken(stage: string): number {
    const seconds = this.#seconds.get(stage) ?? 0;
    this.#seconds.delete(stage);
    return seconds;
  }

  add(stage: string, seconds: number): void {
    this.#seconds.set(stage, (this.#seconds.get(stage) ?? 0) + seconds);
  }

  async time<T>(stage: string, work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await work();
    } finally {
      this.add(stage, (performance.now() - start) / 1000);
    }
  }

  /** The same of what is of no other stage meanwhile. */
  async rest(stage: string, work: () => Promise<void>): Promise<void> {
    const [start, before] = [performance.now(), this.#total];
    await work();
    this.add(stage, Math.max(0, (performance.now() - start) / 1000 - (this.#total - before)));
  }
}

/** The tables of a reader of which the first was read. Does not hold on to them. */
function counted(
  first: IteratorResult<Table>,
  reader: AsyncIterator<Table>,
  total: { numRows: number },
  timed: <T>(work: () => Promise<T>) => Promise<T>,
): AsyncIterableIterator<Table> {
  let next: IteratorResult<Table> | undefined = first;
  return {
    async next() {
      const given = next ?? (await timed(() => reader.next()));
      next = undefined;
      if (!given.done) total.numRows += given.value.numRows;
      return given;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
