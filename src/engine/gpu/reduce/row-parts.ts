/**
 * Rows in the order of parts of their mixed keys, so that what follows goes through memory in order: they are split
 * twice, each time with a word beside their keys and numbers, a value or the upper word of the key. A survey
 * (list-rows.ts) has counted the rows of finer parts.
 */

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
const ITEM_BYTES = 8;
/** A bin of the survey with so many times as many rows as others makes keys uneven; a few rows do not. */
const UNEVEN = 32;
const FEW_ROWS = 64;

export const kindOf = ({ host }: RowRun) => (host.gpu.traits.isEmulated ? "software" : "hardware");

/** The logarithm of the most parts: as many as a workgroup has memory to count, half a word each. */
export function mostPartBits(run: RowRun): number {
  const { maxWorkgroupBytes: most } = run.host.gpu.traits;
  return Math.min(PART_BITS[kindOf(run)], Math.floor(Math.log2((most - SPARE_BYTES) / 2)));
}

/** Rows of the finest part that are not too many, for a workgroup to have them alone. */
export const mostOfPart = (rows: number, fine: number) => UNEVEN * Math.ceil(rows / 2 ** fine) + FEW_ROWS;

/** Rows, and what goes along with them. */
export interface UnsplitRows {
  readonly rows: number;
  readonly keys: Range;
  /** Keys have two words, the upper of which goes along. */
  readonly isWide: boolean;
  /** What goes along with keys of one word: a column of a word at most. */
  readonly value: NumberColumn | null;
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

/** What is read and written on the way. */
interface Memory {
  readonly cursors: Range;
  readonly items: Range;
  readonly words: Range | undefined;
}

/** Splits rows into 2^bits parts. Nobody waits for that. */
export async function splitRows(run: RowRun, source: UnsplitRows, bits: number): Promise<SplitRows> {
  const { rows, counts: partStarts, fine } = source;
  const memory = async (bits: number): Promise<Memory> => ({
    cursors: await run.range(4 * 2 ** bits),
    items: await run.range(rows * ITEM_BYTES),
    words: hasWords(source) ? await run.range(rows * 4) : undefined,
  });
  const splitBits = Math.ceil(bits / 2);
  const [split, parts] = [await memory(splitBits), await memory(bits)];
  const scan = await scanning(run, partStarts, 2 ** fine + 1);
  run.queue((recorder) => {
    for (const { buffer, size } of [split.cursors, parts.cursors]) recorder.clear(buffer, 0, size);
    scan(recorder);
  });
  const params = { partBits: bits, splitBits, fineBits: fine - bits };
  await splitInto(run, source, split, params);
  await splitAgain(run, source, [split, parts], params);
  return { bits, items: parts.items, words: parts.words, partStarts, params };
}

const hasWords = ({ isWide, value }: UnsplitRows) => isWide || value !== null;

const tileFor = (run: RowRun) => tileOf(run.host, 2 ** Math.ceil(mostPartBits(run) / 2));

async function splitInto(run: RowRun, source: UnsplitRows, to: Memory, params: RowParams): Promise<void> {
  const { rows, keys, isWide, value, counts: partStarts } = source;
  const tile = tileFor(run);
  const values = value && paramsOf(value.column, value.form);
  const constants = {
    ...tile,
    VALUED: hasWords(source),
    WHOLE: values?.bits === 32,
    WIDE_KEYS: isWide,
  };
  const items = (tile.WORKGROUP * tile.ITEMS) / ROW_TILE;
  const split = await run.step(splitRowsKernel, constants, items);
  const data = value ? await run.bind(dataOf(value.column)) : undefined;
  const bindings = { keys, data, partStarts, ...to };
  const all = { ...params, ...values };
  await run.eachChunk(
    "split rows",
    rows,
    (recorder, chunk) => split(recorder, bindings, { ...all, ...chunk }),
    { waits: false },
  );
}

/** The parts whose rows make up a chunk, on average. */
export function partsOf({ first, count }: Chunk, rows: number, bits: number): Chunk {
  const upTo = (row: number) => Math.ceil((row * 2 ** bits) / rows);
  return { first: upTo(first), count: upTo(first + count) - upTo(first) };
}

async function splitAgain(
  run: RowRun,
  source: UnsplitRows,
  [from, to]: readonly [Memory, Memory],
  params: RowParams & { readonly splitBits: number },
): Promise<void> {
  const { rows, counts: partStarts } = source;
  const tile = tileFor(run);
  const split = await run.step(splitPartsKernel, { ...tile, VALUED: hasWords(source) });
  const tiles = Math.ceil(rows / 2 ** params.splitBits / (tile.WORKGROUP * tile.ITEMS)) + 1;
  const bindings = { splitItems: from.items, splitWords: from.words, partStarts, ...to };
  const record = (recorder: Recorder, chunk: Chunk) => {
    const { first, count: groups } = partsOf(chunk, rows, params.splitBits);
    // an invocation stands for each of the workgroups' own
    if (groups > 0)
      split(recorder, bindings, { ...params, tiles, first, groups, count: groups * tiles * ROW_TILE });
  };
  await run.eachChunk("split parts", rows, record, { waits: false, isPass: false });
}
