/**
 * Utf8Column: strings as their UTF-8 bytes, end to end. It is how keys of type `utf8` come out of calls, and one of the
 * forms in which they go in. It holds bytes, not JavaScript strings: those are made when they are asked for.
 */

/** Bytes that are decoded at once. */
const BLOCK_BYTES = 2 ** 16;

/** Strings that console.log prints at most. */
const SHOWN = 20;

/** Strings as UTF-8 bytes: string i is `bytes[offsets[i] .. offsets[i + 1])`. */
export class Utf8Column implements Iterable<string> {
  /** @internal Made by calls; as an input write `{ offsets, bytes }`. */
  constructor(
    /** Where strings begin and end in `bytes`: one more than there are strings. The first need not be 0. */
    readonly offsets: Uint32Array,
    /** The strings' bytes. There may be others before the first string and behind the last. */
    readonly bytes: Uint8Array,
  ) {}

  /** How many strings there are. */
  get length(): number {
    return this.offsets.length - 1;
  }

  /**
   * String `i`, counted from the end where `i` is negative; undefined where there is none. Bytes that are not UTF-8
   * become U+FFFD.
   */
  at(i: number): string | undefined {
    const index = i < 0 ? i + this.length : i;
    if (!(index >= 0 && index < this.length)) return undefined;
    return decode(this.bytes, this.offsets[index], this.offsets[index + 1]);
  }

  /** All strings. */
  toArray(): string[] {
    const strings = new Array<string>(this.length);
    let i = 0;
    for (const string of this) strings[i++] = string;
    return strings;
  }

  /** What console.log prints in Node: the first strings. */
  [Symbol.for("nodejs.util.inspect.custom")](
    _depth: number,
    options: object,
    inspect: (value: unknown, options: object) => string,
  ): string {
    const shown = Array.from({ length: Math.min(this.length, SHOWN) }, (_, i) => this.at(i));
    const more = this.length > SHOWN ? ` and ${this.length - SHOWN} more` : "";
    return `Utf8Column(${this.length}) ${inspect(shown, options)}${more}`;
  }

  /** Goes through the strings; faster than `at` for each. */
  *[Symbol.iterator](): Generator<string, void, undefined> {
    const { offsets, bytes, length } = this;
    for (let first = 0; first < length; ) {
      let end = first + 1;
      while (end < length && offsets[end + 1] - offsets[first] <= BLOCK_BYTES) end++;
      const [from, to] = [offsets[first], offsets[end]];
      // of ASCII a byte is a character: one decoding serves many strings
      const text = end - first > 1 && isAscii(bytes, from, to) ? decode(bytes, from, to) : null;
      for (; first < end; first++) {
        const [start, stop] = [offsets[first], offsets[first + 1]];
        yield text === null ? decode(bytes, start, stop) : text.slice(start - from, stop - from);
      }
    }
  }
}

let decoder: TextDecoder | undefined;

function decode(bytes: Uint8Array, from: number, to: number): string {
  if (from === to) return "";
  const part = bytes.subarray(from, to);
  decoder ??= new TextDecoder("utf-8", { ignoreBOM: true });
  // browsers do not decode shared memory
  return decoder.decode(part.buffer instanceof ArrayBuffer ? part : part.slice());
}

function isAscii(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i] > 0x7f) return false;
  return true;
}
