/**
 * A join's rows in pieces of bounded size. Parts of the left are joined with the whole right, one after the other;
 * where a part has too many pairs, it is halved. Unmatched rows of the right are known when all parts are done, and
 * come last. To be read on slots (RelationalCall.eachOnSlot).
 */
import type { Table } from "@uwdata/flechette";
import { materialise } from "../../arrow/materialise.js";
import { bitmapBytes, setBit } from "../../bitmaps.js";
import type { Device } from "../../device.js";
import { type JoinKind, type Segment, segmentsOf } from "../../engine/join-kinds.js";
import type { RowPairs } from "../../engine/rows.js";
import { LimitError } from "../../errors.js";
import { rowMarker } from "../../host/mark-rows.js";
import type { EncodedKeys } from "../keys/encode-keys.js";
import { sliceKeys } from "../keys/slice-keys.js";
import { PARTS, restOf } from "./join-parts.js";
import type { PreparedJoin } from "./prepare-join.js";
import { cutByBytes } from "./row-bytes.js";
import { addTo, findPairs } from "./run-join.js";

/** Rows of a part of the left, at least: a part costs a pass over the right. */
const LEAST_ROWS = 2 ** 17;

/** Joins, and yields the rows in tables of at most `maxBytes` bytes of columns; without rows one table without rows. */
export async function* joinBatches(prepared: PreparedJoin, maxBytes: number): AsyncGenerator<Table> {
  const { call, how, rows } = prepared;
  const wanted = how === "right" || how === "full";
  const right = wanted ? new Uint8Array(bitmapBytes(rows.right)) : null;
  let yielded = false;
  for await (const table of joinPart(prepared, { how: PARTS.left[how], right }, maxBytes)) {
    yielded = true;
    yield table;
  }
  const rest = right && restOf(how, "left", right, rows.right);
  if (rest !== null && rest.rows > 0) {
    yielded = true;
    yield* segmentTables(prepared, rest, maxBytes);
  }
  if (!yielded) yield noRows(prepared);
  call.tellPlan();
}

/** What is done with the pairs of a part of the left. */
export interface PartJoin {
  /** Which rows come out of it; null: none. */
  readonly how: JoinKind | null;
  /** One bit for each row of the right, set where it is in a pair; null where nobody asks. */
  readonly right: Uint8Array | null;
  /** The same of the left, whose rows begin at bit `from`. */
  readonly left?: { readonly bits: Uint8Array; readonly from: number } | null;
}

/** Joins the left, which may be a part of a larger one, with the whole right. @throws as `join` */
export async function* joinPart(
  prepared: PreparedJoin,
  part: PartJoin,
  maxBytes: number,
): AsyncGenerator<Table> {
  const device = await prepared.call.begin();
  const encoded = prepared.encode();
  prepared.call.endStage("encode keys");
  for await (const segment of new Parts(prepared, device, encoded, maxBytes, part).segments())
    yield* segmentTables(prepared, segment, maxBytes);
}

/** The rows of a segment in tables of at most `maxBytes` bytes of columns. */
export async function* segmentTables(
  { call, outputs }: PreparedJoin,
  segment: Segment,
  maxBytes: number,
): AsyncGenerator<Table> {
  const device = call.options.device ?? (await call.begin());
  const host = await device.host();
  for (const piece of cutByBytes(outputs, segment, maxBytes)) {
    const table = await materialise(outputs, [piece], call.pause, host);
    call.endStage("materialise");
    yield table;
  }
}

/** The result's columns, without rows. */
export function noRows({ call, outputs }: PreparedJoin): Promise<Table> {
  const none = { rows: 0, left: new Uint32Array(0), right: new Uint32Array(0) };
  return materialise(outputs, [none], call.pause);
}

class Parts {
  readonly #mostPairs: number;

  constructor(
    readonly prepared: PreparedJoin,
    readonly device: Device,
    readonly encoded: EncodedKeys,
    maxBytes: number,
    readonly part: PartJoin,
  ) {
    this.#mostPairs = Math.max(1, Math.floor(maxBytes / 8));
  }

  /** The rows of the result, segment by segment. */
  async *segments(): AsyncGenerator<Segment> {
    const { rows } = this.prepared;
    let size = Math.max(LEAST_ROWS, rows.right);
    for (let from = 0; from < rows.left; ) {
      const count = Math.min(size, rows.left - from);
      const segments = await this.#part(from, count, count === 1);
      if (segments === null) {
        size = Math.ceil(count / 2);
        continue;
      }
      yield* segments;
      from += count;
    }
  }

  /** The segments of some left rows; null when they have too many pairs. */
  async #part(from: number, count: number, isLeast: boolean): Promise<Segment[] | null> {
    const { prepared, device, encoded } = this;
    const { call, rows } = prepared;
    const part = { left: sliceKeys(encoded.left, from, from + count), right: encoded.right };
    const mostPairs = isLeast ? undefined : this.#mostPairs;
    try {
      const pairs = await call.onEngine((engineCall) => {
        const onProgress = (done: number, total: number) => {
          engineCall.onProgress?.(from + Math.floor((count * done) / Math.max(1, total)), rows.left);
        };
        return findPairs(prepared, device, part, { ...engineCall, onProgress, mostPairs }, from);
      });
      call.endStage("hash join");
      try {
        this.#mark(pairs, from);
        const { how } = this.part;
        const mark = rowMarker(await device.host(), call.pause);
        if (how === null) return [];
        const segments = await segmentsOf(how, pairs, { left: count, right: rows.right }, mark);
        return segments.filter((segment) => segment.rows > 0).map((segment) => ownSegment(segment, from));
      } finally {
        pairs.release?.();
      }
    } catch (error) {
      const isTooMany = error instanceof LimitError && error.limit === "rows";
      if (isTooMany && !isLeast) return null;
      throw error;
    }
  }

  /** Notes which rows are in pairs. `from`: the first row of the left that these are of. */
  #mark({ left, right }: RowPairs, from: number): void {
    const { part } = this;
    if (part.right) for (let i = 0; i < right.length; i++) setBit(part.right, right[i]);
    if (!part.left) return;
    const { bits, from: first } = part.left;
    for (let i = 0; i < left.length; i++) setBit(bits, first + from + left[i]);
  }
}

/** A segment in memory of its own, whose left rows are numbered as the whole left's. */
function ownSegment({ rows, left, right }: Segment, firstLeft: number): Segment {
  return { rows, left: left && addTo(left.slice(), firstLeft), right: right?.slice() ?? null };
}
