/**
 * The relational group-by: tables in, one row for each group of equal keys out; of one table, or of batches
 * (grouping.ts does both).
 */
import type { Table } from "@uwdata/flechette";
import { whileAttached } from "../../arrow/attached.js";
import { eachBatch } from "../../arrow/batch-reader.js";
import { readTable } from "../../arrow/columns.js";
import { type FileParts, partsOf } from "../../arrow/file-parts.js";
import { collectTables } from "../../arrow/stack-tables.js";
import {
  type Batches,
  batchesOf,
  isEmptyList,
  isPending,
  openBatches,
  type PendingTable,
  type TableInput,
  type Tables,
} from "../../arrow/table-input.js";
import type { OutputOption } from "../../containers/arguments.js";
import { defaultDevice } from "../../default-device.js";
import type { Device } from "../../device.js";
import type { Placement } from "../../engine/engine.js";
import { lazily } from "../../engine/lazily.js";
import { ValidationError } from "../../errors.js";
import { check, checkOneOf } from "../../options.js";
import { checkMemory } from "../../spill/memory-options.js";
import type { GroupStates } from "../aggregate/group-states.js";
import type { Aggregate } from "../aggregates.js";
import { DeviceTable, type PlacedTable, uploadTable } from "../device/device-table.js";
import type { GroupByOptions, GroupCallOptions } from "../group-calls.js";
import type { GroupedRow, RowOf } from "../row-types.js";
import { TableResult } from "../table-result.js";
import { groupTable } from "./group-table.js";
import { Grouping, StatesSum } from "./grouping.js";

const loadParts = lazily(() => import("./group-parts.js"));
/** Needs files: no page loads it. */
const loadLarge = lazily(() => import("./group-large.js"));

/**
 * Groups the rows of a table by equal keys, and returns a flechette table with one row a group.
 *
 * Columns: the keys as they are in the group's first row, in the order of `by`; then the aggregates. The functions that
 * make aggregates say which types they take and give. Groups come in the order of their first rows. Nulls form a group
 * of their own; −0 is equal to +0, NaN to NaN.
 *
 * Tables on a device (`device.uploadTable`) are taken as well; with `output: "device"` the answer is one.
 *
 * The cpu engine counts and adds up while it groups, on all threads. A GPU aggregates, but for variances, medians,
 * quantiles, countDistinct, least and greatest strings, and dictionaries but for first and last, and where float64
 * columns to sum up have magnitudes more than 10^70 apart. What an engine leaves the host computes over the groups'
 * numbers of the rows, in one pass over each column for each kind of aggregate; `onPlan` says which. The answer is the
 * same. Memory besides the answer: what the engine takes for the groups, on a GPU 12 to 48 bytes a group for each column
 * that is summed up, on the cpu engine with many groups the keys and the values to sum up once more; where the host
 * aggregates 4 bytes a row and 12 a group, 4 bytes a row for each aggregated column with nulls, 8 a row for medians and
 * quantiles.
 *
 * Of an iterable or async iterable of tables or record batches the groups are those of one table with all their rows,
 * of a join that is not awaited those of its rows, which then come batch by batch with only the columns that the groups
 * need; a {@link GroupBy} adds them up one after the other. With `memory`, groups that do not fit are partitioned to
 * temporary files: then groups come in any order.
 *
 * It begins when it is awaited, or when `batches` is called.
 *
 * @throws ValidationError for wrong options, unknown columns, names that clash, and types that cannot be keys or
 * aggregated
 * @throws LimitError when a sum of decimals outgrows its type, or there is no memory for the groups
 * @example
 * const flights = tableFromArrays({ origin: ["SFO", "JFK", "SFO"], delay: [12, 3, -4] });
 * const delays = await groupBy(flights, { by: ["origin"], aggregate: { flights: count(), delay: mean("delay") } });
 * console.log(delays.toArray()); // [ { origin: 'SFO', flights: 2, delay: 4 }, { origin: 'JFK', flights: 1, delay: 3 } ]
 */
export function groupBy<
  const T extends TableInput | DeviceTable | Tables,
  const By extends string,
  const Aggregates extends Readonly<Record<string, Aggregate>>,
  P extends Placement = "host",
>(
  table: T,
  options: GroupByOptions<By, Aggregates> & OutputOption<P>,
): TableResult<PlacedTable<P, GroupedRow<RowOf<T>, By, Aggregates>>>;
export function groupBy<P extends Placement = "host">(
  table: TableInput | DeviceTable | Tables,
  options: GroupByOptions & OutputOption<P>,
): TableResult<PlacedTable<P>>;
export function groupBy<P extends Placement = "host">(
  table: TableInput | DeviceTable | Tables,
  options: GroupByOptions & OutputOption<P>,
): TableResult<PlacedTable<P>> {
  return groupingResult(
    () => groupHere(table, options),
    async function* () {
      const { groupLarge } = await loadLarge();
      const { memory, output, ...others } = options;
      const input = refuseOnDevice("group-by", narrowed(table, others), output);
      // what it answers on the host
      yield* groupLarge(input, others, checkMemory(memory as never)) as AsyncIterable<PlacedTable<P>>;
    },
    options,
  );
}

/** What another operator is still to make comes without columns that the groups do not need. */
function narrowed<T>(table: T, { by, aggregate }: GroupByOptions): T {
  if (!isPending(table)) return table;
  const { aggregates } = new Grouping("groupBy", { by, aggregate });
  const needed = new Set([...by, ...aggregates.flatMap(({ aggregate }) => aggregate.column ?? [])]);
  return (table.narrowed?.([...needed]) as T) ?? table;
}

/** @throws ValidationError for tables on a device: within a limit of memory the work is the host's */
export function refuseOnDevice<T>(call: string, table: T | DeviceTable, output: Placement | undefined): T {
  if (!(table instanceof DeviceTable) && output !== "device") return table;
  const fix = "Leave out memory, or give a table that is on the host for one on the host.";
  throw new ValidationError(`A ${call} within a limit of memory is done on the host.`, fix);
}

/** An answer that is made in memory, or within a limit of it. */
export function groupingResult<T extends Table | DeviceTable>(
  here: () => Promise<T>,
  large: () => AsyncIterable<T>,
  options: GroupCallOptions,
): TableResult<T> {
  if (options?.memory !== undefined) {
    return new TableResult(() => collectTables(large() as AsyncIterable<Table>) as Promise<T>, large);
  }
  return new TableResult(here, async function* () {
    yield await here();
  });
}

/** An operator that may answer with a table on the device, which the caller frees. */
interface PendingOnDevice extends PendingTable {
  onDevice?(device: Device | undefined): Promise<DeviceTable | null>;
}

async function groupHere<P extends Placement>(
  table: TableInput | DeviceTable | Tables,
  options: GroupByOptions & OutputOption<P>,
): Promise<PlacedTable<P>> {
  const grouping = new Grouping("groupBy", options, "memory output");
  const { output = "host", memory: _, ...own } = options;
  checkOneOf("output", output, ["host", "device"]);
  const asked = narrowed(table, options);
  const there = isPending(asked) ? await (asked as PendingOnDevice).onDevice?.(options.device) : null;
  if (there) {
    try {
      return (await groupTable(grouping, there, output)) as PlacedTable<P>;
    } finally {
      there.destroy();
    }
  }
  const batches = asked instanceof DeviceTable ? null : batchesOf(asked);
  if (batches === null) {
    return (await groupTable(grouping, table as TableInput | DeviceTable, output)) as PlacedTable<P>;
  }
  const parts = await openParts(batches, options, partColumns(options));
  const made = parts ? await (await loadParts()).groupParts(grouping, parts) : await added(batches, own);
  if (output === "host") return made as PlacedTable<P>;
  return (await uploadTable(await grouping.call.begin(), made)) as PlacedTable<P>;
}

async function added(batches: Batches, options: Omit<GroupByOptions, "memory">): Promise<Table> {
  const groups = new GroupBy(options);
  for await (const batch of eachBatch(batches, options.signal)) await groups.add(batch);
  return groups.finish();
}

/** The columns that groups are made of. */
function partColumns({ by, aggregate }: Pick<GroupByOptions, "by" | "aggregate">): string[] {
  return [...by, ...Object.values(aggregate).flatMap(({ column }) => column ?? [])];
}

/**
 * Batches as parts of a file, where these are known and the device takes none of the work from the host; else undefined.
 * Such batches are read by nobody else.
 * @param needed names of columns; null: all
 */
export async function openParts(
  batches: Batches,
  { device: asked, onPlan }: GroupCallOptions,
  needed: readonly string[] | null,
): Promise<FileParts | undefined> {
  const open = partsOf(batches);
  if (open === undefined || onPlan !== undefined) return undefined;
  const device = asked ?? (await defaultDevice());
  const { sumGroups, prefers } = await device.engine.rows();
  if (sumGroups === undefined || prefers("group")) return undefined;
  return openBatches(batches) === batches ? open(needed) : undefined;
}

/**
 * Groups of rows that come in batches, in memory proportional to the groups (with medians, quantiles and countDistinct
 * to the values): what {@link groupBy} answers for one table with all rows. Calls queue up behind each other.
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

  get [Symbol.toStringTag](): string {
    return "GroupBy";
  }

  /** Rows that were added. */
  get rows(): number {
    return this.#rows;
  }

  /**
   * Adds the rows of a table or record batch. After an error nothing of it was added. Its columns may be used again at
   * once: nothing of the table is held on to.
   * @throws as `groupBy`; ValidationError for columns of other types than those of the batches before
   */
  add(batch: TableInput): Promise<void> {
    return this.#next(async () => {
      if (isEmptyList(batch)) return;
      await this.#onSlot(async () => {
        const table = readTable(batch, "");
        const read = async () => (await this.#grouping.read(table)).states.own();
        await this.#take([await whileAttached([table], this.#grouping.call.options.signal, read)]);
      });
    });
  }

  /**
   * Adds the rows that another one was given, as if they had been added here behind all others. The other one stays as
   * it is.
   */
  merge(other: GroupBy): Promise<void> {
    const isOther = other instanceof GroupBy && other !== this;
    // read in the other one's turn, so that two that are merged into each other do not wait for each other
    const read = isOther ? other.#next(async () => other.#sum.parts) : [];
    return this.#next(async () => {
      check(isOther, "other", other, "Give another GroupBy.");
      // without a slot: what is awaited may need one
      const parts = await read;
      this.#grouping.checkSame(other.#grouping);
      await this.#onSlot(() => this.#take(parts));
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
      return this.#onSlot(async (device) => {
        const states = await this.#sum.merged();
        return this.#grouping.finish({ device, states });
      });
    });
  }

  async #onSlot<T>(work: (device: Device) => Promise<T>): Promise<T> {
    const { call } = this.#grouping;
    const device = await call.begin();
    return call.onSlot(device, [], () => work(device));
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

function rowsOf({ rowCounts }: GroupStates): number {
  return rowCounts.reduce((sum, count) => sum + count, 0);
}
