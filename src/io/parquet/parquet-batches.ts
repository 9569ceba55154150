/**
 * Parquet files row group by row group: decoded, or with columns whose values are decoded when somebody reads them. All
 * groups have the same types.
 */
import { type Column, type DataType, type Table, TimeUnit, Type } from "@uwdata/flechette";
import type { ColumnMetaData } from "hyparquet";
import { fileErrorFrom } from "../errors.js";
import type { BatchWays, ReadOptions, TransferOptions } from "../formats.js";
import type { Source } from "../source.js";
import { notUtf8 } from "../utf8.js";
import { prepareCodecs } from "./parquet-codecs.js";
import { columnReader, type ReadColumn } from "./parquet-column-reader.js";
import {
  DAMAGED,
  openParquet,
  type ParquetFile,
  REWRITE,
  type RowGroup,
  type SelectedColumn,
} from "./parquet-open.js";
import { checkPages } from "./parquet-pages.js";
import { columnError, tableOf } from "./parquet-part.js";
import {
  checkRows,
  columnParts,
  decoded,
  type Groups,
  OLD_WRITER,
  Progress,
  readAhead,
  readGroups,
} from "./parquet-read.js";
import { arrowTypeOf, type ColumnNode, leavesOf } from "./parquet-schema.js";
import { StoredColumn } from "./stored-column.js";

/**
 * Reads a Parquet file row group by row group. Text comes as it is, never as a dictionary, unless who asks takes another
 * one in every group. Without a number of threads the calling one works alone: who reads so is short of memory. More
 * threads decode the columns of a group, and of the next one while this one is worked on.
 * @throws as readParquet
 */
export async function* parquetBatches(
  source: Source,
  options: ReadOptions & BatchWays,
): AsyncGenerator<Table> {
  const file = await openParquet(source, options);
  const { columns, metadata } = file;
  const { threads = 1, late, dictionaries = late !== undefined } = options;
  const progress = new Progress(columns.length * Number(metadata.num_rows), options);
  const groups = metadata.row_groups.filter(({ num_rows }) => num_rows > 0n);
  for (const { num_rows } of groups) checkRows(file.file, num_rows);
  const microseconds = await farTimes(file, groups, options);
  const read = groups.slice(...(options.range ?? []));
  const batches = (read.length === 0 ? [read] : read.map((group) => [group])).map((groups) => ({
    ...{ of: file, groups, dictionaries, microseconds },
  }));
  if (late === undefined || read.length === 0) yield* decoded(batches, progress, threads);
  else yield* storedGroups(batches, new Set(late.ahead), progress, threads);
}

/**
 * Row groups whose columns are decoded when their values are read: their bytes are in memory.
 * @param ahead of columns whose values will be read, so that others threads decode them meanwhile
 */
async function* storedGroups(
  all: readonly Groups[],
  ahead: ReadonlySet<string>,
  progress: Progress,
  threads: number,
): AsyncGenerator<Table, void, undefined> {
  const { file, columns: selected } = all[0].of;
  const { signal } = progress.options;
  const isAhead = ({ name }: SelectedColumn) => ahead.has(name);
  for await (const { groups, read } of readAhead(all, selected.filter(isAhead), progress, threads)) {
    const columns: Column<unknown>[] = [];
    for (const column of selected) {
      signal?.throwIfAborted();
      try {
        columns.push(
          await storedColumn(column, groups, progress, isAhead(column) ? read.shift() : undefined),
        );
      } catch (error) {
        signal?.throwIfAborted();
        throw columnError(column, file.name, error);
      }
    }
    yield tableOf(selected, columns);
  }
}

/** @param read its values, where they are there */
async function storedColumn(
  column: SelectedColumn,
  group: Groups,
  progress: Progress,
  read?: ReadColumn,
): Promise<StoredColumn> {
  const { file, metadata } = group.of;
  const { name, node } = column;
  const { rows, plan, ranges, chunksOf } = columnParts(column, group, progress);
  const [range] = ranges();
  await prepareCodecs(range.map(({ codec, start, end }) => ({ codec, bytes: end - start })));
  const chunks = await chunksOf(range);
  const readNow = () => {
    const reader = columnReader(plan);
    reader.add(chunks);
    progress.add(rows);
    return reader.finish();
  };
  const ofFile = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw columnError(column, file.name, error);
    }
  };
  const make = () =>
    ofFile(() => {
      const { column: made, isText } = read ?? readNow();
      if (!isText) throw fileErrorFrom(file.name, notUtf8(name), DAMAGED, REWRITE);
      return made;
    });
  const [{ columns }] = group.groups;
  const about = node.kind === "leaf" ? columns[node.index].meta_data : undefined;
  const isWhole = !OLD_WRITER.test(metadata.created_by ?? "");
  const stored =
    node.kind === "leaf" && about && isWhole
      ? {
          leaf: node,
          chunk: { bytes: chunks[0].bytes, about: placedIn(about, range[0].start) },
          check: () => ofFile(() => checkPages(chunks[0].bytes, chunks[0].entries)),
        }
      : null;
  return new StoredColumn(arrowTypeOf(node), rows, make, stored);
}

/** What the footer says of a column chunk, with places in its bytes. */
function placedIn(about: ColumnMetaData, start: number): ColumnMetaData {
  const from = BigInt(start);
  const { type, encodings, path_in_schema, codec, num_values, statistics } = about;
  const { total_compressed_size, total_uncompressed_size } = about;
  const { data_page_offset: data, dictionary_page_offset: dictionary } = about;
  return {
    ...{ type, encodings, path_in_schema, codec, num_values, statistics },
    ...{ total_compressed_size, total_uncompressed_size },
    data_page_offset: data - from,
    dictionary_page_offset:
      dictionary && dictionary >= from && dictionary < data ? dictionary - from : undefined,
  };
}

/**
 * Leaves with timestamps of 96 bits that nanoseconds in 64 bits do not reach: all batches of a file have them in one
 * unit. Their columns are read for this once more.
 */
export async function farTimes(
  file: ParquetFile,
  groups: readonly RowGroup[],
  options: TransferOptions,
): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  const quiet = new Progress(0, { signal: options.signal });
  const columns = file.columns.filter(({ node }) =>
    leavesOf(node).some(({ element }) => element.type === "INT96"),
  );
  for (const column of columns) {
    const of = { ...file, columns: [column] };
    for (const group of groups) {
      const { schema } = await readGroups({ of, groups: [group], dictionaries: false }, quiet, 1);
      addFar(schema.fields[0].type, column.node, found);
    }
  }
  return found;
}

/** Adds the leaves of 96 bits that became microseconds. */
function addFar(type: DataType, node: ColumnNode, found: Set<number>): void {
  if (node.kind === "leaf") {
    const isTimestamp = node.element.type === "INT96" && type.typeId === Type.Timestamp;
    if (isTimestamp && type.unit === TimeUnit.MICROSECOND) found.add(node.index);
    return;
  }
  const children = "children" in type ? type.children : [];
  const nodes = node.kind === "struct" ? node.children : [node.child];
  for (const [i, child] of nodes.entries()) addFar(children[i].type, child, found);
}
