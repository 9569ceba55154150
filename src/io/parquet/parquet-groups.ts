/** Row groups of a Parquet file as they are written, each by itself: on whichever thread has time. */
import type { ColumnChunk } from "hyparquet";
import { ByteWriter } from "hyparquet-writer/src/bytewriter.js";
import { ChunkBuffers, ChunkWriter } from "./parquet-chunks.js";
import type { PackedLeaf } from "./parquet-packed-rows.js";
import type { LeafRows } from "./parquet-rows.js";
import type { WrittenLeaf } from "./parquet-written.js";

/** A row group for another thread. */
export interface PackedGroup {
  readonly leaves: readonly WrittenLeaf[];
  /** One a leaf; null for those that are not encoded. */
  readonly columns: readonly (PackedLeaf | null)[];
  readonly rows: number;
}

/** A row group's bytes, and what the footer says of its leaves: places are told from where the group begins. */
export interface EncodedGroup {
  readonly bytes: Uint8Array;
  readonly columns: readonly (ColumnChunk | null)[];
  readonly rows: number;
}

/** Encodes one row group after the other. */
export class GroupEncoder {
  readonly #out = new ByteWriter() as ByteWriter & { index: number };
  readonly #writers: readonly ChunkWriter[];

  constructor(leaves: readonly WrittenLeaf[]) {
    const buffers = new ChunkBuffers();
    this.#writers = leaves.map((leaf) => new ChunkWriter(leaf, this.#out, buffers));
  }

  encode(columns: readonly (LeafRows | null)[], rows: number): EncodedGroup {
    this.#out.index = 0;
    this.#out.offset = 0;
    const written = columns.map((column, i) => column && this.#writers[i].write(column, rows));
    return { bytes: this.#out.getBytes().slice(), columns: written, rows };
  }
}
