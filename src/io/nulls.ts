/** Columns in the making: what is null, and 64-bit integers; without an Arrow library, for other threads too. */

import { bitmapBytes } from "../bitmaps.js";

/** Collects which rows are null; allocates nothing until the first one. */
export class Nulls {
  count = 0;
  /** Arrow validity bitmap; empty while nothing is null. */
  bitmap = new Uint8Array(0);

  constructor(readonly rows: number) {}

  set(row: number): void {
    if (this.count === 0) this.bitmap = new Uint8Array(bitmapBytes(this.rows)).fill(0xff);
    this.bitmap[row >>> 3] &= ~(1 << (row & 7));
    this.count++;
  }

  /** Marks the rows from `from` up to `to`, none of which is marked. */
  setRange(from: number, to: number): void {
    let row = from;
    for (; row < to && ((row & 7) !== 0 || to - row < 8); row++) this.set(row);
    if (row === to) return;
    this.set(row); // makes the bitmap
    const whole = (to - row) >>> 3;
    this.bitmap.fill(0, row >>> 3, (row >>> 3) + whole);
    this.count += 8 * whole - 1;
    for (row += 8 * whole; row < to; row++) this.set(row);
  }

  /** The same of the first `rows` rows, behind which none is marked. */
  first(rows: number): Nulls {
    if (rows === this.rows) return this;
    const first = new Nulls(rows);
    first.count = this.count;
    first.bitmap = this.bitmap.subarray(0, this.count === 0 ? 0 : bitmapBytes(rows));
    return first;
  }

  has(row: number): boolean {
    return this.count > 0 && ((this.bitmap[row >>> 3] >>> (row & 7)) & 1) === 0;
  }
}

/** Puts an integer of up to 64 bits at element `i` of a BigInt64Array, given as its 32-bit words; no bigint is made. */
export function setInt64(words: Int32Array, i: number, value: number): void {
  words[2 * i] = value;
  words[2 * i + 1] = Math.floor(value / 2 ** 32);
}
