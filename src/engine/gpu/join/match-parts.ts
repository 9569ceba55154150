/**
 * Joins on one key of one or two words without nulls whose build rows are all different: both sides are split by the
 * bits of their mixed keys (../reduce/row-parts.ts), until a part's build rows fit a workgroup's memory, where the
 * probe rows look them up. No table is written, and nothing but the partners goes to the GPU's memory at random.
 *
 * Nothing is waited for: whether all went well is known with the first counters that come back.
 */
import type { DeviceKeys, JoinedSide } from "../../device-columns.js";
import type { Chunk } from "../batch/columns.js";
import type { ResultColumn, ResultColumns } from "../groups/result-columns.js";
import { ROW_TILE } from "../groups/row-kernels.js";
import type { RowRun, RowStep } from "../groups/row-run.js";
import { boundWords, type KeyWords, oneWord } from "../groups/word-keys.js";
import { surveying } from "../reduce/list-rows.js";
import {
  kindOf,
  mostOfPart,
  mostPartBits,
  partsOf,
  type SplitRows,
  splitting,
  type UnsplitRows,
} from "../reduce/row-parts.js";
import type { Bindings } from "../runtime.js";
import { matchPartsKernel } from "./join-kernels.js";

/** Why, for the plan. */
export const BY_PARTS = "both sides are split by their keys, and matched part by part";
/** Build rows from which this pays. */
const LEAST_ROWS = 2 ** 22;
/**
 * Words of the keys that a table of the engine takes less time for: 1.7 ms of kernels beside 2.6, for 2^24 rows on
 * either side.
 */
const NARROW = 1;
/** Build rows that a part has, unless there are too few parts. */
const PART_ROWS = { software: 128, hardware: 512 } as const;
/** Slots of a workgroup's table at least, and build rows a slot at best and at most. */
const SLOTS = { software: 256, hardware: 1024 } as const;
const LOAD = 0.5;
const MOST_LOAD = 0.75;
const SLOT_BYTES = 4;
/** Workgroup memory that the kernels use besides; slots, where a power of two is too many, are a multiple of some. */
const SPARE_BYTES = 512;
const SLOT_UNIT = 256;
/** Standard deviations that a part's rows are more than others'. */
const DEVIATIONS = 6;
/** Invocations of a workgroup; more of them where a core has memory for one alone. */
const INVOCATIONS = 256;
const MOST_INVOCATIONS = 1024;
const FEW_SLOTS = 4096;

/** Key columns of build sides that could not be matched so. Should one have changed, it only takes another way. */
export const unfit = new WeakSet<object>();

export interface PartnersAhead {
  readonly partners: ResultColumn;
  /** The counters tell that these are not the partners. */
  failed(): boolean;
}

export interface PartShape {
  readonly bits: number;
  readonly slots: number;
}

/** Sides that may be matched by parts. */
export interface PartSides {
  readonly build: KeyWords;
  readonly probe: KeyWords;
  readonly shape: PartShape;
}

/**
 * The partner of every probe row, or null where that takes another way.
 * @param anyPartner it does not matter which of equal build rows is the partner
 */
export async function partnersByParts(
  run: RowRun,
  columns: ResultColumns,
  build: DeviceKeys,
  probe: DeviceKeys,
  anyPartner: boolean,
): Promise<PartnersAhead | null> {
  const sides = partSides(run, build, probe, anyPartner);
  const narrow = run.host.tuning.partedJoin?.narrow ?? false;
  if (sides === null || (sides.build.width === NARROW && !narrow)) return null;
  const split = await splittingSides(run, sides, build, probe);
  if (!split) return null;
  const partners = await columns.add(probe.rows);
  const constants = partConstants(run, sides);
  const match = await run.step(matchPartsKernel, constants, 1 / ROW_TILE);
  await overParts(run, "match parts", probe.rows, await split(), match, { partners: partners.range });
  return { partners, failed: () => haveFailed(run, sides, anyPartner) };
}

/**
 * Sides of one key that may be matched by parts; null where they may not, or where they are too short or too long.
 * @param buildRows those of all GPUs
 */
export function partSides(
  run: Pick<RowRun, "host">,
  build: DeviceKeys,
  probe: DeviceKeys,
  anyPartner = false,
  buildRows = build.rows,
): PartSides | null {
  const [keys, lookups] = [oneWord(build), oneWord(probe)];
  if (!keys || !lookups || keys.validity !== null || lookups.validity !== null) return null;
  const { engine, tuning } = run.host;
  const { strategy } = engine.defaults;
  const least = tuning.partedJoin?.leastRows ?? LEAST_ROWS;
  if ((strategy !== undefined && strategy !== "auto") || buildRows < least) return null;
  if (probe.rows === 0 || (!anyPartner && unfit.has(keys.data))) return null;
  const shape = shapeFor(run, buildRows);
  return shape && { build: keys, probe: lookups, shape };
}

/** Null where parts would have too many rows. */
function shapeFor({ host }: Pick<RowRun, "host">, rows: number): PartShape | null {
  const kind = kindOf({ host });
  const bits = Math.min(mostPartBits({ host }), Math.max(2, Math.ceil(Math.log2(rows / PART_ROWS[kind]))));
  const each = rows / 2 ** bits;
  const most = each + DEVIATIONS * Math.sqrt(each);
  const wanted = Math.max(SLOTS[kind], 2 ** Math.ceil(Math.log2(Math.max(each / LOAD, most / MOST_LOAD))));
  const fitting = (host.gpu.traits.maxWorkgroupBytes - SPARE_BYTES) / SLOT_BYTES;
  const slots = Math.min(wanted, Math.floor(fitting / SLOT_UNIT) * SLOT_UNIT);
  return most <= MOST_LOAD * slots ? { bits, slots } : null;
}

/** Rows of a side, and what goes along with them in place of their numbers. */
export type SideRows = Pick<UnsplitRows, "rows" | "carried"> & Pick<JoinedSide, "arrival">;

/** Prepares to split both sides; null where there is too little memory. */
export async function splittingSides(
  run: RowRun,
  { build, probe, shape: { bits } }: PartSides,
  builds: SideRows,
  probes: SideRows,
): Promise<(() => Promise<BothSides>) | null> {
  const prepared = await run.attempt(async () => [
    await splittingSide(run, build, builds, bits),
    await splittingSide(run, probe, probes, bits),
  ]);
  return prepared && (async () => [await prepared[0](), await prepared[1]()]);
}

export type BothSides = readonly [build: SplitRows, probe: SplitRows];

async function splittingSide(
  run: RowRun,
  key: KeyWords,
  side: SideRows,
  bits: number,
): Promise<() => Promise<SplitRows>> {
  const { unsplit, survey } = await surveyingSide(run, key, side);
  const split = await splitting(run, unsplit, bits);
  return async () => {
    side.arrival?.();
    await survey(false);
    return split();
  };
}

/** Prepares to count a side's rows by part. */
export async function surveyingSide(
  run: RowRun,
  { data, width }: KeyWords,
  { rows, carried = null }: SideRows,
): Promise<{ readonly unsplit: UnsplitRows; survey(waits?: boolean): Promise<void> }> {
  const isWide = width === 2;
  const keys = await boundWords(run, data, rows * width);
  const fine = mostPartBits(run);
  const options = { bits: fine, most: mostOfPart(rows, fine), isWide, isSampled: false };
  const { counts, survey } = await surveying(run, { keys }, rows, options);
  return { unsplit: { rows, keys, isWide, value: null, carried, counts, fine }, survey };
}

/** What kernels over parts of both sides are compiled with. */
export function partConstants(run: RowRun, { build, shape: { slots, bits } }: PartSides) {
  const most = Math.min(MOST_INVOCATIONS, run.host.gpu.traits.maxInvocations);
  const mostBuilds = Math.floor(MOST_LOAD * slots);
  const numberBits = Math.ceil(Math.log2(mostBuilds + 1));
  return {
    SLOTS: slots,
    MOST_BUILDS: mostBuilds,
    NUMBER_BITS: numberBits,
    EXACT: build.width === 1 && bits >= numberBits,
    INVOCATIONS: slots > FEW_SLOTS && kindOf(run) === "hardware" ? most : INVOCATIONS,
    WIDE_KEYS: build.width === 2,
  };
}

/** What kernels over parts of both sides read. */
export function boundParts({ control }: RowRun, [build, probe]: BothSides) {
  return {
    control,
    buildItems: build.items,
    buildWords: build.words,
    buildStarts: build.partStarts,
    items: probe.items,
    words: probe.words,
    partStarts: probe.partStarts,
  };
}

/** Has a kernel go over the parts of both sides. Nobody waits for that. */
export async function overParts<B extends string>(
  run: RowRun,
  operation: string,
  rows: number,
  [build, probe]: BothSides,
  step: RowStep<B>,
  out: Bindings<string>,
  params: object = {},
): Promise<void> {
  const bindings = { ...boundParts(run, [build, probe]), ...out };
  const record = (recorder: Parameters<RowStep<B>>[0], chunk: Chunk) => {
    const parts = partsOf(chunk, rows, probe.bits);
    if (parts.count > 0) step(recorder, bindings as Bindings<B>, parts, probe.params, params);
  };
  await run.eachChunk(operation, rows, record, { waits: false, isPass: false });
}

/** The counters tell that a match by parts is none: another way is taken, and will be by joins with this build side. */
export function haveFailed(run: RowRun, { build }: PartSides, anyPartner: boolean): boolean {
  const { keysLeft, keysUneven, keysRepeat } = run.counters;
  if (keysLeft === 0 && keysUneven === 0 && (keysRepeat === 0 || anyPartner)) return false;
  if (keysRepeat > 0) unfit.add(build.data);
  return true;
}
