/** Rows of tables on the GPUs that work on them, as far as their columns go from one GPU to another: words without nulls. */
import type { DeviceColumn, DeviceKeys, RowOperations, Words } from "warpmap/engine";
import { type Gpus, settled } from "./gpus.js";
import { arrayAt, scratchOf } from "./inputs.js";
import { spansOf } from "./pieces.js";
import type { SeveralHost } from "./results.js";
import { exchangeRemark, ROUND } from "./rounds.js";
import { type KeyPart, MOST_BINS, SortedBatch } from "./sorted-batch.js";

/** Sorting takes longer with more owners. An estimate, not measured on several GPUs. */
const MOST_CHUNKS = 8;

export type RowCall = Omit<Parameters<NonNullable<RowOperations["joinColumns"]>>[2], "nullsEqual">;
/** Columns of words, without nulls: those that go to other GPUs. */
export type WordColumn = DeviceColumn & {
  readonly values: { readonly kind: "fixed"; readonly width: number; readonly data: Words };
};

/** The words of keys, as what decides who owns a row; null where they are not words, or may be null. */
export function keyPartsOf({ columns }: DeviceKeys): KeyPart[] | null {
  const parts: KeyPart[] = [];
  for (const column of columns) {
    const isWords = column.kind === "device words" || column.kind === "words";
    if (!isWords || column.validity !== null) return null;
    parts.push({ column: column.data, type: "u32", each: column.width });
  }
  return parts;
}

/** A column that goes to other GPUs; null for one that does not. */
export function sharedColumn(column: DeviceColumn): WordColumn | null {
  const { values, validity } = column;
  const isShared = values?.kind === "fixed" && values.width % 4 === 0 && validity === null;
  return isShared ? (column as WordColumn) : null;
}

/** Rows in the order of the owners of their keys, and of chunks of these. */
export function sortedRows(
  { gpus, seed }: SeveralHost,
  rows: number,
  keys: readonly KeyPart[],
  chunks: number,
  on = gpus,
): Promise<SortedBatch> {
  if (on !== gpus) on.after(gpus);
  return SortedBatch.of(on, spansOf(rows, 4, gpus.count, 0), { keys, seed }, chunks);
}

/** Chunks of the keys that so many rows are exchanged in: each has a bin for each GPU and one for all. */
export function chunksFor({ gpus, least }: SeveralHost, rows: number): number {
  const wanted = Math.ceil(rows / gpus.count / (least.round ?? ROUND));
  return Math.max(1, Math.min(wanted, MOST_CHUNKS, Math.floor(MOST_BINS / (gpus.count + 1))));
}

/** Rows on the GPUs that work on them: what was given as one array is one there. */
export class RowsThere {
  readonly #arrays = new Map<unknown, Promise<readonly Words[]>>();

  private constructor(
    /** Rows of each GPU. */
    readonly counts: readonly number[],
    /** Rows that are on another GPU now than before, or on all. */
    readonly moved: number,
    private readonly bring: (data: Words | Uint32Array, words: number) => Promise<readonly Words[]>,
    /** The numbers of each GPU's rows. */
    readonly numbers: () => Promise<readonly Words[]>,
    readonly release: (isDone?: boolean) => void,
  ) {}

  /** A chunk of rows at the owners of their keys, brought there by the streams of `on`. */
  static owned(batch: SortedBatch, chunk: number, on: Gpus): RowsThere {
    const exchange = batch.exchange(chunk, on);
    const { counts, moved } = exchange;
    const bring = (data: Words | Uint32Array, words: number) => exchange.deliver("u32", data, words);
    return new RowsThere(
      counts,
      moved,
      bring,
      () => exchange.numbers(),
      (isDone) => exchange.release(isDone),
    );
  }

  /** All on each GPU, or each GPU's where they are. */
  static placed(host: SeveralHost, rows: number, where: "everywhere" | "in place"): RowsThere {
    const { gpus } = host;
    const spans = gpus.hosts.map((_, gpu) => ({ gpu, first: 0, count: where === "everywhere" ? rows : 0 }));
    if (where === "in place") for (const span of spansOf(rows, 4, gpus.count, 0)) spans[span.gpu] = span;
    const scratch = scratchOf(gpus);
    const bring = (data: Words | Uint32Array, words: number) =>
      settled(
        spans.map(({ gpu, first, count }) =>
          arrayAt(gpus, scratch[gpu], "u32", data, { gpu, first: first * words, count: count * words }),
        ),
      );
    const counts = spans.map(({ count }) => count);
    const moved = where === "everywhere" ? rows : 0;
    const numbers = () => Promise.reject(new Error("only rows at their owners have numbers"));
    return new RowsThere(counts, moved, bring, numbers, (isDone) => gpus.release(scratch, isDone));
  }

  async #at(owner: number, data: Words | Uint32Array, words: number): Promise<Words> {
    let all = this.#arrays.get(data);
    if (!all) {
      all = this.bring(data, words);
      this.#arrays.set(data, all);
    }
    return (await all)[owner];
  }

  async keys(owner: number, { columns }: DeviceKeys): Promise<DeviceKeys> {
    const there: DeviceKeys["columns"][number][] = [];
    for (const column of columns) {
      if (!("width" in column)) continue;
      const data = await this.#at(owner, column.data, column.width);
      const below = "below" in column ? { below: column.below as number } : {};
      there.push({ kind: "device words", width: column.width, data, validity: null, ...below });
    }
    return { rows: this.counts[owner], columns: there };
  }

  async columns(owner: number, columns: readonly WordColumn[]): Promise<DeviceColumn[]> {
    const there: DeviceColumn[] = [];
    for (const { values } of columns) {
      const data = await this.#at(owner, values.data, values.width / 4);
      there.push({ values: { ...values, data }, validity: null });
    }
    return there;
  }
}

/** Rows, and what `deliver` brings of them; given back when that fails. */
export async function roundOf<T>(
  there: RowsThere,
  deliver: () => Promise<T>,
): Promise<{ there: RowsThere; given: T; release(isDone?: boolean): void }> {
  try {
    return { there, given: await deliver(), release: there.release };
  } catch (error) {
    there.release();
    throw error;
  }
}

export async function inOrder<T>(
  parts: readonly unknown[],
  work: (owner: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  for (const owner of parts.keys()) results.push(await work(owner));
  return results;
}

/** The GPU that a call's log is told of: the first that has rows. @param counts rows of each */
export function loggedOf(counts: readonly number[]): number {
  return counts.findIndex((count) => count > 0);
}

/** @param gpus and rounds that the rows were exchanged by */
export function noteExchange(
  { log }: RowCall,
  moved: number,
  total: number,
  gpus: Gpus,
  rounds: number,
): void {
  log?.remark(exchangeRemark(moved, total, "rows", gpus.count, rounds));
}
