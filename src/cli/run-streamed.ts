/**
 * A command of two large files whose result goes to a file: the smaller one is held, the other one comes by batch by
 * batch, and the result is written as it is made.
 */
import { stat } from "node:fs/promises";
import type { Table } from "@uwdata/flechette";
import type { Device } from "../device.js";
import { HOST_ENGINE } from "../engine/registry.js";
import { isTextFormat } from "../io/formats.js";
import { lateBatches, readTable } from "../io/index.js";
import { jsonLine } from "../io/visible.js";
import { readUnit } from "./progress.js";
import {
  AskedColumns,
  type CommandInput,
  deviceLine,
  type Run,
  shortName,
  sizeOf,
  type TableCommand,
  tellWritten,
  worked,
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
 * for devices that are the faster the more rows they get at a time. From Parquet to Parquet alone: other formats have
 * no columns to take over, and are read by more threads at once.
 */
export async function heldInput(
  { isStreamed = false }: TableCommand,
  { inputs, out }: CommandFiles,
  device: Device,
): Promise<number | null> {
  const isFile = ({ path }: NamedFile) => path !== STANDARD;
  if (!isStreamed || out?.format !== "parquet" || device.backend !== HOST_ENGINE || !inputs.every(isFile))
    return null;
  const sizes: number[] = [];
  for (const { path, format } of inputs) {
    const found = await stat(path).catch(() => undefined);
    if (!found?.isFile()) return null;
    sizes.push(found.size / (isTextFormat(format) ? TEXT : 1));
  }
  const [small, large] = [Math.min(...sizes), Math.max(...sizes)];
  const isAlike = small > CACHED && 2 * small > large;
  const held = sizes.lastIndexOf(small);
  if (small + large < LARGE || isAlike || inputs[1 - held].format !== "parquet") return null;
  return held;
}

/** @param held which input is held. @throws as runTableCommand */
export async function runStreamed(command: TableCommand, held: number, run: Run): Promise<void> {
  const { files, reading, options, device, start } = run;
  const { clock, progress, host, onNote } = reading;
  const { inputs } = command;
  const asked = new AskedColumns(files);
  const optionsOf = (input: CommandInput, i: number) => ({
    ...asked.readingOf(input, i),
    signal: host.signal,
    onNote,
  });
  const stages = new Map<string, number>();
  const add = (stage: string, seconds: number) => stages.set(stage, (stages.get(stage) ?? 0) + seconds);
  const all = (i: number) => {
    const onProgress = progress.stage(inputs[i].stage, readUnit(files.inputs[i].format));
    return timed(inputs[i].stage, add, () =>
      readTable(files.inputs[i].path, { ...optionsOf(inputs[i], i), onProgress }),
    );
  };
  const streamed = 1 - held;
  const tables: (Table | AsyncIterable<Table>)[] = [];
  const sizes: { numRows: number; numCols: number }[] = [];
  tables[held] = await all(held);
  sizes[held] = tables[held] as Table;
  const reader = lateBatches(files.inputs[streamed].path, optionsOf(inputs[streamed], streamed));
  try {
    const first = await timed(inputs[streamed].stage, add, () => reader.next());
    asked.check(command.check);
    const total = { numRows: 0, numCols: (first.value as Table).numCols };
    sizes[streamed] = total;
    tables[streamed] = counted(first, reader, total, (work) => timed(inputs[streamed].stage, add, work));
    const out = files.out as NamedFile;
    const call = {
      device,
      signal: host.signal,
      onProgress: () => {},
      onStage: add,
    };
    const made = command.work(tables, call, out.format !== "arrow").batches();
    const result = { numRows: 0, numCols: 0, names: [] as string[] };
    const begun = performance.now();
    const others = () => [...stages.values()].reduce((sum, seconds) => sum + seconds, 0);
    const before = others();
    progress.step(command.stage);
    await writeResult(
      out,
      results(command, made, result),
      { threads: files.threads ?? device.info.threads },
      host,
    );
    add("write", Math.max(0, (performance.now() - begun) / 1000 - (others() - before)));
    for (const [i, input] of inputs.entries()) {
      clock.add(
        input.stage,
        stages.get(input.stage) ?? 0,
        `${shortName(files.inputs[i])}, ${sizeOf(sizes[i])}`,
      );
      stages.delete(input.stage);
    }
    for (const [stage, seconds] of stages) clock.add(stage, seconds, stage === "write" ? shortName(out) : "");
    progress.stop();
    const seconds = (performance.now() - start) / 1000;
    if (options.json) {
      const { numRows: rows, names: columns } = result;
      host.stdout.write(jsonLine({ rows, columns, seconds, device: device.backend }));
      return;
    }
    tellWritten(result, out, host);
    host.stderr.write(`\n${deviceLine(device)}\n${clock.text(seconds)}`);
  } finally {
    await reader.return(undefined);
  }
}

async function timed<T>(
  stage: string,
  add: (stage: string, seconds: number) => void,
  work: () => Promise<T>,
): Promise<T> {
  const start = performance.now();
  try {
    return await work();
  } finally {
    add(stage, (performance.now() - start) / 1000);
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

/** The tables of the result, picked and counted. */
async function* results(
  command: TableCommand,
  made: AsyncIterable<Table>,
  result: { numRows: number; numCols: number; names: string[] },
): AsyncGenerator<Table> {
  const tables = made[Symbol.asyncIterator]();
  try {
    for (;;) {
      const table = await worked(command, async () => {
        const { value, done } = await tables.next();
        return done ? undefined : (value as Table);
      });
      if (table === undefined) return;
      result.names = table.names.map(String);
      result.numCols = table.numCols;
      result.numRows += table.numRows;
      yield table;
    }
  } finally {
    await tables.return?.();
  }
}
