/**
 * A table on several GPUs: a table on each, for the keys that the GPU owns. Batches are exchanged in rounds, so that
 * the memory that this takes is bounded, and each GPU's table does with its elements what it would do alone.
 */
import {
  type CallOptions,
  type ChooseCall,
  type ColumnInput,
  type ColumnOutput,
  checkSlots,
  type Destination,
  type DeviceArray,
  elementsOf,
  type Input,
  type InsertCall,
  type InsertPolicy,
  type InsertTally,
  type KeyType,
  lengthOf,
  type Missing,
  type Output,
  type Scalar,
  scalarsOf,
  type Table,
  type TableSpec,
  type TableStats,
  type ValueType,
  wordsOf,
} from "warpmap/engine";
import { addTally, CudaTable } from "../table/cuda-table.js";
import { TableState } from "../table/table-state.js";
import { areThere, delivered, destroyAll, inputsOf, outputsOf, typedColumns } from "./elements.js";
import type { Exchange } from "./exchange.js";
import { insertInTurn } from "./filling.js";
import { type Gpus, settled } from "./gpus.js";
import { type Inputs, InputsAhead } from "./inputs.js";
import { partSlots, statsOfAll } from "./part-tables.js";
import { arrayOf, cutSpans, type Span, spansOfBatch } from "./pieces.js";
import { Columns, type SeveralHost } from "./results.js";
import { exchangeRemark, type GoBack, HOST_ROUND, inRounds, ROUND } from "./rounds.js";
import { SortedBatch } from "./sorted-batch.js";
import { SortedLookUps } from "./sorted-look-ups.js";

type PartCall = Pick<CallOptions, "signal" | "log" | "strategy" | "groupSize">;
interface TableRound<K extends KeyType, V extends ValueType> extends Exchanged {
  readonly exchange: Exchange;
  /** Of each owner. */
  readonly keys: readonly Input<K>[];
  readonly values: readonly (Input<V> | null)[];
  /** Where each owner's table marks rejected elements, if that is asked for. */
  readonly flags: readonly (DeviceArray<"u8"> | null)[];
  /** What an owner's table is told; the first that has elements notes what it does. */
  call(owner: number): PartCall;
  /** Freed with the round. */
  readonly made: DeviceArray[];
}

type TableBatch<K extends KeyType, V extends ValueType> = readonly [Input<K>, Input<V> | null, InsertCall];

/** A round whose elements are where they are worked on. */
interface Exchanged {
  readonly exchange: { readonly moved: number; readonly total: number };
  /** What came up ahead of it: of no use once it is exchanged. */
  readonly inputs: Inputs | undefined;
  /** Ranges of the batch that its GPUs have, in the order of the exchange's sources. */
  readonly spans: readonly Span[];
  release(isDone?: boolean): void;
}

interface TableWork<R> {
  /** @param on whose streams do it @param arriving what comes up ahead of it */
  exchange(on: Gpus, spans: readonly Span[], arriving: Promise<Inputs> | undefined): Promise<R>;
  work(round: R): Promise<GoBack | undefined>;
}

export class SeveralTable<K extends KeyType, V extends ValueType> implements Table<K, V> {
  private constructor(
    private readonly host: SeveralHost,
    readonly spec: TableSpec,
    private readonly parts: CudaTable<K, V>[],
  ) {}

  /** An empty table. @throws LimitError when a GPU has too little memory */
  static async create<K extends KeyType, V extends ValueType>(
    host: SeveralHost,
    spec: TableSpec,
  ): Promise<SeveralTable<K, V>> {
    checkSlots(spec.slots, host.engine.traits.maxSlots);
    const slots = partSlots(spec.slots / host.gpus.count, host.mostSlots);
    const made: TableState[] = [];
    try {
      await settled(
        host.gpus.hosts.map(async (each, i) => {
          made[i] = await TableState.create(each, { ...spec, slots });
        }),
      );
    } catch (error) {
      for (const state of made) state?.destroy();
      throw error;
    }
    return new SeveralTable(
      host,
      spec,
      made.map((state) => new CudaTable<K, V>(state)),
    );
  }

  get live(): number {
    return this.#sum((part) => part.live);
  }

  get tombstones(): number {
    return this.#sum((part) => part.tombstones);
  }

  /** New keys that the table takes. */
  get #free(): number {
    return this.spec.slots - this.#sum((part) => part.native.occupied);
  }

  #sum(of: (part: CudaTable<K, V>) => number): number {
    return this.parts.reduce((sum, part) => sum + of(part), 0);
  }

  async choose(keys: Input<K>, which: "first" | "last", call: ChooseCall) {
    const results = await Columns.create(this.host, "device", ["u8"], this.#spans(keys));
    let selected = 0;
    const work = async ({ exchange, keys, spans, made }: TableRound<K, V>) => {
      const chosen = await this.#each(
        exchange,
        (part, owner) => part.choose(keys[owner], which, { signal: call.signal }),
        (each) => each.chosen.destroy(),
      );
      const flags = chosen.map((each) => each?.chosen ?? null);
      for (const each of flags) if (each) made.push(each);
      for (const each of chosen) selected += each?.selected ?? 0;
      return (on: Gpus) => results.bringBack(exchange, spans, [flags], [[0]], on);
    };
    // equal keys of the whole batch meet
    await results.keepUnlessThrown(() => this.#eachRound([keys, null, call], work, Number.POSITIVE_INFINITY));
    return { chosen: results.outputs[0] as DeviceArray<"u8">, selected };
  }

  async insert(keys: Input<K>, values: Input<V> | null, policy: InsertPolicy, call: InsertCall) {
    const tally: InsertTally = { inserted: 0, existing: 0, rejected: 0 };
    const marks = call.rejected && Columns.over(this.host, [call.rejected]);
    await this.#eachRound([keys, values, call], async (round) => {
      const { exchange, spans, flags } = round;
      const tallies = await this.#insertEach(exchange, round.keys, (part, owner) => {
        const rejected = flags[owner];
        const options = { ...round.call(owner), ...(rejected && { rejected }) };
        return part.insert(round.keys[owner], round.values[owner], policy, options);
      });
      for (const each of tallies) if (each) addTally(tally, each);
      return marks && ((on: Gpus) => marks.bringBack(exchange, spans, [flags], [[0]], on));
    });
    return tally;
  }

  async insertAndFind(keys: Input<K>, values: Input<V> | null, output: Destination, call: CallOptions) {
    const tally: InsertTally = { inserted: 0, existing: 0, rejected: 0 };
    const valueTypes = scalarsOf<Scalar>(this.spec.value);
    const results = await Columns.create(this.host, output, ["u8", ...valueTypes], this.#spans(keys));
    await this.#answering(results, [keys, values, call], async (round) => {
      const answers = await this.#insertEach(
        round.exchange,
        round.keys,
        (part, owner) =>
          part.insertAndFind(round.keys[owner], round.values[owner], "device", round.call(owner)),
        ({ insertedFlags, values }) => destroyAll([insertedFlags, ...outputsOf(values)] as DeviceArray[]),
      );
      for (const each of answers) if (each) addTally(tally, each);
      return answers.map((each) => each && [each.insertedFlags, ...outputsOf(each.values)]);
    });
    const [insertedFlags, ...stored] = results.outputs;
    const isMap = this.spec.value !== null;
    return {
      ...tally,
      values: (isMap ? elementsOf(this.spec.value as V, stored) : null) as Output<V> | null,
      insertedFlags: insertedFlags as Output<"u8">,
    };
  }

  async find(keys: Input<K>, missing: Missing, output: Destination, call: CallOptions) {
    const type = this.spec.value ?? this.spec.key;
    const types = scalarsOf<Scalar>(type);
    const results = await Columns.create(this.host, output, [...types, "u8"], this.#spans(keys));
    const elements = (Array.isArray(missing) ? missing : [missing]) as (number | bigint)[];
    const absent = [...types.map((each, i) => wordsOf(each, elements[i])), [0]];
    const batch = [keys, null, call] as const;
    if (this.#sortsFinds(batch, results)) await this.#lookUp(batch, results, missing);
    else
      await this.#answering(
        results,
        batch,
        async (round) => {
          const answers = await this.#each(
            round.exchange,
            (part, owner) => part.find(round.keys[owner], missing, "device", round.call(owner)),
            ({ values, found }) => destroyAll([found, ...outputsOf(values)] as DeviceArray[]),
          );
          return answers.map((each) => each && [...outputsOf(each.values), each.found]);
        },
        absent,
      );
    const values = elementsOf(type, results.outputs.slice(0, -1));
    return { values: values as Output<V>, found: results.outputs.at(-1) as Output<"u8"> };
  }

  async contains(keys: Input<K>, output: Destination, call: CallOptions): Promise<Output<"u8">> {
    const results = await Columns.create(this.host, output, ["u8"], this.#spans(keys));
    const batch = [keys, null, call] as const;
    if (this.#sortsFinds(batch, results)) await this.#lookUp(batch, results);
    else
      await this.#answering(results, batch, async (round) => {
        const answers = await this.#each(
          round.exchange,
          (part, owner) => part.contains(round.keys[owner], "device", round.call(owner)),
          (found) => destroyAll([found as DeviceArray]),
        );
        return answers.map((each) => each && [each]);
      });
    return results.outputs[0] as Output<"u8">;
  }

  async erase(keys: Input<K>, call: CallOptions): Promise<number> {
    let sum = 0;
    await this.#eachRound([keys, null, call], async (round) => {
      const erased = await this.#each(round.exchange, (part, owner) =>
        part.erase(round.keys[owner], round.call(owner)),
      );
      for (const count of erased) sum += count ?? 0;
      return undefined;
    });
    return sum;
  }

  /** Each GPU's entries one after another. */
  async retrieveAll(output: Destination, call: CallOptions) {
    const { spec, host, parts } = this;
    const types = [...scalarsOf<Scalar>(spec.key), ...scalarsOf<Scalar>(spec.value)];
    let first = 0;
    const spans = parts.map(({ live }, gpu) => {
      first += live;
      return { gpu, first: first - live, count: live };
    });
    const columns = async (part: CudaTable<K, V>, gpu: number) => {
      const { signal, log } = call;
      const { keys, values } = await part.retrieveAll("device", gpu === 0 ? { signal, log } : { signal });
      return [...outputsOf(keys), ...outputsOf(values)] as DeviceArray[];
    };
    const all = await settled(parts.map(columns), destroyAll);
    const results =
      output === "device"
        ? Columns.over(
            host,
            types.map((type, c) =>
              arrayOf(
                host.engine,
                type,
                spans.map(({ gpu, first }) => ({ gpu, first, array: all[gpu][c] as never })),
              ),
            ),
          )
        : await this.#taken(output, types, spans, all);
    call.onProgress?.(first, first);
    const keyColumns = scalarsOf<Scalar>(spec.key).length;
    const outputs = results.outputs;
    return {
      keys: elementsOf(spec.key, outputs.slice(0, keyColumns)) as Output<K>,
      values: (spec.value === null
        ? null
        : elementsOf(spec.value, outputs.slice(keyColumns))) as Output<V> | null,
    };
  }

  /** Columns on the host of those that GPUs have, which are freed. */
  async #taken(
    output: Exclude<Destination, "device">,
    types: readonly Scalar[],
    spans: readonly Span[],
    all: readonly (readonly DeviceArray[])[],
  ): Promise<Columns> {
    try {
      const results = await Columns.create(this.host, output, types, spans);
      await results.take(spans, all);
      return results;
    } finally {
      destroyAll(all.flat());
    }
  }

  async clear(): Promise<void> {
    await settled(this.parts.map((part) => part.clear()));
  }

  async stats(): Promise<TableStats> {
    return statsOfAll(await settled(this.parts.map((part) => part.stats())));
  }

  destroy(): void {
    for (const part of this.parts) part.destroy();
  }

  /** Who has which elements of a batch. */
  #spans(keys: Input<K>): Span[] {
    const { gpus, least } = this.host;
    return spansOfBatch(inputsOf(keys), scalarsOf<Scalar>(this.spec.key)[0], gpus.count, least.bytes);
  }

  /** Runs a call of which results come back, and gives these up when it fails. */
  #answering(
    results: Columns,
    batch: TableBatch<K, V>,
    answer: (round: TableRound<K, V>) => Promise<(readonly ColumnOutput[] | null)[]>,
    absent: readonly (readonly number[])[] = results.outputs.map(() => [0]),
  ): Promise<void> {
    return results.keepUnlessThrown(() =>
      this.#eachRound(
        batch,
        async (round) => {
          const answers = (await answer(round)) as (DeviceArray[] | null)[];
          round.made.push(...answers.flatMap((columns) => columns ?? []));
          const columns = results.outputs.map((_, c) => answers.map((each) => each?.[c] ?? null));
          return (on: Gpus) => results.bringBack(round.exchange, round.spans, columns, absent, on);
        },
        this.#answeringRound(batch, results),
      ),
    );
  }

  #answeringRound([keys, values, call]: TableBatch<K, V>, { outputs }: Columns): number {
    return this.#roundOf([keys, values, call.where, ...outputs]);
  }

  /** Whether each GPU sorts keys to look up by owner and partition at once. */
  #sortsFinds(batch: TableBatch<K, V>, results: Columns): boolean {
    const { host, parts, spec } = this;
    const [keys, , call] = batch;
    if (typeof spec.key !== "string" || Array.isArray(spec.value) || !host.gpus.reachAll) return false;
    const [longest = []] = cutSpans(this.#spans(keys), this.#answeringRound(batch, results));
    const count = Math.max(0, ...longest.map((span) => span.count));
    return count > 0 && parts.every((part) => part.sortsFinds(count, call));
  }

  /** Looks keys up from where they are: results lie beside them. */
  #lookUp(batch: TableBatch<K, V>, results: Columns, missing?: Missing): Promise<void> {
    const { host, parts, spec } = this;
    const [keys, , { log }] = batch;
    const { gpus } = host;
    const [column] = typedColumns(keys, spec.key);
    const hasValues = results.outputs.length > 1;
    return results.keepUnlessThrown(() =>
      this.#inRounds(batch, this.#answeringRound(batch, results), {
        exchange: async (on, spans, arriving) => {
          const start = performance.now();
          const inputs = await arriving;
          const how = { inputs, seed: host.seed, hasValues };
          const exchange = await SortedLookUps.of(on, parts as never, spans, column, how);
          if (log)
            await on.arrived().catch((error) => {
              exchange.release();
              throw error;
            });
          log?.add("exchange", performance.now() - start);
          return { exchange, inputs, spans, release: (isDone?: boolean) => exchange.release(isDone) };
        },
        async work({ exchange, spans }) {
          await exchange.find(gpus, missing, log);
          const nothing = results.outputs.map(() => []);
          return (on) => results.bringBack(exchange, spans, nothing, nothing, on);
        },
      }),
    );
  }

  /** Elements of a GPU in a round: of columns that all lie on the GPUs, or of others. */
  #roundOf(columns: readonly unknown[]): number {
    return this.host.least.round ?? (areThere(columns.flat()) ? ROUND : HOST_ROUND);
  }

  /** Brings elements to their owners round by round, who work on them. @param most elements of a GPU in a round */
  #eachRound(
    [keys, values, call]: TableBatch<K, V>,
    work: (round: TableRound<K, V>) => Promise<GoBack | undefined>,
    most = this.#roundOf([keys, values, call.where]),
  ): Promise<void> {
    const batch = [keys, values, call] as const;
    return this.#inRounds(batch, most, {
      exchange: (on, spans, arriving) => this.#exchanged(on, spans, batch, arriving),
      work,
    });
  }

  async #inRounds<R extends Exchanged>(
    [keys, values, call]: TableBatch<K, V>,
    most: number,
    { exchange, work }: TableWork<R>,
  ): Promise<void> {
    const { gpus } = this.host;
    for (const { gpu } of gpus.hosts) gpu.checkAlive();
    call.signal?.throwIfAborted();
    const spans = this.#spans(keys);
    const total = lengthOf(inputsOf(keys));
    const rounds = cutSpans(spans, most);
    const sums = { done: 0, moved: 0, selected: 0 };
    const columns = [
      ...typedColumns(keys, this.spec.key),
      ...(values ? typedColumns(values as Input<KeyType>, this.spec.value) : []),
      ...(call.where ? [{ column: call.where as ColumnInput, type: "u8" as const }] : []),
    ];
    const isAhead = rounds.length > 1 && !areThere(columns.map(({ column }) => column));
    const ahead = isAhead ? new InputsAhead(gpus.lane("up"), rounds, columns) : undefined;
    await inRounds(gpus, rounds.length, {
      exchange: async (i, on) => {
        call.signal?.throwIfAborted();
        call.checkInputs?.();
        return exchange(on, rounds[i], ahead?.of(i, on));
      },
      async work(round) {
        round.inputs?.release(true);
        call.signal?.throwIfAborted();
        const goBack = await work(round);
        sums.done += round.spans.reduce((sum, { count }) => sum + count, 0);
        sums.moved += round.exchange.moved;
        sums.selected += round.exchange.total;
        if (sums.done < total) call.onProgress?.(sums.done, total);
        return goBack;
      },
    }).finally(() => ahead?.end());
    if (total > 0)
      call.log?.remark(exchangeRemark(sums.moved, sums.selected, "elements", gpus.count, rounds.length));
    call.onProgress?.(total, total);
  }

  /** Elements at their owners. With a log the exchange is waited for, and timed. */
  async #exchanged(
    on: Gpus,
    spans: readonly Span[],
    [keys, values, call]: TableBatch<K, V>,
    arriving: Promise<Inputs> | undefined,
  ): Promise<TableRound<K, V>> {
    const { key, value } = this.spec;
    const { seed } = this.host;
    const start = performance.now();
    const { where } = call;
    const inputs = await arriving;
    const columns = typedColumns(keys, key);
    const batch = await SortedBatch.of(on, spans, { keys: columns, seed, where }, 1, inputs);
    const exchange = batch.whole();
    try {
      const ofKeys = await delivered(exchange, key as K, inputsOf(keys));
      const ofValues = values && (await delivered(exchange, value as V, inputsOf(values)));
      const marked = (count: number) => call.rejected !== undefined && count > 0;
      const flags = await settled(
        exchange.counts.map(async (count, owner) => (marked(count) ? exchange.column("u8", owner) : null)),
      );
      const { signal, strategy, groupSize, log } = call;
      if (log) await on.arrived();
      log?.add("exchange", performance.now() - start);
      const first = exchange.counts.findIndex((count) => count > 0);
      const made: DeviceArray[] = [];
      return {
        ...{ exchange, inputs, spans, flags, made, keys: ofKeys },
        values: exchange.counts.map((_, owner) => ofValues?.[owner] ?? null),
        call: (owner) => ({ signal, strategy, groupSize, ...(owner === first && { log }) }),
        release(isDone) {
          exchange.release(isDone);
          destroyAll(made);
        },
      };
    } catch (error) {
      exchange.release();
      throw error;
    }
  }

  /**
   * Works on the elements of each owner, all at once.
   * @param giveUp what becomes of answers when another GPU fails
   */
  #each<T>(
    { counts }: Exchange,
    work: (part: CudaTable<K, V>, owner: number) => Promise<T>,
    giveUp?: (answer: T) => void,
  ): Promise<(T | null)[]> {
    const one = async (part: CudaTable<K, V>, owner: number) =>
      counts[owner] > 0 ? work(part, owner) : null;
    return settled(this.parts.map(one), (answer) => answer !== null && giveUp?.(answer));
  }

  /**
   * The same of inserts. Where the table may get full, one GPU after another, so that all together take no more keys
   * than it has slots.
   */
  #insertEach<T>(
    exchange: Exchange,
    keys: readonly Input<K>[],
    work: (part: CudaTable<K, V>, owner: number) => Promise<T>,
    giveUp?: (answer: T) => void,
  ): Promise<(T | null)[]> {
    const { counts, total } = exchange;
    const { parts, host } = this;
    const hasRoom = parts.every((part, owner) => counts[owner] <= part.native.free);
    if (total <= this.#free && hasRoom) return this.#each(exchange, work, giveUp);
    const table = { parts, free: () => this.#free, mostSlots: host.mostSlots };
    return insertInTurn(table, counts, keys, work, giveUp);
  }
}
