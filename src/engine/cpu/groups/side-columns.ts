/**
 * The columns of one side as packing reads them (row-keys.ts): plain data, which threads can share. Which form a column
 * has follows from the layout.
 */
import type { ArrivingRows } from "../../../host/arrival.js";
import type { RowMemory } from "../../../host/row-memory.js";
import { CodedBytes } from "../../coded-bytes.js";
import type { ByteColumn, RowKeys, WordColumn } from "../../rows.js";
import type { Layout, Place } from "./key-layout.js";
import { dictionaryOf, packStrings } from "./strings.js";

export type SideColumn = WordColumn | StringColumn | CodeColumn | RangeColumn;

/** Strings that are packed row by row. */
export interface StringColumn extends Omit<ByteColumn, "kind"> {
  readonly kind: "strings";
}

/** Strings of a dictionary that was packed, once for all rows. */
export interface CodeColumn {
  readonly kind: "codes";
  readonly codes: Uint8Array | Uint16Array | Uint32Array;
  /** As many words per string as its place has. */
  readonly words: Uint32Array;
  /** 1 for strings that cannot match. */
  readonly skip: Uint8Array;
  /** Of the rows. */
  readonly validity: Uint8Array | null;
}

/** Strings that stay where they are. */
export interface RangeColumn {
  readonly kind: "ranges";
  /** Of the ranges; null where each row has its own. */
  readonly codes: Uint8Array | Uint16Array | Uint32Array | null;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly validity: Uint8Array | null;
}

/** What packing reads of a side. */
export interface SideColumns {
  readonly columns: readonly SideColumn[];
  /** Bytes of the strings that are compared where they are. */
  readonly bytes: readonly Uint8Array[];
}

/** One side's keys. */
export interface KeySide extends SideColumns {
  readonly keys: RowKeys;
}

/** Packs the dictionaries of one side, once for all its rows, and brings what is not read row by row in reach. */
export function keySide(keys: RowKeys, layout: Layout, memory: RowMemory): KeySide {
  const columns = keys.columns.map((column, i) =>
    column.kind === "words" ? column : stringsOf(column, layout.places[i], keys.rows, memory),
  );
  const ranges = keys.columns.filter((_, i) => layout.places[i].byRange) as ByteColumn[];
  return { keys, columns, bytes: ranges.map((column) => memory.reachable(column.bytes)) };
}

function stringsOf(column: ByteColumn, place: Place, rows: number, memory: RowMemory): SideColumn {
  const { validity } = column;
  if (place.byRange) {
    if (!(column instanceof CodedBytes)) return { ...column, kind: "ranges", codes: null };
    const { codes, strings } = column;
    const [starts, ends] = [memory.reachable(strings.starts), memory.reachable(strings.ends)];
    return { kind: "ranges", codes, starts, ends, validity };
  }
  const strings = dictionaryOf(column, rows);
  if (strings !== null) return packDictionary(column as CodedBytes, strings, place, memory);
  const { starts, ends, bytes } = column;
  return {
    kind: "strings",
    starts,
    ends,
    bytes: edgesOf(column) ? bytes : memory.reachable(bytes),
    validity,
  };
}

function packDictionary(
  { codes, validity }: CodedBytes,
  strings: ByteColumn,
  place: Place,
  memory: RowMemory,
): CodeColumn {
  const count = strings.starts.length;
  const words = memory.words(count * place.width);
  const skip = memory.bytes(count);
  const packed = { ...place, offset: 0, stride: place.width };
  packStrings(words, skip, packed, { ...strings, kind: "strings" }, 0, 0, count);
  return { kind: "codes", codes, words, skip, validity };
}

/** Where strings begin and end that lie end to end; null for others. */
function edgesOf({ starts, ends }: Pick<ByteColumn, "starts" | "ends">): Uint32Array | null {
  const isNext = starts.buffer === ends.buffer && ends.byteOffset === starts.byteOffset + 4;
  return isNext ? new Uint32Array(starts.buffer, starts.byteOffset, starts.length + 1) : null;
}

/** Some rows of a side, which may be on their way into memory that all threads reach. Row 0 is the first of them. */
export function arrivingColumns({ columns, bytes }: SideColumns, rows: ArrivingRows): SideColumns {
  return { columns: columns.map((column, i) => arriving(column, rows, `column ${i}`)), bytes };
}

function arriving(column: SideColumn, rows: ArrivingRows, name: string): SideColumn {
  const validity = column.validity && rows.bits(`${name} validity`, column.validity);
  switch (column.kind) {
    case "words":
      return { ...column, data: rows.elements(name, column.data, column.width), validity };
    case "codes":
      return { ...column, codes: rows.elements(name, column.codes), validity };
    case "ranges":
      if (column.codes) return { ...column, codes: rows.elements(name, column.codes), validity };
      return { ...column, ...rangesOf(column, rows, name), validity };
    case "strings": {
      const edges = edgesOf(column);
      if (edges === null) return { ...column, ...rangesOf(column, rows, name), validity };
      const moved = rows.strings(name, edges, column.bytes);
      const [starts, ends] = [moved.edges.subarray(0, -1), moved.edges.subarray(1)];
      return { ...column, starts, ends, bytes: moved.bytes, validity };
    }
  }
}

function rangesOf({ starts, ends }: Pick<ByteColumn, "starts" | "ends">, rows: ArrivingRows, name: string) {
  return { starts: rows.elements(`${name} starts`, starts), ends: rows.elements(`${name} ends`, ends) };
}
