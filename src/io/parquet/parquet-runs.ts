/**
 * The RLE and bit-packing hybrid of Parquet: levels, dictionary codes and booleans are runs of one value, or groups of eight values
 * with as many bits each as the largest needs. Every run is checked as it is decoded: it lies in the bytes, and all runs together hold
 * as many values as the page says, except for the filling of a bit-packed run.
 */
import { countSet } from "../../bitmaps.js";

/** Takes the runs of one page. */
interface RunTaker {
  /** `count` times the same value, from value number `from` on. */
  repeated(from: number, count: number, value: number): void;
  /** `count` values of the bytes from `at` on. */
  packed(from: number, count: number, at: number): void;
}

/** Where a run lies. */
interface Run {
  readonly start: number;
  readonly end: number;
}

/** Walks the runs of `count` values of `width` bits. Answers with the last one. @throws Error for damaged runs */
function walkRuns(bytes: Uint8Array, start: number, width: number, count: number, taker: RunTaker): Run {
  let at = start;
  let last = start;
  let seen = 0;
  while (seen < count) {
    last = at;
    const { value: header, end } = varint(bytes, at);
    at = end;
    const length = Math.floor(header / 2);
    if (header % 2 === 0) {
      const valueBytes = (width + 7) >>> 3;
      if (at + valueBytes > bytes.length) throw new Error("a page has fewer values than it says");
      let value = 0;
      for (let i = 0; i < valueBytes; i++) value += bytes[at++] * 2 ** (8 * i);
      if (length === 0 || length > count - seen) throw new Error("a run is longer than its page");
      if (value >= 2 ** width) throw new Error("a run has a value that its width does not hold");
      taker.repeated(seen, length, value);
      seen += length;
      continue;
    }
    const values = Math.min(8 * length, count - seen);
    // the format fills up to a multiple of 8; who fills up to more writes the bytes, too
    const filled = 8 * length - values < 8 ? values : 8 * length;
    if (length === 0 || at + Math.ceil((filled * width) / 8) > bytes.length) {
      throw new Error("a page has fewer values than it says");
    }
    taker.packed(seen, values, at);
    seen += values;
    at += length * width;
  }
  return { start: last, end: at };
}

/** Levels fill their bytes. DuckDB 1.3 writes the last run twice. @throws Error where there is something else behind them */
function checkEnd(levels: Uint8Array, { start, end }: Run): void {
  const rest = levels.length - end;
  if (rest <= 0) return;
  const isTwice = rest === end - start && levels.subarray(end).every((byte, i) => byte === levels[start + i]);
  if (!isTwice) throw new Error("its levels are of more values than the page has");
}

/** An unsigned number in groups of seven bits, and where it ends. */
export function varint(bytes: Uint8Array, at: number): { value: number; end: number } {
  let value = 0;
  for (let shift = 0, end = at; ; shift += 7) {
    if (end >= bytes.length || shift > 28) throw new Error("a page has fewer values than it says");
    const byte = bytes[end++];
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return { value, end };
  }
}

/**
 * Decodes `count` values of `width` bits, from byte `start` on, to the beginning of `into`. Answers with the largest.
 * @throws Error for damaged runs
 */
export function decodeRuns(
  bytes: Uint8Array,
  start: number,
  width: number,
  count: number,
  into: Int32Array,
): number {
  return decoded(bytes, start, width, count, into).largest;
}

/** The same of levels up to `highest`, which fill their bytes. @throws Error where one is higher */
export function decodeLevels(levels: Uint8Array, highest: number, count: number, into: Int32Array): void {
  const { largest, last } = decoded(levels, 0, 32 - Math.clz32(highest), count, into);
  if (largest > highest) throw new Error("a level is higher than its column has");
  checkEnd(levels, last);
}

function decoded(bytes: Uint8Array, start: number, width: number, count: number, into: Int32Array) {
  if (!(width <= 32)) throw new Error("its codes have a width that there is not");
  let largest = 0;
  const last = walkRuns(bytes, start, width, count, {
    repeated(from, length, value) {
      into.fill(value, from, from + length);
      if (value > largest) largest = value;
    },
    packed(from, length, at) {
      const found = width <= WORD_WIDTH ? unpackShort : unpackLong;
      largest = Math.max(largest, found(bytes, at, width, length, into, from));
    },
  });
  return { largest, last };
}

/** Values of so many bits lie in four bytes, wherever they begin. */
const WORD_WIDTH = 25;

/** Answers with the largest value. */
function unpackShort(
  bytes: Uint8Array,
  start: number,
  width: number,
  count: number,
  into: Int32Array,
  from: number,
): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const mask = (1 << width) - 1;
  // groups whose last value's four bytes are in the page
  const groups = Math.min(
    count >>> 3,
    Math.floor(Math.max(0, bytes.length - start - 4) / Math.max(1, width)),
  );
  let largest = 0;
  let to = from;
  for (let group = 0, at = start; group < groups; group++, at += width) {
    for (let bit = 0, end = 8 * width; bit < end; bit += width) {
      const value = (view.getInt32(at + (bit >>> 3), true) >>> (bit & 7)) & mask;
      into[to++] = value;
      if (value > largest) largest = value;
    }
  }
  const done = 8 * groups;
  return Math.max(largest, unpackLong(bytes, start + groups * width, width, count - done, into, to));
}

/** The same for values of up to 32 bits, byte by byte. Those from 2^31 on are put as negative numbers. */
function unpackLong(
  bytes: Uint8Array,
  start: number,
  width: number,
  count: number,
  into: Int32Array,
  from: number,
): number {
  const size = 2 ** width;
  let at = start;
  let largest = 0;
  let rest = 0; // at most 39 bits
  let have = 0;
  for (let i = 0; i < count; i++) {
    for (; have < width; have += 8) rest += bytes[at++] * 2 ** have;
    const value = rest % size;
    rest = (rest - value) / size;
    have -= width;
    into[from + i] = value;
    if (value > largest) largest = value;
  }
  return largest;
}

/** Tells `mark` which of `count` values levels say are null, as ranges in order. Answers with how many are not. */
export function readLevels(
  levels: Uint8Array,
  count: number,
  mark: (from: number, to: number) => void,
): number {
  let present = 0;
  const last = walkRuns(levels, 0, 1, count, {
    repeated(from, length, value) {
      if (value === 1) present += length;
      else mark(from, from + length);
    },
    packed(from, length, at) {
      const set = countSet(levels.subarray(at), length);
      present += set;
      if (set === length) return;
      for (let i = 0; i < length; i++) {
        if (((levels[at + (i >>> 3)] >>> (i & 7)) & 1) === 0) mark(from + i, from + i + 1);
      }
    },
  });
  checkEnd(levels, last);
  return present;
}
