/**
 * The different rows of row groups whose columns are codes of small dictionaries: each row once, where it is first, and
 * how often it is there. The codes of a row make one number, by which rows are counted in an array: no value is looked
 * at. Not for other pages, nor where so many rows are possible that counting does not pay.
 */
import { bitmapBytes, setBit } from "../../bitmaps.js";
import { type ChunkBytes, type ColumnPlan, LeafDecoder, type ReadColumn } from "./parquet-column-reader.js";
import type { Collector, ColumnRoom } from "./parquet-columns.js";
import { dictionaryEntries, type PageLevels, type PageTaker, type PageValues } from "./parquet-pages.js";
import { readLevels } from "./parquet-runs.js";
import { MOST_CODES, MOST_NUMBERS, type RunKernels, runKernels } from "./run-kernels.js";

/** A column, and its chunks by row group. */
interface CodedColumn {
  readonly plan: ColumnPlan;
  readonly groups: readonly (readonly ChunkBytes[])[];
}

export interface DifferentRows {
  readonly columns: readonly ReadColumn[];
  /** How often each row is there. */
  readonly weights: Uint32Array;
}

/** Rows for each that is possible, at least: with fewer, too many are different. */
const ROWS_A_PLACE = 4;

/**
 * @param rooms of the columns, as decodePart has them
 * @returns null where it is not for them, or a page is damaged: who reads all rows tells how
 */
export function differentRows(
  columns: readonly CodedColumn[],
  rooms: readonly ColumnRoom[],
): DifferentRows | null {
  const decoders: LeafDecoder[] = [];
  const kernels = runKernels();
  if (kernels === null) return null;
  for (const { plan } of columns) {
    if (plan.node.kind !== "leaf") return null;
    decoders.push(new LeafDecoder(plan, plan.node));
  }
  if (decoders.some(({ keepsDecoded }) => keepsDecoded)) return null;
  try {
    const made: CodedRows[] = [];
    for (const g of columns[0]?.groups.keys() ?? []) {
      const chunks = columns.map(({ groups }) => groups[g][0]);
      const group = differentOf(chunks, decoders, kernels);
      if (group === null) return null;
      made.push(group);
    }
    return made.length === 0 ? null : collected(made, decoders, rooms);
  } catch {
    return null;
  }
}

/** The different rows of a row group. */
interface CodedRows {
  readonly numbers: Uint32Array;
  readonly weights: Uint32Array;
  readonly columns: readonly CodeTaker[];
}

function differentOf(
  chunks: readonly ChunkBytes[],
  decoders: readonly LeafDecoder[],
  kernels: RunKernels,
): CodedRows | null {
  const { rows } = chunks[0];
  const columns = chunks.map((chunk, c) => new CodeTaker(chunk, decoders[c], kernels));
  const places = columns.reduce((product, column) => product * column.places, 1);
  if (!(rows <= MOST_CODES && places <= MOST_NUMBERS && places * ROWS_A_PLACE <= rows)) return null;
  for (const [c, column] of columns.entries()) column.addTo(c === 0);
  return { ...kernels.tally(rows, places), columns };
}

/** Puts row groups together, as if their different rows were their pages. */
function collected(
  groups: readonly CodedRows[],
  decoders: readonly LeafDecoder[],
  rooms: readonly ColumnRoom[],
): DifferentRows {
  const weights = new Uint32Array(groups.reduce((sum, { numbers }) => sum + numbers.length, 0));
  let at = 0;
  for (const group of groups) {
    weights.set(group.weights, at);
    at += group.weights.length;
  }
  const read: ReadColumn[] = [];
  for (let c = decoders.length - 1; c >= 0; c--) {
    const collector = decoders[c].collector(weights.length, rooms[c]);
    for (const { columns, numbers } of groups) columns[c].takeFrom(numbers, collector);
    read.unshift(decoders[c].finish(collector));
  }
  return { weights, columns: read };
}

/** The codes of a column chunk. */
class CodeTaker implements PageTaker {
  readonly takesPlain: boolean;
  readonly parsers: Collector["parsers"];
  /** Values of the dictionary. */
  readonly #entries: number;
  /** What a row may be: an entry, or null. */
  readonly places: number;
  #dictionary: PageValues | undefined;
  /** What numbers are multiplied by: 0 in place of what was there before. */
  #factor = 0;
  /** Rows of pages that are done, and of the page that has begun. */
  #row = 0;
  #count = 0;
  /** Where nulls of the page begin and end. */
  #nulls: number[] = [];

  constructor(
    readonly chunk: ChunkBytes,
    readonly decoder: LeafDecoder,
    readonly kernels: RunKernels,
  ) {
    const { takesPlain, parsers } = decoder.collector(0, undefined);
    this.takesPlain = takesPlain;
    this.parsers = parsers;
    this.#entries = dictionaryEntries(chunk.bytes);
    this.places = this.#entries + (decoder.leaf.definition > 0 ? 1 : 0);
  }

  /** Makes each row's number one of this column, too. @throws Error for other pages, and for damaged ones */
  addTo(isFirst: boolean): void {
    this.#factor = isFirst ? 0 : this.places;
    this.decoder.read(this.chunk, this);
    if (this.#row !== this.chunk.rows) throw new Error("a column has other rows than its row group");
  }

  dictionary(values: PageValues): void {
    if (this.#dictionary !== undefined) throw new Error("a column has two dictionaries");
    this.#dictionary = values;
  }

  begin({ count, definition }: PageLevels): number {
    this.#count = count;
    this.#nulls = [];
    if (definition === null) return count;
    return readLevels(definition, count, (from, to) => this.#nulls.push(from, to));
  }

  put(values: PageValues): void {
    if (values.form !== "codes") throw new Error("a page has no codes");
    const { codes } = this.kernels;
    if (values.codes !== codes) codes.set(values.codes.subarray(0, values.count));
    this.#spread(codes, values.count);
    this.kernels.combine(this.#row, this.#count, this.#factor);
    this.#row += this.#count;
  }

  /** Moves codes to the rows that are not null, from the last one on. */
  #spread(codes: Int32Array, present: number): void {
    const nulls = this.#nulls;
    let [from, end] = [present, this.#count];
    for (let n = nulls.length - 2; n >= 0; n -= 2) {
      const behind = end - nulls[n + 1];
      from -= behind;
      codes.copyWithin(nulls[n + 1], from, from + behind);
      end = nulls[n];
      codes.fill(this.#entries, end, nulls[n + 1]);
    }
  }

  /** Hands rows on, and takes this column out of their numbers: the last column that was added. */
  takeFrom(numbers: Uint32Array, collector: Collector): void {
    const rows = numbers.length;
    const codes = new Int32Array(rows);
    const valid = this.places > this.#entries ? new Uint8Array(bitmapBytes(rows)) : null;
    const count = takeCodes(numbers, this.places, this.#entries, codes, valid);
    collector.dictionary(this.#dictionary as PageValues);
    collector.begin({ count: rows, definition: valid && bitLevels(valid), repetition: null });
    collector.put({ form: "codes", codes, count });
  }
}

/**
 * Takes a column out of rows' numbers: below `entries` a code, else null. Answers with how many are codes. A function
 * of its own, whose optimised code fits whichever collector its codes go to.
 */
function takeCodes(
  numbers: Uint32Array,
  places: number,
  entries: number,
  codes: Int32Array,
  valid: Uint8Array | null,
): number {
  let count = 0;
  for (let row = 0; row < numbers.length; row++) {
    const rest = Math.floor(numbers[row] / places);
    const code = numbers[row] - rest * places;
    numbers[row] = rest;
    if (code === entries) continue;
    codes[count++] = code;
    if (valid !== null) setBit(valid, row);
  }
  return count;
}

/** Levels of one bit each, as one run. */
function bitLevels(bits: Uint8Array): Uint8Array {
  const header: number[] = [];
  let rest = 2 * bits.length + 1;
  for (; rest > 0x7f; rest >>>= 7) header.push((rest & 0x7f) | 0x80);
  const levels = new Uint8Array(header.length + 1 + bits.length);
  levels.set([...header, rest]);
  levels.set(bits, header.length + 1);
  return levels;
}
