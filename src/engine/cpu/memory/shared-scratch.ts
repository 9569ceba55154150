/**
 * Shared memory that chunks pass through on their way to and from workers: copies of inputs and outputs that
 * are not in shared memory themselves, and the chunk sorted by range. One chunk uses it at a time. Columns
 * are made on first use, grow up to a chunk, and are kept.
 */

import { newBuffer } from "../../../host/memory.js";
import type { Block } from "../table/blocks.js";
import type { Partition } from "../table/jobs.js";
import type { Chunk } from "../table/sequential.js";
import type { Tuning } from "../tuning.js";

type Column = "keys" | "values" | "where" | "results" | "flags";

export class SharedScratch {
  readonly #tuning: Tuning;
  readonly #columns = new Map<Column, SharedArrayBuffer>();
  #sorted: Pick<Partition, "block" | "starts"> | null = null;

  constructor(tuning: Tuning) {
    this.#tuning = tuning;
  }

  /** Where a chunk's keys and mask come in shared memory: `bring` brings elements of them; null where all are there. */
  inputs(chunk: Chunk): ChunkInputs {
    chunk.checkInputs?.();
    const copies: ((from: number, to: number) => void)[] = [];
    const arriving = <A extends Uint32Array | Uint8Array>(column: Column, source: A): A => {
      const part = partOf(source, chunk);
      if (isShared(part)) return part;
      const copy = this.#column(column, part);
      copies.push((from, to) => copy.set(part.subarray(from, to), from));
      return copy;
    };
    const keys = arriving("keys", chunk.keys);
    const where = chunk.where === null ? null : arriving("where", chunk.where);
    const bring = (from: number, to: number) => {
      for (const copy of copies) copy(from, to);
    };
    return { keys, where, bring: copies.length > 0 ? bring : null };
  }

  /** A chunk's part of an input column in shared memory; empty for an empty column. */
  input(column: Column, source: Uint32Array, chunk: Chunk): Uint32Array {
    chunk.checkInputs?.();
    const part = partOf(source, chunk);
    if (isShared(part) || part.length === 0) return part;
    const copy = this.#column(column, part);
    copy.set(part);
    return copy;
  }

  /**
   * Room in shared memory for a chunk's part of an output column; elements left out by `where` hold `rest`.
   */
  output<A extends Uint32Array | Uint8Array>(column: Column, target: A, chunk: Chunk, rest: number): A {
    chunk.checkInputs?.();
    const part = partOf(target, chunk);
    if (isShared(part) || part.length === 0) return part;
    const room = this.#column(column, part);
    if (chunk.where !== null) room.fill(rest);
    return room;
  }

  /** Brings what was written to elements `from` to `to` of an `output` to where it belongs. */
  copyBack<A extends Uint32Array | Uint8Array>(
    output: A,
    target: A,
    chunk: Chunk,
    from = 0,
    to = output.length,
  ): void {
    if (output.length === 0 || output.buffer === target.buffer) return;
    target.set(output.subarray(from, to), chunk.from + from);
  }

  /** Room to sort a chunk of `length` elements for a table of `words` words. */
  partition(length: number, words: number): Partition {
    const { slice: sliceLength, ranges: mostRanges } = this.#tuning;
    const slices = Math.ceil(length / sliceLength);
    // whole slots: words of one slot differ in the lowest bit
    let shift = 1;
    while ((words - 1) >>> shift >= mostRanges) shift++;
    const ranges = ((words - 1) >>> shift) + 1;
    if (this.#sorted === null || this.#sorted.block.key.length < length) {
      const room = this.#roomFor(length);
      const most = Math.ceil(room / sliceLength) * (mostRanges + 1);
      this.#sorted = { block: sharedBlock(room), starts: new Uint32Array(newBuffer(4 * most, true)) };
    }
    return { ...this.#sorted, slices, sliceLength, ranges, shift };
  }

  /** Elements to make room for where there are to be `length`: up to twice as many, so that room grows seldom. */
  #roomFor(length: number): number {
    return Math.max(length, Math.min(this.#tuning.chunk, 2 ** Math.ceil(Math.log2(length))));
  }

  #column<A extends Uint32Array | Uint8Array>(column: Column, like: A): A {
    let buffer = this.#columns.get(column);
    if (buffer === undefined || buffer.byteLength < like.byteLength) {
      buffer = newBuffer(this.#roomFor(like.length) * like.BYTES_PER_ELEMENT, true) as SharedArrayBuffer;
      this.#columns.set(column, buffer);
    }
    return (
      like instanceof Uint8Array
        ? new Uint8Array(buffer, 0, like.length)
        : new Uint32Array(buffer, 0, like.length)
    ) as A;
  }
}

/** A chunk's keys and mask on their way into shared memory. */
export interface ChunkInputs {
  readonly keys: Uint32Array;
  readonly where: Uint8Array | null;
  readonly bring: ((from: number, to: number) => void) | null;
}

function partOf<A extends Uint32Array | Uint8Array>(array: A, { from, to }: Chunk): A {
  return array.subarray(from, to) as A;
}

function isShared(array: Uint32Array | Uint8Array): boolean {
  return array.buffer instanceof SharedArrayBuffer;
}

function sharedBlock(length: number): Block {
  const column = () => new Uint32Array(newBuffer(4 * length, true));
  return { key: column(), home: column(), element: column() };
}
