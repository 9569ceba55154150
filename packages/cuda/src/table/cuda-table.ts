/**
 * A table on the GPU: the engine's operations over whole batches. Batches are bound chunk by chunk (gpu/batch), and a
 * chunk is one launch of an operation's kernel, which works until every element is done; only a table that is about to
 * be full takes several.
 */
import {
  type Batch,
  type Bindings,
  type BoundChunk,
  type BoundResult,
  type CallOptions,
  type ChooseCall,
  type Column,
  type Destination,
  eachChunk,
  type Input,
  type InsertCall,
  type InsertPolicy,
  type InsertTally,
  type KeyType,
  lengthOf,
  type Missing,
  type Output,
  type Params,
  type PlanLog,
  type Range,
  type Readback,
  resultColumns,
  ruleOf,
  type Scalar,
  type Table,
  type TableSpec,
  type TableStats,
  type ValueType,
  wordsOf,
} from "warpmap/engine";
import { choose } from "./choose.js";
import type { BindingOf, ParamOf } from "./kernels.js";
import { hashesOf } from "./own-hashes.js";
import {
  CACHED_BYTES,
  firstOn,
  planFor,
  type Sorted,
  sortByPartition,
  type TableCall,
  type Unsorting,
  unsort,
} from "./partitions.js";
import { retrieveAll } from "./retrieve-all.js";
import { statistics } from "./statistics.js";
import { blocksFor, type TableState } from "./table-state.js";
import { isFilled, runsSorted, windowsFor } from "./windows.js";

/** Where an insert says what became of each element, a byte each. */
interface Flags {
  readonly isNew?: Column | undefined;
  readonly rejected?: Column | undefined;
}

export class CudaTable<K extends KeyType, V extends ValueType> implements Table<K, V> {
  constructor(private readonly state: TableState) {}

  get native(): TableState {
    return this.state;
  }

  get spec(): TableSpec {
    return this.state.spec;
  }

  get live(): number {
    return this.state.live;
  }

  get tombstones(): number {
    return this.state.tombstones;
  }

  choose(keys: Input<K>, which: "first" | "last", call: ChooseCall) {
    return choose(this.state, keys, which, call);
  }

  async insert(keys: Input<K>, values: Input<V> | null, policy: InsertPolicy, call: InsertCall) {
    const tally: InsertTally = { inserted: 0, existing: 0, rejected: 0 };
    await this.#eachChunk(
      [`insert ${policy}`, "insert"],
      { keys, values },
      call,
      "device",
      async (chunk, _, sorts) => {
        const rejected = call.rejected && (await chunk.scratch.input("u8", call.rejected, chunk));
        // elements that are rejected are marked in the order of the batch
        const isSorted = sorts && !rejected && !this.#mayFill(chunk);
        const sorted = isSorted ? await sortByPartition(this.state, chunk, "insert", false) : null;
        addTally(tally, await this.#insertChunk(chunk, policy, { rejected }, sorted));
      },
    );
    return tally;
  }

  async insertAndFind(keys: Input<K>, values: Input<V> | null, output: Destination, call: CallOptions) {
    const { host, spec } = this.state;
    const tally: InsertTally = { inserted: 0, existing: 0, rejected: 0 };
    const types = ["u8", spec.value as V | null] as const;
    const results = await resultColumns(host, lengthOf(keys), output, types);
    const [flags, stored] = results.columns;
    await results.keepUnlessThrown(() =>
      this.#eachChunk(
        ["insertAndFind", "insert"],
        { keys, values },
        call,
        output,
        async (chunk, readBack, sorts) => {
          const isNew = await flags.bind(chunk.scratch, chunk);
          const found = await stored?.bind(chunk.scratch, chunk);
          const reads = [...isNew.readback(chunk), ...(found?.readback(chunk) ?? [])];
          const isSorted = sorts && !this.#mayFill(chunk);
          const sorted = isSorted ? await sortByPartition(this.state, chunk, "insert", true) : null;
          const sortedNew = sorted && (await chunk.scratch.column("u8", chunk.count));
          addTally(
            tally,
            await this.#insertChunk(chunk, "keep", { isNew: sortedNew ?? isNew.column }, sorted),
          );
          await readBack(reads, (now) =>
            this.#findChunk(chunk, now, {
              values: found,
              sorted,
              ...(sortedNew && { sortedNew, found: isNew.column }),
            }),
          );
        },
      ),
    );
    return { ...tally, values: (stored?.output ?? null) as Output<V> | null, insertedFlags: flags.output };
  }

  async find(keys: Input<K>, missing: Missing, output: Destination, call: CallOptions) {
    const { host, spec } = this.state;
    const type = (spec.value ?? spec.key) as V;
    const results = await resultColumns(host, lengthOf(keys), output, [type, "u8"]);
    const [values, flags] = results.columns;
    await results.keepUnlessThrown(() =>
      this.#eachChunk(["find", "find"], { keys }, call, output, async (chunk, readBack, sorts) => {
        const to = await values.bind(chunk.scratch, chunk);
        const found = await flags.bind(chunk.scratch, chunk);
        const reads = [...to.readback(chunk), ...found.readback(chunk)];
        await readBack(reads, (now) =>
          this.#findChunk(chunk, now, { values: to, found: found.column, missing, sorts }),
        );
      }),
    );
    return { values: values.output, found: flags.output };
  }

  async contains(keys: Input<K>, output: Destination, call: CallOptions): Promise<Output<"u8">> {
    const results = await resultColumns(this.state.host, lengthOf(keys), output, ["u8", null]);
    const [flags] = results.columns;
    await results.keepUnlessThrown(() =>
      this.#eachChunk(["contains", "find"], { keys }, call, output, async (chunk, readBack, sorts) => {
        const found = await flags.bind(chunk.scratch, chunk);
        await readBack(found.readback(chunk), (now) =>
          this.#findChunk(chunk, now, { found: found.column, sorts }),
        );
      }),
    );
    return flags.output;
  }

  async erase(keys: Input<K>, call: CallOptions): Promise<number> {
    let sum = 0;
    await this.#eachChunk(["erase", "erase"], { keys }, call, "device", async (chunk, _, sorts) => {
      const { state } = this;
      const { count } = chunk;
      const sorted = sorts ? await sortByPartition(state, chunk, "erase", false) : null;
      const params = { COUNT: count };
      const run = sorted
        ? runsSorted(state, "erase", sorted, {}, params)
        : state.runs("erase", await this.#inputs(chunk), params, blocksFor(count));
      sum += (await state.change("erase", run)).erased;
    });
    return sum;
  }

  /** Whether look-ups of so many elements are sorted by one level of partitions. */
  sortsFinds(count: number, call: CallOptions): boolean {
    const { state } = this;
    return planFor(state, "find", count, call).strategy === "partitions" && !windowsFor(state, "find", count);
  }

  /** Submits look-ups of keys in the order of partitions, which may lie on another GPU. */
  async findSorted(
    { count: COUNT, ...columns }: SortedKeys,
    missing?: Missing,
    log?: PlanLog,
  ): Promise<void> {
    const { state } = this;
    const [MISSING, MISSING_HIGH] = this.#missingWords(missing);
    const run = runsFind(state, columns, { COUNT, MISSING, MISSING_HIGH });
    // to be timed, it is waited for
    await state.submissions.run(log, () =>
      log ? state.look("find", run, []) : state.submissions.ahead("find", run),
    );
  }

  retrieveAll(
    output: Destination,
    call: CallOptions,
  ): Promise<{ keys: Output<K>; values: Output<V> | null }> {
    return retrieveAll(this.state, output, call);
  }

  clear(): Promise<void> {
    return this.state.clear();
  }

  stats(): Promise<TableStats> {
    return statistics(this.state);
  }

  destroy(): void {
    this.state.destroy();
  }

  #eachChunk(
    [label, operation]: readonly [label: string, operation: TableCall],
    batch: Pick<Batch<K, V>, "keys" | "values">,
    call: CallOptions,
    output: Destination,
    run: (chunk: BoundChunk, readBack: ReadBack, sorts: boolean) => Promise<unknown>,
  ): Promise<void> {
    const plan = async (count: number) => planFor(this.state, operation, count, call);
    return eachChunk(this.state, label, { ...batch, plan }, call, output, (chunk, choice, readBack) => {
      chunk.log?.correctChunk({ strategy: "direct", reason: choice.reason });
      return run(chunk, readBack, choice.strategy === "partitions");
    });
  }

  /** Whether a chunk's keys may not all fit. */
  #mayFill({ count }: BoundChunk): boolean {
    return count > this.state.free;
  }

  /** What kernels read of a chunk. */
  async #inputs(chunk: BoundChunk): Promise<{ keys: Range; mask?: Range; hashes?: Range }> {
    const hashes = await hashesOf(this.state, chunk);
    return {
      keys: firstOn(chunk.keys),
      mask: chunk.mask && firstOn(chunk.mask),
      hashes: hashes && firstOn(hashes),
    };
  }

  /**
   * Inserts a chunk. Where it may fill the table, kernels take a ticket for every slot before they claim it, and leave
   * the elements that get none to the next round; in a round without tickets nothing is inserted, so that it settles
   * the rest.
   */
  async #insertChunk(
    chunk: BoundChunk,
    policy: InsertPolicy,
    flags: Flags,
    sorted: Sorted | null,
  ): Promise<InsertTally> {
    const { state } = this;
    const { count, scratch, values } = chunk;
    const RULE = ruleOf(policy, state.spec.value);
    const isCareful = this.#mayFill(chunk);
    const rejected = flags.rejected ?? (isCareful ? await scratch.column("u8", count) : undefined);
    const bindings = {
      ...(sorted
        ? { values: sorted.values }
        : { ...(await this.#inputs(chunk)), values: values && firstOn(values) }),
      isNew: flags.isNew && firstOn(flags.isNew),
      rejected: rejected && firstOn(rejected),
    };
    const tally: InsertTally = { inserted: 0, existing: 0, rejected: 0 };
    for (let round = 0, hadTickets = true; hadTickets && (round === 0 || tally.rejected > 0); round++) {
      hadTickets = isCareful && state.free > 0;
      const [CAREFUL, ACCEPT_REJECTED, REUSE] = [isCareful, round > 0, state.tombstones > 0].map(Number);
      const params = { COUNT: count, RULE, CAREFUL, ACCEPT_REJECTED, REUSE };
      const run = sorted
        ? runsSorted(state, "insert", sorted, bindings, params)
        : runsInsert(state, bindings, params);
      const counters = await state.change("insert", run, hadTickets ? state.free : 0);
      tally.inserted += counters.inserted;
      tally.existing += counters.existing;
      tally.rejected = counters.rejected;
    }
    return tally;
  }

  /** Looks a chunk up, and reads results back. */
  async #findChunk(chunk: BoundChunk, reads: readonly Readback[], to: Finding): Promise<void> {
    const { state } = this;
    const { values, found, missing } = to;
    const now = values?.split ? [] : reads;
    const [MISSING, MISSING_HIGH] = this.#missingWords(missing);
    const columns = { values: values && firstOn(values.column), found: found && firstOn(found) };
    const sorted = to.sorted || to.sorts ? await this.#sorted(chunk, to) : null;
    const COUNT = chunk.count;
    if (sorted) {
      await this.#findSorted(chunk, sorted, columns, { MISSING, MISSING_HIGH }, now);
    } else {
      const bindings = { ...(await this.#inputs(chunk)), ...columns };
      await state.look("find", runsFind(state, bindings, { COUNT, MISSING, MISSING_HIGH }), now);
    }
    const absent = Array.isArray(missing) && found ? { flags: found, missing } : undefined;
    await values?.split?.(COUNT, reads, absent);
  }

  /** A chunk in the order of partitions, and room for its results; null where the GPU has too little memory for them. */
  async #sorted(chunk: BoundChunk, { values, sorted, sortedNew }: Finding): Promise<SortedFinding | null> {
    const { count, scratch } = chunk;
    const { valueWords, keyWords } = this.state.format;
    const room = async (bytes: number): Promise<Range> => ({ buffer: await scratch.buffer(count * bytes) });
    const roomForValues = async () => values && room((valueWords || keyWords) * 4);
    const withRoom = async (sorted: Sorted): Promise<SortedFinding> => ({
      sorted,
      sortedValues: await roomForValues(),
      sortedFound: sortedNew ? firstOn(sortedNew) : await room(1),
      between: sorted.levels.length > 1 ? { values: await roomForValues(), found: await room(1) } : undefined,
      hasFound: sortedNew !== undefined,
    });
    if (sorted) return withRoom(sorted);
    return scratch.attempt(async () => {
      const made = await sortByPartition(this.state, chunk, "find", true);
      return made && withRoom(made);
    });
  }

  /** Looks a sorted chunk up, and brings what was found into the order of the batch. */
  async #findSorted(
    chunk: BoundChunk,
    { sorted, sortedValues, sortedFound, between, hasFound }: SortedFinding,
    columns: { readonly values: Range | undefined; readonly found: Range | undefined },
    missing: Omit<FindParams, "COUNT">,
    reads: readonly Readback[],
  ): Promise<void> {
    const { state } = this;
    const bindings = { keys: sorted.keys, values: sortedValues, found: hasFound ? undefined : sortedFound };
    const params = { COUNT: chunk.count, ...missing };
    const run =
      sorted.windows && !hasFound
        ? runsSorted(state, "find", sorted, bindings, params)
        : runsFind(state, bindings, params);
    await state.submissions.ahead("find", run);
    await unsort(state, sorted, { sortedValues, sortedFound, between, ...columns }, reads);
  }

  /** The words that stand for absent values; those of composites are written when they are split. */
  #missingWords(missing: Missing | undefined): readonly number[] {
    if (missing === undefined || Array.isArray(missing)) return [];
    return wordsOf((this.spec.value ?? this.spec.key) as Scalar, missing as number | bigint);
  }
}

type InsertParams = Params<ParamOf<"insert">> & { readonly COUNT: number };

/** What runs an insert, by a thread for each element where slots are in the cache, and probes are short. */
function runsInsert(state: TableState, bindings: Bindings<BindingOf<"insert">>, params: InsertParams) {
  const { COUNT, CAREFUL, REUSE } = params;
  const isShort = state.format.kind !== "wide" && !CAREFUL && !REUSE && !isFilled(state, COUNT);
  if (isShort && state.slotsBytes <= CACHED_BYTES)
    return state.runs("insert_each", bindings, params, Math.ceil(COUNT / 256));
  return state.runs("insert", bindings, params, blocksFor(COUNT));
}

type FindParams = Params<ParamOf<"find">> & { readonly COUNT: number };

/** What runs a look-up, by a thread for each element where probes are short. */
function runsFind(state: TableState, bindings: Bindings<BindingOf<"find_each">>, params: FindParams) {
  const { COUNT } = params;
  const isShort = state.format.kind !== "wide" && !isFilled(state);
  if (isShort) return state.runs("find_each", bindings, params, Math.ceil(COUNT / 256));
  return state.runs("find", bindings, params, blocksFor(COUNT));
}

/** Keys to look up, and where the results go. */
export interface SortedKeys {
  readonly keys: Range;
  readonly values: Range | undefined;
  readonly found: Range;
  readonly count: number;
}

/** Where a look-up writes, and how it goes about it. */
interface Finding {
  readonly values?: BoundResult | undefined;
  readonly found?: Column;
  readonly missing?: Missing;
  /** The chunk is to be sorted first; or was. */
  readonly sorts?: boolean;
  readonly sorted?: Sorted | null;
  /** Flags of the sorted chunk to bring back in place of whether keys are there. */
  readonly sortedNew?: Column;
}

/** A look-up of a sorted chunk. */
interface SortedFinding extends Pick<Unsorting, "sortedValues" | "between"> {
  readonly sorted: Sorted;
  readonly sortedFound: Range;
  /** `sortedFound` is there already. */
  readonly hasFound: boolean;
}

type ReadBack = Parameters<Parameters<typeof eachChunk>[5]>[2];

export function addTally(sum: InsertTally, tally: InsertTally): void {
  sum.inserted += tally.inserted;
  sum.existing += tally.existing;
  sum.rejected += tally.rejected;
}
