/**
 * Joins and gathering of columns on the cpu engine's device, whose memory is the host's: the same operations as for
 * host columns, and their results in device arrays.
 */

import { bitmapBytes } from "../../../bitmaps.js";
import { gather } from "../../../host/gather.js";
import type { GatherSource, GatherTask } from "../../../host/gather-buffers.js";
import { rowMarker } from "../../../host/mark-rows.js";
import { nextTask } from "../../../host/next-task.js";
import {
  type DeviceColumn,
  type DeviceKeys,
  type DeviceValues,
  destroyColumns,
  type KindAt,
  type MatchCall,
  type Matches,
  type MatchesAt,
  NO_ROW,
  type Words,
} from "../../device-columns.js";
import type { Placement } from "../../engine.js";
import { type JoinKind, type Sides, segmentsOf } from "../../join-kinds.js";
import type { JoinCall, RowIndex } from "../../row-operations.js";
import type { RowKeys, RowPairs } from "../../rows.js";
import { asBytes } from "../../scalars.js";
import type { CpuEngine } from "../cpu-engine.js";
import { joinRows } from "../join/join-rows.js";
import type { CpuRowIndex } from "../join/row-index.js";
import { rowThreads } from "./row-threads.js";

export async function matchRows<P extends Placement>(
  engine: CpuEngine,
  left: DeviceKeys,
  right: DeviceKeys,
  how: KindAt<P>,
  call: MatchCall<P>,
): Promise<MatchesAt<P>> {
  const kind = isHalf(how) ? "semi" : "inner";
  const pairs = await joinRows(hostKeys(left), hostKeys(right), call, undefined, rowThreads(engine), kind);
  return placed(engine, pairs, how, { left: left.rows, right: right.rows }, call);
}

/** Rows in a table that stays, as an engine's. */
export function placedIndex(engine: CpuEngine, index: CpuRowIndex): RowIndex {
  return {
    match: async (keys, side, how, call) => {
      const pairs = await index.pairs(hostKeys(keys), side, how === "semi" ? how : "inner", call);
      const rows = index.keys.rows;
      const counts = side === "left" ? { left: keys.rows, right: rows } : { left: rows, right: keys.rows };
      return placed(engine, pairs, how, counts, call);
    },
    destroy: () => index.destroy(),
  };
}

const isHalf = (how: JoinKind) => how === "semi" || how === "anti";

/** Pairs where they are wanted. */
async function placed<P extends Placement>(
  engine: CpuEngine,
  pairs: RowPairs,
  how: JoinKind,
  counts: Sides<number>,
  call: Pick<MatchCall<P>, "output" | "signal">,
): Promise<MatchesAt<P>> {
  const isHere = call.output === "host";
  return (isHere ? pairs : await matchesOf(engine, pairs, how, counts, call)) as MatchesAt<P>;
}

/** The rows of a join that pairs make, which are released. */
async function matchesOf(
  engine: CpuEngine,
  pairs: RowPairs,
  how: JoinKind,
  counts: Sides<number>,
  { signal }: Pick<JoinCall, "signal">,
): Promise<Matches> {
  try {
    const segments = await segmentsOf(how, pairs, counts, rowMarker(engine.host, pauses(signal)));
    const total = segments.reduce((sum, segment) => sum + segment.rows, 0);
    const column = (side: "left" | "right"): Words => {
      const array = engine.newArray("u32", total, false);
      const words = hostWords(array);
      let at = 0;
      for (const segment of segments) {
        const numbers = segment[side];
        if (numbers) words.set(numbers, at);
        else words.fill(NO_ROW, at, at + segment.rows);
        at += segment.rows;
      }
      return array;
    };
    const [{ inOrder }] = segments;
    const isWhole = inOrder !== undefined && segments.length === 1 && total === counts[inOrder];
    const right = isHalf(how) ? null : column("right");
    return { left: column("left"), right, inOrder: isWhole ? inOrder : undefined };
  } finally {
    pairs.release?.();
  }
}

export async function gatherColumns(
  engine: CpuEngine,
  columns: readonly DeviceColumn[],
  rows: Words,
  mayLack: boolean,
  { signal }: Pick<JoinCall, "signal">,
): Promise<DeviceColumn[]> {
  const numbers = hostWords(rows);
  const lacking = mayLack ? lackingRows(numbers) : null;
  // rows that are not there gather the first one, and are null
  const present = lacking ? numbers.map((row) => (row === NO_ROW ? 0 : row)) : numbers;
  const plans = columns.map((column) => tasksOf(column, present));
  const tasks = plans.flatMap(({ values, validity }) => [...values, ...validity]);
  const made = await gather(engine.host, tasks, pauses(signal));
  const gathered: DeviceColumn[] = [];
  try {
    let next = 0;
    for (const [i, plan] of plans.entries()) {
      const [values] = made.slice(next, next + plan.values.length);
      next += plan.values.length;
      const [bits] = made.slice(next, next + plan.validity.length);
      next += plan.validity.length;
      const source = columns[i].values;
      gathered.push({
        values: source && valuesOf(engine, source, values, numbers.length),
        validity: validityOf(engine, bits?.[0], lacking, numbers.length),
      });
    }
    return gathered;
  } catch (error) {
    destroyColumns(gathered);
    throw error;
  }
}

function pauses(signal: AbortSignal | undefined): () => Promise<void> {
  return async () => {
    await nextTask();
    signal?.throwIfAborted();
  };
}

export function hostWords(array: Words): Uint32Array {
  return array.storage.host as Uint32Array;
}

function hostBits(bits: Words | null): Uint8Array | null {
  return bits && asBytes(hostWords(bits));
}

/** Keys with all columns in host memory. */
export function hostKeys({ rows, columns }: DeviceKeys): RowKeys {
  return {
    rows,
    columns: columns.map((column) => {
      if (column.kind === "device words") {
        const { width, data, validity } = column;
        const words = hostWords(data).subarray(0, rows * width);
        return { kind: "words", width, data: words, validity: hostBits(validity) };
      }
      if (column.kind !== "device bytes") return column;
      const offsets = hostWords(column.offsets);
      return {
        kind: "bytes",
        starts: offsets.subarray(0, rows),
        ends: offsets.subarray(1, rows + 1),
        bytes: asBytes(hostWords(column.bytes)),
        validity: hostBits(column.validity),
      };
    }),
  };
}

/** A bitmap of the rows that are there; null where all are. */
function lackingRows(rows: Uint32Array): Uint8Array | null {
  if (!rows.includes(NO_ROW)) return null;
  const bits = new Uint8Array(bitmapBytes(rows.length));
  for (let i = 0; i < rows.length; i++) if (rows[i] !== NO_ROW) bits[i >>> 3] |= 1 << (i & 7);
  return bits;
}

/** What is to be gathered of a column: its values, and its validity. */
function tasksOf({ values, validity }: DeviceColumn, rows: Uint32Array) {
  const task = (source: GatherSource): GatherTask => ({ source, rows });
  const bits = hostBits(validity);
  return {
    values: values ? [task(sourceOf(values))] : [],
    validity: bits ? [task({ kind: "bits", bits })] : [],
  };
}

function sourceOf(values: DeviceValues): GatherSource {
  if (values.kind === "fixed") {
    return { kind: "fixed", data: asBytes(hostWords(values.data)), width: values.width };
  }
  if (values.kind === "bits") return { kind: "bits", bits: asBytes(hostWords(values.data)) };
  const { offsets, bytes, most } = values;
  return { kind: "strings", offsets: hostWords(offsets), bytes: asBytes(hostWords(bytes)), most };
}

function valuesOf(
  engine: CpuEngine,
  like: DeviceValues,
  [first, second]: readonly ArrayBuffer[],
  length: number,
): DeviceValues {
  if (like.kind !== "strings") return { ...like, data: arrayOf(engine, new Uint8Array(first)) };
  const offsets = new Uint32Array(first, 0, length + 1);
  const bytes = new Uint8Array(second, 0, offsets[length]);
  return { ...like, offsets: arrayOf(engine, asBytes(offsets)), bytes: arrayOf(engine, bytes) };
}

function validityOf(
  engine: CpuEngine,
  own: ArrayBuffer | undefined,
  present: Uint8Array | null,
  length: number,
): Words | null {
  if (!own && !present) return null;
  const bits = own ? new Uint8Array(own, 0, bitmapBytes(length)) : (present as Uint8Array);
  if (own && present) for (let i = 0; i < bits.length; i++) bits[i] &= present[i];
  return arrayOf(engine, bits);
}

/** A device array of the bytes, filled up to whole words. */
function arrayOf(engine: CpuEngine, bytes: Uint8Array): Words {
  const array = engine.newArray("u32", Math.ceil(bytes.length / 4), false);
  asBytes(hostWords(array)).set(bytes);
  return array;
}
