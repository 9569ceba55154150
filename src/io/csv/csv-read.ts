/**
 * CSV to Arrow: RFC 4180 in UTF-8, with a header line unless told otherwise. Types are inferred from all values
 * (csv-types.ts) unless they are asked for by name (csv-asked.ts). The text is read once, from start to end, so it may
 * be a pipe; it is cut into blocks of whole records (csv-blocks.ts), which threads read side by side
 * (csv-block-job.ts). Memory is the text plus the result: where the type of a column comes out wider than a block took
 * it for, that column of the block is read again.
 */
import { type Column, type Table, tableFromColumns } from "@uwdata/flechette";
import { buffersOf } from "../../host/buffers.js";
import { inOrder, type Job, STREAM_DEPTH, threadsOf } from "../../host/in-order.js";
import type { TaskKind } from "../../host/pool.js";
import { FileError, GuessError } from "../errors.js";
import type { AskedType, BatchReadOptions, BatchWays, ReadOptions } from "../formats.js";
import type { Source } from "../source.js";
import { type Block, type BlockJob, readBlock } from "./csv-block-job.js";
import { BLOCK } from "./csv-blocks.js";
import type { BlockColumn } from "./csv-column.js";
import { CsvFile } from "./csv-file.js";
import { askedColumnOfParts, type ColumnPart, columnOfParts, fits } from "./csv-table.js";
import { CsvType, kindsOfType, typeOfKinds } from "./csv-types.js";

/** What tests make small. */
export interface Sizes {
  /** Bytes of a block, at least. */
  readonly block: number;
  /** Bytes from which on other threads start; below, they would start for less than they cost. */
  readonly large: number;
}

/** Measured on a 2-core x86 server. */
const SIZES: Sizes = { block: BLOCK, large: 1 << 23 };

/** Reads CSV. @throws FileError with the line number where the text is not CSV */
export async function readCsv(source: Source, options: ReadOptions, sizes = SIZES): Promise<Table> {
  const reader = new CsvReader(source.name, options, sizes, { threads: threadsOf(options) });
  for await (const block of reader.blocks(source)) reader.hold(block);
  await reader.settle();
  return reader.finish();
}

/** Text that a batch is made of, at least. */
const BATCH = 1 << 22; // bytes

/** Text that types are guessed by. */
const GUESSED = 1 << 23; // bytes

/**
 * Reads CSV batch by batch, in two passes: the first finds the types of the columns, which the last value may decide.
 * Or in one, where types may be guessed. Memory is that of a batch; other threads, each of which has some blocks, work
 * where they are asked for. The source can be read twice.
 * @throws as readCsv; GuessError
 */
export async function* csvBatches(
  source: Source,
  { guess = false, settled: told, ...options }: BatchReadOptions & Pick<BatchWays, "guess" | "settled">,
  sizes = SIZES,
): AsyncGenerator<Table> {
  const { threads = 1 } = options;
  let settled = told as readonly CsvType[] | undefined;
  if (!guess) settled ??= (await surveyCsv(source, options, sizes)).types;
  const reading = guess ? options : { ...options, onNote: undefined };
  const reader = new CsvReader(source.name, reading, sizes, { threads, settled, guess });
  for await (const block of reader.blocks(source)) {
    reader.hold(block);
    if (reader.bytes < (reader.settled ? BATCH : GUESSED)) continue;
    await reader.settle();
    yield reader.finish();
  }
  await reader.settle();
  if (settled && told === undefined && !reader.hasTypes(settled)) throw reader.changedError();
  yield reader.finish();
}

/** What there is to know of a file before some of its records are read by themselves. */
export interface CsvSurvey {
  /** Of the columns that are read. */
  readonly types: readonly CsvType[];
  /** Bytes of each of the blocks that the records fill, in order: they end with the file. */
  readonly blocks: readonly number[];
  /** The columns, without rows. */
  readonly like: Table;
}

/** Reads a file through for its types. @throws as readCsv */
export async function surveyCsv(
  source: Source,
  options: BatchReadOptions,
  sizes = SIZES,
): Promise<CsvSurvey> {
  const reader = new CsvReader(source.name, options, sizes, {
    threads: options.threads ?? 1,
    valuesToo: false,
  });
  const blocks: number[] = [];
  for await (const { bytes } of reader.blocks(source)) blocks.push(bytes.length);
  const types = reader.types();
  return { types, blocks, like: reader.finish() };
}

const TASKS: TaskKind<BlockJob, Block> = {
  name: "csv-read",
  script: () => import("./csv-read-worker.ts?worker-source"),
  errors: { FILE: FileError },
};

/** More columns are read on one thread: each has memory of its own in each block, which has to be handed over. */
const MOST_SHARED = 2000;

interface Purpose {
  readonly threads: number;
  /** Whether values are wanted, or no more than types. */
  readonly valuesToo?: boolean;
  /** The types of the columns that are read, where another pass found them. */
  readonly settled?: readonly CsvType[];
  /** Whether they are those of the rows that are settled first. */
  readonly guess?: boolean;
}

class CsvReader {
  readonly #file: CsvFile;
  /** Blocks whose rows are held, and the rows before them. */
  #held: Block[] = [];
  #forgotten = 0;
  /** Bytes of text that is held. */
  bytes = 0;
  /** The types of all rows, where they are known. */
  settled: readonly CsvType[] | undefined;

  constructor(
    name: string,
    readonly options: BatchReadOptions,
    readonly sizes: Sizes,
    readonly purpose: Purpose,
  ) {
    this.#file = new CsvFile(name, options, sizes.block);
    this.settled = purpose.settled;
  }

  /** The blocks of a source, in order, read. @throws FileError */
  async *blocks(source: Source): AsyncGenerator<Block> {
    const { valuesToo = true } = this.purpose;
    const file = this.#file;
    const texts = file.blocks(source);
    const { first, isLarge } = await begun(texts, source.size, this.sizes.large);
    const jobs = async function* () {
      yield* first;
      yield* texts;
    };
    const jobOf = (bytes: Uint8Array): BlockJob => ({
      bytes,
      syntax: file.syntax,
      columns: file.names.length,
      requests: file.columns.map(({ index, asked, kinds }, i) => ({
        index,
        asked,
        kinds: this.settled ? kindsOfType(this.settled[i]) : kinds,
      })),
      valuesToo,
    });
    const threads = isLarge && file.names.length <= MOST_SHARED ? this.purpose.threads : 1;
    for await (const block of this.#read(mapped(jobs(), jobOf), threads)) {
      file.take(block);
      yield block;
    }
    file.checkEnded();
  }

  #read(jobs: AsyncIterable<BlockJob>, threads: number): AsyncGenerator<Block> {
    const pack = (input: BlockJob) => ({ input, transfer: buffersOf([input.bytes]) });
    const wrapped = mapped(jobs, (job): Job<BlockJob, Block> => {
      return { here: () => readBlock(job), pack: () => pack(job) };
    });
    const depth = this.purpose.guess === undefined ? undefined : STREAM_DEPTH;
    return inOrder(TASKS, wrapped, { threads, signal: this.options.signal, depth });
  }

  /** Keeps the rows of a block. */
  hold(block: Block): void {
    const { settled } = this.purpose;
    const { columns } = this.#file;
    const isRight = (i: number) =>
      columns[i].asked !== undefined || fits(block.columns[i], settled?.[i] ?? 0);
    if (settled && !block.columns.every((_, i) => isRight(i))) throw this.changedError();
    this.#held.push(block);
    this.bytes += block.bytes.length;
  }

  /**
   * Reads columns again in blocks that took them for another type. @throws GuessError where the types are guessed, and
   * are others by now
   */
  async settle(): Promise<void> {
    const types = this.settled ?? this.types();
    if (this.purpose.guess) {
      const problem = "has values of other types than its first rows";
      if (!this.hasTypes(types)) throw new GuessError(this.#file.path, problem, "Read it as a whole.");
      this.settled = types;
    }
    const { syntax, names, columns } = this.#file;
    const wrong = this.#held.map((block) =>
      columns.flatMap(({ asked }, i) => (asked !== undefined || fits(block.columns[i], types[i]) ? [] : [i])),
    );
    const jobs = this.#held.flatMap((block, b): BlockJob[] => {
      if (wrong[b].length === 0) return [];
      const requests = wrong[b].map((i) => ({ index: columns[i].index, kinds: kindsOfType(types[i]) }));
      return [{ bytes: block.bytes, syntax, columns: names.length, requests, valuesToo: true }];
    });
    const places = wrong.flatMap((some, b) => (some.length === 0 ? [] : [b]));
    const threads = jobs.length * (jobs[0]?.bytes.length ?? 0) >= this.sizes.large ? this.purpose.threads : 1;
    for await (const again of this.#read(
      mapped(jobs, (job) => job),
      threads,
    )) {
      const b = places.shift() as number;
      for (const [k, i] of wrong[b].entries()) this.#held[b].columns[i] = again.columns[k];
    }
  }

  /** The types of the columns that are read. @throws FileError without a header */
  types(): CsvType[] {
    this.#file.checkNames();
    return this.#file.columns.map(({ asked, kinds, anyQuotedEmpty }) => {
      if (asked !== undefined) return asked === "utf8" ? CsvType.text : CsvType.none;
      return kinds === 0 && anyQuotedEmpty ? CsvType.text : typeOfKinds(kinds);
    });
  }

  /** Whether the rows that came have these types. */
  hasTypes(types: readonly CsvType[]): boolean {
    return this.types().every((type, i) => type === types[i]);
  }

  /** The rows that are held, which are let go of. */
  finish(): Table {
    this.#file.checkNames();
    const types = this.settled ?? this.types();
    const { names, columns } = this.#file;
    const held = this.#held.map(({ rows, columns: read }) => ({
      rows,
      read: read as (BlockColumn | null)[],
    }));
    this.#held = [];
    this.bytes = 0;
    const made = columns.map(({ index, asked }, i): [string, Column<unknown>] => {
      const parts = held.map(({ rows, read }) => ({ rows, column: read[i] as BlockColumn }));
      for (const { read } of held) read[i] = null; // frees memory as it is copied
      if (asked === undefined || asked === "utf8") return [names[index], columnOfParts(parts, types[i])];
      this.#checkAsked(names[index], asked, parts);
      return [names[index], askedColumnOfParts(parts, asked)];
    });
    this.#forgotten += held.reduce((sum, { rows }) => sum + rows, 0);
    return tableFromColumns(made);
  }

  #checkAsked(name: string, asked: AskedType, parts: readonly ColumnPart[]): void {
    let row = this.#forgotten + 1;
    for (const { rows, column } of parts) {
      const { failed } = column;
      if (failed) {
        const where = `"${failed.text}" in row ${row + failed.row} of column "${name}"`;
        throw this.#file.error(`${where} is not ${asked}`, "Correct the value, or ask for another type.");
      }
      row += rows;
    }
  }

  changedError(): FileError {
    return this.#file.error("changed while it was read", "Read it when nobody writes to it.");
  }
}

/** The first of some blocks, and whether all together are worth other threads. */
async function begun(
  blocks: AsyncIterator<Uint8Array>,
  size: number | undefined,
  large: number,
): Promise<{ first: Uint8Array[]; isLarge: boolean }> {
  const first: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { value, done } = await blocks.next();
    if (done) return { first, isLarge: false };
    first.push(value);
    bytes += value.length;
    if (bytes >= large || size !== undefined) return { first, isLarge: (size ?? bytes) >= large };
  }
}

async function* mapped<In, Out>(
  items: Iterable<In> | AsyncIterable<In>,
  map: (item: In) => Out,
): AsyncGenerator<Out> {
  for await (const item of items) yield map(item);
}
