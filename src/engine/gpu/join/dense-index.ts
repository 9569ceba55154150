/**
 * The build side of a join whose keys lie close together, as an array over its keys (../../dense-keys.ts): a probe is
 * one load. One key column of one or two words, of any sign; the array has the place of nulls, where these are equal,
 * behind the last key's.
 *
 * How far the keys reach is known of codes of a dictionary. Else it is measured on the GPU (key-range.wgsl) and waited
 * for, since the array's length follows from it; keys that lie far apart are mostly told by a sample, and the column is
 * remembered, so that the next join does not ask. Whether build rows are equal is known with the counters that come
 * back next.
 */
import { bitmapBytes } from "../../../bitmaps.js";

import { longestDenseRange } from "../../dense-keys.js";
import type { DeviceKeys, DeviceWordColumn } from "../../device-columns.js";
import { EMPTY } from "../../layout.js";
import { gpuArray } from "../batch/columns.js";
import { filling } from "../fill.js";
import type { ResultColumn, ResultColumns } from "../groups/result-columns.js";
import type { RowParams } from "../groups/row-kernels.js";
import type { RowRun } from "../groups/row-run.js";
import {
  type BoundKeys,
  bindKeys,
  boundWords,
  countKeys,
  type KeyRange,
  type KeyWords,
  keyRange,
  oneWord,
} from "../groups/word-keys.js";
import type { Range } from "../runtime.js";
import type { PairSource } from "./count-pairs.js";
import {
  COUNTED_ITEMS,
  countPlacedKernel,
  countPlacesKernel,
  denseMatchesKernel,
  densePartnersKernel,
  denseSelectKernel,
  placeRowsKernel,
} from "./dense-kernels.js";
import { SELECT_ITEMS } from "./join-kernels.js";
import type { Partners, SelectConstants, SelectStep } from "./row-lists.js";

/** Rows of both sides from which waiting for the range pays: of fewer, the GPU has done with them by then. */
const LEAST_ROWS = 2 ** 22;
/**
 * Of a longer array too little is in the GPU's cache: random accesses to its memory take as long as bringing the rows
 * into order does.
 */
const MOST_PLACES = 2 ** 25;
/** Key columns that were found to lie far apart. Should one have changed, it only takes the longer way. */
const sparse = new WeakSet<object>();

/**
 * Both sides with their only key column on the device, where they have one that may be dense; null where they have not.
 */
export async function denseSides(
  run: RowRun,
  build: DeviceKeys,
  probe: DeviceKeys,
): Promise<{ build: DeviceKeys; probe: DeviceKeys } | null> {
  const { tuning, engine } = run.host;
  const { strategy } = engine.defaults;
  const least = tuning.denseJoin?.leastRows ?? LEAST_ROWS;
  const [keys, lookups] = [oneWord(build), oneWord(probe)];
  const isFree = strategy === undefined || strategy === "auto";
  if (!keys || !lookups || build.rows === 0 || probe.rows === 0 || !isFree) return null;
  if (belowOf(keys) === undefined && build.rows + probe.rows < least) return null;
  if (sparse.has(keys.data)) return null;
  return { build: await uploaded(run, build), probe: await uploaded(run, probe) };
}

/** What all keys are less than, where that is known. */
const belowOf = (column: KeyWords) => (column.kind === "device words" ? column.below : undefined);

/** Keys of one column, which is brought to the device for the time of the call. */
async function uploaded(run: RowRun, keys: DeviceKeys): Promise<DeviceKeys> {
  const { rows } = keys;
  const column = oneWord(keys);
  if (!column || column.kind === "device words") return keys;
  const there = async (data: Uint32Array | Uint8Array, words: number) => {
    const { buffer } = await boundWords(run, data, words);
    return gpuArray(run.host.engine, run.host.gpu, "u32", words, { buffer, byteOffset: 0, owned: false });
  };
  const { width, validity } = column;
  const data = await there(column.data, rows * width);
  const bytes = validity?.subarray(0, bitmapBytes(rows));
  const bits = bytes ? await there(bytes, Math.ceil(rows / 32)) : null;
  return { rows, columns: [{ kind: "device words", width, data, validity: bits }] };
}

/** The index of the build rows; null where their keys lie too far apart. Sides are those of `denseSides`. */
export async function denseIndex(
  run: RowRun,
  sides: { readonly build: DeviceKeys; readonly probe: DeviceKeys },
): Promise<DenseIndex | null> {
  const keys = oneWord(sides.build) as DeviceWordColumn;
  const build = await bindKeys(run, keys, sides.build.rows);
  const range = await denseRange(run, build, keys.below);
  if (range === null) {
    sparse.add(keys.data);
    return null;
  }
  const probe = await bindKeys(run, oneWord(sides.probe) as DeviceWordColumn, sides.probe.rows);
  return new DenseIndex(run, build, probe, range);
}

/** Where the keys lie; null where they lie too far apart. It is waited for where that is not known. */
async function denseRange(run: RowRun, keys: BoundKeys, below: number | undefined): Promise<KeyRange | null> {
  const { gpu, tuning } = run.host;
  const { maxBinding } = gpu.traits;
  const mostPlaces = tuning.denseJoin?.mostPlaces ?? MOST_PLACES;
  const most = Math.min(longestDenseRange(keys.rows), mostPlaces, maxBinding / 4 - 4);
  if (below === undefined) return keyRange(run, keys, most);
  if (below > most) return null;
  if (keys.params.keyNullable === 1) await countKeys(run, keys);
  return { lowest: 0, lowestUpper: 0, places: below };
}

export class DenseIndex implements Partners {
  #rowsAt: Range | undefined;
  /** The last is there for nulls. */
  readonly #words: number;

  constructor(
    private readonly run: RowRun,
    private readonly build: BoundKeys,
    private readonly probe: BoundKeys,
    private readonly range: KeyRange,
  ) {
    this.#words = range.places + 1;
  }

  get rows(): number {
    return this.probe.rows;
  }

  /** Rows that get a place, as far as the counters tell that came back last. */
  get #rowsPlaced(): number {
    const { run, build } = this;
    return build.params.keyNullable === 0 || run.nullsEqual ? build.rows : run.counters.keysCounted;
  }

  /** There are more rows than places: some are equal. */
  get isCrowded(): boolean {
    return this.#rowsPlaced > this.#words;
  }

  /** Some build rows are equal, as far as the counters tell that came back last. */
  get repeats(): boolean {
    return this.run.counters.keysPlaced < this.#rowsPlaced;
  }

  async selecting(constants: SelectConstants): Promise<SelectStep> {
    const { run, probe } = this;
    const rowsAt = await this.#place();
    const select = await run.step(denseSelectKernel, { ...probe.constants, ...constants }, SELECT_ITEMS);
    const bindings = { ...probe.bindings, rowsAt, control: run.control };
    const told = this.#params(probe);
    return (recorder, out, ...params) => select(recorder, { ...bindings, ...out }, ...params, told);
  }

  async partners(columns: ResultColumns): Promise<ResultColumn> {
    const { run, probe } = this;
    const rowsAt = await this.#place();
    const partners = await columns.add(probe.rows);
    const bindings = { ...probe.bindings, rowsAt, partners: partners.range };
    const options = { operation: "join probe", waits: false };
    const params = this.#params(probe);
    await run.over(densePartnersKernel, probe.constants, probe.rows, bindings, params, options);
    return partners;
  }

  /** The build rows of every place, where some are equal. */
  async pairs(): Promise<PairSource> {
    const { run, build, probe } = this;
    const { rows } = build;
    const sizes = await run.range(this.#words * 4);
    const [leaders, ranks] = [await run.range(rows * 4), await run.range(rows * 4)];
    const bindings = { ...build.bindings, sizes, leaders, ranks };
    run.queue((recorder) => recorder.clear(sizes.buffer, 0, sizes.size));
    const params = this.#params(build);
    await run.over(countPlacesKernel, build.constants, rows, bindings, params, { waits: false });
    const find = await run.step(denseMatchesKernel, probe.constants);
    const finding = { ...probe.bindings, control: run.control, sizes };
    const probing = this.#params(probe);
    return {
      rows: probe.rows,
      find: (recorder, matches, chunk) => find(recorder, { ...finding, matches }, chunk, probing),
      groups: { rows, leaders, ranks },
      sizes: { range: sizes, words: this.#words },
    };
  }

  #params({ params }: BoundKeys): RowParams {
    const { lowest, lowestUpper, places } = this.range;
    return { ...params, lowest, lowestUpper, places };
  }

  /** The build row of every place, which is queued once; and how many places have one is counted. */
  async #place(): Promise<Range> {
    if (this.#rowsAt) return this.#rowsAt;
    const { run, build } = this;
    const { gpu } = run.host;
    const rowsAt = await run.range(this.#words * 4);
    this.#rowsAt = rowsAt;
    const fill = await filling(gpu, EMPTY);
    const count = await run.step(countPlacedKernel, {}, COUNTED_ITEMS);
    run.queue((recorder) => fill(recorder, rowsAt));
    const bindings = { ...build.bindings, rowsAt };
    const params = this.#params(build);
    await run.over(placeRowsKernel, build.constants, build.rows, bindings, params, { waits: false });
    const words = Math.ceil(this.#words / 4);
    run.queue((recorder) => count(recorder, { rowsAt, control: run.control }, { count: words }));
    return rowsAt;
  }
}
