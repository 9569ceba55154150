/**
 * One join on the GPU, whose result stays there or goes to the host. Where the rows of the build side are all
 * different, or only matching counts, every probe row gets one partner; else pairs are counted and written
 * (count-pairs.ts). The kinds of join come from that: rows are listed by whether they have a partner (row-lists.ts),
 * and rows of a side that are in no pair are appended.
 *
 * Large sides of one key of two words that repeats on neither are split and matched part by part (match-parts.ts); of
 * one word they go through a hash table of the engine (match-words.ts), with all its strategies. A build side that was
 * built before is probed by its records.
 */
import { LimitError } from "../../../errors.js";
import type { DeviceKeys, Matches } from "../../device-columns.js";
import type { JoinKind } from "../../join-kinds.js";
import type { JoinCall } from "../../row-operations.js";
import { MAX_PAIRS, type RowPairs } from "../../rows.js";
import { asBytes } from "../../scalars.js";
import { beginGroups, type GroupsAhead, type GroupTable, probing } from "../groups/group-table.js";
import type { ResultColumn, ResultColumns } from "../groups/result-columns.js";
import { largestRange, packRecords, type Records } from "../groups/row-records.js";
import { checkBinding, type RowRun } from "../groups/row-run.js";
import type { Range } from "../runtime.js";
import {
  countPairs,
  type GroupLists,
  type PairCount,
  type PairSource,
  pairsByRecords,
} from "./count-pairs.js";
import { type DenseIndex, denseIndex, denseSides } from "./dense-index.js";
import { expandKernel, partnersKernel } from "./join-kernels.js";
import { BY_PARTS, partnersByParts } from "./match-parts.js";
import { partnersOfWords } from "./match-words.js";
import { type Partners, partnersIn, RowLists } from "./row-lists.js";

/** Row numbers of the probe side and, beside them, of the build side. */
interface ProbeAndBuild {
  readonly probe: ResultColumn;
  readonly build: ResultColumn | null;
}

/** What a join found, before rows of a side that match nothing are added. */
interface Found extends ProbeAndBuild {
  /** The partner of every probe row, where each has one at most. */
  readonly partners?: ResultColumn;
}

/** The table of a build side that was built before, and the lists of its groups where rows repeat. */
export interface BuiltSide {
  readonly table: GroupTable;
  readonly lists: GroupLists | null;
}

export interface MatchedSides {
  readonly build: DeviceKeys;
  readonly probe: DeviceKeys;
  /** The build side is the join's left. */
  readonly buildsLeft: boolean;
  /** The build side's table, where it was built before: then its keys are not looked at. */
  readonly built: BuiltSide | null;
}

/** Pairs that are brought to the host at once: 16 MiB a side. */
const PAIR_CHUNK = 2 ** 22;

/** Why rows are listed without being counted before. */
const ONE_PARTNER = "a probe row has one partner at most";

const BY_PLACE = "keys lie close together, and are the places of an array";

export class Match {
  readonly #built: BuiltSide | null;
  #build: DeviceKeys;
  #probe: DeviceKeys;
  /** Rows without a partner are answered, too. */
  readonly #keepsProbe: boolean;
  readonly #keepsBuild: boolean;
  readonly #buildsLeft: boolean;
  readonly #lists: RowLists;
  /** Some build rows are equal. */
  #isKnownToRepeat = false;

  constructor(
    private readonly run: RowRun,
    private readonly columns: ResultColumns,
    private readonly call: JoinCall,
    { build, probe, buildsLeft, built }: MatchedSides,
    private readonly how: JoinKind,
  ) {
    [this.#build, this.#probe, this.#built, this.#buildsLeft] = [build, probe, built, buildsLeft];
    this.#lists = new RowLists(run, columns);
    const keeps = (side: "left" | "right") => how === side || how === "full";
    this.#keepsProbe = keeps(buildsLeft ? "right" : "left");
    this.#keepsBuild = keeps(buildsLeft ? "left" : "right");
  }

  /** Left rows alone are answered, each once. */
  get #isHalf(): boolean {
    return this.how === "semi" || this.how === "anti";
  }

  /** These are the probe side's: whether one has a partner is all that is asked. */
  get #isHalfOfProbe(): boolean {
    return this.#isHalf && !this.#buildsLeft;
  }

  async pairs(): Promise<RowPairs> {
    const { run } = this;
    const found = await this.#find();
    if ("inputs" in found) return this.#pairsHere(found);
    await run.flush("last step");
    await run.accepted();
    const { probe, build, partners } = found;
    const [own, others] = await Promise.all([probe.array.read(), build?.array.read() ?? new Uint32Array(0)]);
    const isWhole = build !== null && build === partners;
    this.#lists.drop(probe, build, partners);
    return this.#turned(own, others, isWhole);
  }

  async answer(): Promise<Matches> {
    const counted = await this.#find();
    const { partners, ...found }: Found = "inputs" in counted ? await this.#pairsThere(counted) : counted;
    if (this.#isHalf && found.build) {
      const left = await this.#lists.rowsOf(found.build, this.#build.rows, this.how === "semi");
      this.#lists.drop(found.probe, found.build, partners);
      return { left: left.array, right: null };
    }
    const { probe, build } = await this.#withUnmatched(found, partners);
    const [left, right] = this.#buildsLeft && build ? [build, probe] : [probe, build];
    const inOrder = build === null || build !== partners ? undefined : this.#buildsLeft ? "right" : "left";
    return { left: left.array, right: right?.array ?? null, inOrder };
  }

  /** The rows, or how many pairs there are, which are not written yet. */
  async #find(): Promise<Found | PairCount> {
    return (
      (await this.#fromDense()) ??
      (await this.#fromParts()) ??
      (await this.#fromTable()) ??
      (await this.#fromRecords())
    );
  }

  /** The rows by an array over the build side's keys; undefined where these do not lie close together. */
  async #fromDense(): Promise<Found | PairCount | undefined> {
    const { run } = this;
    const sides = this.#built === null ? await denseSides(run, this.#build, this.#probe) : null;
    if (sides === null) return undefined;
    [this.#build, this.#probe] = [sides.build, sides.probe];
    const index = await denseIndex(run, sides);
    if (index === null) return undefined;
    run.noting(BY_PLACE)();
    const mayRepeat = !this.#isHalfOfProbe;
    const guessed = mayRepeat && index.isCrowded ? null : await this.#fromIndex(index);
    if (guessed && !(mayRepeat && index.repeats)) {
      run.finish();
      return guessed;
    }
    if (guessed) this.#lists.drop(guessed.probe, guessed.build, guessed.partners);
    return this.#count(await index.pairs(), null);
  }

  /** Waits for what was submitted. */
  async #fromIndex(index: DenseIndex): Promise<Found> {
    return this.#isHalfOfProbe
      ? this.#selectHalf(index)
      : this.#fromPartners(await index.partners(this.columns));
  }

  /** The rows by parts of both sides; undefined where that is no way, or has not gone well. */
  async #fromParts(): Promise<Found | undefined> {
    const { run, columns } = this;
    const [build, probe] = [this.#build, this.#probe];
    if (this.#built !== null || probe.rows === 0) return undefined;
    const ahead = await partnersByParts(run, columns, build, probe, this.#isHalf);
    if (!ahead) return undefined;
    const found = await this.#fromPartners(ahead.partners);
    if (ahead.failed()) {
      this.#isKnownToRepeat = run.counters.keysRepeat > 0;
      this.#lists.drop(found.probe, found.build, found.partners);
      return undefined;
    }
    run.noting(BY_PARTS)();
    run.finish();
    return found;
  }

  /** The rows by a hash table of the engine, or without any; undefined where that is no way. */
  async #fromTable(): Promise<Found | undefined> {
    const { run, columns } = this;
    const [build, probe] = [this.#build, this.#probe];
    let partners: ResultColumn | undefined;
    if (build.rows === 0 || probe.rows === 0) {
      partners = await this.#lists.noRows(probe.rows);
    } else if (this.#built === null) {
      partners = await partnersOfWords(run, columns, build, probe, this.#isHalf, this.call);
    }
    if (partners === undefined) return undefined;
    run.finish();
    return this.#fromPartners(partners);
  }

  /** The rows by records: of a build side that was built before, or of both sides. */
  async #fromRecords(): Promise<Found | PairCount> {
    const { run } = this;
    if (this.#built === null) return this.#guess();
    const { table, lists } = this.#built;
    run.keying = table.keying;
    const probe = await packRecords(run, this.#probe);
    if (this.#repeats(table)) return this.#count(await pairsByRecords(run, table, probe), lists);
    run.noting(ONE_PARTNER)();
    return this.#fromPartners(await this.#probeTable(table, probe, true));
  }

  /**
   * The rows are listed as if no two build rows were equal before anybody knows: mostly that is so, and a wait for the
   * table is saved.
   */
  async #guess(): Promise<Found | PairCount> {
    const { run } = this;
    const { host, layout } = run;
    const largest = Math.max(largestRange(this.#build, layout), largestRange(this.#probe, layout));
    checkBinding(host.gpu, largest);
    const build = await packRecords(run, this.#build);
    const probe = await packRecords(run, this.#probe);
    const leaders = await run.range(build.rows * 4);
    const ahead = await beginGroups(run, build, { leaders, numbered: false });
    const guessed = this.#isKnownToRepeat
      ? null
      : await this.#fromPartners(await this.#probeTable(ahead.table, probe, true));
    const finished = await ahead.finish();
    if (finished === null) {
      if (guessed) this.#lists.drop(guessed.probe, guessed.build, guessed.partners);
      return this.#guess();
    }
    const { table, again } = finished;
    const repeats = this.#repeats(table);
    if (!repeats) run.noting(ONE_PARTNER)();
    if (guessed && !repeats && !again) return guessed;
    if (guessed) this.#lists.drop(guessed.probe, guessed.build, guessed.partners);
    if (repeats) return this.#count(await pairsByRecords(run, table, probe), null);
    return this.#fromPartners(await this.#probeTable(table, probe, guessed === null));
  }

  /** Probe rows may have several partners, and all are asked for. */
  #repeats({ groups, members }: GroupTable): boolean {
    return groups < members && !this.#isHalfOfProbe;
  }

  async #probeTable(table: GroupsAhead["table"], probe: Records, isPass: boolean): Promise<ResultColumn> {
    const { run } = this;
    const partners = await this.columns.add(probe.rows);
    const { bindings, params } = probing(run, table, probe);
    const all = { ...bindings, partners: partners.range };
    const options = { operation: "join probe", isPass, waits: false };
    await run.over(partnersKernel, {}, probe.rows, all, params, options);
    return partners;
  }

  #count(source: PairSource, lists: GroupLists | null): Promise<PairCount> {
    return countPairs(this.run, source, this.call.mostPairs ?? MAX_PAIRS, lists);
  }

  /** Writes the pairs a chunk at a time, and brings them to the host. */
  async #pairsHere({ total, inputs }: PairCount): Promise<RowPairs> {
    const { run } = this;
    const [probe, build] = [new Uint32Array(total), new Uint32Array(total)];
    const room = Math.min(total, PAIR_CHUNK) * 4;
    const [outProbe, outBuild] = [await run.range(room), await run.range(room)];
    const write = await run.step(expandKernel, {});
    for (let first = 0; first < total; first += PAIR_CHUNK) {
      run.checkSignal();
      const count = Math.min(PAIR_CHUNK, total - first);
      const params = { first, count, total: this.#probe.rows };
      const readInto = ({ buffer }: Range, words: Uint32Array) => ({
        buffer,
        offset: 0,
        into: asBytes(words.subarray(first, first + count)),
      });
      await run.submitAndWait(
        "pairs",
        (recorder) => write(recorder, { ...inputs, outBuild, outProbe }, params),
        [readInto(outProbe, probe), readInto(outBuild, build)],
      );
    }
    return this.#turned(probe, build, false);
  }

  /** @param isWhole the probe rows are all, in their order */
  #turned(probe: Uint32Array, build: Uint32Array, isWhole: boolean): RowPairs {
    if (this.#buildsLeft) return { left: build, right: probe, ...(isWhole && { inOrder: "right" }) };
    return { left: probe, right: build, ...(isWhole && { inOrder: "left" }) };
  }

  async #pairsThere({ total, inputs }: PairCount): Promise<Found> {
    const { run, columns } = this;
    const [probe, build] = [await columns.add(total), await columns.add(total)];
    const write = await run.step(expandKernel, {});
    await this.#lists.each("pairs", total, (recorder, chunk) => {
      // pairs of a chunk count from its first one
      const piece = ({ range }: ResultColumn) => ({
        ...range,
        offset: chunk.first * 4,
        size: chunk.count * 4,
      });
      const out = { outProbe: piece(probe), outBuild: piece(build) };
      write(recorder, { ...inputs, ...out }, chunk, { total: this.#probe.rows });
    });
    return { probe, build };
  }

  /**
   * The rows of a join where every probe row has one partner at most: all in their order, or some in any. Waits for
   * what was submitted.
   */
  async #fromPartners(partners: ResultColumn): Promise<Found> {
    if (this.#keepsProbe) return this.#allRows(partners, true);
    if (this.#isHalfOfProbe) return { ...(await this.#selectHalf(partnersIn(this.run, partners))), partners };
    const pairs = await this.#lists.pairs(partners);
    return pairs ? { ...pairs, partners } : this.#allRows(partners, false);
  }

  /** All rows of the probe side in their order, with their partners. @param waits for what was submitted */
  async #allRows(partners: ResultColumn, waits: boolean): Promise<Found> {
    return { probe: await this.#lists.allRows(this.#probe.rows, waits), build: partners, partners };
  }

  async #selectHalf(partners: Partners): Promise<ProbeAndBuild> {
    return { probe: await this.#lists.select(partners, this.how === "semi"), build: null };
  }

  /** Adds the build rows that are in no pair, and where pairs were written the probe rows. */
  async #withUnmatched(found: ProbeAndBuild, partners: ResultColumn | undefined): Promise<ProbeAndBuild> {
    const { probe, build } = found;
    if (!build) return this.#dropping(partners, found);
    const added: { side: "probe" | "build"; rows: ResultColumn }[] = [];
    if (this.#keepsProbe && !partners) {
      added.push({ side: "probe", rows: await this.#lists.rowsOf(probe, this.#probe.rows, false) });
    }
    if (this.#keepsBuild)
      added.push({ side: "build", rows: await this.#lists.rowsOf(build, this.#build.rows, false) });
    const total = added.reduce((sum, { rows }) => sum + rows.array.length, probe.array.length);
    if (total > MAX_PAIRS) {
      throw new LimitError("rows", total, MAX_PAIRS, "Join on more columns, or filter one side first.");
    }
    if (total === probe.array.length) {
      this.#lists.drop(...added.map(({ rows }) => rows));
      return this.#dropping(partners, found);
    }
    const joined = async (column: ResultColumn, side: "probe" | "build"): Promise<ResultColumn> => {
      const all = await this.#lists.noRows(total);
      const pieces = added.map(
        (one) => [one.side === side ? one.rows : null, one.rows.array.length] as const,
      );
      await this.#lists.copy(all, [[column, column.array.length], ...pieces]);
      return all;
    };
    const answer = { probe: await joined(probe, "probe"), build: await joined(build, "build") };
    this.#lists.drop(probe, build, partners, ...added.map(({ rows }) => rows));
    return answer;
  }

  /** Frees the partners where they are no result. */
  #dropping(partners: ResultColumn | undefined, answer: ProbeAndBuild): ProbeAndBuild {
    if (partners && answer.build !== partners) this.columns.drop(partners);
    return answer;
  }
}
