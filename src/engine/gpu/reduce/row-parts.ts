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
const ITEM_BYTES = 8;
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

interface Memory {
  readonly cursors: Range;
  readonly items: Range;
  readonly words: Range | undefined;
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
  const { rows, counts: partStarts, fine } = source;
  const memory = async (bits: number): Promise<Memory> => ({
    cursors: await run.range(4 * 2 ** bits),
    items: await run.range(rows * ITEM_BYTES),
    words: hasWords(source) ? await run.range(rows * 4) : undefined,
  });
  const splitBits = Math.ceil(bits / 2);
  const [split, parts] = [await memory(splitBits), await memory(bits)];
  const scan = await scanning(run, partStarts, 2 ** fine + 1);
  const params = { partBits: bits, splitBits, fineBits: fine - bits };
  const splitInto = await splittingInto(run, source, split, params);
  const splitAgain = await splittingAgain(run, source, [split, parts], params);
  return async () => {
    run.queue((recorder) => {
      for (const { buffer, size } of [split.cursors, parts.cursors]) recorder.clear(buffer, 0, size);
      scan(recorder);
    });
    await splitInto();
    await splitAgain();
    return { bits, items: parts.items, words: parts.words, partStarts, params };
  };
}

const hasWords = ({ isWide, value, carried }: UnsplitRows) =>
  isWide || value !== null || carried?.words === 2;

const tileFor = (run: RowRun) => tileOf(run.host, 2 ** Math.ceil(mostPartBits(run) / 2));

async function splittingInto(run: RowRun, source: UnsplitRows, to: Memory, params: RowParams) {
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
  const bindings = { keys, data, partStarts, ...to };
  const along = carried && { words: carried.words, bits: 32 * carried.words };
  const all = { ...params, ...along, ...values };
  const record = (recorder: Recorder, chunk: Chunk) => split(recorder, bindings, { ...all, ...chunk });
  return () => run.eachChunk("split rows", rows, record, { waits: false });
}

/** The parts whose rows make up a chunk, on average. */
export function partsOf({ first, count }: Chunk, rows: number, bits: number): Chunk {
  const upTo = (row: number) => Math.ceil((row * 2 ** bits) / rows);
  return { first: upTo(first), count: upTo(first + count) - upTo(first) };
}

async function splittingAgain(
  run: RowRun,
  source: UnsplitRows,
  [from, to]: readonly [Memory, Memory],
  params: RowParams & { readonly splitBits: number },
) {
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
  return () => run.eachChunk("split parts", rows, record, { waits: false, isPass: false });
}
