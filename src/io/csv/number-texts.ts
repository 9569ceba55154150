/**
 * Texts of numbers that come again and again: small whole numbers, made once, and floats, of which the last of each
 * hash is kept. The texts are those of values.ts.
 */
import { TextBuffer } from "../text-buffer.js";
import { numberText, shortText } from "../value-texts.js";

/** Whole numbers from LEAST up to LIMIT have their text ready. */
export const LEAST = -1000;
export const LIMIT = 10_000;

/** Bytes that each of those texts has. */
export const SMALL_SLOT = 8;

/** The texts of small whole numbers: that of `n` starts at `SMALL_SLOT * (n - LEAST)`. */
export interface SmallTexts {
  readonly bytes: Uint8Array;
  readonly lengths: Uint8Array;
}

let made: SmallTexts | undefined;

export function smallTexts(): SmallTexts {
  if (made) return made;
  const out = new TextBuffer();
  const lengths = new Uint8Array(LIMIT - LEAST);
  out.reserve(SMALL_SLOT * lengths.length);
  for (let i = 0; i < lengths.length; i++) {
    out.at = SMALL_SLOT * i;
    out.integer(LEAST + i);
    lengths[i] = out.at - SMALL_SLOT * i;
  }
  made = { bytes: out.bytes, lengths };
  return made;
}

const SLOT_BITS = 12;
/** Bytes of a float's text, at most 25, rounded up. */
const FLOAT_SLOT = 32;

/** The texts of floats of one width. A text that was asked for stays where it is until `next`. */
export class FloatTexts {
  readonly bytes = new Uint8Array(FLOAT_SLOT << SLOT_BITS);
  readonly #lows = new Int32Array(1 << SLOT_BITS);
  readonly #highs = new Int32Array(1 << SLOT_BITS);
  readonly #lengths = new Uint8Array(1 << SLOT_BITS);
  /** In which round a text was asked for last. */
  readonly #rounds = new Int32Array(1 << SLOT_BITS);
  #round = 1;
  readonly #made = new TextBuffer();
  #misses = 0;

  constructor(readonly isDouble: boolean) {}

  /** No text is in use. */
  next(): void {
    this.#round++;
    this.#misses = 0;
  }

  /**
   * Makes the texts of `count` floats from byte `at` on, as places in `bytes`, or in `own` as the complements of
   * places.
   */
  fill(
    view: DataView,
    at: number,
    count: number,
    {
      starts,
      lengths,
      from,
      own,
    }: { starts: Int32Array; lengths: Int32Array; from: number; own: TextBuffer },
  ): void {
    const { isDouble } = this;
    const known = this.#lengths;
    for (let i = 0; i < count; i++) {
      const place = isDouble ? at + 8 * i : at + 4 * i;
      const low = view.getInt32(place, true);
      const high = isDouble ? view.getInt32(place + 4, true) : 0;
      const slot = Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1) >>> (32 - SLOT_BITS);
      if (this.#lows[slot] === low && this.#highs[slot] === high && known[slot] > 0) {
        starts[from + i] = FLOAT_SLOT * slot;
        lengths[from + i] = known[slot];
        this.#rounds[slot] = this.#round;
        continue;
      }
      const value = isDouble ? view.getFloat64(place, true) : view.getFloat32(place, true);
      if (this.#rounds[slot] === this.#round) {
        starts[from + i] = ~own.at;
        this.#write(own, value);
        lengths[from + i] = own.at - ~starts[from + i];
        continue;
      }
      const out = this.#made;
      out.at = 0;
      this.#write(out, value);
      const start = FLOAT_SLOT * slot;
      for (let j = 0; j < out.at; j++) this.bytes[start + j] = out.bytes[j];
      this.#lows[slot] = low;
      this.#highs[slot] = high;
      known[slot] = out.at;
      this.#rounds[slot] = this.#round;
      starts[from + i] = start;
      lengths[from + i] = out.at;
    }
  }

  #write(out: TextBuffer, value: number): void {
    out.reserve(FLOAT_SLOT);
    if (Number.isSafeInteger(value) && Math.abs(value) < WHOLE && !Object.is(value, -0)) {
      out.integer(value);
    } else if (!this.isDouble || this.#misses > MISSES || !out.decimal(value)) {
      this.#misses++;
      out.ascii(this.isDouble ? numberText(value) : shortText(value));
    } else this.#misses = 0;
  }
}

/** Whole numbers below are written the same way as float32 and as float64. */
const WHOLE = 1e6;

/** So many numbers in a row that are no short decimals are no longer looked at for that. */
const MISSES = 16;
