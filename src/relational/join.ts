/**
 * The relational join: two Arrow tables in, one out. Three stages: key columns are brought to a common form
 * (encode-keys.ts), the device's engine finds the pairs of equal rows, the result is gathered column by column
 * (materialise.ts). Rows are matched by comparing all their key values; hashes only find candidates.
 */
import type { Table } from "@uwdata/flechette";
import type { Device } from "../device.js";
import type { Plan } from "../engine/plan.js";
import { ValidationError } from "../errors.js";
import { checkBoolean } from "../options.js";
import { type ArrowTable, columnIndex, readTable, type SourceTable } from "./columns.js";
import { encodeKeys } from "./encode-keys.js";
import { outputColumns } from "./join-columns.js";
import { JOIN_KINDS, type JoinKind, type Sides, segmentsOf } from "./join-kinds.js";
import { materialise } from "./materialise.js";
import { RelationalCall } from "./relational-call.js";
import { semiPairs } from "./semi-pairs.js";

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
  const call = new RelationalCall<JoinStage>(
    options,
    "on how device nullsEqual signal onProgress onPlan onStage",
  );
  const { how = "inner", nullsEqual = false } = options;
  checkBoolean("nullsEqual", nullsEqual);
  checkKind(how);
  const pairs = keyNames(options);
  call.throwIfAborted();
  const tables = { left: readTable(left, "left"), right: readTable(right, "right") };
  const keys = {
    left: pairs.map(([name]) => columnIndex(tables.left, name, "left")),
    right: pairs.map(([, name]) => columnIndex(tables.right, name, "right")),
  };
  return run(call, tables, keys, { how, nullsEqual });
}

async function run(
  call: RelationalCall<JoinStage>,
  tables: Sides<SourceTable>,
  keys: Sides<number[]>,
  { how, nullsEqual }: { readonly how: JoinKind; readonly nullsEqual: boolean },
): Promise<Table> {
  const device = await call.begin();
  const outputs = outputColumns(how, tables, keys);
  const counts = { left: tables.left.rows, right: tables.right.rows };
  const encoded = encodeKeys(
    keys.left.map((index) => tables.left.columns[index]),
    keys.right.map((index) => tables.right.columns[index]),
    counts,
  );
  call.endStage("encode keys");
  const rows = await device.engine.rows();
  const isSemi = how === "semi" || how === "anti";
  const pairs = await call.onEngine((engineCall) => {
    const joinCall = { ...engineCall, nullsEqual };
    return isSemi ? semiPairs(rows, encoded, joinCall) : rows.join(encoded.left, encoded.right, joinCall);
  });
  call.endStage("hash join");
  try {
    const segments = await segmentsOf(how, pairs, counts, call.pause);
    const gatherer = await call.gatherOn(device);
    const joined = await materialise(outputs, segments, call.pause, undefined, gatherer);
    call.endStage("materialise");
    call.tellPlan();
    return joined;
  } finally {
    pairs.release?.();
  }
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
  if (JOIN_KINDS.some((kind) => kind === how)) return;
  throw new ValidationError(
    `There is no join of kind "${String(how)}".`,
    `The kinds are ${JOIN_KINDS.map((kind) => `"${kind}"`).join(", ")}.`,
  );
}
