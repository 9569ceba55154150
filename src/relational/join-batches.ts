/**
 * A join's rows in pieces of bounded size. Parts of the left are joined with the whole right, one after the other; where a part
 * has too many pairs, it is halved. Unmatched rows of the right are known when all parts are done, and come last.
 */
import type { Table } from "@uwdata/flechette";
import type { Device } from "../device.js";
import { bitmapBytes, setBit } from "../engine/bitmaps.js";
import { type Segment, segmentsOf } from "../engine/join-kinds.js";
import { LimitError } from "../errors.js";
import type { EncodedKeys } from "./encode-keys.js";
import { PARTS, restOf } from "./join-parts.js";
import { materialise } from "./materialise.js";
import type { PreparedJoin } from "./prepare-join.js";
import { cutByBytes } from "./row-bytes.js";
import { addTo, findPairs } from "./run-join.js";
import { sliceKeys } from "./slice-keys.js";

/** Rows of a part of the left, at least: a part costs a pass over the right. */
const LEAST_ROWS = 2 ** 17;

/** Joins, and yields the rows in tables of at most `maxBytes` bytes of columns. */
export async function* joinBatches(prepared: PreparedJoin, maxBytes: number): AsyncGenerator<Table> {
  const { call, how, rows, outputs } = prepared;
  const device = await call.begin();
  const encoded = prepared.encode();
  call.endStage("encode keys");
  const gatherer = await call.gatherOn(device);
  const rightMatched = how === "right" || how === "full" ? new Uint8Array(bitmapBytes(rows.right)) : null;
  const parts = new Parts(prepared, device, encoded, maxBytes, rightMatched);
  let yielded = false;
  for await (const segment of parts.segments()) {
    for (const piece of cutByBytes(outputs, segment, maxBytes)) {
      const table = await materialise(outputs, [piece], call.pause, gatherer);
      call.endStage("materialise");
      yielded = true;
      yield table;
      call.restartStage();
    }
  }
  if (!yielded) {
    const none = { rows: 0, left: new Uint32Array(0), right: new Uint32Array(0) };
    yield await materialise(outputs, [none], call.pause);
  }
  call.tellPlan();
}

class Parts {
  readonly #mostPairs: number;

  constructor(
    readonly prepared: PreparedJoin,
    readonly device: Device,
    readonly encoded: EncodedKeys,
    maxBytes: number,
    /** One bit a right row, where the join wants those that match nothing. */
    readonly rightMatched: Uint8Array | null,
  ) {
    this.#mostPairs = Math.max(1, Math.floor(maxBytes / 8));
  }

  /** The rows of the result, segment by segment. */
  async *segments(): AsyncGenerator<Segment> {
    const { prepared, rightMatched } = this;
    const { rows } = prepared;
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
    const rest = rightMatched && restOf(prepared.how, "left", rightMatched, rows.right);
    if (rest !== null && rest.rows > 0) yield rest;
  }

  /** The segments of some left rows; null when they have too many pairs. */
  async #part(from: number, count: number, isLeast: boolean): Promise<Segment[] | null> {
    const { prepared, device, encoded, rightMatched } = this;
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
        if (rightMatched !== null) {
          for (let i = 0; i < pairs.right.length; i++) setBit(rightMatched, pairs.right[i]);
        }
        const counts = { left: count, right: rows.right };
        const segments = await segmentsOf(PARTS.left[prepared.how], pairs, counts, call.pause);
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
}

/** A segment in memory of its own, whose left rows are numbered as the whole left's. */
function ownSegment({ rows, left, right }: Segment, firstLeft: number): Segment {
  return { rows, left: left && addTo(left.slice(), firstLeft), right: right?.slice() ?? null };
}
