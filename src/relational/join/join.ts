/** The relational join: what is asked for, checked; and the answer, which may be a table, its row count, or batches. */
import type { Table } from "@uwdata/flechette";
import type { OutputOption } from "../../containers/arguments.js";
import type { Device } from "../../device.js";
import type { Placement } from "../../engine/engine.js";
import type { JoinKind } from "../../engine/join-kinds.js";
import type { Plan } from "../../engine/plan.js";
import type { MemoryOptions } from "../../spill/memory-options.js";
import type { DeviceTable, PlacedTable } from "../device/device-table.js";
import type { JoinedRow, RowOf } from "../row-types.js";
import { type BatchOptions, type JoinInput, JoinResult } from "./join-result.js";
import type { PairFilter } from "./pair-filter.js";

/** The stages of a join, in order. */
export type JoinStage = "encode keys" | "hash join" | "materialise";

/** A key column of both sides, or the left's name and the right's. */
export type JoinKey = string | readonly [left: string, right: string];

/** Options of {@link join}. `Row` is what `where.test` is given; the other types are of what stands in them. */
export interface JoinOptions<
  Row extends object = Readonly<Record<string, unknown>>,
  On extends JoinKey = JoinKey,
  How extends JoinKind = JoinKind,
  Select extends string = string,
> {
  /** Key columns: `[left name, right name]`, or one name for both sides. Rows match when all of them are equal. */
  readonly on: readonly On[];
  /**
   * Which rows come out. Default `"inner"`: one row for every pair of matching rows. `"left"`, `"right"`, `"full"`: also the
   * rows of that side, or of both, that match nothing. `"semi"`, `"anti"`: the left rows that match something, or nothing.
   */
  readonly how?: How;
  /**
   * Columns of the result, by their names there and in this order. Only these are gathered; of the others, only keys and what
   * `where` names are read. Default: all.
   */
  readonly select?: readonly Select[];
  /**
   * Columns of this side come as dictionaries: its own column is the dictionary, the numbers of its rows are the codes. Nothing of them is
   * gathered, and they share their codes. For a side of few rows that each match many, where the result is written to csv or parquet files,
   * which hold values either way. Columns of bools, nested types and dictionaries come as they are, and so does everything with `memory`.
   */
  readonly dictionaries?: "left" | "right";
  /** A further condition on pairs: rows match when their keys are equal and it holds. */
  readonly where?: PairFilter<Row>;
  /**
   * Where the hash table work runs. Default: the process's own device, which the first join without `device` opens as
   * `openDevice()` does. It stays open for later joins, and does not keep a Node process alive.
   */
  readonly device?: Device;
  /** True: a null key equals a null key. Default false: rows with a null in any key column match nothing. */
  readonly nullsEqual?: boolean;
  /**
   * Joins within a limit of memory, in Node: what does not fit is partitioned to temporary files. Rows then come in any order, for
   * semi and anti joins too; dictionary columns come out as their values; onPlan and onProgress are not called.
   */
  readonly memory?: MemoryOptions;
  /** Stops the join between chunks of work; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Rows the hash join has done so far, and has to do in all. Called between chunks of work and at the end. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Told how the hash join was done: strategy, reason, the time of each phase. Called once, before the answer comes. */
  readonly onPlan?: (plan: Plan) => void;
  /** Called after each stage with the seconds it took; by `batches()` for each part of the left table. */
  readonly onStage?: (stage: JoinStage, seconds: number) => void;
}

/**
 * Joins two Arrow tables on equal keys. `await` gives a flechette table; `.count()` its row count alone, `.batches()` its rows
 * in pieces. Nothing runs before one of them is asked for. Tables on a device (`device.uploadTable`) are taken as well, and joined there;
 * with `output: "device"` the answer is one. Either side may be an iterable or async iterable of tables or record batches of the same
 * columns, which is read once; with `memory` the sides need not fit into memory.
 *
 * Columns: the left's in order, key columns under the left's name; then the right's in order, without its key columns. A
 * right column whose name is taken gets the suffix `_right`, again and again until it is free. Semi and anti joins answer
 * the left's columns only. Key columns have the left's values and type; in a right join the right's; in a full join the
 * values of whichever side has the row, in a type that holds both (merge-keys.ts). Other columns are null where their side
 * has no row. Types stay as they are (dictionaries stay dictionaries). With `select`, those columns alone.
 *
 * Semi and anti joins answer rows in the left's order; otherwise the order is unspecified. Results come in record batches
 * of at most 2^19 rows.
 *
 * Keys are compared by value across widths, scales and units where that is exact; the table in key-types.ts says which
 * types go together. Memory besides the result, on the cpu engine: 8 bytes per result row, 4 per row of both sides, and
 * when the smaller side has more than 2^17 rows, 8 bytes and the key per row of both (of the larger at most four times as
 * many rows as the smaller has). Kinds other than inner take one bit per row of a side besides, and 4 bytes per
 * row that they add or keep; semi and anti joins without `where` make at most one pair per left row, however skewed the keys
 * are. `where` takes one bit a pair, and 8 bytes for each that it keeps.
 *
 * @throws ValidationError for wrong options, unknown columns, key types that cannot be compared, and kinds of join there are not
 * @throws LimitError when the result has more than 2^31 - 1 rows, or no memory is left for it; it says how many rows
 * @example
 * const flights = tableFromArrays({ origin: ["SFO", "JFK", "SFO"], delay: [12, 3, -4] });
 * const airports = tableFromArrays({ iata: ["SFO", "JFK"], city: ["San Francisco", "New York"] });
 * const joined = await join(flights, airports, { on: [["origin", "iata"]] });
 * console.log(joined.numRows, joined.names); // 3 [ 'origin', 'delay', 'city' ]
 * console.log(await join(flights, airports, { on: [["origin", "iata"]], how: "anti" }).count()); // 0
 */
export function join<
  const L extends JoinInput,
  const R extends JoinInput,
  const On extends JoinKey,
  How extends JoinKind = "inner",
  const Select extends string = never,
  Row extends object = Readonly<Record<string, unknown>>,
  P extends Placement = "host",
>(
  left: L,
  right: R,
  options: JoinOptions<Row, On, How, Select> & OutputOption<P>,
): JoinResult<PlacedTable<P, JoinedRow<RowOf<L>, RowOf<R>, On, How, Select>>>;
export function join<Row extends object = Readonly<Record<string, unknown>>, P extends Placement = "host">(
  left: JoinInput,
  right: JoinInput,
  options: JoinOptions<Row> & OutputOption<P>,
): JoinResult<PlacedTable<P>>;
export function join(
  left: JoinInput,
  right: JoinInput,
  options: JoinOptions<never> & OutputOption<Placement>,
): JoinResult<Table | DeviceTable> {
  return new JoinResult(left, right, options);
}

export type { BatchOptions, JoinInput, JoinResult };
