/**
 * Groups of rows by a key of one word, many of them, with the sum of one column at most: rows are split into parts of their mixed keys, twice, with
 * their values beside them, until a part's groups fit a workgroup's memory, where they are found and summed up. So memory is only
 * gone through in order, whatever the number of groups.
 *
 * Parts have about the same number of rows where keys have; a survey tells where they have not, and then this is left to others.
 */
import type { DeviceColumn } from "../../device-columns.js";
import type { NumberColumn, Reduction } from "../../reductions.js";
import type { Chunk } from "../batch/columns.js";
import type { Range } from "../device/kernel.js";
import { ROW_TILE, type RowParams } from "../groups/row-kernels.js";
import type { RowRun } from "../groups/row-run.js";
import { scanning } from "../groups/scan.js";
import { dataOf, paramsOf } from "./group-states.js";
import { type KeyBindings, type Survey, surveying } from "./list-rows.js";
import { splitPartsKernels, splitRowsKernels, sumPartsKernel } from "./part-kernels.js";
import { formOf, tileOf } from "./row-tiles.js";
import type { NumberedGroups } from "./rows-by-group.js";

/** The logarithm of the most parts. */
const PART_BITS = { software: 8, hardware: 14 } as const;
/** Rows that a part has, unless there are too few parts. */
const PART_ROWS = { software: 128, hardware: 8192 } as const;
/** A bin of the survey with so many times as many rows as others makes keys uneven; a few rows do not. */
const UNEVEN = 32;
const FEW_ROWS = 64;
/** Slots of a workgroup's table, if it has memory for them, the bytes of each with a sum, and groups per slot at most and at best. */
const SLOTS = { software: 512, hardware: 2048 } as const;
const SLOT_BYTES = 20;
const SPARE_BYTES = 512;
const MOST_LOAD = 0.8;
const LOAD = 0.5;
/** Invocations of a workgroup: as many as there may be, since a core of a GPU has memory for few workgroups. */
const INVOCATIONS = { software: 256, hardware: 1024 } as const;
const ITEM_BYTES = 8;

/** What is summed up beside counting rows: a column without nulls, of a word at most. */
export interface Summed {
  readonly of: NumberColumn | null;
}

/** What some reductions ask for, if it is what this does; else null. */
export function summedOf(reductions: readonly Reduction[]): Summed | null {
  let of: NumberColumn | null = null;
  for (const reduction of reductions) {
    const { kind } = reduction;
    if (kind === "first" || (kind === "count" && !reduction.column?.validity)) continue;
    if (kind !== "sum" && kind !== "mean") return null;
    if (!isShort(reduction.column) || (of && of.column.values !== reduction.column.values)) return null;
    of = reduction;
  }
  return { of };
}

function isShort({ values, validity }: DeviceColumn): boolean {
  if (validity !== null) return false;
  return values?.kind === "bits" || (values?.kind === "fixed" && values.width <= 4);
}

interface Shape {
  readonly bits: number;
  readonly fine: number;
  readonly slots: number;
}

/** What is read and written on the way. */
interface Memory {
  readonly cursors: Range;
  readonly items: Range;
  readonly words: Range | undefined;
}

/** See `preparing`. */
export interface Prepared {
  /** A pass over the keys, right behind an attempt to count few groups: it does nothing where that has gone well. */
  survey(): Promise<void>;
  /** Groups, numbered and summed up; null where they are too many or too uneven, or the GPU has too little memory. */
  sum(): Promise<NumberedGroups | null>;
}

/** Prepares the survey of the keys, and what follows if groups are not few. */
export async function preparing(
  run: RowRun,
  bindings: KeyBindings,
  rows: number,
  summed: Summed,
): Promise<Prepared> {
  const fine = partBits(run);
  const most = UNEVEN * Math.ceil(rows / 2 ** fine) + FEW_ROWS;
  const survey = await surveying(run, bindings, rows, { bits: fine, most, isBehind: true });
  let told: Survey;
  return {
    async survey() {
      told = await survey();
    },
    async sum() {
      const shape = told.isUneven ? null : shapeOf(run, rows, told.groups, fine);
      return shape && run.attempt(() => sumParts(run, { ...bindings, rows, summed, survey: told, shape }));
    },
  };
}

/** The logarithm of the most parts: as many as a workgroup has memory to count, half a word each. */
function partBits(run: RowRun): number {
  const { maxComputeWorkgroupStorageSize: most } = run.host.gpu.device.limits;
  return Math.min(PART_BITS[kindOf(run)], Math.floor(Math.log2((most - SPARE_BYTES) / 2)));
}

const kindOf = ({ host }: RowRun) => (host.gpu.software ? "software" : "hardware");

/** Null where the parts would have too many groups for a workgroup's memory. */
function shapeOf(run: RowRun, rows: number, groups: number, fine: number): Shape | null {
  const kind = kindOf(run);
  const { maxComputeWorkgroupStorageSize: most } = run.host.gpu.device.limits;
  let slots: number = SLOTS[kind];
  while (slots * SLOT_BYTES + SPARE_BYTES > most) slots /= 2;
  if (groups > MOST_LOAD * slots * 2 ** fine) return null;
  const wanted = Math.max(groups / (LOAD * slots), rows / PART_ROWS[kind], 4);
  return { bits: Math.min(fine, Math.ceil(Math.log2(wanted))), fine, slots };
}

interface Work extends KeyBindings {
  readonly rows: number;
  readonly summed: Summed;
  readonly survey: Survey;
  readonly shape: Shape;
}

async function sumParts(run: RowRun, work: Work): Promise<NumberedGroups | null> {
  const { rows, survey, summed, shape } = work;
  const { bits, fine } = shape;
  const isValued = summed.of !== null;
  const memory = async (bits: number): Promise<Memory> => ({
    cursors: await run.range(4 * 2 ** bits),
    items: await run.range(rows * ITEM_BYTES),
    words: isValued ? await run.range(rows * 4) : undefined,
  });
  const splitBits = Math.ceil(bits / 2);
  const [split, parts] = [await memory(splitBits), await memory(bits)];
  const most = survey.groups;
  const [counts, firsts] = [await run.range(most * 4), await run.range(most * 4)];
  const sums = isValued ? await run.range(most * 16) : undefined;
  const scan = await scanning(run, survey.counts, 2 ** fine + 1);
  await run.submit("scan", (encoder) => {
    for (const { buffer, size } of [split.cursors, parts.cursors, run.control]) {
      encoder.clearBuffer(buffer, 0, size);
    }
    scan(encoder);
  });
  const params = { partBits: bits, splitBits, fineBits: fine - bits };
  await splitInto(run, work, split, params);
  await splitAgain(run, work, [split, parts], params);
  const { items, words } = parts;
  const bindings = { control: run.control, partStarts: survey.counts, items, words, counts, firsts, sums };
  await sumAll(run, work, bindings, { ...params, groups: most });
  const { keyGroups: groups, keysLeft } = run.counters;
  if (keysLeft > 0) return null;
  const known = { firsts, counts, sums: summed.of && sums ? { of: summed.of, range: sums } : undefined };
  return { rows, groups, numbers: groups, known };
}

const tileFor = (run: RowRun) => tileOf(run.host, 2 ** Math.ceil(partBits(run) / 2));

async function splitInto(run: RowRun, work: Work, to: Memory, params: RowParams): Promise<void> {
  const { rows, keys, survey, summed } = work;
  const tile = tileFor(run);
  const values = summed.of && paramsOf(summed.of.column, summed.of.form);
  const constants = { ...tile, VALUED: summed.of !== null, WHOLE: values?.bits === 32 };
  const items = (tile.WORKGROUP * tile.ITEMS) / ROW_TILE;
  const split = await run.step(splitRowsKernels[formOf(run.host)], constants, items);
  const data = summed.of ? await run.bind(dataOf(summed.of.column)) : undefined;
  const bindings = { keys, data, partStarts: survey.counts, ...to };
  const all = { ...params, ...values };
  await run.eachChunk(
    "split rows",
    rows,
    (encoder, chunk) => split(encoder, bindings, { ...all, ...chunk }),
    { waits: false },
  );
}

/** The parts whose rows make up a chunk, on average. */
function partsOf({ first, count }: Chunk, rows: number, bits: number): Chunk {
  const upTo = (row: number) => Math.ceil((row * 2 ** bits) / rows);
  return { first: upTo(first), count: upTo(first + count) - upTo(first) };
}

async function splitAgain(
  run: RowRun,
  { rows, survey, summed }: Work,
  [from, to]: readonly [Memory, Memory],
  params: RowParams & { readonly splitBits: number },
): Promise<void> {
  const tile = tileFor(run);
  const split = await run.step(splitPartsKernels[formOf(run.host)], { ...tile, VALUED: summed.of !== null });
  const tiles = Math.ceil(rows / 2 ** params.splitBits / (tile.WORKGROUP * tile.ITEMS)) + 1;
  const bindings = { splitItems: from.items, splitWords: from.words, partStarts: survey.counts, ...to };
  const record = (encoder: GPUCommandEncoder, chunk: Chunk) => {
    const { first, count: groups } = partsOf(chunk, rows, params.splitBits);
    // an invocation stands for each of the workgroups' own
    if (groups > 0)
      split(encoder, bindings, { ...params, tiles, first, groups, count: groups * tiles * ROW_TILE });
  };
  await run.eachChunk("split parts", rows, record, { waits: false, isPass: false });
}

async function sumAll(
  run: RowRun,
  { rows, summed, shape: { bits, slots } }: Work,
  bindings: { readonly [name: string]: Range | undefined },
  params: RowParams,
): Promise<void> {
  const VALUED = summed.of !== null;
  const { maxComputeInvocationsPerWorkgroup: most } = run.host.gpu.device.limits;
  const invocations = Math.min(INVOCATIONS[kindOf(run)], most);
  const constants = { SLOTS: slots, SUMMED_SLOTS: VALUED ? slots : 1, INVOCATIONS: invocations, VALUED };
  const sum = await run.step(sumPartsKernel(run.host.overrides), constants, 1 / ROW_TILE);
  const onChunk = run.noting("rows are split by their keys, groups found and summed up part by part");
  const record = (encoder: GPUCommandEncoder, chunk: Chunk) => {
    const parts = partsOf(chunk, rows, bits);
    if (parts.count > 0) sum(encoder, bindings, { ...params, ...parts });
  };
  await run.eachChunk("sum parts", rows, record, { onChunk });
}
