/** A Parquet file in parts of some row groups each, for an operator that has them decoded where it works on them. */
import type { Table } from "@uwdata/flechette";
import type { FilePart, FileParts, PartRows } from "../../arrow/file-parts.js";
import { buffersOf } from "../../host/buffers.js";
import { FileError, fileErrorFrom } from "../errors.js";
import type { ReadOptions } from "../formats.js";
import type { Source } from "../source.js";
import { farTimes } from "./parquet-batches.js";
import { isEverywhere } from "./parquet-codecs.js";
import type { ColumnRoom } from "./parquet-columns.js";
import { openParquet, type ParquetFile, type RowGroup } from "./parquet-open.js";
import { columnError, decodePart, type ParquetPart } from "./parquet-part.js";
import { checkRows, columnParts, type Groups, Progress, readGroups } from "./parquet-read.js";

/** @param needed names of columns; null: all. @throws as readParquet */
export async function parquetParts(
  source: Source,
  options: ReadOptions,
  needed: readonly string[] | null,
): Promise<FileParts> {
  const file = await openParquet(source, options);
  const columns = file.columns.filter(({ name }) => needed === null || needed.includes(name));
  const groups = file.metadata.row_groups.filter(({ num_rows }) => num_rows > 0n);
  for (const { num_rows } of groups) checkRows(file.file, num_rows);
  const of = { ...file, columns };
  const progress = new Progress(columns.length * Number(file.metadata.num_rows), options);
  const microseconds = await farTimes(of, groups, options);
  const like = await readGroups({ of: file, groups: [], dictionaries: false, microseconds }, progress, 1);
  return new ParquetParts(of, groups, like, microseconds, progress);
}

class ParquetParts implements FileParts {
  #next = 0;
  readonly #rooms: ColumnRoom[] = [];
  readonly rows: number;
  readonly isForAll: boolean;
  readonly errors = { FILE: FileError };

  constructor(
    readonly of: ParquetFile,
    readonly groups: readonly RowGroup[],
    readonly like: Table,
    readonly microseconds: ReadonlySet<number>,
    readonly progress: Progress,
  ) {
    this.rows = groups.reduce((sum, { num_rows }) => sum + Number(num_rows), 0);
    this.isForAll = groups.every(({ columns }) =>
      columns.every(({ meta_data }) => isEverywhere(meta_data?.codec ?? "")),
    );
  }

  async next(rows: number): Promise<FilePart<ParquetPart> | null> {
    const groups = this.#take((before) => before < rows);
    if (groups === null) return null;
    const { file, columns: selected } = this.of;
    const columns: ParquetPart["columns"][number][] = [];
    for (const column of selected) {
      const { plan, allChunks } = columnParts(column, groups, this.progress);
      try {
        columns.push({ name: column.name, plan, groups: await allChunks() });
      } catch (error) {
        this.progress.options.signal?.throwIfAborted();
        throw columnError(column, file.name, error);
      }
    }
    this.progress.add(selected.length * rowsOf(groups.groups));
    const transfer = buffersOf(columns.flatMap(({ groups }) => groups.flat().map(({ bytes }) => bytes)));
    return { data: { file: file.name, columns }, rows: rowsOf(groups.groups), transfer };
  }

  async decode(part: FilePart, merges: boolean): Promise<PartRows> {
    return decodePart(part.data as ParquetPart, this.#rooms, merges);
  }

  async table(rows: number, threads: number): Promise<Table | null> {
    const groups = this.#take((before, group) => before + group <= rows);
    if (groups === null) return null;
    try {
      return await readGroups(groups, this.progress, this.isForAll ? threads : 1);
    } catch (error) {
      this.progress.options.signal?.throwIfAborted();
      throw fileErrorFrom(this.of.file.name, error, "cannot be read", "Check the file.");
    }
  }

  /** Row groups from the next one on: one at least, and others as long as they are told to come along. */
  #take(comes: (rowsBefore: number, rows: number) => boolean): Groups | null {
    const from = this.#next;
    if (from === this.groups.length) return null;
    let rows = 0;
    do rows += Number(this.groups[this.#next++].num_rows);
    while (this.#next < this.groups.length && comes(rows, Number(this.groups[this.#next].num_rows)));
    const { of, microseconds } = this;
    return { of, groups: this.groups.slice(from, this.#next), dictionaries: true, microseconds };
  }

  restart(): void {
    this.#next = 0;
  }

  async close(): Promise<void> {
    this.#next = this.groups.length;
  }
}

function rowsOf(groups: readonly RowGroup[]): number {
  return groups.reduce((sum, { num_rows }) => sum + Number(num_rows), 0);
}
