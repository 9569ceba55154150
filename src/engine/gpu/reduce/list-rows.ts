/**
 * How many groups there are, told by a pass over the keys (survey-keys.wgsl), and rows listed in the order of the table
 * that they get (scatter-rows.wgsl): what follows then works on one part of the table after the other, which fits the
 * GPU's cache.
 */

import type { Chunk } from "../batch/columns.js";
import { ROW_TILE, type RowParams } from "../groups/row-kernels.js";
import type { RowRun } from "../groups/row-run.js";
import { scanning } from "../groups/scan.js";
import type { Range, Recorder } from "../runtime.js";
import { fitWorkgroup, tileShape } from "../tiles.js";
import { scatterRowsKernel, surveyKeysKernel } from "./reduce-kernels.js";

/** The logarithm of the parts of the table. */
const PART_BITS = { software: 6, hardware: 10 } as const;
/** One key in 2^SAMPLE_BITS has a mark; hardly any does. */
const SAMPLE_BITS = 8;
const NO_SAMPLE = 31;
/** As MARK_BITS of survey-keys.wgsl says. */
const MARKS = 2 ** 22;
/** Workgroups that survey: each hands its counts on. */
const WORKGROUPS = 792;
/** Rows that one of them takes at least: with fewer it would hand on nearly as many counts. */
const LEAST_ROWS = { software: 4096, hardware: 2 ** 15 } as const;
/** What an invocation's rows are a multiple of, as BATCH of survey-keys.wgsl says. */
const BATCH = 4;
/** Invocations of a workgroup: as many as there may be, since its counts leave a core memory for no other one. */
const INVOCATIONS = { software: 256, hardware: 1024 } as const;
/** Standard deviations, and keys, that the sample may miss. */
const DEVIATIONS = 4;
const SPARE = 16;
/** Of a row that is listed: its key and its number. */
const ITEM_BYTES = 8;

export interface KeyBindings {
  readonly keys: Range;
  readonly keyValidity: Range | undefined;
}

export interface Survey {
  /** No more groups than that, as far as a sample can tell. */
  readonly groups: number;
  /** Rows by the upper bits of their mixed keys, and a word behind these. */
  readonly counts: Range;
  /** A bin has more rows than was said. */
  readonly isUneven: boolean;
}

/** Bits of a part's number. */
const partBits = ({ host }: RowRun) => (host.gpu.traits.isEmulated ? PART_BITS.software : PART_BITS.hardware);
const binsOf = (bits: number) => ({ BINS: 2 ** bits, BIN_BITS: bits });

interface SurveyOptions {
  /** Bits of the mixed keys that rows are counted by: those of a part of the table, unless told. */
  readonly bits?: number;
  /** Rows of a bin that are not too many. */
  readonly most?: number;
  /** It comes right behind count-keys, and does nothing where that finds all groups. */
  readonly isBehind?: boolean;
  /** Keys have two words. */
  readonly isWide?: boolean;
  /** False: groups are not counted. */
  readonly isSampled?: boolean;
}

export interface Surveying {
  /** As `Survey` says, once it is done. */
  readonly counts: Range;
  /** A pass over the keys. @param waits false: what it told is not known yet */
  survey(waits?: boolean): Promise<void>;
  told(): Survey;
}

/** Counts groups, and rows by the upper bits of their mixed keys; a pass over the keys. */
export async function surveyKeys(run: RowRun, bindings: KeyBindings, rows: number): Promise<Survey> {
  const { buffer, size } = run.control;
  run.queue((recorder) => recorder.clear(buffer, 0, size));
  const { survey, told } = await surveying(run, bindings, rows);
  await survey();
  return told();
}

export async function surveying(
  run: RowRun,
  { keys }: Pick<KeyBindings, "keys">,
  rows: number,
  {
    bits = partBits(run),
    most = rows,
    isBehind = false,
    isWide = false,
    isSampled = true,
  }: SurveyOptions = {},
): Promise<Surveying> {
  const bins = binsOf(bits);
  const starts = await run.range((bins.BINS + 1) * 4);
  const marks = await run.range(isSampled ? MARKS / 8 : 0);
  const { control } = run;
  const { isEmulated, maxInvocations } = run.host.gpu.traits;
  const kind = isEmulated ? "software" : "hardware";
  const invocations = Math.min(INVOCATIONS[kind], maxInvocations);
  const items = Math.ceil(Math.max(LEAST_ROWS[kind], rows / WORKGROUPS) / (invocations * BATCH)) * BATCH;
  const survey = await run.step(
    surveyKeysKernel,
    {
      ...bins,
      SAMPLE_BITS: isSampled ? SAMPLE_BITS : NO_SAMPLE,
      WIDE_KEYS: isWide,
      INVOCATIONS: invocations,
    },
    (items * invocations) / ROW_TILE,
  );
  const params = { items, most, phase: Number(isBehind) };
  const record = (recorder: Recorder, chunk: Chunk) =>
    survey(recorder, { keys, starts, marks, control }, chunk, params);
  return {
    counts: starts,
    async survey(waits = true) {
      run.queue((recorder) => {
        for (const { buffer, size } of [starts, marks]) recorder.clear(buffer, 0, size);
      });
      await run.eachChunk("survey keys", rows, record, { waits });
    },
    told() {
      const { keysMarked: marked, keysUneven } = run.counters;
      // several keys may have one mark
      const sampled = -MARKS * Math.log(1 - Math.min(marked, MARKS - 1) / MARKS);
      const found = (sampled + DEVIATIONS * Math.sqrt(sampled) + SPARE) * 2 ** SAMPLE_BITS;
      const groups = Math.min(Math.ceil(found), rows);
      run.surveyed(groups);
      return { groups, counts: starts, isUneven: keysUneven > 0 };
    },
  };
}

/** Lists the rows; a pass over them. Uses the survey's counts up. */
export async function listRows(
  run: RowRun,
  bindings: KeyBindings,
  { counts }: Survey,
  rows: number,
  params: RowParams,
): Promise<Range> {
  const { traits } = run.host.gpu;
  const bins = binsOf(partBits(run));
  const items = await run.range(rows * ITEM_BYTES);
  const scan = await scanning(run, counts, bins.BINS);
  run.queue(scan);
  const { items: ITEMS, rounds: ROUNDS } = tileShape(traits, ITEM_BYTES / 4);
  const WORKGROUP = fitWorkgroup(traits, (ITEMS / ROUNDS) * ITEM_BYTES, bins.BINS);
  const scatter = await run.step(
    scatterRowsKernel,
    { ...bins, WORKGROUP, ITEMS, ROUNDS },
    (WORKGROUP * ITEMS) / ROW_TILE,
  );
  const all = { ...bindings, cursors: counts, items };
  const record = (recorder: Recorder, chunk: Chunk) => scatter(recorder, all, chunk, params);
  await run.eachChunk("scatter rows", rows, record, { waits: false });
  return items;
}
