/**
 * Inputs of a job on their way into memory that all threads reach. Only the calling thread reads the arrays of a user,
 * so it copies them piece by piece; workers begin with the pieces that are there, and wait for the one that they took.
 */
import { bitmapBytes } from "../bitmaps.js";
import { type Arrived, stopArrival, tellArrived } from "./arrived.js";
import type { Elements, RowMemory, Scratch } from "./row-memory.js";
import { type Pause, TURN_MS } from "./work.js";

/** Brings the inputs of all pieces, in their order. When `bring` or `pause` throws, nobody waits for the others. */
export async function bringAll(
  arrived: Arrived,
  bring: (piece: number) => void,
  pause: Pause,
): Promise<void> {
  let lastTurn = performance.now();
  try {
    for (let piece = 0; piece < arrived.length; piece++) {
      bring(piece);
      tellArrived(arrived, piece);
      if (performance.now() - lastTurn < TURN_MS) continue;
      await pause();
      lastTurn = performance.now();
    }
  } catch (error) {
    stopArrival(arrived);
    throw error;
  }
}

/** Some neighbouring rows of columns, which `bring` copies for threads that do not reach them. */
export class ArrivingRows {
  readonly #copies: ((from: number, to: number) => void)[] = [];
  /** What is copied by rows, once however often it is asked for. */
  readonly #arriving: { readonly from: Elements; readonly room: Elements }[] = [];

  /** @param scratch memory that the rows come into: until it is used again */
  constructor(
    readonly memory: RowMemory,
    readonly scratch: Scratch,
    /** The first row of the columns: a multiple of 8. */
    readonly first: number,
    readonly rows: number,
  ) {}

  /** Brings the rows `from` to `to`, multiples of 8 but for the last, counted from `first`; null where all are there. */
  get bring(): ((from: number, to: number) => void) | null {
    if (this.#copies.length === 0) return null;
    return (from, to) => {
      for (const copy of this.#copies) copy(from, to);
    };
  }

  /** Where the rows of a column come, which has `each` elements a row. @param name of no other column */
  elements<A extends Elements>(name: string, column: A, each = 1): A {
    const part = column.subarray(this.first * each, (this.first + this.rows) * each) as A;
    return this.#arrives(name, part, (from, to) => [from * each, to * each]);
  }

  /** The same for a bitmap. */
  bits(name: string, bits: Uint8Array): Uint8Array {
    const part = bits.subarray(this.first >>> 3, bitmapBytes(this.first + this.rows));
    return this.#arrives(name, part, (from, to) => [from >>> 3, bitmapBytes(to)]);
  }

  /** The same for byte strings that lie end to end. @param edges where row r begins, and the row before it ends */
  strings(name: string, edges: Uint32Array, bytes: Uint8Array): { edges: Uint32Array; bytes: Uint8Array } {
    const part = edges.subarray(this.first, this.first + this.rows + 1);
    if (this.memory.reaches(edges) && this.memory.reaches(bytes)) return { edges: part, bytes };
    const begin = part[0];
    const own = bytes.subarray(begin, part[this.rows]);
    const range = (from: number, to: number): [number, number] => [part[from] - begin, part[to] - begin];
    const arriving = this.#arrives(`${name} bytes`, own, range, false);
    const moved = this.scratch.words(`${name} edges`, part.length);
    this.#copies.push((from, to) => {
      if (begin === 0) moved.set(part.subarray(from, to + 1), from);
      else for (let row = from; row <= to; row++) moved[row] = part[row] - begin;
    });
    return { edges: moved, bytes: arriving };
  }

  #arrives<A extends Elements>(
    name: string,
    part: A,
    range: (from: number, to: number) => [number, number],
    isByRow = true,
  ): A {
    if (this.memory.reaches(part)) return part;
    const known = isByRow && this.#arriving.find(({ from }) => isSame(from, part));
    if (known) return viewOf(known.room, part);
    const room = this.scratch.like(name, part);
    if (isByRow) this.#arriving.push({ from: part, room });
    this.#copies.push((from, to) => {
      const [begin, end] = range(from, to);
      room.set(part.subarray(begin, end), begin);
    });
    return room;
  }
}

function isSame(a: Elements, b: Elements): boolean {
  return a.buffer === b.buffer && a.byteOffset === b.byteOffset && a.byteLength === b.byteLength;
}

/** The same memory as elements of another kind. */
function viewOf<A extends Elements>({ buffer, byteOffset }: Elements, like: A): A {
  const Class = like.constructor as new (buffer: ArrayBufferLike, offset: number, length: number) => A;
  return new Class(buffer, byteOffset, like.length);
}
