/**
 * Shared memory that chunks pass through on their way to and from workers: copies of inputs and outputs that
 * are not in shared memory themselves, and the chunk sorted by range. One chunk uses it at a time. Columns
 * are made on first use and kept.
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
  #block: Block | null = null;
  #starts: Uint32Array | null = null;

  constructor(tuning: Tuning) {
    this.#tuning = tuning;
  }

  /** A chunk's keys and mask in shared memory. */
  inputs(chunk: Chunk): { keys: Uint32Array; where: Uint8Array | null } {
    const where = chunk.where === null ? null : this.input("where", chunk.where, chunk);
    return { keys: this.input("keys", chunk.keys, chunk), where };
  }

  /** A chunk's part of an input column in shared memory; empty for an empty column. */
  input<A extends Uint32Array | Uint8Array>(column: Column, source: A, chunk: Chunk): A {
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

  /** Brings what was written to an `output` to where it belongs. */
  copyBack<A extends Uint32Array | Uint8Array>(output: A, target: A, chunk: Chunk): void {
    if (output.length > 0 && output.buffer !== target.buffer) target.set(output, chunk.from);
  }

  /** Room to sort a chunk of `length` elements for a table of `words` words. */
  partition(length: number, words: number): Partition {
    const { slice: sliceLength, ranges: mostRanges } = this.#tuning;
    const slices = Math.ceil(length / sliceLength);
    // whole slots: words of one slot differ in the lowest bit
    let shift = 1;
    while ((words - 1) >>> shift >= mostRanges) shift++;
    const ranges = ((words - 1) >>> shift) + 1;
    this.#block ??= sharedBlock(this.#tuning.chunk);
    const most = Math.ceil(this.#tuning.chunk / sliceLength) * (mostRanges + 1);
    this.#starts ??= new Uint32Array(newBuffer(4 * most, true));
    return { block: this.#block, slices, sliceLength, ranges, shift, starts: this.#starts };
  }

  #column<A extends Uint32Array | Uint8Array>(column: Column, like: A): A {
    let buffer = this.#columns.get(column);
    if (buffer === undefined) {
      buffer = newBuffer(this.#tuning.chunk * like.BYTES_PER_ELEMENT, true) as SharedArrayBuffer;
      this.#columns.set(column, buffer);
    }
    return (
      like instanceof Uint8Array
        ? new Uint8Array(buffer, 0, like.length)
        : new Uint32Array(buffer, 0, like.length)
    ) as A;
  }
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
