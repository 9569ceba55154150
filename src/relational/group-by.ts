/**
 * The relational group-by: tables in, one row for each group of equal keys out. Four stages: key columns are brought to a form
 * that the engine compares (encode-keys.ts), the device's engine numbers equal rows (group-rows.ts), what aggregates need of
 * the values is computed over the numbers on the calling thread (aggregate/), and the answer is gathered (materialise.ts).
 */
import type { Table } from "@uwdata/flechette";
import type { Device } from "../device.js";
import { ValidationError } from "../errors.js";
import { check, checkOneOf, describe } from "../options.js";
import { type GroupedSource, GroupStates, openSource } from "./aggregate/group-states.js";
import { AGGREGATE_NAMES, type Aggregate, type NamedAggregate } from "./aggregates.js";
import { isSourceTable, readTable, type SourceTable } from "./columns.js";
import { encodeOwnKeys } from "./encode-keys.js";
import type { GroupCallOptions, GroupStage } from "./group-calls.js";
import { groupRows } from "./group-rows.js";
import { loadSpill } from "./load-spill.js";
import { materialiseAnswer } from "./materialise.js";
import { checkMemory } from "./memory-options.js";
import { checkNames, RelationalCall } from "./relational-call.js";
import { collectTables } from "./stack-tables.js";
import { batchesOf, type TableInput, type Tables } from "./table-input.js";
import { TableResult } from "./table-result.js";

/** Options of {@link groupBy} and {@link GroupBy}. */
export interface GroupByOptions extends GroupCallOptions {
  /** Key columns, at least one. Rows are of one group when all of them are equal; a null is equal to a null. */
  readonly by: readonly string[];
  /** What to compute for each group, by the name of its column in the answer. May be empty. */
  readonly aggregate: Readonly<Record<string, Aggregate>>;
}

/**
 * Groups the rows of a table by equal keys, and returns a flechette table with one row a group.
 *
 * Columns: the keys as they are in the group's first row, in the order of `by`; then the aggregates. The functions that make
 * aggregates say which types they take and give. Groups come in the order of their first rows. Nulls form a group of their own;
 * −0 is equal to +0, NaN to NaN.
 *
 * The engine numbers the groups; one thread of the host computes the aggregates, in one pass over each column for each kind of
 * them. Memory besides the answer: what the engine takes for the groups, 4 bytes a row and 12 a group on the host; 4 bytes a row for
 * each aggregated column with nulls, 8 to 16 a group for each sum or mean, 8 a row for medians and quantiles.
 *
 * Of an iterable or async iterable of tables or record batches the groups are those of one table with all their rows; a
 * {@link GroupBy} adds them up one after the other. With `memory`, groups that do not fit are partitioned to temporary files: then
 * groups come in any order.
 *
 * It begins when it is awaited, or when `batches` is called.
 *
 * @throws ValidationError for wrong options, unknown columns, names that clash, and types that cannot be keys or aggregated
 * @throws LimitError when a sum of decimals outgrows its type, or there is no memory for the groups
 * @example
 * const flights = tableFromArrays({ origin: ["SFO", "JFK", "SFO"], delay: [12, 3, -4] });
 * const delays = await groupBy(flights, { by: ["origin"], aggregate: { flights: count(), delay: mean("delay") } });
 * console.log(delays.toArray()); // [ { origin: 'SFO', flights: 2, delay: 4 }, { origin: 'JFK', flights: 1, delay: 3 } ]
 */
export function groupBy(table: TableInput | Tables, options: GroupByOptions): TableResult {
  return groupingResult(
    () => groupHere(table, options),
    async function* () {
      const { groupLarge } = await loadSpill();
      const { memory, ...others } = options;
      yield* groupLarge(table, others, checkMemory(memory as never));
    },
    options,
  );
}

/** An answer that is made in memory, or within a limit of it. */
export function groupingResult(
  here: () => Promise<Table>,
  large: () => AsyncIterable<Table>,
  options: GroupCallOptions,
): TableResult {
  if (options?.memory !== undefined) return new TableResult(() => collectTables(large()), large);
  return new TableResult(here, async function* () {
    yield await here();
  });
}

async function groupHere(table: TableInput | Tables, options: GroupByOptions): Promise<Table> {
  const grouping = new Grouping("groupBy", options);
  const batches = batchesOf(table);
  if (batches === null) return grouping.finish(await grouping.read(table as TableInput));
  const { memory: _, ...others } = options;
  const groups = new GroupBy(others);
  for await (const batch of batches) await groups.add(batch);
  return groups.finish();
}

/**
 * Groups of rows that come in batches, in memory proportional to the groups (with medians, quantiles and countDistinct to the
 * values): what {@link groupBy} answers for one table with all rows. Calls queue up behind each other.
 *
 * A batch costs its own group-by; merging costs each group a grouping of its key about log2(batches) times.
 *
 * @example
 * const groups = new GroupBy({ by: ["origin"], aggregate: { flights: count(), delay: median("delay") } });
 * await groups.add({ origin: ["SFO", "JFK"], delay: [12, 3] });
 * await groups.add({ origin: ["SFO"], delay: [-4] });
 * console.log((await groups.finish()).toArray()); // [ { origin: 'SFO', flights: 2, delay: 4 }, { origin: 'JFK', flights: 1, delay: 3 } ]
 */
export class GroupBy {
  readonly #grouping: Grouping;
  readonly #sum: StatesSum;
  #rows = 0;
  #queue: Promise<unknown> = Promise.resolve();

  /** @throws ValidationError for wrong options */
  constructor(options: Omit<GroupByOptions, "memory">) {
    this.#grouping = new Grouping("GroupBy", options);
    this.#sum = new StatesSum(this.#grouping);
  }

  /** Rows that were added. */
  get rows(): number {
    return this.#rows;
  }

  /**
   * Adds the rows of a table or record batch. After an error nothing of it was added. Its columns may be used again at once: nothing
   * of the table is held on to.
   * @throws as `groupBy`; ValidationError for columns of other types than those of the batches before
   */
  add(batch: TableInput): Promise<void> {
    return this.#next(async () => {
      const { states } = await this.#grouping.read(batch);
      await this.#take([states.own()]);
    });
  }

  /** Adds the rows that another one was given, as if they had been added here behind all others. The other one stays as it is. */
  merge(other: GroupBy): Promise<void> {
    return this.#next(async () => {
      check(other instanceof GroupBy && other !== this, "other", other, "Give another GroupBy.");
      await other.#queue;
      this.#grouping.checkSame(other.#grouping);
      await this.#take(other.#sum.parts);
    });
  }

  /**
   * The groups of all rows so far, as `groupBy` answers them. More may be added afterwards.
   * @throws ValidationError when nothing was added, a table without rows neither: nobody knows the columns' types
   */
  finish(): Promise<Table> {
    return this.#next(async () => {
      if (this.#sum.parts.length === 0)
        throw new ValidationError("No batch was added to the GroupBy.", "Add one; it may be without rows.");
      const states = await this.#sum.merged();
      return this.#grouping.finish({ device: await this.#grouping.call.begin(), states });
    });
  }

  async #take(added: readonly GroupStates[]): Promise<void> {
    await this.#sum.add(added);
    this.#rows += added.reduce((sum, part) => sum + rowsOf(part), 0);
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }
}

/** States that are added up, so that a key is grouped about log2(parts) times. @internal */
export class StatesSum {
  /** Each has more than twice as many groups as the next. */
  parts: readonly GroupStates[] = [];

  constructor(readonly grouping: Grouping) {}

  /** Puts parts behind those that are there, and merges those that are about as large as the next. After an error nothing was added. */
  async add(added: readonly GroupStates[]): Promise<void> {
    let parts = [...this.parts];
    for (const part of added) {
      parts.push(part);
      let from = parts.length - 1;
      for (let groups = part.groups; from > 0 && parts[from - 1].groups <= 2 * groups; from--)
        groups += parts[from - 1].groups;
      const device = await this.grouping.call.begin();
      const merged = await this.grouping.merge(device, parts.slice(from));
      parts = [...parts.slice(0, from), merged];
    }
    this.parts = parts;
  }

  /** All of them as one; there is one at least. */
  async merged(): Promise<GroupStates> {
    const states = await this.grouping.merge(await this.grouping.call.begin(), this.parts);
    this.parts = [states];
    return states;
  }
}

function rowsOf({ rowCounts }: GroupStates): number {
  return rowCounts.reduce((sum, count) => sum + count, 0);
}

/** Groups, and the device that found them. */
interface Groups {
  readonly device: Device;
  readonly states: GroupStates;
}

/** What a group-by does, whether its rows come at once or in batches. @internal */
export class Grouping {
  readonly call: RelationalCall<GroupStage>;
  readonly #options: GroupByOptions;
  readonly #by: readonly string[];
  readonly #aggregates: readonly NamedAggregate[];

  constructor(name: string, options: GroupByOptions) {
    const known = "by aggregate device signal onProgress onPlan onStage";
    this.call = new RelationalCall(options, name === "groupBy" ? `${known} memory` : known);
    this.#options = options;
    this.#by = checkNames(name, "by", "key column", options.by);
    this.#aggregates = checkAggregates(options.aggregate, this.#by);
  }

  /** Groups the rows of a table. */
  async read(table: TableInput | SourceTable): Promise<Groups> {
    const { call } = this;
    call.throwIfAborted();
    const opened = isSourceTable(table) ? table : readTable(table, "");
    const source: GroupedSource = openSource(opened, this.#by, this.#aggregates);
    const device = await call.begin();
    const encoded = encodeOwnKeys(source.keys, opened.rows);
    call.endStage("encode keys");
    const grouped = await call.onEngine((engineCall) => groupRows(device, encoded, engineCall));
    call.endStage("group rows");
    const states = await GroupStates.of(source, grouped, this.#aggregates, this.#grouper(device), call.pause);
    call.endStage("aggregate");
    return { device, states };
  }

  /** The groups of several tables. */
  async merge(device: Device, parts: readonly GroupStates[]): Promise<GroupStates> {
    if (parts.length === 1) return parts[0];
    const merged = await GroupStates.merge(parts, this.#grouper(device), this.call.pause);
    this.call.endStage("aggregate");
    return merged;
  }

  async finish({ device, states }: Groups): Promise<Table> {
    const outputs = states.outputs(this.#aggregates);
    // keys are gathered from the groups' first rows, aggregates are there already
    const { groups, keyRows } = states;
    const rows = { rows: groups, left: keyRows, right: keyRows, inOrder: "right" as const };
    return materialiseAnswer(outputs, [rows], this.call, device);
  }

  /** @throws ValidationError unless both group by the same keys and compute the same */
  checkSame(other: Grouping): void {
    const [mine, theirs] = [this, other].map((each) => JSON.stringify([each.#by, each.#aggregates]));
    if (mine === theirs) return;
    throw new ValidationError(
      "The other GroupBy has other keys or aggregates.",
      "Make both with the same `by` and `aggregate`.",
    );
  }

  /** Some of the groups: see GroupStates.select. */
  async select(device: Device, states: GroupStates, groups: Uint32Array): Promise<GroupStates> {
    return states.select(groups, this.#grouper(device), this.call.pause);
  }

  #grouper(device: Device) {
    const { signal } = this.#options;
    return (keys: Parameters<typeof groupRows>[1]) => groupRows(device, keys, { signal });
  }
}

const EXAMPLE = 'Write aggregate: { rows: count(), total: sum("price") }.';

function checkAggregates(aggregates: unknown, by: readonly string[]): NamedAggregate[] {
  const isRecord = typeof aggregates === "object" && aggregates !== null && !Array.isArray(aggregates);
  check(isRecord, "aggregate", aggregates, EXAMPLE);
  return Object.entries(aggregates as Record<string, unknown>).map(([name, aggregate]) => {
    if (!isAggregate(aggregate)) {
      throw new ValidationError(`The aggregate "${name}" is ${describe(aggregate)}.`, EXAMPLE);
    }
    checkOneOf("aggregate", aggregate.name, AGGREGATE_NAMES);
    if (by.includes(name)) {
      throw new ValidationError(
        `The answer would have two columns "${name}": a key and an aggregate.`,
        `Give the aggregate another name, such as "${name}_${aggregate.name}".`,
      );
    }
    return { name, aggregate };
  });
}

function isAggregate(value: unknown): value is Aggregate {
  if (typeof value !== "object" || value === null || !("name" in value)) return false;
  const { name, column, at } = value as Aggregate;
  if (name === "quantile" && at === undefined) return false;
  return typeof column === "string" || (column === undefined && name === "count");
}
