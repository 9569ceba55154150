/**
 * Inner joins whose columns are made while rows are matched, without row numbers: sides are split by their keys as in
 * match-parts.ts, a column of each goes along with its keys, and a part's rows are written as they are found. So memory
 * is gone through in order; rows come in the order of parts. Where more columns are asked for of the build side, its
 * row numbers go along, and columns are gathered by them.
 *
 * It is waited for once.
 */
import { LimitError } from "../../../errors.js";
import type { DeviceColumn, JoinedColumns, JoinedSide, Words } from "../../device-columns.js";
import type { JoinCall } from "../../row-operations.js";
import { gatherColumns, NO_RECORDS } from "../columns/gather-columns.js";
import { type ResultColumn, ResultColumns } from "../groups/result-columns.js";
import { ROW_TILE } from "../groups/row-kernels.js";
import { type RowRun, runRows } from "../groups/row-run.js";
import type { KeyWords } from "../groups/word-keys.js";
import type { GpuHost } from "../host.js";
import type { Range } from "../runtime.js";
import { joinPartsKernels } from "./join-kernels.js";
import {
  BY_PARTS,
  haveFailed,
  overParts,
  type PartSides,
  partConstants,
  partSides,
  splittingSides,
} from "./match-parts.js";
import { RowLists } from "./row-lists.js";

/** Bindings of joinPartsKernels.wide. */
const WIDE_BINDINGS = 10;

/** What goes along with the keys of a side. */
export interface Along extends Pick<JoinedSide, "arrival"> {
  readonly rows: number;
  readonly columns: readonly DeviceColumn[];
  /** Places of columns that are the key, and of all others. */
  readonly keys: readonly number[];
  readonly others: readonly number[];
  /** The only other column, or null: then row numbers go along, if anything. */
  readonly carried: { readonly data: Words; readonly words: number } | null;
  /** Words that go along with a row and are asked for. */
  readonly words: number;
}

export interface Joining {
  readonly sides: PartSides;
  readonly build: Along;
  readonly probe: Along;
}

/** The words of a row of the result, by what they are of. */
export interface Written {
  readonly rows: number;
  readonly keys: ResultColumn | null;
  readonly build: ResultColumn | null;
  readonly probe: ResultColumn | null;
}

export async function joinColumns(
  host: GpuHost,
  left: JoinedSide,
  right: JoinedSide,
  call: Omit<JoinCall, "nullsEqual">,
): Promise<JoinedColumns | null> {
  const buildsLeft = left.keys.rows < right.keys.rows;
  const [own, others] = buildsLeft ? [left, right] : [right, left];
  const joining = joiningOf(host, own, others);
  if (joining === null) return null;
  const results = new ResultColumns(host);
  const work = {
    call: { ...call, nullsEqual: false },
    layout: NO_RECORDS,
    rows: left.keys.rows + right.keys.rows,
    passes: 1,
  };
  try {
    const written = await runRows(host, work, (run) => join(run, results, joining));
    if (written === null) return null;
    const [probe, build] = [
      ofSide(written, joining.probe, written.probe),
      await ofBuild(host, written, joining, call),
    ];
    return {
      rows: written.rows,
      ...(buildsLeft ? { left: build, right: probe } : { left: probe, right: build }),
    };
  } catch (error) {
    results.destroy();
    // other ways take less memory
    if (error instanceof LimitError) return null;
    throw error;
  }
}

/** Null where sides cannot be matched by parts, or columns cannot go along. @param buildRows those of all GPUs */
export function joiningOf(
  host: GpuHost,
  own: JoinedSide,
  others: JoinedSide,
  buildRows?: number,
): Joining | null {
  const sides = partSides({ host }, own.keys, others.keys, false, buildRows);
  if (sides === null) return null;
  const { width } = sides.build;
  const { maxBinding, maxBindings } = host.gpu.traits;
  const build = along(own, sides.build);
  const probe = along(others, sides.probe);
  // of the longer side rows are not gathered
  if (probe.carried === null && probe.others.length > 0) return null;
  if (build.keys.length + probe.keys.length > 1) return null;
  const most = Math.max(width, build.words, probe.words);
  if ((most > 1 && maxBindings < WIDE_BINDINGS) || probe.rows * most * 4 > maxBinding) return null;
  return { sides, build, probe };
}

function along({ keys: { rows }, columns, arrival }: JoinedSide, { data, width }: KeyWords): Along {
  const isKey = ({ values }: DeviceColumn) => values?.kind === "fixed" && values.data === data;
  const places = [...columns.keys()];
  const keys = places.filter((i) => isKey(columns[i]));
  const others = places.filter((i) => !isKey(columns[i]));
  const carried = others.length === 1 ? carriedOf(columns[others[0]], width) : null;
  const words = carried?.words ?? Math.min(others.length, 1);
  return { rows, columns, keys, others, carried, words, ...(arrival && { arrival }) };
}

/** A column of one word goes along, and with a key of one word that of two. */
function carriedOf({ values, validity }: DeviceColumn, keyWords: number): Along["carried"] {
  if (values?.kind !== "fixed" || validity !== null) return null;
  const words = values.width / 4;
  return words === 1 || (words === 2 && keyWords === 1) ? { data: values.data, words } : null;
}

/** Null where the sides turn out not to be matched by parts. */
async function join(run: RowRun, results: ResultColumns, joining: Joining): Promise<Written | null> {
  const { sides, build, probe } = joining;
  const split = await splittingSides(run, sides, build, probe);
  if (split === null) return null;
  const { step, out, params, written } = await joiningParts(run, results, joining, probe.rows);
  await overParts(run, "join parts", probe.rows, await split(), step, out, params);
  await run.submitAndWait("join parts", () => {});
  return written(haveFailed(run, sides, false));
}

/** Prepares to join the parts of split sides: room for so many rows, and the kernel. */
export async function joiningParts(run: RowRun, results: ResultColumns, joining: Joining, most: number) {
  const { sides, build, probe } = joining;
  const { width } = sides.build;
  const isWide = Math.max(width, build.words, probe.words) > 1;
  const isKeyed = build.keys.length + probe.keys.length > 0;
  const room = async (words: number) => (words > 0 ? results.add(most * words) : null);
  const [keys, builds, probes] = [
    await room(isKeyed ? width : 0),
    await room(build.words),
    await room(probe.words),
  ];
  const words = { KEYED: isKeyed, BUILD_WORDS: build.words, PROBE_WORDS: probe.words };
  const constants = { ...partConstants(run, sides), ...words };
  const step = await run.step(joinPartsKernels[isWide ? "wide" : "narrow"], constants, 1 / ROW_TILE);
  const out: { readonly [name: string]: Range | undefined } = {
    outKeys: keys?.range,
    outBuild: builds?.range,
    outProbe: probes?.range,
  };
  const { totalLow: total } = run.counters;
  return {
    step,
    out,
    params: { total, inverse: inverseOf(run.keying.multiplier) },
    /** What was written, when that was waited for. @param hasFailed it is to no purpose */
    async written(hasFailed: boolean): Promise<Written | null> {
      if (hasFailed) {
        for (const column of [keys, builds, probes]) if (column) results.drop(column);
        return null;
      }
      run.noting(BY_PARTS)();
      run.finish();
      const rows = (run.counters.totalLow - total) >>> 0;
      const lists = new RowLists(run, results);
      const own = async (column: ResultColumn | null, words: number) =>
        column && lists.shorten(column, rows * words);
      return {
        rows,
        keys: await own(keys, width),
        build: await own(builds, build.words),
        probe: await own(probes, probe.words),
      };
    },
  };
}

/** What an odd factor times it is 1, modulo 2^32: each step of Newton's doubles the bits. */
function inverseOf(factor: number): number {
  let inverse = factor;
  for (let bits = 3; bits < 32; bits *= 2) inverse = Math.imul(inverse, 2 - Math.imul(factor, inverse));
  return inverse;
}

/** The columns of a side of which all that is asked for was written. */
export function ofSide(
  { keys }: Written,
  { columns, keys: keyed, others }: Along,
  own: ResultColumn | null,
): DeviceColumn[] {
  const made: DeviceColumn[] = [];
  const put = (place: number, column: ResultColumn | null) => {
    const { values } = columns[place];
    if (values?.kind === "fixed" && column) {
      made[place] = { values: { ...values, data: column.array }, validity: null };
    }
  };
  for (const place of keyed) put(place, keys);
  for (const place of others) put(place, own);
  return made;
}

/** The build side's columns, which may be to be gathered by row numbers. */
async function ofBuild(
  host: GpuHost,
  written: Written,
  { build }: Joining,
  call: Pick<JoinCall, "signal">,
): Promise<DeviceColumn[]> {
  const { columns, others, carried } = build;
  const numbers = written.build;
  if (carried !== null || numbers === null) return ofSide(written, build, numbers);
  const made = ofSide(written, { ...build, others: [] }, null);
  const gathered = await gatherColumns(
    host,
    others.map((place) => columns[place]),
    numbers.array,
    false,
    call,
  );
  numbers.array.destroy();
  for (const [i, place] of others.entries()) made[place] = gathered[i];
  return made;
}
