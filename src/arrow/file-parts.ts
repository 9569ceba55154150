/**
 * Batches of a file that an operator may take apart: as parts, which any thread can decode, or as larger tables. Who
 * reads such batches one after the other sees no difference.
 */
import type { Table } from "@uwdata/flechette";
import type { ErrorClasses } from "../host/carried-error.js";

/** Some rows of a file as it has them: plain data. */
export interface FilePart<Data = unknown> {
  readonly data: Data;
  readonly rows: number;
  /** What of it goes to another thread without a copy. */
  readonly transfer: readonly ArrayBuffer[];
}

/** A part's rows: a table that is valid until the next part is decoded. */
export interface PartRows {
  readonly table: Table;
  /** How often each row is there, of tables that have the different rows in the order of their first places; else null. */
  readonly weights: Uint32Array | null;
}

/** A file that is read from its first row on, by `next` and `table` in turn. */
export interface FileParts {
  /** A table of all columns, without rows and dictionaries. */
  readonly like: Table;
  readonly rows: number;
  /** Whether every thread can decode its parts, or only the calling one. */
  readonly isForAll: boolean;
  /** Classes of errors that `decode` throws besides those of src/errors.ts. */
  readonly errors: ErrorClasses;
  /** The next rows, at least so many where there are; null at the end. */
  next(rows: number): Promise<FilePart | null>;
  /** @param merges whether each different row may come once, with its weight */
  decode(part: FilePart, merges: boolean): Promise<PartRows>;
  /** The next rows as one table, at most so many where a part has no more; null at the end. */
  table(rows: number, threads: number): Promise<Table | null>;
  /** Begins again with the first row. */
  restart(): void;
  close(): Promise<void>;
}

/** @param needed names of columns; null: all */
type Open = (needed: readonly string[] | null) => Promise<FileParts>;

const openers = new WeakMap<object, Open>();

/** Notes how batches can be taken apart. */
export function withParts<Batches extends object>(batches: Batches, open: Open): Batches {
  openers.set(batches, open);
  return batches;
}

/** How batches can be taken apart, in place of reading them; undefined where they can't. */
export const partsOf = (batches: object): Open | undefined => openers.get(batches);
