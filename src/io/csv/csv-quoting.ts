/**
 * When fields of CSV files are put in quotes, and how. U+0000 is: outside quotes readers take it for a sign of binary
 * data.
 */

import type { TextBuffer } from "../text-buffer.js";
import { findByte } from "./find-byte.js";

const QUOTE = 34;

/** From so many bytes on a search for each character beats one loop. Measured on a 2-core x86 server. */
const SEARCHED = 256; // bytes

export class Quoting {
  readonly #pattern: RegExp;
  /** 1 for bytes that only stand in quotes. */
  readonly #special = new Uint8Array(256);
  readonly #codes: readonly number[];

  constructor(readonly delimiter: string) {
    this.#pattern = new RegExp(`[\\x${delimiter.charCodeAt(0).toString(16).padStart(2, "0")}"\\r\\n\\0]`);
    this.#codes = Array.from(`${delimiter}"\r\n\0`, (character) => character.charCodeAt(0));
    for (const code of this.#codes) this.#special[code] = 1;
  }

  /** The empty string is in quotes; without them it would be null. */
  quoted(text: string): string {
    return text === "" || this.#pattern.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  /** Whether any of these bytes only stands in quotes. */
  anySpecial(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start > SEARCHED) {
      const range = bytes.subarray(start, end);
      return this.#codes.some((code) => findByte(range, code) >= 0);
    }
    const special = this.#special;
    for (let i = start; i < end; i++) if (special[bytes[i]] === 1) return true;
    return false;
  }

  /** Whether UTF-8 text is written in quotes. */
  needsQuotes(bytes: Uint8Array, start: number, end: number): boolean {
    return start === end || this.anySpecial(bytes, start, end);
  }

  /** Writes UTF-8 text in quotes. */
  write(out: TextBuffer, bytes: Uint8Array, start: number, end: number): void {
    out.reserve(2 * (end - start) + 2);
    out.byte(QUOTE);
    for (let i = start; i < end; i++) {
      if (bytes[i] === QUOTE) out.byte(QUOTE);
      out.byte(bytes[i]);
    }
    out.byte(QUOTE);
  }
}
