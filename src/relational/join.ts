/**
 * The relational join: two Arrow tables in, one out. Three stages: key columns are brought to a common form
 * (encode-keys.ts), the device's engine finds the pairs of equal rows, the result is gathered column by column
 * (materialise.ts). Rows are matched by comparing all their key values; hashes only find candidates.
 */
import type { Table } from "@uwdata/flechette";
import { defaultDevice } from "../default-device.js";
import type { Device } from "../device.js";
import { JOIN_KINDS, type JoinKind, type Sides, segmentsOf } from "../engine/join-kinds.js";
import { nextTask } from "../engine/next-task.js";
import { type Plan, PlanLog } from "../engine/plan.js";
import { semiPairs } from "../engine/semi-pairs.js";
import { ValidationError } from "../errors.js";
import { check, checkBoolean, checkCallbacks, checkOptions } from "../options.js";
import { type ArrowTable, columnIndex, readTable, type SourceTable } from "./columns.js";
import { encodeKeys } from "./encode-keys.js";
import { outputColumns } from "./join-columns.js";
import { materialise } from "./materialise.js";

/** The stages of a join, in order. */
export type JoinStage = "encode keys" | "hash join" | "materialise";

/** Options of {@link join}. */
export interface JoinOptions {
  /** Key columns: `[left name, right name]`, or one name for both sides. Rows match when all of them are equal. */
  readonly on: readonly (string | readonly [left: string, right: string])[];
  /**
   * Which rows come out. Default `"inner"`: one row for every pair of matching rows. `"left"`, `"right"`, `"full"`: also the
   * rows of that side, or of both, that match nothing. `"semi"`, `"anti"`: the left rows that match something, or nothing.
   */
  readonly how?: JoinKind;
  /**
   * Where the hash table work runs. Default: the process's own device, which the first join without `device` opens as
   * `openDevice()` does. It stays open for later joins, and does not keep a Node process alive.
   */
  readonly device?: Device;
  /** True: a null key equals a null key. Default false: rows with a null in any key column match nothing. */
  readonly nullsEqual?: boolean;
  /** Stops the join between chunks of work; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Rows the hash join has done so far, and has to do in all. Called between chunks of work and at the end. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Told how the hash join was done: strategy, reason, the time of each phase. Called once, before the answer comes. */
  readonly onPlan?: (plan: Plan) => void;
  /** Called after each stage with the seconds it took. */
  readonly onStage?: (stage: JoinStage, seconds: number) => void;
}

/**
 * Joins two Arrow tables on equal keys and returns a flechette table.
 *
 * Columns: the left's in order, key columns under the left's name; then the right's in order, without its key columns. A
 * right column whose name is taken gets the suffix `_right`, again and again until it is free. Semi and anti joins answer
 * the left's columns only. Key columns have the left's values and type; in a right join the right's; in a full join the
 * values of whichever side has the row, in a type that holds both (merge-keys.ts). Other columns are null where their side
 * has no row. Types stay as they are (dictionaries stay dictionaries).
 *
 * Semi and anti joins answer rows in the left's order; otherwise the order is unspecified. Results come in record batches
 * of at most 2^19 rows.
 *
 * Keys are compared by value across widths, scales and units where that is exact; the table in key-types.ts says which
 * types go together. Memory besides the result, on the cpu engine: 8 bytes per result row, 4 per row of both sides, and
 * when the smaller side has more than 2^17 rows, 8 bytes and the key per row of both (of the larger at most four times as
 * many rows as the smaller has). Kinds other than inner take one bit per row of a side besides, and 4 bytes per
 * row that they add or keep; semi and anti joins find at most four pairs per row of both sides, however skewed the keys are.
 *
 * @throws ValidationError for wrong options, unknown columns, key types that cannot be compared, and kinds of join there are not
 * @throws LimitError when the result has more than 2^31 - 1 rows
 * @example
 * const flights = tableFromArrays({ origin: ["SFO", "JFK", "SFO"], delay: [12, 3, -4] });
 * const airports = tableFromArrays({ iata: ["SFO", "JFK"], city: ["San Francisco", "New York"] });
 * const joined = await join(flights, airports, { on: [["origin", "iata"]] });
 * console.log(joined.numRows, joined.names); // 3 [ 'origin', 'delay', 'city' ]
 */
export async function join(left: ArrowTable, right: ArrowTable, options: JoinOptions): Promise<Table> {
  const pairs = checkJoinOptions(options);
  options.signal?.throwIfAborted();
  const tables = { left: readTable(left, "left"), right: readTable(right, "right") };
  const keys = {
    left: pairs.map(([name]) => columnIndex(tables.left, name, "left")),
    right: pairs.map(([, name]) => columnIndex(tables.right, name, "right")),
  };
  return run(tables, keys, options.device ?? (await defaultDevice()), options);
}

async function run(
  tables: Sides<SourceTable>,
  keys: Sides<number[]>,
  device: Device,
  options: JoinOptions,
): Promise<Table> {
  const { signal, onProgress, onPlan, nullsEqual = false } = options;
  const { how = "inner" } = options;
  const stage = stopwatch(options.onStage);
  const outputs = outputColumns(how, tables, keys);
  const counts = { left: tables.left.rows, right: tables.right.rows };
  const encoded = encodeKeys(
    keys.left.map((index) => tables.left.columns[index]),
    keys.right.map((index) => tables.right.columns[index]),
    counts,
  );
  stage("encode keys");
  const rows = await device.engine.rows();
  const log = onPlan && new PlanLog();
  log?.begin();
  const call = { nullsEqual, signal, onProgress, log };
  const isSemi = how === "semi" || how === "anti";
  const pairs = await (isSemi
    ? semiPairs(rows, encoded, call)
    : rows.join(encoded.left, encoded.right, call));
  const plan = log?.finish();
  stage("hash join");
  const pause = async () => {
    await nextTask();
    signal?.throwIfAborted();
  };
  try {
    const segments = await segmentsOf(how, pairs, counts, pause);
    const joined = await materialise(outputs, segments, pause, undefined, (tasks) =>
      rows.gather(tasks, pause),
    );
    if (plan) onPlan?.(plan);
    return joined;
  } finally {
    pairs.release?.();
    stage("materialise");
  }
}

function stopwatch(report: JoinOptions["onStage"]): (stage: JoinStage) => void {
  let last = performance.now();
  return (stage) => {
    const now = performance.now();
    report?.(stage, (now - last) / 1000);
    last = now;
  };
}

/** Checks all options, and answers the pairs of key columns. */
function checkJoinOptions(options: JoinOptions): (readonly [string, string])[] {
  checkOptions(options, "on how device nullsEqual signal onProgress onPlan onStage");
  const { device, nullsEqual, signal, onProgress, onPlan, onStage } = options;
  checkCallbacks({ signal, onProgress, onPlan, onStage });
  checkBoolean("nullsEqual", nullsEqual);
  const isDevice = device === undefined || Boolean(device?.engine);
  check(isDevice, "device", device, "Give what `await openDevice()` answers.");
  checkKind(options.how);
  return keyNames(options);
}

function keyNames(options: JoinOptions): (readonly [string, string])[] {
  const example = 'Write on: ["id"], or on: [["origin", "iata"]] when the names differ.';
  const on: unknown = options.on;
  if (typeof on === "string") throw new ValidationError(`on is "${on}", not a list of columns.`, example);
  if (!Array.isArray(on) || on.length === 0)
    throw new ValidationError("join needs at least one key column.", example);
  return on.map((key: unknown) => {
    const pair = typeof key === "string" ? [key, key] : key;
    const valid = Array.isArray(pair) && pair.length === 2 && pair.every((name) => typeof name === "string");
    if (!valid) throw new ValidationError("A key of join is neither a name nor a pair of names.", example);
    return pair as [string, string];
  });
}

function checkKind(how: unknown): void {
  if (how === undefined || JOIN_KINDS.some((kind) => kind === how)) return;
  throw new ValidationError(
    `There is no join of kind "${String(how)}".`,
    `The kinds are ${JOIN_KINDS.map((kind) => `"${kind}"`).join(", ")}.`,
  );
}
