/** Row groups of a Parquet file as they are written, each by itself: on whichever thread has time. */
import type { ColumnChunk, SchemaElement } from "hyparquet";
import { ByteWriter } from "hyparquet-writer/src/bytewriter.js";
import { ChunkBuffers, ChunkWriter } from "./parquet-chunks.js";
import type { PackedRows } from "./parquet-packed-rows.js";
import type { ColumnRows } from "./parquet-rows.js";

/** A row group for another thread. */
export interface PackedGroup {
  /** Of the columns. */
  readonly elements: readonly SchemaElement[];
  readonly columns: readonly PackedRows[];
  readonly rows: number;
}

/** A row group's bytes, and what the footer says of its columns: places are told from where the group begins. */
export interface EncodedGroup {
  readonly bytes: Uint8Array;
  readonly columns: readonly ColumnChunk[];
  readonly rows: number;
}

/** Encodes one row group after the other. */
export class GroupEncoder {
  readonly #out = new ByteWriter() as ByteWriter & { index: number };
  readonly #writers: readonly ChunkWriter[];

  constructor(elements: readonly SchemaElement[]) {
    const buffers = new ChunkBuffers();
    this.#writers = elements.map((element) => new ChunkWriter(element, this.#out, buffers));
  }

  encode(columns: readonly ColumnRows[], rows: number): EncodedGroup {
    this.#out.index = 0;
    this.#out.offset = 0;
    const written = this.#writers.map((writer, i) => writer.write(columns[i], rows));
    return { bytes: this.#out.getBytes().slice(), columns: written, rows };
  }
}
