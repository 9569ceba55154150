/**
 * Snappy compression of Parquet pages: the same bytes as by hyparquet-writer's snappyCompress, after snappyjs and the
 * reference implementation, in less time: words in place of bytes, and one buffer that is used again and again.
 */

const MAX_TABLE_BITS = 14;
const MAX_OFFSET = 0xffff;
/** Bytes at the end in which no match is looked for. */
const MARGIN = 15;
/** Bytes up to this number are copied one by one, which beats a call. As in text-buffer.ts. */
const SHORT = 32;

export class Snappy {
  #out = new Uint8Array(1 << 16);
  #at = 0;
  /** Where four bytes of a hash were last seen. */
  readonly #seen = new Int32Array(1 << MAX_TABLE_BITS);

  /** The bytes compressed, in memory that the next call overwrites. */
  compress(input: Uint8Array): Uint8Array {
    const most = 32 + input.length + Math.ceil(input.length / 6);
    if (this.#out.length < most) this.#out = new Uint8Array(most);
    this.#at = 0;
    let length = input.length;
    for (; length > 0x7f; length >>>= 7) this.#out[this.#at++] = (length & 0x7f) | 0x80;
    this.#out[this.#at++] = length;
    const emitted = input.length >= MARGIN ? this.#matches(input) : 0;
    if (emitted < input.length) this.#literal(input, emitted, input.length);
    return this.#out.subarray(0, this.#at);
  }

  /** Answers with where the bytes begin that are left over. */
  #matches(input: Uint8Array): number {
    const view = new DataView(input.buffer, input.byteOffset, input.length);
    const bits = Math.min(MAX_TABLE_BITS, 31 - Math.clz32(input.length));
    const shift = 32 - bits;
    const seen = this.#seen.fill(0, 0, 1 << bits);
    const last = input.length - MARGIN;
    let emitted = 0;
    for (let at = 1; ; at++) {
      let candidate = 0;
      let word = 0;
      // steps grow where nothing matches
      for (let skip = 32, next = at; ; ) {
        at = next;
        next = at + (skip++ >>> 5);
        if (at > last) return emitted;
        word = view.getInt32(at, true);
        const hash = Math.imul(word, 0x1e35a7bd) >>> shift;
        candidate = seen[hash];
        seen[hash] = at;
        if (at - candidate <= MAX_OFFSET && view.getInt32(candidate, true) === word) break;
      }
      this.#literal(input, emitted, at);
      do {
        const length = matchLength(view, at, candidate);
        this.#copy(at - candidate, length);
        at += length;
        emitted = at;
        if (at >= last) return emitted;
        seen[Math.imul(view.getInt32(at - 1, true), 0x1e35a7bd) >>> shift] = at - 1;
        word = view.getInt32(at, true);
        const hash = Math.imul(word, 0x1e35a7bd) >>> shift;
        candidate = seen[hash];
        seen[hash] = at;
      } while (at - candidate <= MAX_OFFSET && view.getInt32(candidate, true) === word);
    }
  }

  #literal(input: Uint8Array, from: number, to: number): void {
    const out = this.#out;
    const length = to - from;
    let at = this.#at;
    if (length <= 60) out[at++] = (length - 1) << 2;
    else {
      const bytes = 4 - (Math.clz32(length - 1) >>> 3);
      out[at++] = (59 + bytes) << 2;
      for (let i = 0; i < bytes; i++) out[at++] = (length - 1) >>> (8 * i);
    }
    if (length > SHORT) out.set(input.subarray(from, to), at);
    else for (let i = 0; i < length; i++) out[at + i] = input[from + i];
    this.#at = at + length;
  }

  #copy(offset: number, length: number): void {
    let rest = length;
    for (; rest >= 68; rest -= 64) this.#copyOf(offset, 64);
    if (rest > 64) {
      this.#copyOf(offset, 60);
      rest -= 60;
    }
    this.#copyOf(offset, rest);
  }

  #copyOf(offset: number, length: number): void {
    const out = this.#out;
    if (length < 12 && offset < 2048) {
      out[this.#at++] = 1 + ((length - 4) << 2) + ((offset >>> 8) << 5);
      out[this.#at++] = offset;
    } else {
      out[this.#at++] = 2 + ((length - 1) << 2);
      out[this.#at++] = offset;
      out[this.#at++] = offset >>> 8;
    }
  }
}

/** Bytes that are the same from two places on; the first four are known to be. */
function matchLength(view: DataView, at: number, candidate: number): number {
  const most = view.byteLength - at;
  let length = 4;
  while (length + 4 <= most) {
    const differing = view.getInt32(at + length, true) ^ view.getInt32(candidate + length, true);
    if (differing !== 0) return length + ((31 - Math.clz32(differing & -differing)) >>> 3);
    length += 4;
  }
  while (length < most && view.getUint8(at + length) === view.getUint8(candidate + length)) length++;
  return length;
}
