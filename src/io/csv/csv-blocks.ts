/**
 * CSV text cut into blocks of whole records, for threads that read them side by side. A quote inside a field is
 * doubled, and any other misplaced one is an error, so the text is in quotes where the quotes before are odd in number.
 * After an error blocks may be cut at wrong places; who reads them in order finds the error first. A record that has
 * not ended after some bytes is not waited for: else one open quote would bring the whole file into memory.
 */
import { CsvError, type CsvSyntax, RecordScanner } from "./csv-records.js";
import { findByte } from "./find-byte.js";

/** Bytes of a block, at least, unless the text ends or a record is longer. */
export const BLOCK = 1 << 20;

/** Bytes of a record, at most, where no one says less: places of fields are numbers of 31 bits. */
export const MAX_RECORD = 2 ** 31 - 1;

/**
 * Columns that one such block holds enough rows of. Memory of its own for each column of a block is worth it for some
 * rows only.
 */
const COLUMNS = 1 << 12;

/** A byte order mark is not part of the text. */
const MARK = [0xef, 0xbb, 0xbf];

const NEWLINE = 10;
const RETURN = 13;

export class BlockCutter {
  #bytes = new Uint8Array(0);
  #used = 0;
  /** Bytes to have before the next cut. */
  #wanted: number;
  #block: number;
  #atStart = true;
  #unended: UnendedRecord | null = null;
  readonly #scanner: RecordScanner;

  constructor(
    readonly syntax: CsvSyntax,
    readonly most: number,
    readonly least = BLOCK,
    /** Bytes of a record that has not ended, at most; it may have a block's bytes in any case. */
    readonly longest = MAX_RECORD,
  ) {
    this.#wanted = least;
    this.#block = least;
    this.#scanner = new RecordScanner(syntax, most);
  }

  /** Is told how many columns there are. */
  setColumns(columns: number): void {
    this.#block = this.least * Math.ceil(columns / COLUMNS);
  }

  /** The record that did not end in time: there is nothing more to cut. */
  get unended(): UnendedRecord | null {
    return this.#unended;
  }

  /**
   * Takes a piece of the text; answers with a block where it fills one. A block ends with the end of a line, and is the
   * taker's.
   */
  add(piece: Uint8Array): Uint8Array | null {
    this.#append(piece);
    if (this.#used < this.#wanted) return null;
    this.#skipMark();
    const end = this.#lastEnd();
    if (end > 0) return this.#take(end);
    // no record ends here, or the quotes are not as they should be
    if (this.#isWrong()) {
      replaceCutCharacter(this.#bytes.subarray(0, this.#used));
      return this.rest();
    }
    if (this.#used > this.longest) this.#unended = { bytes: this.#used, anyQuote: this.#anyQuote() };
    this.#wanted = Math.min(2 * this.#used, Math.max(this.longest, this.#used) + 1);
    return null;
  }

  /** What is left at the end of the text. */
  rest(): Uint8Array | null {
    this.#skipMark();
    if (this.#used === 0) return null;
    const last = this.#bytes[this.#used - 1];
    if (last !== NEWLINE && last !== RETURN) this.#append(Uint8Array.of(NEWLINE));
    return this.#take(this.#used);
  }

  #skipMark(): void {
    if (this.#atStart && MARK.every((byte, i) => this.#bytes[i] === byte)) {
      this.#bytes.copyWithin(0, MARK.length, this.#used);
      this.#used -= MARK.length;
    }
    this.#atStart = false;
  }

  #append(piece: Uint8Array): void {
    const needed = this.#used + piece.length;
    if (needed > this.#bytes.length) {
      // room for a block where there was one already: most texts are shorter
      const block = this.#atStart ? 0 : this.#block + (this.#block >>> 2);
      const larger = new Uint8Array(Math.max(needed, 2 * this.#used, block));
      larger.set(this.#bytes.subarray(0, this.#used));
      this.#bytes = larger;
    }
    this.#bytes.set(piece, this.#used);
    this.#used += piece.length;
  }

  #take(end: number): Uint8Array {
    const block = this.#bytes.subarray(0, end);
    const rest = this.#bytes.slice(end, this.#used);
    this.#bytes = rest;
    this.#used = rest.length;
    this.#wanted = Math.max(this.#block, Math.min(2 * rest.length, this.longest + 1));
    return block;
  }

  /** Where the last whole record ends, 0 where none does. */
  #lastEnd(): number {
    const bytes = this.#bytes.subarray(0, this.#used);
    if (this.#anyQuote()) return lastEndOutside(bytes, this.syntax.quote);
    const newline = bytes.lastIndexOf(NEWLINE);
    // LF may follow a CR at the end
    return 1 + (newline >= 0 ? newline : bytes.lastIndexOf(RETURN, bytes.length - 2));
  }

  #isWrong(): boolean {
    if (!this.#anyQuote()) return false;
    try {
      this.#scanner.scan(this.#bytes.subarray(0, this.#used), 0, false);
      return false;
    } catch (error) {
      if (error instanceof CsvError) return true;
      throw error;
    }
  }

  #anyQuote(): boolean {
    const { quote } = this.syntax;
    return quote >= 0 && findByte(this.#bytes.subarray(0, this.#used), quote) >= 0;
  }
}

/** A record that is longer than it may be. */
export interface UnendedRecord {
  /** Those that were read. */
  readonly bytes: number;
  readonly anyQuote: boolean;
}

/** Has text not end inside a character, which would be an error of its own: letters stand for what is there of it. */
function replaceCutCharacter(bytes: Uint8Array): void {
  let at = bytes.length - 1;
  while (at > 0 && bytes.length - at < LONGEST && (bytes[at] & 0xc0) === 0x80) at--;
  if (bytes[at] >= 0x80) bytes.fill(LETTER, at);
}

/** Bytes of the longest character. */
const LONGEST = 4;
/** No letter ends a field. */
const LETTER = 97;

/** Where the last line ends that does not end in quotes. */
function lastEndOutside(bytes: Uint8Array, quote: number): number {
  let inside = false;
  let newline = -1;
  let back = -1;
  for (let i = 0; i < bytes.length; i++) {
    const code = bytes[i];
    if (code === quote) inside = !inside;
    else if (!inside) {
      if (code === NEWLINE) newline = i;
      else if (code === RETURN && i + 1 < bytes.length) back = i;
    }
  }
  return 1 + (newline >= 0 ? newline : back);
}
