/**
 * A join's work. Three stages: key columns are brought to a common form (encode-keys.ts), the device's engine finds the
 * pairs of equal rows, the result is gathered column by column (materialise.ts). Rows are matched by comparing all
 * their key values; hashes only find candidates.
 */
import type { Table } from "@uwdata/flechette";
import { materialisePieces } from "../../arrow/materialise.js";
import type { Device } from "../../device.js";
import { segmentsOf } from "../../engine/join-kinds.js";
import type { JoinCall } from "../../engine/row-operations.js";
import type { RowPairs } from "../../engine/rows.js";
import { LimitError } from "../../errors.js";
import { rowMarker } from "../../host/mark-rows.js";
import type { EncodedKeys } from "../keys/encode-keys.js";
import { materialiseAnswer } from "../relational-call.js";
import { filterPairs } from "./pair-filter.js";
import type { PreparedJoin } from "./prepare-join.js";

/** Runs a join. @throws as `join` */
export async function joinTable(prepared: PreparedJoin): Promise<Table> {
  const { device, pairs } = await allPairs(prepared);
  return joinedRows(prepared, device, pairs);
}

/** Rows of a record batch that is made when it is asked for. */
const PIECE_ROWS = 1 << 17;

/** The same in record batches. To be read on slots (RelationalCall.eachOnSlot). @throws as `join` */
export async function* joinPieces(prepared: PreparedJoin): AsyncGenerator<Table> {
  const { call, how, rows, outputs } = prepared;
  const { device, pairs } = await allPairs(prepared);
  try {
    const segments = await segmentsOf(how, pairs, rows, rowMarker(await device.host(), call.pause));
    for await (const table of materialisePieces(outputs, segments, call.pause, PIECE_ROWS)) {
      call.endStage("materialise");
      yield table;
    }
  } finally {
    pairs.release?.();
  }
}

async function allPairs(prepared: PreparedJoin) {
  const { call } = prepared;
  const device = await call.begin();
  const encoded = prepared.encode();
  call.endStage("encode keys");
  const pairs = await call.onEngine((engineCall) => findPairs(prepared, device, encoded, engineCall));
  call.endStage("hash join");
  return { device, pairs };
}

/** The rows of the join that pairs make, which are released. */
export async function joinedRows(
  { call, how, rows, outputs }: PreparedJoin,
  device: Device,
  pairs: RowPairs,
): Promise<Table> {
  try {
    const segments = await segmentsOf(how, pairs, rows, rowMarker(await device.host(), call.pause));
    return await materialiseAnswer(outputs, segments, call, device);
  } finally {
    pairs.release?.();
  }
}

/**
 * The pairs of rows that match. For semi and anti joins pairs in which every left row that matches comes at least once.
 * @param encoded keys of all rows, or of some of the left's
 * @param firstLeft number of the first left row among them
 */
export async function findPairs(
  prepared: PreparedJoin,
  device: Device,
  encoded: EncodedKeys,
  engineCall: Omit<JoinCall, "nullsEqual">,
  firstLeft = 0,
): Promise<RowPairs> {
  const { how, nullsEqual, filter } = prepared;
  const rows = await device.engine.rows();
  const isSemi = filter === null && (how === "semi" || how === "anti");
  const joinCall = { ...engineCall, nullsEqual, output: "host" } as const;
  const pairs = await rows
    .match(encoded.left, encoded.right, isSemi ? "semi" : "inner", joinCall)
    .catch(refusePairs);
  return filteredPairs(prepared, device, pairs, "left", firstLeft);
}

/** Engines say what helps where a table is too large. How many pairs there are follows from the keys. */
function refusePairs(error: unknown): never {
  if (!(error instanceof LimitError) || error.limit !== "memory") throw error;
  const fix = "Join on more columns, take the rows by `batches()`, or count them by `count()`.";
  throw new LimitError(error.limit, error.need, error.have, fix, { cause: error });
}

/**
 * The pairs for which the join's condition holds, those that were given being released; all where it has none.
 * @param first number of the first row of `side` that pairs are of
 */
export async function filteredPairs(
  { call, filter }: PreparedJoin,
  device: Device,
  pairs: RowPairs,
  side: "left" | "right" = "left",
  first = 0,
): Promise<RowPairs> {
  if (filter === null) return pairs;
  try {
    const all = { left: pairs.left, right: pairs.right, [side]: addTo(pairs[side], first) };
    const kept = await filterPairs(all, filter, call.pause, await device.host());
    return { left: kept.left, right: kept.right, [side]: addTo(kept[side], -first) };
  } finally {
    pairs.release?.();
  }
}

/** The numbers, each larger by `difference`. */
export function addTo(numbers: Uint32Array, difference: number): Uint32Array {
  if (difference === 0) return numbers;
  const sums = new Uint32Array(numbers.length);
  for (let i = 0; i < sums.length; i++) sums[i] = numbers[i] + difference;
  return sums;
}
