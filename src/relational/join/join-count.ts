/**
 * How many rows a join has, without its pairs: the rows of both sides are grouped together, and each group has as many
 * pairs as its left rows times its right rows.
 */

import { appendBits } from "../../arrow/bitmaps.js";
import { bitmapBytes } from "../../bitmaps.js";
import { type JoinKind, segmentsOf } from "../../engine/join-kinds.js";
import { NO_GROUP } from "../../engine/row-groups.js";
import type { KeyColumn, RowKeys } from "../../engine/rows.js";
import { rowMarker } from "../../host/mark-rows.js";
import { concatenateBytes } from "../keys/encode-bytes.js";
import type { EncodedKeys } from "../keys/encode-keys.js";
import type { PreparedJoin } from "./prepare-join.js";
import { findPairs } from "./run-join.js";

/** Counts the rows of a join. */
export async function countJoin(prepared: PreparedJoin): Promise<number> {
  const { call, how, rows, nullsEqual } = prepared;
  const device = await call.begin();
  const encoded = prepared.encode();
  call.endStage("encode keys");
  if (prepared.filter !== null) {
    const pairs = await call.onEngine((engineCall) => findPairs(prepared, device, encoded, engineCall));
    call.endStage("hash join");
    call.tellPlan();
    const segments = await segmentsOf(how, pairs, rows, rowMarker(await device.host(), call.pause));
    return segments.reduce((sum, segment) => sum + segment.rows, 0);
  }
  const operations = await device.engine.rows();
  const groups = await call.onEngine((engineCall) =>
    operations.group(bothSides(encoded), { ...engineCall, nullsEqual, lists: false }),
  );
  try {
    const groupOf = await groups.groupOf.read();
    call.endStage("hash join");
    call.tellPlan();
    return countRows(how, groupOf, rows.left, groups.groups);
  } finally {
    groups.destroy();
  }
}

/** @param groupOf of all left rows, then of all right rows */
function countRows(how: JoinKind, groupOf: Uint32Array, leftRows: number, groups: number): number {
  const left = countGroups(groupOf.subarray(0, leftRows), groups);
  const right = countGroups(groupOf.subarray(leftRows), groups);
  let pairs = 0;
  let [leftMatched, rightMatched] = [0, 0];
  for (let group = 0; group < groups; group++) {
    pairs += left[group] * right[group];
    if (right[group] > 0) leftMatched += left[group];
    if (left[group] > 0) rightMatched += right[group];
  }
  const leftAlone = leftRows - leftMatched;
  const rightAlone = groupOf.length - leftRows - rightMatched;
  switch (how) {
    case "inner":
      return pairs;
    case "left":
      return pairs + leftAlone;
    case "right":
      return pairs + rightAlone;
    case "full":
      return pairs + leftAlone + rightAlone;
    case "semi":
      return leftMatched;
    case "anti":
      return leftAlone;
  }
}

function countGroups(groupOf: Uint32Array, groups: number): Uint32Array {
  const counts = new Uint32Array(groups);
  for (let row = 0; row < groupOf.length; row++) if (groupOf[row] !== NO_GROUP) counts[groupOf[row]]++;
  return counts;
}

/** The rows of the left, and behind them those of the right. */
function bothSides({ left, right }: EncodedKeys): RowKeys {
  return {
    rows: left.rows + right.rows,
    columns: left.columns.map((column, i) => append(column, right.columns[i], left.rows, right.rows)),
  };
}

function append(left: KeyColumn, right: KeyColumn, leftRows: number, rightRows: number): KeyColumn {
  const validity = appendValidity(left.validity, right.validity, leftRows, rightRows);
  if (left.kind === "words" && right.kind === "words") {
    const data = new Uint32Array((leftRows + rightRows) * left.width);
    data.set(left.data.subarray(0, leftRows * left.width));
    data.set(right.data.subarray(0, rightRows * left.width), leftRows * left.width);
    return { kind: "words", width: left.width, data, validity };
  }
  if (left.kind === "bytes" && right.kind === "bytes") {
    return { kind: "bytes", ...concatenateBytes(left, right), validity };
  }
  throw new TypeError("the sides' keys have different forms");
}

function appendValidity(
  left: Uint8Array | null,
  right: Uint8Array | null,
  leftRows: number,
  rightRows: number,
): Uint8Array | null {
  if (left === null && right === null) return null;
  const bits = new Uint8Array(bitmapBytes(leftRows + rightRows));
  appendBits(bits, 0, left, leftRows);
  appendBits(bits, leftRows, right, rightRows);
  return bits;
}
