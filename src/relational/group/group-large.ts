/**
 * Groups of rows of any number. They are added up in memory as long as they fit; then they are split into partitions by
 * their keys, rows that are still to come are partitioned to files, and each partition goes on by itself, from its
 * groups on (hybrid hash aggregation). However many rows a group has, it is one group: only more groups than fit are
 * cut again.
 */
import type { Table } from "@uwdata/flechette";
import { columnIndex } from "../../arrow/columns.js";
import { heldBytes } from "../../arrow/held-bytes.js";
import { tableOf } from "../../arrow/materialise.js";
import { type BatchShape, RowBatch } from "../../arrow/row-batch.js";
import type { TableInput, Tables } from "../../arrow/table-input.js";
import { TableStream } from "../../arrow/table-stream.js";
import type { Device } from "../../device.js";
import { keyingOf } from "../../engine/hash-seed.js";
import { LimitError } from "../../errors.js";
import { closeAll } from "../../spill/closing.js";
import type { MemoryOptions } from "../../spill/memory-options.js";
import { partition } from "../../spill/partitioner.js";
import { type Cut, FIRST_CUT, nextCut, partitionsOf, rowsByPartition } from "../../spill/row-partitions.js";
import { MOST_DEPTH, SpillSession } from "../../spill/spill-session.js";
import type { GroupStates } from "../aggregate/group-states.js";
import type { GroupByOptions } from "../group-calls.js";
import { encodeOwnKeys } from "../keys/encode-keys.js";
import { asGroups, type DistinctOptions } from "./distinct.js";
import { Grouping, StatesSum } from "./grouping.js";

/**
 * The groups of all rows, in tables of the same columns.
 * @throws as `groupBy`; LimitError where the values of one group alone are too many; FileError when temporary files
 * cannot be written
 */
export async function* groupLarge(
  input: TableInput | Tables,
  options: GroupByOptions,
  memory: MemoryOptions,
): AsyncGenerator<Table> {
  const stream = new TableStream(input, "", options.signal);
  yield* groups(stream, "groupBy", options, memory);
}

/** The rows that differ in some columns. @throws as `distinct`, and as groupLarge */
export async function* distinctLarge(
  input: TableInput | Tables,
  { on, ...options }: DistinctOptions,
  memory: MemoryOptions,
): AsyncGenerator<Table> {
  const stream = new TableStream(input, "", options.signal);
  try {
    const { names } = await stream.first();
    if (names.length === 0 && on === undefined) {
      yield tableOf([], []);
      return;
    }
    const call = { ...options, ...asGroups(names, on) };
    for await (const table of groups(stream, "distinct", call, memory)) yield table.select([...names]);
  } finally {
    await stream.close();
  }
}

async function* groups(
  stream: TableStream,
  name: string,
  { onPlan: _, onProgress: __, ...options }: GroupByOptions,
  memory: MemoryOptions,
): AsyncGenerator<Table> {
  const session = new SpillSession(memory, options.signal);
  try {
    const grouping = new Grouping(name, { ...options, device: await session.device(options.device) });
    const first = await stream.first();
    const asked = [...options.by, ...Object.values(options.aggregate).flatMap(({ column }) => column ?? [])];
    const needed = new Set(asked.map((column) => columnIndex(first, column, "")));
    const shape = await stream.need([...needed].sort((a, b) => a - b));
    session.fit(shape.fixedBytes);
    const keys = options.by.map((column) => first.names.indexOf(column));
    const run = new LargeGrouping(session, grouping, shape, keys);
    yield* run.tables([], stream.pieces(session.pieceBytes), FIRST_CUT);
  } finally {
    await closeAll(stream, session);
  }
}

/** Aggregates that need all values of a group, or all that differ. */
const KEEPS_ALL: ReadonlySet<string> = new Set(["median", "quantile", "countDistinct"]);

/** Partitions of one cut, at most. Each takes a pass over the states in memory. */
const PARTITIONS = 16;

class LargeGrouping {
  /** Bytes of groups in memory. While they are merged they take that twice. */
  readonly #most: number;

  constructor(
    readonly session: SpillSession,
    readonly grouping: Grouping,
    readonly shape: BatchShape,
    /** Indices of the key columns. */
    readonly keys: readonly number[],
  ) {
    this.#most = session.partBytes;
  }

  /**
   * The groups of some that are there and of rows that come after them. @param next how they are cut where they are too
   * many
   */
  async *tables(
    start: readonly GroupStates[],
    batches: AsyncGenerator<RowBatch>,
    next: Cut,
  ): AsyncGenerator<Table> {
    const sum = new StatesSum(this.grouping);
    await sum.add(start);
    for (;;) {
      // a loop over them would end them when it is left
      const { value, done } = await batches.next();
      if (done) break;
      this.session.pause();
      const tooMany = await this.#onSlot([value], async () => {
        await this.#add(sum, value);
        return heldBytes(sum.parts) > this.#most && heldBytes(await sum.merged()) > this.#most;
      });
      if (!tooMany) continue;
      yield* this.#cut(await sum.merged(), batches, next);
      return;
    }
    yield await this.#onSlot([], async (device) => {
      if (sum.parts.length === 0) await this.#add(sum, RowBatch.empty(this.shape));
      return this.grouping.finish({ device, states: await sum.merged() });
    });
  }

  async #add(sum: StatesSum, batch: RowBatch): Promise<void> {
    const { states } = await this.grouping.read(batch);
    await sum.add([states.own()]);
  }

  async #onSlot<T>(inputs: readonly RowBatch[], work: (device: Device) => Promise<T>): Promise<T> {
    const { call } = this.grouping;
    const device = await call.begin();
    return call.onSlot(device, inputs, () => work(device));
  }

  /** Splits groups, partitions the rows that come after them, and goes on with each part. */
  async *#cut(states: GroupStates, batches: AsyncGenerator<RowBatch>, cut: Cut): AsyncGenerator<Table> {
    const { session, grouping, shape } = this;
    if (states.groups < 2 || cut.depth > MOST_DEPTH) throw this.#tooLarge(states);
    const count = Math.min(PARTITIONS, session.mostPartitions);
    session.cut(count, cut.depth);
    const numbers = partitionsOf(encodeOwnKeys(states.keys, states.groups), count, cut, false);
    const starts: GroupStates[] = [];
    const seeded = await this.#onSlot([], async (device) => {
      for (const groups of rowsByPartition(numbers, count))
        starts.push(await grouping.select(device, states, groups));
      return keyingOf(device.engine.hashSeed);
    });
    const partitionOf = (batch: RowBatch) => {
      const columns = this.keys.map((index) => batch.column(index));
      return partitionsOf(encodeOwnKeys(columns, batch.rows), count, cut, false);
    };
    const files = await partition(session, grouping.call, { shape, batches, count, partitionOf });
    const total = files.reduce((sum, { rows }) => sum + rows, states.groups);
    for (const file of files) {
      const start = starts.shift() as GroupStates;
      const rows = start.groups + file.rows;
      const next = nextCut(cut, rows / total, count, seeded);
      if (rows > 0) yield* this.tables([start], file.pieces(session.pieceBytes), next);
      await file.release();
    }
  }

  #tooLarge(states: GroupStates): LimitError {
    const keepsAll = this.grouping.aggregates.some(({ aggregate }) => KEEPS_ALL.has(aggregate.name));
    const fix = keepsAll
      ? "Give a higher limit, or leave out medians and quantiles, and take approxCountDistinct for countDistinct: these keep all values of a group."
      : "Give a higher limit: the values of one group take so much, and a sixteenth of the limit is for them.";
    return new LimitError("memory", heldBytes(states), this.#most, fix);
  }
}
