/** What of a table's columns is counted and added up while its rows are grouped. */
import type { SourceColumn } from "../../arrow/columns.js";
import type { ColumnSums, SummedColumn } from "../../engine/group-sums.js";
import type { NamedAggregate } from "../aggregates.js";
import { NEEDS } from "./chunks.js";
import { Values } from "./grouped-values.js";
import { fitsNumbers } from "./numbers.js";
import { comparedColumn, type StateName, summedColumn } from "./states.js";
import { Sums } from "./sums.js";

/** States that need counts. */
const COUNTED: readonly StateName[] = ["counts", "moments", "least", "greatest"];
const EXTREMES = [
  ["least", -1],
  ["greatest", 1],
] as const;
/** States that are made without the groups' numbers of the rows. */
const SUMMED: readonly StateName[] = ["counts", "sums"];

/** The states that the aggregates of a column are made of. */
function neededStates(column: string, aggregates: readonly NamedAggregate[]): Set<StateName> {
  const of = aggregates.filter(({ aggregate }) => aggregate.column === column);
  return new Set(of.flatMap(({ aggregate }) => NEEDS[aggregate.name]));
}

/** A column's place in a plan. */
export interface PlannedColumn {
  readonly values: Values;
  readonly kinds: ReadonlySet<StateName>;
  /** Which of `summed` its counts and its sums are; undefined where there are none. */
  readonly counts: number | undefined;
  readonly sums: number | undefined;
  /** Extremes that are found with them. */
  readonly extremes: ReadonlyMap<StateName, number>;
}

export class SumPlan {
  /** What is added up: the rows first. */
  readonly summed: SummedColumn[] = [{ kind: "rows", validity: null }];
  readonly columns = new Map<string, PlannedColumn>();

  /** @param compares whether who adds up finds extremes as well */
  constructor(
    columns: ReadonlyMap<string, SourceColumn>,
    aggregates: readonly NamedAggregate[],
    compares: boolean,
  ) {
    for (const [name, column] of columns) {
      const kinds = neededStates(name, aggregates);
      const values = new Values(column);
      const isCounted = COUNTED.some((kind) => kinds.has(kind));
      const counts = isCounted ? this.#countsOf(values) : undefined;
      const isSummed = kinds.has("sums") || (kinds.has("moments") && fitsNumbers(values));
      const sums = isSummed ? this.summed.push(summedColumn(values)) - 1 : undefined;
      const extremes = compares ? this.#extremesOf(values, kinds) : new Map();
      this.columns.set(name, { values, kinds, counts, sums, extremes });
    }
  }

  #extremesOf(values: Values, kinds: ReadonlySet<StateName>): Map<StateName, number> {
    const places = new Map<StateName, number>();
    for (const [kind, sign] of EXTREMES) {
      const compared = kinds.has(kind) ? comparedColumn(values, sign) : null;
      if (compared !== null) places.set(kind, this.summed.push(compared) - 1);
    }
    return places;
  }

  #countsOf({ validity }: Values): number {
    return validity === null ? 0 : this.summed.push({ kind: "rows", validity }) - 1;
  }

  /** Whether states need the groups' numbers of the rows. */
  get needsNumbers(): boolean {
    return Array.from(this.columns.values()).some(({ kinds, extremes }) =>
      Array.from(kinds).some((kind) => !SUMMED.includes(kind) && !extremes.has(kind)),
    );
  }
}

/** Counts and sums that were made by a plan. */
export class MadeSums {
  constructor(
    readonly made: readonly ColumnSums[],
    readonly groups: number,
  ) {}

  counts(place: number): Float64Array {
    return this.made[place].sums[0].parts[0].subarray(0, this.groups);
  }

  extremes(place: number): Float64Array {
    return this.made[place].rows as Float64Array;
  }

  sums(place: number): Sums {
    return Sums.of(this.made[place], this.groups);
  }
}
