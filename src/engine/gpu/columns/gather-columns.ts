/**
 * Gathering columns on the GPU: value `rows[i]` as value i, of every layout that columns on a device have. Rows that
 * are not there (NO_ROW) gather as nulls. The results are device arrays of the engine's pool; when the call fails they
 * are given back.
 */
import { LimitError } from "../../../errors.js";
import type { DeviceColumn, DeviceValues, Words } from "../../device-columns.js";
import type { JoinCall } from "../../row-operations.js";
import { type ResultColumn, ResultColumns } from "../groups/result-columns.js";
import { checkBinding, type RowRun, runRows } from "../groups/row-run.js";
import { scanning } from "../groups/scan.js";
import { totalOf } from "../groups/totals.js";
import type { GpuHost } from "../host.js";
import type { Range } from "../runtime.js";
import {
  gatherBytesKernel,
  gatherSmallKernel,
  gatherWordsKernel,
  stringLengthsKernel,
} from "./gather-kernels.js";

/** Operations over columns pack no records. */
export const NO_RECORDS = { rowWords: 0, plainWords: 0, nullWords: 0, columnWords: [] };

export async function gatherColumns(
  host: GpuHost,
  columns: readonly DeviceColumn[],
  rows: Words,
  mayLack: boolean,
  { signal }: Pick<JoinCall, "signal">,
): Promise<DeviceColumn[]> {
  const results = new ResultColumns(host);
  const call = { signal, nullsEqual: false };
  const work = { call, layout: NO_RECORDS, rows: rows.length, passes: 1 };
  try {
    return await runRows(host, work, async (run) => {
      const from = { array: rows, range: await run.bind(rows) };
      const gathered: DeviceColumn[] = [];
      for (const column of columns) gathered.push(await gatherIn(run, results, from, column, mayLack));
      return gathered;
    });
  } catch (error) {
    results.destroy();
    throw error;
  }
}

/** The same of one column, in a call that others have made. */
export function gatherIn(
  run: RowRun,
  results: ResultColumns,
  { array, range }: { readonly array: Words; readonly range: Range },
  column: DeviceColumn,
  mayLack: boolean,
): Promise<DeviceColumn> {
  return new Gathering(run, results, range, array.length).column(column, mayLack);
}

type Strings = Extract<DeviceValues, { kind: "strings" }>;

class Gathering {
  constructor(
    private readonly run: RowRun,
    private readonly results: ResultColumns,
    private readonly rows: Range,
    private readonly length: number,
  ) {}

  async column({ values, validity }: DeviceColumn, mayLack: boolean): Promise<DeviceColumn> {
    const hasNulls = validity !== null || mayLack;
    return {
      values: values && (await this.#values(values)),
      validity: hasNulls ? await this.#small(32, validity) : null,
    };
  }

  #values(values: DeviceValues): Promise<DeviceValues> {
    if (values.kind === "strings") return this.#strings(values);
    return values.kind === "bits" ? this.#bits(values.data) : this.#fixed(values.width, values.data);
  }

  async #bits(data: Words): Promise<DeviceValues> {
    return { kind: "bits", data: await this.#small(32, data) };
  }

  async #fixed(width: number, data: Words): Promise<DeviceValues> {
    if (width < 4) return { kind: "fixed", width, data: await this.#small(4 / width, data) };
    const words = this.length * (width / 4);
    const gathered = await this.#add(words);
    const bindings = { rows: this.rows, data: await this.run.bind(data), gathered: gathered.range };
    const params = { columnWidth: width / 4 };
    await this.run.over(gatherWordsKernel, {}, words, bindings, params, { waits: false });
    return { kind: "fixed", width, data: gathered.array };
  }

  /** Values of less than a word; without data every row that is there has the bit 1. */
  async #small(valuesPerWord: number, data: Words | null): Promise<Words> {
    const words = Math.ceil(this.length / valuesPerWord);
    const gathered = await this.#add(words);
    const constants = { VALUES_PER_WORD: valuesPerWord, HAS_DATA: data !== null };
    const source = data === null ? undefined : await this.run.bind(data);
    const bindings = { rows: this.rows, data: source, gathered: gathered.range };
    const params = { total: this.length };
    await this.run.over(gatherSmallKernel, constants, words, bindings, params, { waits: false });
    return gathered.array;
  }

  async #strings({ offsets, bytes, most }: Strings): Promise<DeviceValues> {
    const { run, rows, length } = this;
    const starts = await this.#add(length + 1);
    const source = await run.bind(offsets);
    const total = await this.#lengths(source, starts);
    if (total > most) {
      throw new LimitError("bytes", total, most, "Leave the column out, or join fewer rows at a time.");
    }
    const scan = await scanning(run, starts.range, length + 1);
    await run.submit("scan", (recorder) => {
      recorder.clear(starts.range.buffer, length * 4, 4);
      scan(recorder);
    });
    const words = Math.ceil(total / 4);
    const gathered = await this.#add(words);
    const bindings = {
      rows,
      offsets: source,
      bytes: await run.bind(bytes),
      outStarts: starts.range,
      gathered: gathered.range,
    };
    await run.over(gatherBytesKernel, {}, words, bindings, { total: length }, { waits: false });
    return { kind: "strings", offsets: starts.array, bytes: gathered.array, most };
  }

  /** Writes the length of each string, and answers the bytes of all. */
  async #lengths(offsets: Range, lengths: ResultColumn): Promise<number> {
    const { run, rows } = this;
    const before = totalOf(run.counters);
    const bindings = { rows, offsets, lengths: lengths.range, control: run.control };
    await run.over(stringLengthsKernel, {}, this.length, bindings);
    return totalOf(run.counters) - before;
  }

  #add(words: number): Promise<ResultColumn> {
    checkBinding(this.run.host.gpu, words * 4);
    return this.results.add(words);
  }
}
