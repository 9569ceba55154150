/**
 * Files in units that somebody reads by itself, on another machine perhaps: row groups of Parquet, record batches of
 * Arrow, records of csv. A unit is plain data. What can't be read at any place (gzip, Arrow streams) is one unit.
 */
import type { Table } from "@uwdata/flechette";
import { firstRows } from "../arrow/first-rows.js";
import { fileErrorFrom } from "./errors.js";
import { fileSource } from "./file-source.js";
import { type BatchReadOptions, type Format, formatOf, withDelimiter } from "./formats.js";
import { lateBatches } from "./index.js";
import { type Source, unzipped } from "./source.js";

/** A stretch of one file. */
export interface Unit {
  readonly path: string;
  readonly format: Format;
  /** Row groups, record batches, or bytes, from the first to before the last; null: the whole file. */
  readonly range: readonly [from: number, to: number] | null;
  /** About, as its rows lie in memory. */
  readonly bytes: number;
  /** Of csv. */
  readonly csv?: {
    /** Of the columns, as `BatchWays.settled`. */
    readonly types: readonly number[];
    /** Bytes of the header. */
    readonly head: number;
  };
}

/** What is known of a file before it is read. */
export interface FileSurvey {
  readonly units: readonly Unit[];
  /** Its columns, without rows. */
  readonly like: Table;
}

export type UnitOptions = Pick<
  BatchReadOptions,
  "columns" | "types" | "delimiter" | "quote" | "header" | "threads" | "signal"
>;

type PlacedSource = Source & Required<Pick<Source, "at">> & { readonly size: number };

/**
 * Cuts a file into units of about `unitBytes`. A csv file is read through, for its types.
 * @throws FormatError, FileError, ValidationError as readBatches
 */
export async function surveyFile(
  path: string,
  options: UnitOptions,
  unitBytes: number,
  format: Format = formatOf(path),
): Promise<FileSurvey> {
  const opened = await fileSource(path, path).catch((error) => Promise.reject(errorOf(path, error, options)));
  try {
    const source = await unzipped(opened);
    const isPlaced = source.at !== undefined && source.size !== undefined;
    const cut = isPlaced ? await CUTS[format](source as PlacedSource, withDelimiter(format, options)) : null;
    if (cut !== null) {
      const units = unitsOf(cut, unitBytes).map((unit) => ({ path, format, ...unit, csv: cut.csv }));
      return { units, like: cut.like };
    }
  } catch (error) {
    throw errorOf(path, error, options);
  } finally {
    await opened.close();
  }
  const batches = lateBatches(path, { ...options, format }, {});
  const { value: first } = await batches.next();
  await batches.return();
  const units = [{ path, format, range: null, bytes: opened.size ?? 0 }];
  return { units, like: firstRows(first as Table, 0) };
}

/**
 * The rows of a unit. @param ahead columns of parquet that are decoded ahead; others then stay as stored until they are
 * asked for, and may be written so. Without it all are decoded
 * @throws as readBatches
 */
export async function* readUnit(
  unit: Unit,
  options: UnitOptions,
  ahead?: readonly string[],
): AsyncGenerator<Table> {
  const { path, format, range, csv } = unit;
  if (range === null || csv === undefined) {
    const ways = { range: range ?? undefined, ...(ahead && { late: { ahead } }) };
    yield* lateBatches(path, { ...options, format }, ways);
    return;
  }
  const opened = await fileSource(path, path).catch((error) => Promise.reject(errorOf(path, error, options)));
  try {
    const { csvBatches } = await import("./csv/csv-read.js");
    const source = recordsOf(opened as PlacedSource, csv.head, range);
    yield* csvBatches(source, { ...withDelimiter(format, options), settled: csv.types });
  } catch (error) {
    throw errorOf(path, error, options);
  } finally {
    await opened.close();
  }
}

/** Pieces that a file can be cut between. */
interface Cut {
  /** Bytes of each. */
  readonly pieces: readonly number[];
  readonly like: Table;
  readonly csv?: Unit["csv"];
}

type CutFile = (source: PlacedSource, options: UnitOptions) => Promise<Cut | null>;

const [NEWLINE, RETURN] = [10, 13];

const cutCsv: CutFile = async (source, options) => {
  const { surveyCsv } = await import("./csv/csv-read.js");
  const { types, blocks, like } = await surveyCsv(source, options);
  const pieces = [...blocks];
  const [last] = await source.at(source.size - 1, source.size);
  // a last line without an end got one
  if (pieces.length > 0 && last !== NEWLINE && last !== RETURN) pieces.push((pieces.pop() as number) - 1);
  const head = source.size - pieces.reduce((sum, bytes) => sum + bytes, 0);
  return { pieces, like, csv: { types, head } };
};

const CUTS: Record<Format, CutFile> = {
  csv: cutCsv,
  tsv: cutCsv,
  parquet: async (source, options) => {
    const [{ openParquet }, { parquetBatches }] = await Promise.all([
      import("./parquet/parquet-open.js"),
      import("./parquet/parquet-batches.js"),
    ]);
    const { metadata } = await openParquet(source, options);
    const groups = metadata.row_groups.filter(({ num_rows }) => num_rows > 0n);
    const like = await parquetBatches(source, { ...options, range: [0, 0] }).next();
    return {
      pieces: groups.map(({ total_byte_size }) => Number(total_byte_size)),
      like: like.value as Table,
    };
  },
  arrow: async (source, options) => {
    const [{ arrowBatches }, { batchBytes }] = await Promise.all([
      import("./arrow/arrow-batches.js"),
      import("./arrow/arrow-messages.js"),
    ]);
    const pieces = await batchBytes(source);
    if (pieces === null) return null;
    const like = await arrowBatches(source, { ...options, range: [0, 0] }).next();
    return { pieces, like: like.value as Table };
  },
};

/** Pieces put together. Ranges are of bytes of csv files, else of pieces. */
function unitsOf({ pieces, csv }: Cut, unitBytes: number): Pick<Unit, "range" | "bytes">[] {
  const units: Pick<Unit, "range" | "bytes">[] = [];
  let from = csv?.head ?? 0;
  let [count, bytes] = [0, 0];
  for (const [i, piece] of pieces.entries()) {
    bytes += piece;
    count++;
    if (bytes < unitBytes && i + 1 < pieces.length) continue;
    const to = from + (csv ? bytes : count);
    units.push({ range: [from, to], bytes });
    from = to;
    [count, bytes] = [0, 0];
  }
  return units;
}

/** A csv file's header, and some of its records behind it. */
function recordsOf(file: PlacedSource, head: number, [from, to]: readonly [number, number]): Source {
  return {
    name: file.name,
    size: head + to - from,
    async *pieces() {
      if (head > 0) yield await file.at(0, head);
      for (let at = from; at < to; at += PIECE) yield await file.at(at, Math.min(to, at + PIECE));
    },
    close: async () => {},
  };
}

const PIECE = 1 << 20;

function errorOf(path: string, error: unknown, { signal }: UnitOptions): unknown {
  return signal?.aborted ? signal.reason : fileErrorFrom(path, error, "cannot be read", "Check the file.");
}
