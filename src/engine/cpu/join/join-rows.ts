/**
 * Inner join of row keys. The smaller side is built into a table, the other is looked up in it: pack keys (groups/row-keys.ts),
 * sort both sides by partition when the table would outgrow the cache (groups/sort.ts, match.ts), or else build one table
 * and probe it (probe.ts), write the pairs (pairs.ts). Candidates are compared by their whole keys; hashes
 * never decide.
 *
 * The calling thread packs keys, chunk by chunk into memory that all threads reach; threads share all that follows. The
 * pairs come in the order of the larger side, and for each of its rows in the order of the other, with any number of
 * threads. Between pieces of work the event loop runs, the signal is looked at and progress is reported.
 */
import { CodedBytes } from "../../coded-bytes.js";
import type { JoinCall } from "../../row-join.js";
import type { RowKeys, RowPairs } from "../../rows.js";
import { chooseLayout, type Layout } from "../groups/key-layout.js";
import { keyRange, slotsFor, unsorted } from "../groups/key-tables.js";
import { hashKeys, isPacked, type KeySide, keySide, type PackedKeys, packKeys } from "../groups/row-keys.js";
import { recordWords, type SortedKeys } from "../groups/sort.js";
import { Pace } from "../rows/pace.js";
import type { RowJob } from "../rows/row-jobs.js";
import { type RowMemory, Scratch } from "../rows/row-memory.js";
import { RowThreads } from "../rows/row-threads.js";
import { rowTuning } from "../tuning.js";
import { type MatchedRows, writePairs } from "./pairs.js";
import { openTable, type ProbeJob, type TableData } from "./probe.js";

/**
 * Rows and bytes of records of the build side in a partition. Tuned on an EPYC 9004 (1 MiB of L2 cache a core), Node 20, with
 * 2^20 and 2^22 rows on both sides.
 */
const PARTITION_ROWS = 2 ** 13;
const PARTITION_BYTES = 2 ** 18;
/** More partitions than this sort slower than they join faster (same measurements). */
const MOST_PARTITION_BITS = 10;

/** Sorted rows of the probe side at once, in build rows: every partition's table is built again for each. */
const PROBE_PER_BUILD = 4;

/** Array elements per build key up to which keys index an array instead of being hashed. As much memory as slots take. */
const DENSE_ELEMENTS_PER_KEY = 4;

/** Build rows put into one table between two looks at the signal. */
const INSERT_ROWS = 2 ** 20;

const ALL_BITS = 0xffffffff;

/**
 * Pairs of rows with equal keys, in the order of the larger side.
 * @param hashMask for tests: hashes are and-ed with it, so few bits make keys collide
 * @throws LimitError when there are more than MAX_PAIRS pairs, or no memory for them
 */
export async function joinRows(
  left: RowKeys,
  right: RowKeys,
  call: JoinCall,
  hashMask = ALL_BITS,
  threads = new RowThreads(null, rowTuning),
): Promise<RowPairs> {
  call.signal?.throwIfAborted();
  const buildsRight = right.rows <= left.rows;
  const [build, probe] = buildsRight ? [right, left] : [left, right];
  const rows = left.rows + right.rows;
  const [memory, work] = [threads.memory(rows), threads.memory(rows)];
  try {
    const pace = new Pace(call, rows);
    const join = new Join(call.nullsEqual, hashMask, threads, memory, work, pace);
    const matched = await join.match(build, probe);
    const pairs = await writePairs(matched, memory, work, threads, join.helpers(rows), pace.pause);
    pace.finish();
    const release = () => memory.release();
    return buildsRight
      ? { left: pairs.probe, right: pairs.build, release, ...(pairs.probeInOrder && { inOrder: "left" }) }
      : { left: pairs.build, right: pairs.probe, release, ...(pairs.probeInOrder && { inOrder: "right" }) };
  } catch (error) {
    memory.release();
    throw error;
  } finally {
    work.release();
  }
}

/** One join: what its steps share. */
class Join {
  constructor(
    readonly nullsEqual: boolean,
    readonly hashMask: number,
    readonly threads: RowThreads,
    /** Of the matches, which may become the pairs. */
    readonly memory: RowMemory,
    /** Of everything that is not needed afterwards. */
    readonly work: RowMemory,
    readonly pace: Pace,
  ) {}

  /** Workers that so many rows are worth. */
  helpers(rows: number): number {
    return this.work.shared ? Math.ceil(rows / this.threads.tuning.share) - 1 : 0;
  }

  /** Finds equal rows: which build rows follow which, and what probe rows match. */
  async match(build: RowKeys, probe: RowKeys): Promise<MatchedRows> {
    const coded = codedProbe(probe);
    if (coded !== null) return this.#matchCodes(build, probe, coded);
    const found = {
      follows: this.work.zeroedWords(build.rows),
      matches: this.memory.words(probe.rows),
      repeats: 0,
      hits: this.work.numbers(this.#slices(probe.rows)),
    };
    if (build.rows === 0) {
      found.matches.fill(0);
      return found;
    }
    const layout = chooseLayout(build, probe, this.nullsEqual);
    const sides = [keySide(build, layout, this.work), keySide(probe, layout, this.work)] as const;
    const table = await this.#oneTable(sides[0], layout, found);
    if (table) await this.#probe(table, sides[1], layout, found);
    else await this.#sortAndMatch(sides[0], sides[1], layout, found);
    return found;
  }

  /** Looks up each string of a dictionary once, and then each row's by its code. */
  async #matchCodes(build: RowKeys, probe: RowKeys, coded: CodedBytes): Promise<MatchedRows> {
    const { codes, validity } = coded;
    const values = withNull(coded);
    const { matches: matchOf, follows, repeats } = await this.match(build, values);
    const matches = this.memory.words(probe.rows);
    const hits = this.work.numbers(this.#slices(probe.rows));
    const expand = (first: number, rows: number, scratch: Scratch): RowJob => {
      const some = codes.subarray(first, first + rows);
      const bits = validity?.subarray(first >>> 3, (first + rows + 7) >>> 3) ?? null;
      return {
        kind: "expand",
        codes: this.work.reaches(some) ? some : scratch.copy("codes", some),
        validity: bits === null || this.work.reaches(bits) ? bits : scratch.copy("validity", bits),
        firstBit: first & 7,
        matchOf,
        ...this.#slicesOf({ matches, hits }, first, rows),
      };
    };
    await this.#overChunks(probe.rows, expand);
    return { matches, follows, repeats, hits };
  }

  /** All build rows in one table, if that is the way to go. */
  async #oneTable(side: KeySide, layout: Layout, found: Found): Promise<TableData | null> {
    const { keys } = side;
    const asIs = isPacked(keys, layout);
    const small = keys.rows <= this.threads.tuning.sortAbove;
    if (!small && !(asIs && layout.stride === 1)) return null;
    const all = { side, first: 0, rows: keys.rows };
    // keys that only this thread reads may stay where they are
    const packed = packKeys(all, layout, this.hashMask, asIs ? null : this.work, new Scratch(this.work));
    const table = await this.#newTable(packed, small);
    if (table === null) return null;
    const into = openTable(table);
    const build = unsorted(packed);
    for (let from = 0; from < keys.rows; from += INSERT_ROWS) {
      const to = Math.min(keys.rows, from + INSERT_ROWS);
      if (table.kind === "rows") hashKeys(packed, from, to);
      found.repeats += into.insert(build, from, to, found.follows);
      this.pace.add(to - from);
      if (to < keys.rows) await this.pace.pause();
    }
    return table;
  }

  async #newTable(keys: PackedKeys, small: boolean): Promise<TableData | null> {
    if (keys.exact && this.hashMask === ALL_BITS) {
      const range = keyRange(keys, keys.rows * DENSE_ELEMENTS_PER_KEY);
      if (range)
        return { kind: "dense", smallest: range.smallest, leaders: this.work.zeroedWords(range.size) };
    }
    if (!small) return null;
    const slots = this.work.zeroedWords(2 * slotsFor(keys.rows));
    if (keys.exact) return { kind: "exact", slots, hashMask: this.hashMask };
    return { kind: "rows", slots, build: unsorted(keys) };
  }

  async #probe(table: TableData, side: KeySide, layout: Layout, found: Found): Promise<void> {
    await this.#overChunks(side.keys.rows, (first, rows, scratch): ProbeJob => {
      const keys = packKeys({ side, first, rows }, layout, this.hashMask, this.work, scratch);
      return { kind: "probe", table, keys, ...this.#slicesOf(found, first, rows) };
    });
  }

  /** Sorts both sides by partition and joins partition by partition. */
  async #sortAndMatch(buildSide: KeySide, probeSide: KeySide, layout: Layout, found: Found): Promise<void> {
    const { follows } = found;
    const buildRows = buildSide.keys.rows;
    const probeRows = probeSide.keys.rows;
    const bits = partitionBits(buildRows, layout);
    const build = await this.#sort(buildSide, 0, buildRows, layout, bits, new Scratch(this.work));
    const scratch = new Scratch(this.work);
    const step = Math.max(
      this.threads.tuning.chunk,
      PROBE_PER_BUILD * this.#slices(buildRows) * this.threads.tuning.slice,
    );
    for (let first = 0; first < probeRows; first += step) {
      const rows = Math.min(step, probeRows - first);
      const probe = await this.#sort(probeSide, first, rows, layout, bits, scratch);
      const job = { kind: "match", build, probe, follows, hashMask: this.hashMask } as const;
      const results = await this.threads.run(job, this.helpers(buildRows + rows), this.pace.pause);
      if (first === 0) for (const { repeats } of results) found.repeats += repeats;
      const { matches, hits } = this.#slicesOf(found, first, rows);
      await this.threads.run({ kind: "place", probe, matches, hits }, this.helpers(rows), this.pace.pause);
    }
  }

  async #sort(
    side: KeySide,
    first: number,
    rows: number,
    layout: Layout,
    bits: number,
    kept: Scratch,
  ): Promise<SortedKeys> {
    const sliceRows = this.threads.tuning.slice;
    const { width, stride: words } = layout;
    const exact = width === 1 && words === 1;
    const stride = recordWords({ exact, stride: words });
    const records = kept.words("records", rows * stride);
    const starts = kept.words("starts", this.#slices(rows) * (2 ** bits + 1));
    const to = { rows, sliceRows, bits, stride, records, starts, exact, width, bytes: side.bytes };
    await this.#overChunks(rows, (from, count, scratch) => {
      const some = { side, first: first + from, rows: count };
      const keys = packKeys(some, layout, this.hashMask, this.work, scratch);
      return { kind: "sort", keys, firstSlice: from / sliceRows, to };
    });
    return to;
  }

  /**
   * Makes a job of each chunk of rows and runs it. While workers begin with one, the calling thread makes the next; that
   * is why there are two scratch memories.
   */
  async #overChunks(
    rows: number,
    makeJob: (first: number, rows: number, scratch: Scratch) => RowJob,
  ): Promise<void> {
    const { chunk } = this.threads.tuning;
    const scratches = [new Scratch(this.work), new Scratch(this.work)];
    const make = (first: number) =>
      makeJob(first, Math.min(chunk, rows - first), scratches[(first / chunk) & 1]);
    let job = rows > 0 ? make(0) : null;
    for (let first = 0; job !== null; first += chunk) {
      const next = first + chunk;
      let nextJob: RowJob | null = null;
      const count = Math.min(chunk, rows - first);
      await this.threads.run(job, this.helpers(count), this.pace.pause, () => {
        if (next < rows) nextJob = make(next);
      });
      this.pace.add(count);
      await this.pace.pause();
      job = nextJob;
    }
  }

  #slices(rows: number): number {
    return Math.ceil(rows / this.threads.tuning.slice);
  }

  /** The part of matches and hits that belongs to some rows; `first` is the first of a slice. */
  #slicesOf({ matches, hits }: Pick<Found, "matches" | "hits">, first: number, rows: number) {
    const sliceRows = this.threads.tuning.slice;
    const slice = first / sliceRows;
    return {
      sliceRows,
      matches: matches.subarray(first, first + rows),
      hits: hits.subarray(slice, slice + this.#slices(rows)),
    };
  }
}

type Found = { -readonly [K in keyof MatchedRows]: MatchedRows[K] };

/** The key column of a side that has one only, given as codes into a dictionary with fewer strings than rows. */
function codedProbe({ columns, rows }: RowKeys): CodedBytes | null {
  const [only] = columns;
  const coded = columns.length === 1 && only instanceof CodedBytes && only.strings.starts.length < rows / 2;
  return coded ? only : null;
}

/** The strings of a dictionary as rows, and one more that is null. */
function withNull({ strings }: CodedBytes): RowKeys {
  const rows = strings.starts.length + 1;
  const [starts, ends] = [new Uint32Array(rows), new Uint32Array(rows)];
  starts.set(strings.starts);
  ends.set(strings.ends);
  const validity = new Uint8Array((rows + 7) >>> 3).fill(0xff);
  validity[(rows - 1) >>> 3] &= ~(1 << ((rows - 1) & 7));
  return { rows, columns: [{ kind: "bytes", starts, ends, bytes: strings.bytes, validity }] };
}

function partitionBits(rows: number, layout: Layout): number {
  const exact = layout.width === 1 && layout.stride === 1;
  const partitionRows = Math.min(
    PARTITION_ROWS,
    PARTITION_BYTES / (4 * recordWords({ exact, stride: layout.stride })),
  );
  return Math.max(1, Math.min(MOST_PARTITION_BITS, Math.ceil(Math.log2(rows / partitionRows))));
}
