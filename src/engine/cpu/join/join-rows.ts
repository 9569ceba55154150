/**
 * Inner join of row keys. The smaller side is built into a table, the other is looked up in it: pack keys
 * (groups/row-keys.ts), build one table (groups/one-table.ts) and probe it (probe.ts), or when the table would outgrow
 * the cache sort both sides by partition (groups/partitions.ts) and match them (match.ts); then write the pairs
 * (pairs.ts). Candidates are compared by their whole keys; hashes never decide.
 *
 * The calling thread copies keys, chunk by chunk into memory that all threads reach; threads share all that follows. The
 * pairs come in the order of the larger side, and for each of its rows in the order of the other, with any number of
 * threads. Between pieces of work the event loop runs, the signal is looked at and progress is reported.
 */

import { bitmapBytes, isSet, setBit } from "../../../bitmaps.js";
import { ArrivingRows } from "../../../host/arrival.js";
import { type RowMemory, Scratch } from "../../../host/row-memory.js";
import type { CodedBytes } from "../../coded-bytes.js";
import type { PairKind } from "../../device-columns.js";
import type { ChunkPlan } from "../../plan.js";
import type { JoinCall } from "../../row-operations.js";
import type { RowKeys, RowPairs } from "../../rows.js";
import { phaseClock } from "../groups/group-rows.js";
import { chooseLayout, type Layout } from "../groups/key-layout.js";
import { buildTable, type TableData } from "../groups/one-table.js";
import { partitionBits, sortByPartition } from "../groups/partitions.js";
import { arrivingColumns, type KeySide, keySide } from "../groups/side-columns.js";
import { codedColumn } from "../groups/strings.js";
import { Pace } from "../rows/pace.js";
import { ALL_BITS, type ArrivingJob, RowRun } from "../rows/row-run.js";
import { RowThreads } from "../rows/row-threads.js";
import { rowTuning } from "../tuning.js";
import { type EqualRows, listEqualRows, roomForLists } from "./equal-rows.js";
import { type MatchedRows, writePairs } from "./pairs.js";

/** Sorted rows of the probe side at once, in build rows: every partition's table is built again for each. */
const PROBE_PER_BUILD = 4;

/**
 * Threads that sort two sides of similar length in less time than one fills an array of keys that lie close together. Of
 * 2^22 rows on both sides one thread alone works on 131 of 384 ms where there is an array, and on 40 of 413 where there
 * is none (two cores of a Xeon, Node 20).
 */
const SORTING_THREADS = 4;

/**
 * Pairs of rows with equal keys, in the order of the larger side; of a semi join the left rows that match, in their
 * order.
 * @param hashMask for tests: hashes are and-ed with it, so few bits make keys collide
 * @throws LimitError when there are more than the call takes, or no memory for them
 */
export async function joinRows(
  left: RowKeys,
  right: RowKeys,
  call: JoinCall,
  hashMask = ALL_BITS,
  threads = new RowThreads(null, rowTuning),
  how: PairKind = "inner",
): Promise<RowPairs> {
  const buildsLeft = left.rows < right.rows;
  const [build, probe] = buildsLeft ? [left, right] : [right, left];
  const work = { call, rows: left.rows + right.rows, hashMask, threads };
  return matchedPairs(work, buildsLeft, how, (join) => join.match(build, probe));
}

export interface JoinWork {
  readonly call: JoinCall;
  /** Rows that are gone over. */
  readonly rows: number;
  readonly hashMask: number;
  readonly threads: RowThreads;
}

/**
 * What a join matches, as pairs.
 * @param buildsLeft the build side is the left; semi joins of it take the rows' leaders, so it is none that was built
 * before
 */
export async function matchedPairs(
  { call, rows, hashMask, threads }: JoinWork,
  buildsLeft: boolean,
  how: PairKind,
  match: (join: Join) => Promise<MatchedRows>,
): Promise<RowPairs> {
  call.signal?.throwIfAborted();
  threads.guard();
  const [memory, work] = [threads.memory(rows), threads.memory(rows)];
  try {
    const pace = new Pace(call, rows, () => threads.guard());
    const run = new RowRun(threads, work, pace, hashMask);
    const phase = phaseClock(call.log);
    const matched = await match(new Join(call, run, memory, phase));
    const { left, right, inOrder } = await pairsFound(matched);
    phase("write pairs");
    pace.finish();
    threads.guard();
    return { left, right, inOrder, release: () => memory.release() };

    async function pairsFound(found: MatchedRows): Promise<RowPairs> {
      const isSemi = how === "semi";
      if (isSemi && buildsLeft) return { left: matchedBuildRows(found), right: new Uint32Array(0) };
      // one pair says that a row matches
      const written = isSemi ? { ...found, repeats: 0 } : found;
      const most = isSemi ? undefined : call.mostPairs;
      const { build, probe, probeInOrder } = await writePairs(written, memory, run, rows, most);
      const inOrder = probeInOrder ? (buildsLeft ? "right" : "left") : undefined;
      if (isSemi) return { left: probe, right: new Uint32Array(0), inOrder };
      return buildsLeft ? { left: build, right: probe, inOrder } : { left: probe, right: build, inOrder };
    }
  } catch (error) {
    memory.release();
    throw error;
  } finally {
    work.release();
  }
}

/** The build rows whose key a probe row has, in their order. */
function matchedBuildRows({ follows, matches }: MatchedRows): Uint32Array {
  const leaders = new Uint8Array(bitmapBytes(follows.length));
  for (let row = 0; row < matches.length; row++) if (matches[row] !== 0) setBit(leaders, matches[row] - 1);
  const rows = new Uint32Array(follows.length);
  let found = 0;
  for (let row = 0; row < follows.length; row++) {
    if (isSet(leaders, follows[row] === 0 ? row : follows[row] - 1)) rows[found++] = row;
  }
  return rows.subarray(0, found);
}

/** A build side that was put into a table before. */
export interface BuiltSide {
  readonly table: TableData;
  readonly layout: Layout;
  readonly repeats: number;
  /** Its rows by key; null when all keys differ. */
  readonly equal: EqualRows | null;
}

export class Join {
  readonly #work: RowMemory;

  constructor(
    readonly call: JoinCall,
    readonly run: RowRun,
    /** Of the matches, which may become the pairs. */
    readonly memory: RowMemory,
    /** Told the name of what was done since it was last told. */
    readonly phase: (name: string) => void,
  ) {
    this.#work = run.work;
  }

  /** Finds equal rows: which build rows follow which, and what probe rows match. */
  async match(build: RowKeys, probe: RowKeys, built: BuiltSide | null = null): Promise<MatchedRows> {
    const [only, ...others] = probe.columns;
    const coded = others.length === 0 ? codedColumn(only, probe.rows) : null;
    if (coded !== null) return this.#matchCodes(build, probe, coded, built);
    const follows = this.#work.zeroedWords(built === null ? build.rows : 0);
    const found = {
      follows,
      listEqual: () => listEqualRows(follows, this.#work),
      matches: this.memory.words(probe.rows),
      repeats: 0,
      hits: this.#work.numbers(this.run.slices(probe.rows)),
    };
    if (build.rows === 0) {
      found.matches.fill(0);
      return found;
    }
    if (built !== null) {
      const { table, layout, repeats, equal } = built;
      this.#note({ strategy: "direct", reason: "the build side is an index" });
      await this.#probe(table, keySide(probe, layout, this.#work), layout, found);
      this.phase("probe");
      return { ...found, repeats, listEqual: () => equal as EqualRows };
    }
    const layout = chooseLayout(build, probe, this.call.nullsEqual);
    const sides = [keySide(build, layout, this.#work), keySide(probe, layout, this.#work)] as const;
    // one thread fills a table
    const onlySmall = this.run.threads.count >= SORTING_THREADS && probe.rows <= PROBE_PER_BUILD * build.rows;
    const table = await buildTable(this.run, sides[0], layout, found.follows, { onlySmall });
    if (table === null) return this.#sortAndMatch(sides[0], sides[1], layout, found);
    this.#note({
      strategy: "direct",
      reason:
        table.table.kind === "dense"
          ? "the build side's keys lie close together"
          : "one table of the build side fits the cache",
    });
    this.phase("build table");
    await this.#probe(table.table, sides[1], layout, found);
    this.phase("probe");
    return { ...found, repeats: table.repeats };
  }

  /** Looks up each string of a dictionary once, and then each row's by its code. */
  async #matchCodes(
    build: RowKeys,
    probe: RowKeys,
    coded: CodedBytes,
    built: BuiltSide | null,
  ): Promise<MatchedRows> {
    const { codes, validity } = coded;
    const values = withNull(coded);
    const { matches: matchOf, ...found } = await this.match(build, values, built);
    const matches = this.memory.words(probe.rows);
    const hits = this.#work.numbers(this.run.slices(probe.rows));
    const expand = (first: number, rows: number, scratch: Scratch): ArrivingJob => {
      const arriving = new ArrivingRows(this.#work, scratch, first, rows);
      const columns = {
        codes: arriving.elements("codes", codes),
        validity: validity && arriving.bits("validity", validity),
      };
      const job = {
        kind: "expand",
        ...columns,
        matchOf,
        ...this.#slicesOf({ matches, hits }, first, rows),
      } as const;
      return { job, bring: arriving.bring };
    };
    await this.run.overChunks(probe.rows, expand);
    this.phase("matches by code");
    return { ...found, matches, hits };
  }

  #note(plan: Partial<ChunkPlan>): void {
    this.call.log?.beginChunk(plan);
  }

  async #probe(table: TableData, side: KeySide, layout: Layout, found: MatchedRows): Promise<void> {
    const { hashing } = this.run;
    await this.run.overChunks(side.keys.rows, (first, rows, scratch) => {
      const arriving = new ArrivingRows(this.#work, scratch, first, rows);
      const keys = { side: arrivingColumns(side, arriving), rows, layout, hashing };
      const job = { kind: "probe", table, ...keys, ...this.#slicesOf(found, first, rows) } as const;
      return { job, bring: arriving.bring };
    });
  }

  /** Sorts both sides by partition and joins partition by partition. */
  async #sortAndMatch(
    buildSide: KeySide,
    probeSide: KeySide,
    layout: Layout,
    found: MatchedRows,
  ): Promise<MatchedRows> {
    const { run } = this;
    const { follows } = found;
    const buildRows = buildSide.keys.rows;
    const probeRows = probeSide.keys.rows;
    const bits = partitionBits(buildRows, layout);
    const reason = "one table of the build side would outgrow the cache";
    this.#note({ strategy: "partitioned", reason, partitions: 2 ** bits });
    const build = await sortByPartition(run, buildSide, 0, buildRows, layout, bits);
    const scratch = new Scratch(run.work);
    const { chunk, slice } = run.threads.tuning;
    const step = Math.max(chunk, PROBE_PER_BUILD * run.slices(buildRows) * slice);
    let repeats = 0;
    for (let first = 0; first < probeRows; first += step) {
      const rows = Math.min(step, probeRows - first);
      const probe = await sortByPartition(run, probeSide, first, rows, layout, bits, scratch);
      this.phase("sort by partition");
      const job = { kind: "match", build, probe, follows, hashing: run.hashing } as const;
      const results = await run.share(job, buildRows + rows);
      if (first === 0) for (const result of results) repeats += result.repeats;
      const { matches, hits } = this.#slicesOf(found, first, rows);
      await run.share({ kind: "place", probe, matches, hits }, rows);
      this.phase("match");
    }
    const listEqual = async () => {
      const equal = roomForLists(follows, run.work);
      await run.share({ kind: "list", build, equal }, buildRows);
      return equal;
    };
    return { ...found, repeats, listEqual };
  }

  /** The part of matches and hits that belongs to some rows; `first` is the first of a slice. */
  #slicesOf({ matches, hits }: Pick<MatchedRows, "matches" | "hits">, first: number, rows: number) {
    const sliceRows = this.run.threads.tuning.slice;
    const slice = first / sliceRows;
    return {
      sliceRows,
      matches: matches.subarray(first, first + rows),
      hits: hits.subarray(slice, slice + this.run.slices(rows)),
    };
  }
}

/** The strings of a dictionary as rows, and one more that is null. */
function withNull({ strings }: CodedBytes): RowKeys {
  const rows = strings.starts.length + 1;
  const [starts, ends] = [new Uint32Array(rows), new Uint32Array(rows)];
  starts.set(strings.starts);
  ends.set(strings.ends);
  const validity = new Uint8Array(bitmapBytes(rows)).fill(0xff);
  validity[(rows - 1) >>> 3] &= ~(1 << ((rows - 1) & 7));
  return { rows, columns: [{ kind: "bytes", starts, ends, bytes: strings.bytes, validity }] };
}
