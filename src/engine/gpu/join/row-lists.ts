/**
 * Lists of row numbers that stay on the GPU: rows that have a partner or have none, rows of a side that are in a list
 * or not, and lists one behind the other.
 */
import { NO_ROW } from "../../device-columns.js";
import { filling } from "../fill.js";
import type { ResultColumn, ResultColumns } from "../groups/result-columns.js";
import type { RowParams } from "../groups/row-kernels.js";
import { checkBinding, type RecordChunk, type RowRun } from "../groups/row-run.js";
import type { Bindings, Recorder } from "../runtime.js";
import {
  COUNT_ITEMS,
  countPartnersKernel,
  countUpKernel,
  markRowsKernel,
  SELECT_ITEMS,
  selectRowsKernel,
} from "./join-kernels.js";

/** Constants of select-rows.wgsl. */
export interface SelectConstants {
  readonly MATCHED: boolean;
  readonly WITH_PARTNERS: boolean;
  readonly COUNTED: boolean;
}

/** Records a dispatch of select-rows.wgsl. */
export type SelectStep = (
  recorder: Recorder,
  out: Bindings<"outRows" | "outPartners">,
  ...params: RowParams[]
) => void;

export interface Partners {
  readonly rows: number;
  selecting(constants: SelectConstants): Promise<SelectStep>;
}

/** Partners that are in a column. */
export function partnersIn(run: RowRun, { array, range }: ResultColumn): Partners {
  return {
    rows: array.length,
    async selecting(constants) {
      const select = await run.step(selectRowsKernel, { ...constants }, SELECT_ITEMS);
      const bindings = { control: run.control, partners: range };
      return (recorder, out, ...params) => select(recorder, { ...bindings, ...out }, ...params);
    },
  };
}

/** Rows from which those that have a partner are counted before any is listed: where all have one, none is. */
const LEAST_COUNTED = 2 ** 20;

/** Makes lists of one join, which are its result's columns. */
export class RowLists {
  constructor(
    private readonly run: RowRun,
    private readonly columns: ResultColumns,
  ) {}

  /** Rows that have a partner, or have none. Waits for what was submitted. */
  async select(partners: Partners, matched: boolean): Promise<ResultColumn> {
    const { run, columns } = this;
    const { rows } = partners;
    checkBinding(run.host.gpu, rows * 4);
    const out = await columns.add(rows);
    const constants = { MATCHED: matched, WITH_PARTNERS: false, COUNTED: false };
    const select = await partners.selecting(constants);
    const { totalLow: before } = run.counters;
    const bindings = { outRows: out.range };
    await this.each("select rows", rows, (recorder, chunk) =>
      select(recorder, bindings, chunk, { total: before }),
    );
    return this.shorten(out, (run.counters.totalLow - before) >>> 0);
  }

  /** Rows that have a partner, and their partners; null where all rows have one. Waits for what was submitted. */
  async pairs(partners: ResultColumn): Promise<{ probe: ResultColumn; build: ResultColumn } | null> {
    const { run, columns } = this;
    const rows = partners.array.length;
    const isCounted = rows >= (run.host.tuning.leastCounted ?? LEAST_COUNTED);
    const { totalLow: before, rowsMatched } = run.counters;
    if (isCounted) await this.#count(partners);
    const [probe, build] = [await columns.add(rows), await columns.add(rows)];
    const constants = { MATCHED: true, WITH_PARTNERS: true, COUNTED: isCounted };
    const select = await partnersIn(run, partners).selecting(constants);
    const bindings = { outRows: probe.range, outPartners: build.range };
    const all = { total: before, whole: rowsMatched + rows };
    await this.each("select rows", rows, (recorder, chunk) => select(recorder, bindings, all, chunk));
    const listed = (run.counters.totalLow - before) >>> 0;
    const isWhole = isCounted ? (run.counters.rowsMatched - rowsMatched) >>> 0 === rows : listed === rows;
    if (isWhole) {
      this.drop(probe, build);
      return null;
    }
    return { probe: await this.shorten(probe, listed), build: await this.shorten(build, listed) };
  }

  async #count(partners: ResultColumn): Promise<void> {
    const { run } = this;
    const bindings = { control: run.control, partners: partners.range };
    const options = { items: COUNT_ITEMS, waits: false };
    await run.over(countPartnersKernel, {}, partners.array.length, bindings, {}, options);
  }

  /** The first elements of a column, in memory of about their size. */
  async shorten(column: ResultColumn, length: number): Promise<ResultColumn> {
    if (column.array.length === length) return column;
    const short = await this.columns.add(length);
    await this.copy(short, [[column, length]]);
    this.columns.drop(column);
    return short;
  }

  /** Rows of a side that are in a column of its row numbers, or those that are not. */
  async rowsOf(column: ResultColumn, rows: number, matched: boolean): Promise<ResultColumn> {
    const marks = await this.noRows(rows);
    const bindings = { partners: column.range, marks: marks.range };
    await this.run.over(markRowsKernel, {}, column.array.length, bindings);
    const listed = await this.select(partnersIn(this.run, marks), matched);
    this.columns.drop(marks);
    return listed;
  }

  /** The numbers of all rows. @param waits for what was submitted */
  async allRows(rows: number, waits: boolean): Promise<ResultColumn> {
    const all = await this.columns.add(rows);
    await this.run.over(countUpKernel, {}, rows, { numbers: all.range }, {}, { waits });
    return all;
  }

  /** So many times NO_ROW. */
  async noRows(length: number): Promise<ResultColumn> {
    const { gpu } = this.run.host;
    const column = await this.columns.add(length);
    const { range } = column;
    const fill = await filling(gpu, NO_ROW);
    const size = Math.ceil((range.size ?? range.buffer.size) / 16) * 16;
    await this.run.submit("fill", (recorder) => fill(recorder, { ...range, size }));
    return column;
  }

  /** Puts columns one after the other; null leaves what is there. */
  async copy(
    to: ResultColumn,
    pieces: readonly (readonly [ResultColumn | null, length: number])[],
  ): Promise<void> {
    await this.run.submit("copy", (recorder) => {
      let at = 0;
      for (const [column, length] of pieces) {
        if (column && length > 0) recorder.copy(column.range.buffer, 0, to.range.buffer, at * 4, length * 4);
        at += length;
      }
    });
  }

  /** Gives columns back, each once. */
  drop(...columns: (ResultColumn | null | undefined)[]): void {
    for (const column of new Set(columns)) if (column) this.columns.drop(column);
  }

  /** A step that the call's progress does not count. */
  each(operation: string, rows: number, record: RecordChunk): Promise<void> {
    return this.run.eachChunk(operation, rows, record, { isPass: false });
  }
}
