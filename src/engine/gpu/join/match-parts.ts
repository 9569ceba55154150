/**
 * Joins on one key of one or two words without nulls whose build rows are all different: both sides are split by the
 * bits of their mixed keys (../reduce/row-parts.ts), until a part's build rows fit a workgroup's memory, where the
 * probe rows look them up. No table is written, and nothing but the partners goes to the GPU's memory at random.
 *
 * Nothing is waited for: whether all went well is known with the first counters that come back.
 */
import type { DeviceKeys } from "../../device-columns.js";
import type { Chunk } from "../batch/columns.js";
import type { ResultColumn, ResultColumns } from "../groups/result-columns.js";
import { ROW_TILE } from "../groups/row-kernels.js";
import type { RowRun } from "../groups/row-run.js";
import { boundWords, type KeyWords, oneWord } from "../groups/word-keys.js";
import { surveying } from "../reduce/list-rows.js";
import { kindOf, mostOfPart, mostPartBits, partsOf, type SplitRows, splitRows } from "../reduce/row-parts.js";
import type { Range, Recorder } from "../runtime.js";
import { matchPartsKernel } from "./join-kernels.js";

/** Build rows from which this pays. */
const LEAST_ROWS = 2 ** 22;
/**
 * Words of the keys that a table of the engine takes less time for: 1.7 ms of kernels beside 2.6, for 2^24 rows on
 * either side.
 */
const NARROW = 1;
/** Slots of a workgroup's table, the most build rows in it, and how many are wanted. */
const SLOTS = { software: 512, hardware: 2048 } as const;
const MOST_LOAD = 0.75;
const LOAD = 0.25;
/** Standard deviations that a part's rows are more than others'. */
const DEVIATIONS = 6;
const INVOCATIONS = 256;

/** Partners that are being found. */
export interface PartnersAhead {
  readonly partners: ResultColumn;
  /** The counters tell that these are not the partners. */
  failed(): boolean;
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
  const [keys, lookups] = [oneWord(build), oneWord(probe)];
  if (!keys || !lookups || keys.validity !== null || lookups.validity !== null) return null;
  const { engine, tuning } = run.host;
  const { strategy } = engine.defaults;
  const least = tuning.partedJoin?.leastRows ?? LEAST_ROWS;
  const narrow = tuning.partedJoin?.narrow ?? false;
  if ((strategy !== undefined && strategy !== "auto") || build.rows < least) return null;
  if (keys.width === NARROW && !narrow) return null;
  const bits = bitsFor(run, build.rows);
  if (bits === null) return null;
  const split = await run.attempt(async () => [
    await sideOf(run, keys, build.rows, bits),
    await sideOf(run, lookups, probe.rows, bits),
  ]);
  if (!split) return null;
  const partners = await columns.add(probe.rows);
  await findPartners(run, split, probe.rows, keys.width === 2, partners.range);
  const failed = () => {
    const { keysLeft, keysUneven, keysRepeat } = run.counters;
    return keysLeft > 0 || keysUneven > 0 || (keysRepeat > 0 && !anyPartner);
  };
  return { partners, failed };
}

/** The logarithm of the parts; null where these would have too many rows. */
function bitsFor(run: RowRun, rows: number): number | null {
  const slots = SLOTS[kindOf(run)];
  const bits = Math.min(mostPartBits(run), Math.max(2, Math.ceil(Math.log2(rows / (LOAD * slots)))));
  const each = rows / 2 ** bits;
  return each + DEVIATIONS * Math.sqrt(each) <= MOST_LOAD * slots ? bits : null;
}

async function sideOf(
  run: RowRun,
  { data, width }: KeyWords,
  rows: number,
  bits: number,
): Promise<SplitRows> {
  const isWide = width === 2;
  const keys = await boundWords(run, data, rows * width);
  const fine = mostPartBits(run);
  const options = { bits: fine, most: mostOfPart(rows, fine), isWide };
  const { counts, survey } = await surveying(run, { keys }, rows, options);
  await survey(false);
  return splitRows(run, { rows, keys, isWide, value: null, counts, fine }, bits);
}

async function findPartners(
  run: RowRun,
  [build, probe]: readonly SplitRows[],
  rows: number,
  isWide: boolean,
  partners: Range,
): Promise<void> {
  const slots = SLOTS[kindOf(run)];
  const constants = { SLOTS: slots, MOST_BUILDS: MOST_LOAD * slots, INVOCATIONS, WIDE_KEYS: isWide };
  const match = await run.step(matchPartsKernel, constants, 1 / ROW_TILE);
  const { items, words, partStarts, params, bits } = probe;
  const bindings = {
    control: run.control,
    buildItems: build.items,
    buildWords: build.words,
    buildStarts: build.partStarts,
    items,
    words,
    partStarts,
    partners,
  };
  const record = (recorder: Recorder, chunk: Chunk) => {
    const parts = partsOf(chunk, rows, bits);
    if (parts.count > 0) match(recorder, bindings, { ...params, ...parts });
  };
  await run.eachChunk("match parts", rows, record, { waits: false, isPass: false });
}
