/**
 * Inner joins of several GPUs, as join-columns.ts does them on one: each GPU splits the rows that it has into coarse parts
 * by their mixed keys, runs of these parts go to the GPU that owns them, which splits them again and joins its parts. What
 * goes is copied while other rows are split.
 */
import { LimitError } from "../../../errors.js";
import type { JoinedColumns, JoinedSide } from "../../device-columns.js";
import type { JoinCall } from "../../row-operations.js";
import { settled } from "../../settled.js";
import type { Chunk } from "../batch/columns.js";
import { NO_RECORDS } from "../columns/gather-columns.js";
import { getOrMake } from "../get-or-make.js";
import { ResultColumns } from "../groups/result-columns.js";
import { rowCounters } from "../groups/row-kernels.js";
import { type RowRun, type RowWork, runRows } from "../groups/row-run.js";
import type { GpuHost } from "../host.js";
import {
  type CoarseSplitting,
  hasWords,
  ITEM_BYTES,
  partsStep,
  type SplitRows,
  splittingCoarse,
} from "../reduce/row-parts.js";
import type { Range } from "../runtime.js";
import { type Joining, joiningOf, joiningParts, ofSide, type Written } from "./join-columns.js";
import { boundParts, haveFailed, surveyingSide, unfit } from "./match-parts.js";

/** Probe keys that were skewed beside a build key: another way is taken, and will be for both. */
const skewed = new WeakMap<object, WeakSet<object>>();

/** Rows that a GPU has for another at most, of what it has for each on average, and some. */
const [MOST_OF_MEAN, FEW_ROWS] = [1.25, 1024];

/** A GPU, and the rows that it has of both sides. */
export interface OwnRows {
  readonly host: GpuHost;
  readonly left: JoinedSide;
  readonly right: JoinedSide;
}

/** Where the rows of parts begin at their owner, and what the second split of each GPU's rows has for cursors. */
export interface PartStarts {
  readonly run: RowRun;
  /** Of each GPU, where its own rows' parts begin. */
  readonly sources: readonly Range[];
  readonly starts: Range;
  readonly cursors: Range;
  /** Finest parts, those from which on and up to which they are the owner's, and how many of them are one part. */
  readonly params: {
    readonly FINE: number;
    readonly LOW: number;
    readonly HIGH: number;
    readonly SHIFT: number;
  };
}

/** The ways between GPUs. */
export interface GpuWays {
  /** Copies that are asked for later begin after all that was submitted by now. */
  copyLater(): void;
  /** Copies from a GPU's memory to another one's, beside their work. */
  copy(from: Range, source: number, to: Range, target: number, bytes: number): Promise<void>;
  /** What is submitted later begins after the copies. */
  workLater(): void;
  /** What is submitted to any GPU later begins after all that was submitted by now: memory may be given back. */
  meet(): void;
  partStarts(how: PartStarts): Promise<void>;
  /**
   * Told which rows of a side go to whom: for each GPU where those of each owner begin, and the last one's end. False
   * where some GPU would have too many.
   */
  agree(begins: readonly (readonly number[])[]): boolean;
}

/** What stands for the key of either side from call to call. */
interface Keys {
  readonly build: object;
  readonly probe: object;
}

/** Null where sides cannot be joined so, or where that is to no purpose, or takes too much memory. */
export async function joinByOwners(
  ownRows: () => Promise<readonly OwnRows[]>,
  [rows, buildRows]: readonly [rows: number, buildRows: number],
  buildsLeft: boolean,
  keys: Keys,
  ways: GpuWays,
  call: Omit<JoinCall, "nullsEqual">,
): Promise<JoinedColumns[] | null> {
  if (unfit.has(keys.build) || skewed.get(keys.build)?.has(keys.probe)) return null;
  const gpus = await ownRows();
  const joinings: Joining[] = [];
  for (const { host, left, right } of gpus) {
    const [own, others] = buildsLeft ? [left, right] : [right, left];
    const joining = own.keys.rows > 0 ? joiningOf(host, own, others, buildRows) : null;
    // row numbers would be those of another GPU's rows
    if (
      !joining ||
      [joining.build, joining.probe].some(({ carried, others }) => !carried && others.length > 0)
    )
      return null;
    joinings.push(joining);
  }
  const results = gpus.map(({ host }) => new ResultColumns(host));
  const work = { call: { ...call, nullsEqual: false }, layout: NO_RECORDS, rows, passes: 1 };
  try {
    const written = await withRuns(gpus, work, async (runs) => {
      for (const run of runs) run.keying = runs[0].keying;
      const join = new OwnersJoin(runs, joinings, results, ways, keys);
      try {
        return await join.join();
      } finally {
        await join.ended();
        ways.meet();
      }
    });
    if (written === null) return null;
    return written.map((each, g): JoinedColumns => {
      const { build, probe } = joinings[g];
      const [ofBuild, ofProbe] = [ofSide(each, build, each.build), ofSide(each, probe, each.probe)];
      return {
        rows: each.rows,
        ...(buildsLeft ? { left: ofBuild, right: ofProbe } : { left: ofProbe, right: ofBuild }),
      };
    });
  } catch (error) {
    for (const each of results) each.destroy();
    // other ways take less memory
    if (error instanceof LimitError) return null;
    throw error;
  }
}

/** A run of each GPU, all at once; the first has the call's log. */
function withRuns<T>(
  gpus: readonly OwnRows[],
  work: RowWork,
  body: (runs: readonly RowRun[]) => Promise<T>,
  runs: readonly RowRun[] = [],
): Promise<T> {
  if (runs.length === gpus.length) return body(runs);
  const { signal, nullsEqual } = work.call;
  const own = runs.length === 0 ? work : { ...work, call: { signal, nullsEqual } };
  return runRows(gpus[runs.length].host, own, (run) => withRuns(gpus, work, body, [...runs, run]));
}

/** A GPU's rows of a side, by coarse part. */
interface CoarseSide extends CoarseSplitting {
  readonly rows: number;
  readonly isValued: boolean;
  readonly starts: Range;
  /** Room for rows at each owner, none for a GPU's own. */
  readonly there: readonly (Pick<Arrived, "items" | "words" | "starts"> | undefined)[];
  /** Rows that there is room for. */
  readonly room: number;
  survey(waits: boolean): Promise<void>;
}

/** Where a GPU's rows of each owner begin, and the last one's end; null where keys are too uneven to tell. */
type Begins = readonly number[] | null;

/** The same at the owner: places are those that the rows had where they came from. */
interface Arrived {
  readonly items: Range;
  readonly words: Range | undefined;
  readonly starts: Range;
  /** Where the first of them was. */
  readonly first: number;
  readonly rows: number;
}

/** An owner's rows of a side by part. */
interface SplitAgain {
  readonly rows: SplitRows;
  readonly count: number;
  /** Submits the split of the owner's own rows, or of all others. */
  split(isOwn: boolean): Promise<void>;
}

/** Whether there is room for all rows that go from a GPU to others. */
const fits = (begins: readonly number[], own: number, room: number) =>
  begins.slice(1).every((end, owner) => owner === own || end - begins[owner] <= room);

class OwnersJoin {
  /** What is read while rows are split. */
  readonly #reads: Promise<Begins>[] = [];

  constructor(
    private readonly runs: readonly RowRun[],
    private readonly joinings: readonly Joining[],
    private readonly results: readonly ResultColumns[],
    private readonly ways: GpuWays,
    private readonly keys: Keys,
  ) {}

  /** Null where it is to no purpose: a call of the same keys is not to try again. */
  async join(): Promise<Written[] | null> {
    const { runs, joinings, results, ways, keys } = this;
    const build = await this.#prepare("build");
    const told = [await this.#split(build)];
    ways.copyLater();
    const probe = await this.#prepare("probe");
    told.push(await this.#split(probe));
    const again: SplitAgain[][] = [];
    for (const [s, side] of [build, probe].entries()) {
      const begins = await settled(told[s].map(({ begins }) => begins));
      runs[0].checkSignal();
      const agreed = begins.flatMap((each, g) => (each && fits(each, g, side[g].room) ? [each] : []));
      if (agreed.length < runs.length || !ways.agree(agreed)) {
        if (side === build) unfit.add(keys.build);
        else getOrMake(skewed, keys.build, () => new WeakSet<object>()).add(keys.probe);
        return null;
      }
      const arrived = await this.#bringStarts(side, agreed);
      ways.workLater();
      await this.#bringRows(side, arrived);
      // the next side is copied while this one is split
      ways.copyLater();
      const parts = await settled(runs.map((_, owner) => this.#splittingAgain(side, arrived[owner], owner)));
      // a GPU's own rows before those that are on their way
      await settled(parts.map(({ split }) => split(true)));
      ways.workLater();
      await settled(parts.map(({ split }) => split(false)));
      again.push(parts);
    }
    runs[0].checkSignal();
    const joined = await settled(
      runs.map(async (run, owner) => {
        const [{ rows: build }, { rows: probe, count }] = [again[0][owner], again[1][owner]];
        const parts = await joiningParts(run, results[owner], joinings[owner], count);
        const { partBits, splitBits } = probe.params;
        const coarse = this.#partsOf(owner, splitBits);
        const scale = 2 ** (partBits - splitBits);
        const chunk = { first: coarse.first * scale, count: coarse.count * scale };
        const bindings = { ...boundParts(run, [build, probe]), ...parts.out };
        await run.submitAndWait("join parts", (recorder) => {
          if (chunk.count > 0) parts.step(recorder, bindings as never, chunk, probe.params, parts.params);
        });
        return parts;
      }),
    );
    const haveAnyFailed = runs.map((run, g) => haveFailed(run, joinings[g].sides, false)).includes(true);
    const written = await settled(joined.map((parts) => parts.written(haveAnyFailed)));
    if (!haveAnyFailed) return written as Written[];
    unfit.add(keys.build);
    return null;
  }

  /** Waits for what is still read when the call fails. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#reads);
  }

  /** The coarse parts of an owner. */
  #partsOf(owner: number, splitBits: number): Chunk {
    const begin = (owner: number) => Math.floor((owner * 2 ** splitBits) / this.runs.length);
    return { first: begin(owner), count: begin(owner + 1) - begin(owner) };
  }

  /** Prepares the first split of all rows of a side, and room for them at their owners. */
  #prepare(which: "build" | "probe"): Promise<CoarseSide[]> {
    const { runs, joinings } = this;
    return settled(
      runs.map(async (run, g): Promise<CoarseSide> => {
        const { sides, [which]: along } = joinings[g];
        const { unsplit, survey } = await surveyingSide(run, sides[which], along);
        const coarse = await splittingCoarse(run, unsplit, sides.shape.bits);
        const { rows, counts: starts } = unsplit;
        const isValued = hasWords(unsplit);
        const room = Math.ceil((MOST_OF_MEAN * rows) / runs.length) + FEW_ROWS;
        const roomAt = async (owner: RowRun) => ({
          items: await owner.range(room * ITEM_BYTES),
          words: isValued ? await owner.range(room * 4) : undefined,
          starts: await owner.range(starts.size as number),
        });
        const there = await settled(runs.map(async (owner) => (owner === run ? undefined : roomAt(owner))));
        return { ...coarse, rows, survey, starts, isValued, there, room };
      }),
    );
  }

  /** Has all GPUs split their rows of a side; what goes to whom is known before they have. */
  #split(side: readonly CoarseSide[]): Promise<{ readonly begins: Promise<Begins> }[]> {
    return settled(
      side.map(async (own, g) => {
        const run = this.runs[g];
        await own.survey(false);
        own.begin();
        await run.flush("starts of parts");
        const read = await this.#readBegins(own, run);
        this.#reads.push(read.begins);
        read.begins.catch(() => {}); // told when it is waited for
        await own.split();
        return read;
      }),
    );
  }

  /** Submits what tells where the rows of each owner begin. */
  async #readBegins({ starts, params }: CoarseSide, { host, control }: RowRun) {
    const owners = [...this.runs.keys(), this.runs.length];
    const reads = owners.map((owner) => ({
      buffer: starts.buffer,
      offset: (starts.offset ?? 0) + 4 * this.#fineFrom(owner, params),
      into: new Uint8Array(4),
    }));
    const counters = { buffer: control.buffer, offset: 0, into: new Uint8Array(rowCounters.bytes) };
    const submitted = await host.gpu.begin("starts of owners", () => {}, [...reads, counters]);
    const told = () =>
      rowCounters.read(counters.into).keysUneven > 0
        ? null
        : reads.map(({ into }) => new Uint32Array(into.buffer)[0]);
    return { begins: submitted.arrived.then(told) };
  }

  /** The first of an owner's finest parts. */
  #fineFrom(owner: number, { partBits, splitBits, fineBits }: SplitRows["params"]): number {
    return this.#partsOf(owner, splitBits).first * 2 ** (partBits - splitBits + fineBits);
  }

  /** Brings starts of a side to owners: of each (the first index) where the rows that each GPU had are to arrive. */
  #bringStarts(side: readonly CoarseSide[], begins: readonly (readonly number[])[]): Promise<Arrived[][]> {
    const bring = async (source: number, owner: number): Promise<Arrived> => {
      const { coarse, starts, there } = side[source];
      const [first, end] = begins[source].slice(owner, owner + 2);
      const to = there[owner];
      if (!to) return { ...coarse, starts, first, rows: end - first };
      await this.ways.copy(starts, source, to.starts, owner, starts.size as number);
      // rows are known by where they were
      const moved = (range: Range, bytes: number) => ({
        ...range,
        offset: (range.offset ?? 0) - first * bytes,
      });
      return {
        items: moved(to.items, ITEM_BYTES),
        words: to.words && moved(to.words, 4),
        starts: to.starts,
        first,
        rows: end - first,
      };
    };
    const { runs } = this;
    return settled(runs.map((_, owner) => settled(runs.map((_, source) => bring(source, owner)))));
  }

  async #bringRows(side: readonly CoarseSide[], arrived: readonly (readonly Arrived[])[]): Promise<void> {
    for (const [owner, sources] of arrived.entries())
      for (const [source, to] of sources.entries()) {
        const { items, words } = side[source].coarse;
        if (source === owner || to.rows === 0) continue;
        await this.#copyRows([items, source], [to.items, owner], to, ITEM_BYTES);
        if (words && to.words) await this.#copyRows([words, source], [to.words, owner], to, 4);
      }
  }

  #copyRows(
    [from, source]: readonly [Range, number],
    [to, owner]: readonly [Range, number],
    { first, rows }: Arrived,
    bytes: number,
  ): Promise<void> {
    const at = (range: Range) => ({ ...range, offset: (range.offset ?? 0) + first * bytes });
    return this.ways.copy(at(from), source, at(to), owner, rows * bytes);
  }

  /** Prepares to split what an owner has of a side into its parts: its own rows, and all others. */
  async #splittingAgain(
    side: readonly CoarseSide[],
    arrived: readonly Arrived[],
    owner: number,
  ): Promise<SplitAgain> {
    const run = this.runs[owner];
    const { params, isValued } = side[owner];
    const { partBits, splitBits, fineBits } = params;
    const [LOW, HIGH] = [this.#fineFrom(owner, params), this.#fineFrom(owner + 1, params)];
    const FINE = 2 ** (partBits + fineBits);
    const count = arrived.reduce((sum, each) => sum + each.rows, 0);
    const starts = await run.range(4 * (FINE + 1));
    const cursors = await run.range(4 * arrived.length * 2 ** partBits);
    const items = await run.range(count * ITEM_BYTES);
    const words = isValued ? await run.range(count * 4) : undefined;
    const step = await partsStep(run, isValued);
    const sources = arrived.map((each) => each.starts);
    await this.ways.partStarts({
      run,
      sources,
      starts,
      cursors,
      params: { FINE, LOW, HIGH, SHIFT: fineBits },
    });
    const chunk = this.#partsOf(owner, splitBits);
    const rows: SplitRows = { bits: partBits, items, words, partStarts: starts, params };
    const split = (isOwn: boolean) =>
      run.submit("split parts", (recorder) => {
        for (const [source, each] of arrived.entries()) {
          if ((source === owner) !== isOwn) continue;
          const bindings = {
            splitItems: each.items,
            splitWords: each.words,
            partStarts: each.starts,
            cursors: { ...cursors, offset: 4 * source * 2 ** partBits },
            items,
            words,
          };
          step(recorder, bindings, params, each.rows / chunk.count, chunk);
        }
      });
    return { rows, count, split };
  }
}
