/** What the view Try and its worker say to each other. */
import type { EngineChoice, EngineFacts } from "../engines.js";

export interface ColumnFacts {
  readonly name: string;
  readonly type: string;
  readonly numeric: boolean;
}

/** A table that was read. */
export interface TableFacts {
  readonly rows: number;
  readonly columns: readonly ColumnFacts[];
  readonly ms: number;
  readonly notes: readonly string[];
  /** Between the fields of a text file, where its format says another character. */
  readonly delimiter?: string;
  /** The first rows. */
  readonly preview: Cells;
}

export type Side = "left" | "right";

/** What an operation works on; group and distinct take the left. @throws Error when a table is not there yet */
export function tablesFor<T>({ left, right }: Partial<Record<Side, T>>, kind: Spec["kind"]): Record<Side, T> {
  if (!left) throw new Error("There is no table yet. Open a file, or choose a sample.");
  if (kind === "join" && !right)
    throw new Error("A join needs a second table. Open a file, or choose a sample.");
  return { left, right: right ?? left };
}

/** What to read: a file of the reader's, or a URL of the playground's own. */
export interface LoadRequest {
  readonly side: Side;
  readonly name: string;
  readonly source: Blob | string;
}

export const JOIN_KINDS = ["inner", "left", "right", "full", "semi", "anti"] as const;
export type JoinKind = (typeof JOIN_KINDS)[number];

export const AGGREGATES = [
  "count",
  "countDistinct",
  "sum",
  "mean",
  "min",
  "max",
  "median",
  "std",
  "variance",
  "first",
  "last",
] as const;
export type AggregateFunction = (typeof AGGREGATES)[number];

export interface AggregateSpec {
  readonly name: string;
  readonly fn: AggregateFunction;
  /** None for a count of rows. */
  readonly column?: string;
}

export type Spec =
  | {
      readonly kind: "join";
      readonly how: JoinKind;
      readonly on: readonly (readonly [left: string, right: string])[];
      /** Columns of the result; undefined: all. */
      readonly select?: readonly string[];
    }
  | { readonly kind: "group"; readonly by: readonly string[]; readonly aggregates: readonly AggregateSpec[] }
  | {
      readonly kind: "distinct";
      /** Columns that are compared; none: all. */
      readonly on: readonly string[];
    };

/** A part of the work and how long it took. */
export interface Stage {
  readonly name: string;
  readonly ms: number;
}

export interface RunRequest {
  readonly spec: Spec;
  readonly engine: EngineChoice;
}

/** What came out. The rows stay with the worker, which `page` asks. */
export interface RunFacts {
  readonly rows: number;
  readonly inputRows: readonly number[];
  readonly columns: readonly ColumnFacts[];
  readonly engine: EngineFacts;
  readonly stages: readonly Stage[];
  readonly ms: number;
  /** Whether it was a join in which no row of one side matched one of the other. */
  readonly unmatched: boolean;
  /** How the engine did the second stage, where it says. */
  readonly plan: {
    readonly strategy: string;
    readonly reason: string;
    readonly clock: string;
    readonly phases: readonly Stage[];
  } | null;
}

/** A pair of key columns of a join that matched no rows: keys of both sides, and how they differ. */
export interface KeyPair {
  readonly left: KeySample;
  readonly right: KeySample;
  /** Sentences, the likeliest cause first. */
  readonly differences: readonly string[];
}

export interface KeySample {
  readonly column: string;
  readonly type: string;
  /** Different keys as text, as a program writes them: strings in quotes. */
  readonly keys: readonly string[];
}

export interface PageRequest {
  readonly from: number;
  readonly count: number;
}

/** Rows of cells; null is null. */
export type Cells = readonly (readonly (string | null)[])[];

export const EXPORTS = ["csv", "parquet", "arrow"] as const;
export type ExportFormat = (typeof EXPORTS)[number];

/** How one way to do the same work went. */
export interface Contest {
  readonly name: string;
  /** What it starts from and what it ends with. */
  readonly how: string;
  /** To bring the tables into its form, before the clock runs. */
  readonly loadMs: number | null;
  readonly rows: number | null;
  /** Whether its answer is warpmap's; a sentence where it is not. Null for warpmap. */
  readonly same: true | string | null;
  /** Median of the runs in turn; null where the answer differs or there was none. */
  readonly ms: number | null;
  readonly runs: number;
  /** Of the median run, where it tells. */
  readonly stages: readonly Stage[];
}

export interface Comparison {
  readonly contests: readonly Contest[];
  /** Of all tables together. */
  readonly inputRows: number;
  /** How answers were compared. */
  readonly compared: string;
}

/** What loading, running and comparing tell meanwhile: words, and the share that is done where it is known. */
export interface Progress {
  readonly text: string;
  readonly part?: number;
}
