/**
 * The levels of a leaf in lists and structs: of each entry (a value, or the place of a list or struct that is null or
 * empty) how much of its path is there, and in which list it goes on. After "Dremel: Interactive Analysis of Web-Scale
 * Datasets" (Melnik et al. 2010), section 4. A page's levels are decoded to a byte each.
 */
import type { PageLevels } from "./parquet-pages.js";
import { decodeLevels } from "./parquet-runs.js";

/** What the schema says of a leaf's levels. */
export interface LeafLevels {
  /** The highest level of definition: the value is there. */
  readonly definition: number;
  /** The highest level of repetition: lists around the leaf. */
  readonly repetition: number;
  /** The level of definition from which on an entry is an element of the innermost list, or a row. */
  readonly element: number;
}

export class Levels {
  /** Of each entry. Null where nothing on the path can be null or empty. */
  readonly definitions: Uint8Array | null;
  /** Of each entry. Null where there is no list on the path. */
  readonly repetitions: Uint8Array | null;
  /** Entries so far. */
  count = 0;
  #scratch = new Int32Array(0);

  /** @param entries of all pages */
  constructor(
    readonly of: LeafLevels,
    entries: number,
  ) {
    this.definitions = of.definition > 0 ? new Uint8Array(entries) : null;
    this.repetitions = of.repetition > 0 ? new Uint8Array(entries) : null;
  }

  /** Adds the levels of a page. @throws Error where they are damaged */
  add({ count, definition, repetition }: PageLevels): void {
    this.#decode(repetition, this.of.repetition, count, this.repetitions);
    this.#decode(definition, this.of.definition, count, this.definitions);
    this.count += count;
  }

  /** Runs that a page leaves out stand for the highest level: of definition alone. */
  #decode(runs: Uint8Array | null, highest: number, count: number, into: Uint8Array | null): void {
    if (into === null) return;
    if (runs === null) {
      into.fill(highest, this.count, this.count + count);
      return;
    }
    if (this.#scratch.length < count) this.#scratch = new Int32Array(count);
    decodeLevels(runs, highest, count, this.#scratch);
    into.set(this.#scratch.subarray(0, count), this.count);
  }

  /** Checks that the entries from `from` on are of `rows` rows. @throws Error where they are not */
  checkRows(from: number, rows: number): void {
    let found = this.count - from;
    const { repetitions } = this;
    if (repetitions !== null) {
      found = 0;
      for (let i = from; i < this.count; i++) if (repetitions[i] === 0) found++;
      if (from < this.count && repetitions[from] !== 0) throw new Error("a row group begins inside a list");
    }
    if (found !== rows) throw new Error("a row group has other rows than its columns");
  }
}
