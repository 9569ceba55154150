/**
 * Rows in the order of parts of their mixed keys, so that what follows goes through memory in order: they are split
 * twice, each time with a word beside their keys and numbers, a value or the upper word of the key. A survey
 * (list-rows.ts) has counted the rows of finer parts.
 */

import type { Words } from "../../device-columns.js";
import type { NumberColumn } from "../../reductions.js";
import type { Chunk } from "../batch/columns.js";
import { ROW_TILE, type RowParams } from "../groups/row-kernels.js";
import type { RowRun } from "../groups/row-run.js";
import { scanning } from "../groups/scan.js";
import type { Range, Recorder } from "../runtime.js";
import { dataOf, paramsOf } from "./column-params.js";
import { splitPartsKernel, splitRowsKernel } from "./part-kernels.js";
import { tileOf } from "./row-tiles.js";

/** The logarithm of the most parts. */
const PART_BITS = { software: 8, hardware: 14 } as const;
const SPARE_BYTES = 512;
export const ITEM_BYTES = 8;
/** A bin of the survey with so many times as many rows as others makes keys uneven; a few rows do not. */
const UNEVEN = 32;
const FEW_ROWS = 64;

export const kindOf = ({ host }: Pick<RowRun, "host">) =>
  host.gpu.traits.isEmulated ? "software" : "hardware";

/** The logarithm of the most parts: as many as a workgroup has memory to count, half a word each. */
export function mostPartBits(run: Pick<RowRun, "host">): number {
  const { maxWorkgroupBytes: most } = run.host.gpu.traits;
  return Math.min(PART_BITS[kindOf(run)], Math.floor(Math.log2((most - SPARE_BYTES) / 2)));
}

/** Rows of the finest part that are not too many, for a workgroup to have them alone. */
export const mostOfPart = (rows: number, fine: number) => UNEVEN * Math.ceil(rows / 2 ** fine) + FEW_ROWS;

export interface UnsplitRows {
  readonly rows: number;
  readonly keys: Range;
  /** Keys have two words, the upper of which goes along. */
  readonly isWide: boolean;
  /** What goes along with keys of one word: a column of a word at most. */
  readonly value: NumberColumn | null;
  /** One word a row goes along in place of the row's number; with keys of one word, or two. */
  readonly carried?: { readonly data: Words; readonly words: number } | null;
  /** The survey's counts, of 2^fine parts: then where these begin. */
  readonly counts: Range;
  readonly fine: number;
}

/** Rows by part, as part-items.wgsl says. */
export interface SplitRows {
  readonly bits: number;
  readonly items: Range;
  readonly words: Range | undefined;
  readonly partStarts: Range;
  /** What kernels over parts are told. */
  readonly params: { readonly partBits: number; readonly splitBits: number; readonly fineBits: number };
}

/** Rows in the order of some parts. */
export interface PartMemory {
  readonly cursors: Range;
  readonly items: Range;
  readonly words: Range | undefined;
}

async function memoryOf(run: RowRun, source: UnsplitRows, bits: number): Promise<PartMemory> {
  return {
    cursors: await run.range(4 * 2 ** bits),
    items: await run.range(source.rows * ITEM_BYTES),
    words: hasWords(source) ? await run.range(source.rows * 4) : undefined,
  };
}

/**
 * Prepares to split rows into 2^bits parts: allocates what that takes, and has kernels compiled.
 * @returns what splits them. Nobody waits for that
 */
export async function splitting(
  run: RowRun,
  source: UnsplitRows,
  bits: number,
): Promise<() => Promise<SplitRows>> {
  const { counts: partStarts, rows } = source;
  const { coarse, params, begin, split } = await splittingCoarse(run, source, bits);
  const parts = await memoryOf(run, source, bits);
  const step = await partsStep(run, hasWords(source));
  const bindings = { splitItems: coarse.items, splitWords: coarse.words, partStarts, ...parts };
  const again = (recorder: Recorder, chunk: Chunk) =>
    step(recorder, bindings, params, rows / 2 ** params.splitBits, partsOf(chunk, rows, params.splitBits));
  return async () => {
    run.queue((recorder) => recorder.clear(parts.cursors.buffer, 0, parts.cursors.size));
    begin();
    await split();
    await run.eachChunk("split parts", rows, again, { waits: false, isPass: false });
    return { bits, items: parts.items, words: parts.words, partStarts, params };
  };
}

export interface CoarseSplitting {
  /** Rows by the upper half of the parts' bits. */
  readonly coarse: PartMemory;
  readonly params: SplitRows["params"];
  /** Queues what makes starts of the counts. */
  begin(): void;
  split(): Promise<void>;
}

/** The first half of that. */
export async function splittingCoarse(
  run: RowRun,
  source: UnsplitRows,
  bits: number,
): Promise<CoarseSplitting> {
  const { counts, fine } = source;
  const splitBits = Math.ceil(bits / 2);
  const coarse = await memoryOf(run, source, splitBits);
  const scan = await scanning(run, counts, 2 ** fine + 1);
  const params = { partBits: bits, splitBits, fineBits: fine - bits };
  return {
    coarse,
    params,
    begin() {
      run.queue((recorder) => {
        recorder.clear(coarse.cursors.buffer, 0, coarse.cursors.size);
        scan(recorder);
      });
    },
    split: await splittingInto(run, source, coarse, params),
  };
}

export const hasWords = ({ isWide, value, carried }: Pick<UnsplitRows, "isWide" | "value" | "carried">) =>
  isWide || value !== null || carried?.words === 2;

const tileFor = (run: RowRun) => tileOf(run.host, 2 ** Math.ceil(mostPartBits(run) / 2));

async function splittingInto(run: RowRun, source: UnsplitRows, to: PartMemory, params: RowParams) {
  const { rows, keys, isWide, value, carried, counts: partStarts } = source;
  const tile = tileFor(run);
  const values = value && paramsOf(value.column, value.form);
  const constants = {
    ...tile,
    VALUED: hasWords(source),
    WHOLE: values?.bits === 32,
    WIDE_KEYS: isWide,
    CARRIED: Boolean(carried),
  };
  const items = (tile.WORKGROUP * tile.ITEMS) / ROW_TILE;
  const split = await run.step(splitRowsKernel, constants, items);
  const column = value ? dataOf(value.column) : carried?.data;
  const data = column && (await run.bind(column));
  const bindings = { keys, data, partStarts, cursors: to.cursors, items: to.items, words: to.words };
  const along = carried ? { words: carried.words, bits: 32 * carried.words } : {};
  const record = (recorder: Recorder, chunk: Chunk) =>
    split(recorder, bindings, chunk, values ?? along, params);
  return () => run.eachChunk("split rows", rows, record, { waits: false });
}

/** The parts whose rows make up a chunk, on average. */
export function partsOf({ first, count }: Chunk, rows: number, bits: number): Chunk {
  const upTo = (row: number) => Math.ceil((row * 2 ** bits) / rows);
  return { first: upTo(first), count: upTo(first + count) - upTo(first) };
}

/** What records the second half: of coarse parts, which have so many rows each. */
export async function partsStep(run: RowRun, isValued: boolean) {
  const tile = tileFor(run);
  const split = await run.step(splitPartsKernel, { ...tile, VALUED: isValued });
  return (
    recorder: Recorder,
    bindings: Parameters<typeof split>[1],
    params: SplitRows["params"],
    rowsOfPart: number,
    { first, count: groups }: Chunk,
  ) => {
    const tiles = Math.ceil(rowsOfPart / (tile.WORKGROUP * tile.ITEMS)) + 1;
    // an invocation stands for each of the workgroups' own
    if (groups > 0)
      split(recorder, bindings, { tiles, first, groups, count: groups * tiles * ROW_TILE }, params);
  };
}
