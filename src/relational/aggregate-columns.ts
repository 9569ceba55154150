/**
 * The columns of a group-by's answer: one aggregate of one column, for every group. The work is done on the calling thread,
 * over the group numbers of the rows; `countDistinct` asks the engine.
 */
import { field } from "@uwdata/flechette";
import type { RowKeys } from "../engine/rows.js";
import { countChunk, extremeChunk, meanChunk, sumChunk } from "./aggregate-chunks.js";
import type { Aggregate } from "./aggregates.js";
import type { Chunk } from "./chunk.js";
import { SourceColumn } from "./columns.js";
import { gather } from "./gather.js";
import type { GroupedRows } from "./group-rows.js";
import { countRows, GroupedValues } from "./grouped-values.js";

/** Numbers rows by group on the engine. */
export type Grouper = (keys: RowKeys) => Promise<GroupedRows>;

/** Computes aggregates over the same groups. What several of them need of a column is made once. */
export class Aggregator {
  readonly #grouped: GroupedRows;
  readonly #group: Grouper;
  readonly #values = new Map<SourceColumn, GroupedValues>();
  #counts: Uint32Array | undefined;

  constructor(grouped: GroupedRows, group: Grouper) {
    this.#grouped = grouped;
    this.#group = group;
  }

  /**
   * The answer's column.
   * @param column the one that the aggregate names; none for `count()`
   * @throws LimitError when the sum of decimals has more digits than a decimal
   */
  async column(aggregate: Aggregate, name: string, column: SourceColumn | null): Promise<SourceColumn> {
    const chunk =
      column === null
        ? countChunk(this.#rowCounts())
        : await this.#chunk(aggregate, column, this.#valuesOf(column));
    const { type } = chunk;
    return new SourceColumn(field(name, type), { type, length: chunk.length, chunks: [chunk], source: null });
  }

  async #chunk({ name }: Aggregate, column: SourceColumn, values: GroupedValues): Promise<Chunk> {
    switch (name) {
      case "count":
        return countChunk(values.counts);
      case "countDistinct":
        return countChunk(await this.#distinctCounts(values));
      case "sum":
        return sumChunk(values);
      case "mean":
        return meanChunk(values);
      case "min":
        return extremeChunk(values, -1);
      case "max":
        return extremeChunk(values, 1);
      case "first":
        return gather(column.contiguous(), this.#grouped.firsts);
      case "last":
        return gather(column.contiguous(), lastRows(this.#grouped));
    }
  }

  #rowCounts(): Uint32Array {
    this.#counts ??= countRows(this.#grouped.groupOf, this.#grouped.firsts.length);
    return this.#counts;
  }

  #valuesOf(column: SourceColumn): GroupedValues {
    let values = this.#values.get(column);
    if (!values) {
      values = new GroupedValues(column, this.#grouped, () => this.#rowCounts());
      this.#values.set(column, values);
    }
    return values;
  }

  /** Groups by group and value: every such group whose value is not null is one more value of its group. */
  async #distinctCounts({ key, groupOf, groups }: GroupedValues): Promise<Uint32Array> {
    const { firsts } = await this.#group({
      rows: groupOf.length,
      columns: [{ kind: "words", width: 1, data: groupOf, validity: null }, key],
    });
    const counts = new Uint32Array(groups + 1);
    for (const row of firsts) counts[groupOf[row]]++;
    return counts.subarray(0, groups);
  }
}

/** The last row of each group. */
export function lastRows({ groupOf, firsts }: GroupedRows): Uint32Array {
  const rows = new Uint32Array(firsts.length);
  for (let row = 0; row < groupOf.length; row++) rows[groupOf[row]] = row;
  return rows;
}
