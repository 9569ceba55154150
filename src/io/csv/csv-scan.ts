/** The places of all fields of a block of CSV text. Nothing is copied. */
import { CsvError, type CsvSyntax, countLines, ESCAPED, PLAIN, QUOTED } from "./csv-records.js";

const NEWLINE = 10;
const RETURN = 13;

/** What is wrong with a block, and how much of it is right. */
export interface BlockProblem {
  /** `ragged`: a record has another number of fields. `text`: the bytes are not UTF-8. */
  readonly problem: CsvError["problem"] | "ragged" | "text";
  /** Lines of the block before that of the problem. */
  readonly lines: number;
  /** Records before that with the problem. */
  readonly records: number;
  /** Fields of a ragged record. */
  readonly fields: number;
}

/** Field `row * columns + column` lies between its start and its end, without its quotes. */
export class BlockScanner {
  rows = 0;
  /** Lines of the records that were scanned. */
  lines = 0;
  starts = new Int32Array(1 << 12);
  ends = new Int32Array(1 << 12);
  /** PLAIN, QUOTED or ESCAPED. */
  quoting = new Uint8Array(1 << 12);
  #special = new Uint8Array(256);
  /** The last code that is special; most of text is above it. */
  #highest = 0;
  #syntax: CsvSyntax = { delimiter: -1, quote: -1 };

  /** Scans records that end with the bytes, which end with the end of a line. */
  scan(bytes: Uint8Array, columns: number, syntax: CsvSyntax): BlockProblem | null {
    this.#prepare(syntax);
    this.rows = 0;
    this.lines = 0;
    let at = 0;
    try {
      while (at < bytes.length) {
        const next = this.#record(bytes, at, columns);
        if (this.#fields !== columns && !(this.#isBlank && columns > 1)) {
          return { problem: "ragged", lines: this.lines, records: this.rows, fields: this.#fields };
        }
        if (this.#fields === columns) this.rows++;
        this.lines += this.#anyQuoted ? countLines(bytes, at, next) : 1;
        at = next;
      }
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      const lines = this.lines + countLines(bytes, at, error.at);
      return { problem: error.problem, lines, records: this.rows, fields: 0 };
    }
    return null;
  }

  /** Of the record scanned last. */
  #fields = 0;
  #isBlank = false;
  #anyQuoted = false;

  #prepare(syntax: CsvSyntax): void {
    const { delimiter, quote } = syntax;
    if (delimiter === this.#syntax.delimiter && quote === this.#syntax.quote) return;
    this.#syntax = syntax;
    this.#special = new Uint8Array(256);
    for (const code of [NEWLINE, RETURN, delimiter]) this.#special[code] = 1;
    if (quote >= 0) this.#special[quote] = 1;
    this.#highest = this.#special.lastIndexOf(1);
  }

  /** Finds the fields of the record at `start`; answers with where the next one starts. @throws CsvError */
  #record(bytes: Uint8Array, start: number, columns: number): number {
    const { delimiter, quote } = this.#syntax;
    const special = this.#special;
    const highest = this.#highest;
    const first = this.rows * columns;
    if (first + columns > this.starts.length) this.#grow(first + columns);
    const { starts, ends, quoting } = this;
    let fields = 0;
    let at = start;
    this.#anyQuoted = false;
    for (;;) {
      let code = bytes[at];
      if (code === quote) {
        at = this.#quoted(bytes, at, fields < columns ? first + fields : -1);
        code = bytes[at];
        if (special[code] === 0 || code === quote) throw new CsvError("after", at);
      } else {
        const from = at;
        while (code > highest || special[code] === 0) code = bytes[++at];
        if (code === quote) throw new CsvError("inside", at);
        if (fields < columns) {
          starts[first + fields] = from;
          ends[first + fields] = at;
          quoting[first + fields] = PLAIN;
        }
      }
      fields++;
      at++;
      if (code !== delimiter) break;
    }
    this.#fields = fields;
    this.#isBlank = fields === 1 && at === start + 1;
    return bytes[at - 1] === RETURN && at < bytes.length && bytes[at] === NEWLINE ? at + 1 : at;
  }

  /** The field in quotes that starts at `start`; answers with what follows it. */
  #quoted(bytes: Uint8Array, start: number, field: number): number {
    const { quote } = this.#syntax;
    const { length } = bytes;
    let escaped = QUOTED;
    let at = start + 1;
    for (; ; at++) {
      while (at < length && bytes[at] !== quote) at++;
      if (at + 1 >= length) throw new CsvError("open", start);
      if (bytes[at + 1] !== quote) break;
      escaped = ESCAPED;
      at++;
    }
    this.#anyQuoted = true;
    if (field >= 0) {
      this.starts[field] = start + 1;
      this.ends[field] = at;
      this.quoting[field] = escaped;
    }
    return at + 1;
  }

  #grow(least: number): void {
    const length = Math.max(least, 2 * this.starts.length);
    const [starts, ends, quoting] = [new Int32Array(length), new Int32Array(length), new Uint8Array(length)];
    starts.set(this.starts);
    ends.set(this.ends);
    quoting.set(this.quoting);
    this.starts = starts;
    this.ends = ends;
    this.quoting = quoting;
  }
}
