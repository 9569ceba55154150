/**
 * A join's rows in pieces of bounded size. Parts of the left are joined with the whole right, one after the other;
 * where a part has too many pairs, it is halved. Unmatched rows of the right are known when all parts are done, and
 * come last. To be read on slots (RelationalCall.eachOnSlot).
 */
import type { Table } from "@uwdata/flechette";
import { countsUp, MAX_BATCH_ROWS, materialise } from "../../arrow/materialise.js";
import { bitmapBytes, setBits } from "../../bitmaps.js";
import type { Device } from "../../device.js";
import { type JoinKind, type Segment, segmentsOf } from "../../engine/join-kinds.js";
import type { JoinCall, RowIndex } from "../../engine/row-operations.js";
import type { RowKeys, RowPairs } from "../../engine/rows.js";
import { LimitError } from "../../errors.js";
import { rowMarker } from "../../host/mark-rows.js";
import { encodeSide } from "../keys/encode-keys.js";
import type { KeyForm } from "../keys/key-types.js";
import { sliceKeys } from "../keys/slice-keys.js";
import { PARTS, restOf } from "./join-parts.js";
import type { PreparedJoin } from "./prepare-join.js";
import { cutByBytes } from "./row-bytes.js";
import { addTo, filteredPairs, findPairs } from "./run-join.js";

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
  const { left, right } = prepared.encode();
  prepared.call.endStage("encode keys");
  const pairsOf: PairsOf = (keys, call, from) =>
    findPairs(prepared, device, { left: keys, right }, call, from);
  const parts = new Parts(prepared, device, "left", left, maxBytes, part, pairsOf);
  for await (const segment of parts.segments()) yield* segmentTables(prepared, segment, maxBytes);
}

/** A side that is in memory, with an index of its keys. */
export interface Held {
  /** How the keys of both sides are compared. */
  readonly forms: readonly KeyForm[];
  readonly index: RowIndex;
}

/**
 * Joins a batch of a side with the other one, which is held.
 * @param how which rows come out of it; null: none
 * @param matched one bit for each row that is held, set where it is in a pair; null where nobody asks
 * @throws as `join`
 */
export async function* joinHeld(
  prepared: PreparedJoin,
  side: "left" | "right",
  { forms, index }: Held,
  { how, matched }: { readonly how: JoinKind | null; readonly matched: Uint8Array | null },
  maxBytes: number,
): AsyncGenerator<Table> {
  const device = await prepared.call.begin();
  const keys = encodeSide(prepared.keys[side], forms, prepared.rows[side], `${side}Factors`);
  prepared.call.endStage("encode keys");
  const isSemi = side === "left" && prepared.filter === null && (how === "semi" || how === "anti");
  const pairsOf: PairsOf = async (part, call, from) => {
    const pairs = await index.match(part, side, isSemi ? "semi" : "inner", { ...call, output: "host" });
    return filteredPairs(prepared, device, pairs, side, from);
  };
  const part =
    side === "left"
      ? { how, right: matched }
      : { how, right: null, left: matched && { bits: matched, from: 0 } };
  const parts = new Parts(prepared, device, side, keys, maxBytes, part, pairsOf);
  for await (const segment of parts.segments()) yield* segmentTables(prepared, segment, maxBytes);
}

/** The rows of a segment in tables of at most `maxBytes` bytes of columns. */
export async function* segmentTables(
  { call, outputs }: PreparedJoin,
  segment: Segment,
  maxBytes: number,
): AsyncGenerator<Table> {
  const device = call.options.device ?? (await call.begin());
  const host = await device.host();
  // one batch a table where each has a dictionary of its own
  const hasPlans = outputs.some(({ left, right }) => (left ?? right)?.plan !== undefined);
  const most = hasPlans ? MAX_BATCH_ROWS : Number.POSITIVE_INFINITY;
  for (const piece of cutByBytes(outputs, segment, maxBytes, most)) {
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

/** Finds the pairs of some rows of a side with the whole other one. `from`: the first of these rows. */
type PairsOf = (keys: RowKeys, call: Omit<JoinCall, "nullsEqual">, from: number) => Promise<RowPairs>;

class Parts {
  readonly #mostPairs: number;
  /** The other side. */
  readonly #whole: "left" | "right";

  /** @param side whose rows are taken in parts. @param keys of all rows of it */
  constructor(
    readonly prepared: PreparedJoin,
    readonly device: Device,
    readonly side: "left" | "right",
    readonly keys: RowKeys,
    maxBytes: number,
    readonly part: PartJoin,
    readonly pairsOf: PairsOf,
  ) {
    this.#mostPairs = Math.max(1, Math.floor(maxBytes / 8));
    this.#whole = side === "left" ? "right" : "left";
  }

  /** The rows of the result, segment by segment. */
  async *segments(): AsyncGenerator<Segment> {
    const { rows } = this.keys;
    let size = Math.max(LEAST_ROWS, this.prepared.rows[this.#whole]);
    for (let from = 0; from < rows; ) {
      const count = Math.min(size, rows - from);
      const segments = await this.#part(from, count, count === 1);
      if (segments === null) {
        size = Math.ceil(count / 2);
        continue;
      }
      yield* segments;
      from += count;
    }
  }

  /** The segments of some rows; null when they have too many pairs. */
  async #part(from: number, count: number, isLeast: boolean): Promise<Segment[] | null> {
    const { prepared, side, keys } = this;
    const { call, rows } = prepared;
    const part = sliceKeys(keys, from, from + count);
    const mostPairs = isLeast ? undefined : this.#mostPairs;
    try {
      const pairs = await call.onEngine((engineCall) => {
        const onProgress = (done: number, total: number) => {
          engineCall.onProgress?.(from + Math.floor((count * done) / Math.max(1, total)), keys.rows);
        };
        return this.pairsOf(part, { ...engineCall, onProgress, mostPairs }, from);
      });
      call.endStage("hash join");
      try {
        this.#mark(pairs, from);
        const { how } = this.part;
        if (how === null) return [];
        const mark = rowMarker(await this.device.host(), call.pause);
        const segments = await segmentsOf(how, pairs, { ...rows, [side]: count }, mark);
        const isWhole = count === keys.rows;
        return segments
          .filter((segment) => segment.rows > 0)
          .map((segment) => ownSegment(segment, side, from, isWhole));
      } finally {
        pairs.release?.();
      }
    } catch (error) {
      const isTooMany = error instanceof LimitError && error.limit === "rows";
      if (isTooMany && !isLeast) return null;
      throw error;
    }
  }

  /** Notes which rows are in pairs. `from`: the first row of the side that these are of. */
  #mark({ left, right }: RowPairs, from: number): void {
    const { part, side } = this;
    const first = { left: 0, right: 0, [side]: from };
    if (part.right) setBits(part.right, first.right, right, 0, right.length);
    if (part.left) setBits(part.left.bits, part.left.from + first.left, left, 0, left.length);
  }
}

/**
 * A segment in memory of its own, whose rows of a side are numbered as those of all of it.
 * @param isWhole whether all rows of the side were joined
 */
function ownSegment(
  { rows, left, right, inOrder }: Segment,
  side: "left" | "right",
  first: number,
  isWhole: boolean,
): Segment {
  const own = (numbers: Uint32Array | null, of: "left" | "right") =>
    numbers && addTo(numbers.slice(), of === side ? first : 0);
  const made = { rows, left: own(left, "left"), right: own(right, "right") };
  if (!isWhole) return made;
  return { ...made, inOrder: inOrder ?? (countsUp(made[side]) ? side : undefined) };
}
