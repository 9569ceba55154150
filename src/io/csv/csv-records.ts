/**
 * The records of CSV text, by RFC 4180, as places of their fields in bytes; nothing is copied. Records end with LF,
 * CRLF or CR, also mixed. All that ends a field is ASCII, so the text may be cut anywhere outside a quoted field.
 */

/** What text is made of besides values: ASCII codes. */
export interface CsvSyntax {
  readonly delimiter: number;
  /** -1: there are no quotes. */
  readonly quote: number;
}

/** Text that is no CSV: what is wrong where. */
export class CsvError extends Error {
  constructor(
    readonly problem: "open" | "after" | "inside",
    /** The byte. */
    readonly at: number,
  ) {
    super(problem);
  }
}

const NEWLINE = 10;
const RETURN = 13;

/** How a field is written: as it is, in quotes, in quotes with quotes inside that are doubled. */
export const PLAIN = 0;
export const QUOTED = 1;
export const ESCAPED = 2;

/** The fields of one record at a time. */
export class RecordScanner {
  /** Fields of the record. No more than `most` have places. */
  count = 0;
  starts = new Int32Array(16);
  ends = new Int32Array(16);
  /** PLAIN, QUOTED or ESCAPED. */
  quoting = new Uint8Array(16);
  /** Where the next record starts. */
  next = 0;
  /** Whether any field is in quotes. */
  anyQuoted = false;
  /** 1 for what may end a field that is not in quotes, or must not be in it. */
  readonly #special = new Uint8Array(256);

  constructor(
    readonly syntax: CsvSyntax,
    readonly most: number,
  ) {
    for (const code of [NEWLINE, RETURN, syntax.delimiter]) this.#special[code] = 1;
    if (syntax.quote >= 0) this.#special[syntax.quote] = 1;
  }

  /**
   * Finds the fields of the record at `start`. False when the bytes end before it does; `last`: the text ends with
   * them.
   * @throws CsvError
   */
  scan(bytes: Uint8Array, start: number, last: boolean): boolean {
    const { delimiter, quote } = this.syntax;
    const special = this.#special;
    const { length } = bytes;
    this.count = 0;
    this.anyQuoted = false;
    for (let i = start; ; i++) {
      if (i < length && bytes[i] === quote) {
        const end = this.#quoted(bytes, i, last);
        if (end < 0) return false;
        i = end;
      } else {
        const from = i;
        while (i < length && special[bytes[i]] === 0) i++;
        if (i < length && bytes[i] === quote) throw new CsvError("inside", i);
        this.#push(from, i, PLAIN);
      }
      if (i >= length) {
        this.next = length;
        return last;
      }
      if (bytes[i] === delimiter) continue;
      if (bytes[i] !== NEWLINE && bytes[i] !== RETURN) throw new CsvError("after", i);
      if (bytes[i] === RETURN) {
        if (i + 1 === length && !last) return false; // LF may follow
        if (bytes[i + 1] === NEWLINE) i++;
      }
      this.next = i + 1;
      return true;
    }
  }

  /** The field in quotes that starts at `start`; answers with what follows it, or -1 where the bytes end before. */
  #quoted(bytes: Uint8Array, start: number, last: boolean): number {
    const { quote } = this.syntax;
    let quoting = QUOTED;
    for (let i = start + 1; ; i += 2) {
      i = bytes.indexOf(quote, i);
      if (i < 0 && last) throw new CsvError("open", start);
      if (i < 0 || (i + 1 === bytes.length && !last)) return -1;
      if (bytes[i + 1] !== quote) {
        this.#push(start + 1, i, quoting);
        this.anyQuoted = true;
        return i + 1;
      }
      quoting = ESCAPED;
    }
  }

  #push(start: number, end: number, quoting: number): void {
    const i = this.count++;
    if (i >= this.starts.length) {
      if (i >= this.most) return;
      this.starts = doubled(this.starts);
      this.ends = doubled(this.ends);
      this.quoting = doubled(this.quoting);
    }
    this.starts[i] = start;
    this.ends[i] = end;
    this.quoting[i] = quoting;
  }

  /** Whether the record is a line with nothing in it. */
  get isBlank(): boolean {
    return this.count === 1 && this.starts[0] === this.ends[0] && this.quoting[0] === PLAIN;
  }
}

function doubled<T extends Int32Array | Uint8Array>(array: T): T {
  const larger = new (array.constructor as new (length: number) => T)(2 * array.length);
  larger.set(array);
  return larger;
}

/** Lines that end in bytes `start` to `end`. */
export function countLines(bytes: Uint8Array, start: number, end: number): number {
  let lines = 0;
  for (let i = start; i < end; i++) {
    if (bytes[i] === NEWLINE || (bytes[i] === RETURN && bytes[i + 1] !== NEWLINE)) lines++;
  }
  return lines;
}
