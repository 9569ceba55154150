/**
 * Rows of Arrow dictionaries on their way into a Parquet file: codes are numbered anew, since a row group stores the
 * values that it has. Runs on any thread.
 */
import type { SchemaElement } from "hyparquet";
import { type ChunkedColumn, codesOf, type DictionaryChunk, isValid } from "../../arrow/chunk.js";
import { bitmapBytes, isSet } from "../../bitmaps.js";
import { numberValues } from "./number-values.js";
import { Numbering } from "./parquet-codes.js";
import type { StoredRows } from "./parquet-rows.js";
import { type Values, valuesFor } from "./parquet-values.js";

/**
 * An Arrow dictionary: its values that are not null, and which of them each code means, of equal ones the first; -1:
 * none.
 */
interface Entries {
  readonly values: Values;
  readonly places: Int32Array;
}

/** The rows of one column, of one row group after the other. Each group's are in use until the next one's are asked for. */
export class DictionaryRows {
  readonly #numbering = new Numbering();
  /** The Arrow dictionary of the last chunk. */
  #dictionary: { readonly of: ChunkedColumn; readonly entries: Entries } | undefined;
  #places = new Int32Array(0);

  constructor(readonly element: SchemaElement) {}

  /** The codes of the rows, numbered anew: a row group stores the values that it has. */
  rows(chunk: DictionaryChunk): StoredRows {
    if (this.#dictionary?.of !== chunk.dictionary) {
      this.#dictionary = { of: chunk.dictionary, entries: entriesOf(chunk.dictionary, this.element) };
    }
    const { values, places } = this.#dictionary.entries;
    if (this.#places.length < chunk.length) this.#places = new Int32Array(chunk.length);
    const codes = codesOf(chunk);
    let [count, bits]: [number, Uint8Array | null] = [chunk.length, null];
    if (chunk.validity === null && values.count === places.length) {
      lookUp(codes, places, this.#places, count);
    } else {
      bits = new Uint8Array(bitmapBytes(chunk.length));
      count = lookUpValid(chunk, codes, places, this.#places, bits);
    }
    const coded = this.#numbering.ofCodes(this.#places, count, values.count);
    return { form: "stored", bits, values, places: this.#places, count, coded };
  }
}

type Codes = ReturnType<typeof codesOf>;

/** The places of `count` codes, none of which is null. */
function lookUp(codes: Codes, places: Int32Array, into: Int32Array, count: number): void {
  for (let row = 0; row < count; row++) into[row] = places[codes[row]];
}

/**
 * The places of rows that are not null, end to end, and a bit for each of these rows. Answers with how many they are.
 */
function lookUpValid(
  { length, validity }: DictionaryChunk,
  codes: Codes,
  places: Int32Array,
  into: Int32Array,
  bits: Uint8Array,
): number {
  const valid = validity?.bits ?? null;
  let count = 0;
  for (let row = 0; row < length; row++) {
    if (valid !== null && !isSet(valid, row)) continue;
    const place = places[codes[row]];
    if (place < 0) continue;
    into[count++] = place;
    bits[row >>> 3] |= 1 << (row & 7);
  }
  return count;
}

function entriesOf({ chunks, length }: ChunkedColumn, element: SchemaElement): Entries {
  const values = valuesFor(element);
  const places = new Int32Array(length);
  let [place, code] = [0, 0];
  for (const chunk of chunks) {
    values.addChunk(chunk);
    for (let row = 0; row < chunk.length; row++) {
      places[code++] = chunk.layout !== "null" && isValid(chunk, row) ? place++ : -1;
    }
  }
  const same = firstsOf(values);
  for (let code = 0; code < length; code++) if (places[code] >= 0) places[code] = same[places[code]];
  return { values, places };
}

/** Of each value the first one that is equal: an Arrow dictionary may hold one several times. */
function firstsOf(values: Values): Int32Array {
  const { count } = values;
  const [codes, firsts] = [new Int32Array(count), new Int32Array(count)];
  const slots = new Int32Array(2 << (32 - Math.clz32(count)));
  numberValues(values, { codes, firsts, slots, mask: slots.length - 1, most: count });
  for (let i = 0; i < count; i++) codes[i] = firsts[codes[i]];
  return codes;
}
