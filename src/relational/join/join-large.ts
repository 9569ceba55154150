/**
 * A join of sides of any size. The smaller side in memory, the larger one streamed past it, where one fits; else both
 * are partitioned (Grace hash join: Kitsuregawa, Tanaka, Moto-oka, "Application of Hash to Data Base Machine and Its
 * Architecture", 1983), parts that are still too large again. Where that does not help, because many rows have one key,
 * pieces of one side are joined with pieces of the other.
 */
import type { Table } from "@uwdata/flechette";
import { alignBits } from "../../arrow/bitmaps.js";
import type { SourceTable } from "../../arrow/columns.js";
import { RowBatch } from "../../arrow/row-batch.js";
import type { TableInput, Tables } from "../../arrow/table-input.js";
import { cut, TableStream } from "../../arrow/table-stream.js";
import { bitmapBytes, countSet } from "../../bitmaps.js";
import type { OutputOption } from "../../containers/arguments.js";
import type { Placement } from "../../engine/engine.js";
import { type Keying, keyingOf } from "../../engine/hash-seed.js";
import { type JoinKind, rowsWhere, type Segment, type Sides } from "../../engine/join-kinds.js";
import type { RowIndex } from "../../engine/row-operations.js";
import { closeAll } from "../../spill/closing.js";
import type { MemoryOptions } from "../../spill/memory-options.js";
import type { Part } from "../../spill/part.js";
import { type PartitionOf, partition } from "../../spill/partitioner.js";
import { type Cut, FIRST_CUT, nextCut, partitionsOf } from "../../spill/row-partitions.js";
import { MOST_DEPTH, SpillSession } from "../../spill/spill-session.js";
import { encodeSide, keyForms } from "../keys/encode-keys.js";
import type { KeyForm } from "../keys/key-types.js";
import { RelationalCall } from "../relational-call.js";
import type { JoinOptions, JoinStage } from "./join.js";
import { joinHeld, joinPart, noRows, type PartJoin, segmentTables } from "./join-batches.js";
import { keysOfPairs } from "./join-columns.js";
import { PARTS, restOf } from "./join-parts.js";
import { noting, type PreparedJoin, prepareJoin } from "./prepare-join.js";
import { repeatedColumns } from "./repeated-columns.js";

/** Results are values on the host, whatever else is asked for: `dictionaries` and `output` are checked alone. */
type LargeJoinOptions = JoinOptions<never> & OutputOption<Placement>;

/**
 * The rows of a join, in tables of at most `maxBytes` bytes, at least one table.
 * @throws as `join`; FileError when temporary files cannot be written
 */
export async function* joinLarge(
  inputs: Sides<TableInput | Tables>,
  options: LargeJoinOptions,
  memory: MemoryOptions,
  maxBytes: number,
): AsyncGenerator<Table> {
  const { signal } = options;
  const session = new SpillSession(memory, signal);
  const left = new TableStream(inputs.left, "left", signal);
  const right = new TableStream(inputs.right, "right", signal);
  try {
    const join = await LargeJoin.open({ left, right }, options, session, maxBytes);
    let yielded = false;
    for await (const table of join.tables({ left, right })) {
      yielded = true;
      yield table;
      session.pause();
    }
    if (!yielded) yield await join.none();
  } finally {
    await closeAll(left, right, session);
  }
}

/** A part that is smaller than this share of the one that it was cut from was worth the cut. */
const SHRUNK = 0.9;

/**
 * Rows of a batch, at most: where all rows of one come through a join in order they share its memory, and a writer may
 * begin with it while the next one is joined.
 */
const BATCH_ROWS = 1 << 17;
class LargeJoin {
  readonly #leftWanted: boolean;
  readonly #rightWanted: boolean;

  private constructor(
    readonly session: SpillSession,
    readonly call: RelationalCall<JoinStage>,
    /** Joins two batches. */
    readonly prepare: (left: SourceTable, right: SourceTable) => PreparedJoin,
    readonly parts: Sides<{ readonly partitions: (count: number, cut: Cut) => PartitionOf }>,
    readonly empty: Sides<RowBatch>,
    readonly how: PreparedJoin["how"],
    readonly nullsEqual: boolean,
    readonly forms: readonly KeyForm[],
    readonly maxBytes: number,
    /** Whether rows are handed out with dictionaries, each batch with its own. */
    readonly coded: boolean,
    /** For keys that crowd. */
    readonly seeded: Keying,
  ) {
    this.#leftWanted = how !== "inner" && how !== "right";
    this.#rightWanted = how === "right" || how === "full";
  }

  static async open(
    streams: Sides<TableStream>,
    options: LargeJoinOptions,
    session: SpillSession,
    maxBytes: number,
  ): Promise<LargeJoin> {
    const device = await session.device(options.device);
    const { onProgress: _, onPlan: __, dictionaries: ___, output: ____, ...given } = options;
    const others = { ...given, device };
    // one call for all parts: it has one place among others
    const { signal, onStage } = given;
    const call = new RelationalCall<JoinStage>({ device, signal, onStage }, "device signal onStage");
    const prepare = (left: SourceTable, right: SourceTable) => ({
      ...prepareJoin({ left, right }, others),
      call,
    });
    const left = noting(await streams.left.first());
    const right = noting(await streams.right.first());
    // checks everything, and asks for the columns that are needed
    const { how, nullsEqual, keys } = prepareJoin({ left: left.table, right: right.table }, options);
    const forms = keyForms(keys.left, keys.right);
    const shapes = {
      left: await streams.left.need(left.needed()),
      right: await streams.right.need(right.needed()),
    };
    session.fit(Math.max(shapes.left.fixedBytes, shapes.right.fixedBytes));
    const partitions = (side: "left" | "right") => {
      const names = keys[side].map(({ field }) => shapes[side].names.indexOf(field.name));
      return (count: number, cut: Cut): PartitionOf =>
        (batch) => {
          const columns = names.map((index) => batch.column(index));
          const encoded = encodeSide(columns, forms, batch.rows, `${side}Factors`);
          return partitionsOf(encoded, count, cut, !nullsEqual);
        };
    };
    const parts = { left: { partitions: partitions("left") }, right: { partitions: partitions("right") } };
    const empty = { left: RowBatch.empty(shapes.left), right: RowBatch.empty(shapes.right) };
    const seeded = keyingOf(device.engine.hashSeed);
    const coded = options.dictionaries !== undefined;
    const most = Math.min(maxBytes, coded ? session.writeBytes : session.partBytes);
    return new LargeJoin(session, call, prepare, parts, empty, how, nullsEqual, forms, most, coded, seeded);
  }

  /** The result's columns, without rows. */
  none(): Promise<Table> {
    return noRows(this.prepare(this.empty.left, this.empty.right));
  }

  /** All rows. */
  async *tables(streams: Sides<TableStream>): AsyncGenerator<Table> {
    if (!Number.isFinite(this.session.memory.limit)) {
      const side = streams.left.isTable && !streams.right.isTable ? "right" : "left";
      const held = await streams[otherSide(side)].whole();
      yield* this.#againstHeld(side, streams[side].batches(this.coded, BATCH_ROWS), held);
      return;
    }
    const right = await this.#taken(streams.right, this.empty.right, this.session.heldBytes);
    if (right.ended) {
      const left = this.coded ? streams.left.batches(true) : streams.left.pieces(this.session.partBytes);
      yield* this.#againstHeld("left", left, right.whole());
      return;
    }
    const left = await this.#taken(streams.left, this.empty.left, this.session.partBytes);
    if (left.ended) {
      yield* this.#againstHeld("right", right.all(), left.whole());
      return;
    }
    const count = this.session.partitionsFor(Number.POSITIVE_INFINITY);
    yield* this.#partitions({ left: left.all(), right: right.all() }, count, FIRST_CUT, null);
  }

  /** A side up to some bytes, and a piece. */
  async #taken(stream: TableStream, { shape }: RowBatch, most: number) {
    const { pieceBytes } = this.session;
    const pieces = this.coded ? stream.rowBatches(most) : stream.pieces(pieceBytes);
    let batches: RowBatch[] = [];
    let bytes = 0;
    let ended = false;
    while (bytes <= most) {
      const { value, done } = await pieces.next();
      ended = done === true;
      if (ended) break;
      batches.push(value as RowBatch);
      bytes += (value as RowBatch).bytes;
      this.session.pause();
    }
    const taken = () => {
      const all = batches;
      batches = [];
      return all;
    };
    return {
      ended,
      /** What was taken; not held on to. */
      whole: () => RowBatch.merged(shape, taken(), () => this.session.pause()),
      /** The same, and then the rest. */
      all: async function* (): AsyncGenerator<RowBatch> {
        for (const all = taken(); all.length > 0; ) yield* cut((all.shift() as RowBatch).plain(), pieceBytes);
        for await (const piece of pieces) yield* cut(piece.plain(), pieceBytes);
      },
    };
  }

  /** Partitions both sides, and joins them part by part. @param from what they were cut from */
  async *#partitions(
    sides: Sides<AsyncGenerator<RowBatch>>,
    count: number,
    cut: Cut,
    from: Sides<Part> | null,
  ): AsyncGenerator<Table> {
    this.session.cut(count, cut.depth);
    const partsOf = (side: "left" | "right") =>
      partition(this.session, this.call, {
        shape: this.empty[side].shape,
        batches: sides[side],
        count,
        partitionOf: this.parts[side].partitions(count, cut),
      });
    const right = await partsOf("right");
    const left = await partsOf("left");
    await from?.left.release();
    await from?.right.release();
    const shares = { left: sharesOf(left), right: sharesOf(right) };
    for (const [i, part] of left.entries()) {
      const next = nextCut(cut, Math.max(shares.left[i], shares.right[i]), count, this.seeded);
      yield* this.#part({ left: part, right: right[i] }, next, from);
      await part.release();
      await right[i].release();
    }
  }

  async *#part(part: Sides<Part>, cut: Cut, from: Sides<Part> | null): AsyncGenerator<Table> {
    const { left, right } = part;
    if (this.#isNothing(part)) return;
    const { partBytes, pieceBytes } = this.session;
    const shrunk =
      from === null || left.bytes < SHRUNK * from.left.bytes || right.bytes < SHRUNK * from.right.bytes;
    if (right.bytes <= partBytes)
      yield* this.#againstHeld("left", left.pieces(partBytes), await wholeOf(right));
    else if (left.bytes <= partBytes)
      yield* this.#againstHeld("right", right.pieces(partBytes), await wholeOf(left));
    else if (cut.depth > MOST_DEPTH || !shrunk) yield* this.#blocks(left, right);
    else {
      const count = this.session.partitionsFor(Math.min(left.bytes, right.bytes));
      const pieces = { left: left.pieces(pieceBytes), right: right.pieces(pieceBytes) };
      yield* this.#partitions(pieces, count, cut, part);
    }
  }

  /** Whether no row can come of a part. */
  #isNothing({ left, right }: Sides<Part>): boolean {
    if (left.rows > 0 && right.rows > 0) return false;
    const leftAlone = this.#leftWanted && this.how !== "semi";
    return !(left.rows > 0 && leftAlone) && !(right.rows > 0 && this.#rightWanted);
  }

  /** One side is in memory, of `side` batches come by. */
  async *#againstHeld(
    side: "left" | "right",
    batches: AsyncIterable<SourceTable>,
    held: SourceTable,
  ): AsyncGenerator<Table> {
    const own = otherSide(side);
    const how = PARTS[side][this.how];
    const wanted = own === "right" ? this.#rightWanted : this.#leftWanted;
    const matched = wanted ? new Uint8Array(bitmapBytes(held.rows)) : null;
    const { forms, call } = this;
    const index = await call.onSlot(await call.begin(), [held], () => this.#index(own, held));
    try {
      for await (const batch of batches) {
        this.session.pause();
        const prepared = this.#coded(this.prepare(...sidesOf(side, batch, held)), own, how);
        const made = joinHeld(prepared, side, { forms, index }, { how, matched }, this.maxBytes);
        yield* call.eachOnSlot([batch, held], made);
      }
    } finally {
      index.destroy();
    }
    const rest = matched && restOf(this.how, side, matched, held.rows);
    if (rest === null || rest.rows === 0) return;
    yield* this.#alone(...sidesOf(side, this.empty[side], held), rest);
  }

  /**
   * @param held the side whose rows may come again and again
   * @param how which rows come out
   */
  #coded(prepared: PreparedJoin, held: "left" | "right", how: JoinKind | null): PreparedJoin {
    if (!this.coded) return prepared;
    const { outputs, keys, rows } = prepared;
    const made = held === "left" && how === "inner" ? keysOfPairs(outputs, keys, rows) : outputs;
    return { ...prepared, outputs: repeatedColumns(made, held) };
  }

  async #index(side: "left" | "right", held: SourceTable): Promise<RowIndex> {
    const { forms, nullsEqual, call } = this;
    const { keys } = this.prepare(...sidesOf(otherSide(side), this.empty[otherSide(side)], held));
    const rows = await (await call.begin()).engine.rows();
    const encoded = encodeSide(keys[side], forms, held.rows, `${side}Factors`);
    call.endStage("encode keys");
    const index = await rows.index(encoded, { nullsEqual, signal: call.options.signal });
    call.endStage("hash join");
    return index;
  }

  /** The right comes in several pieces: what left rows match is known after the last. */
  async *#blocks(left: Part, right: Part): AsyncGenerator<Table> {
    const { partBytes } = this.session;
    const bits = this.#leftWanted ? new Uint8Array(bitmapBytes(left.rows)) : null;
    const how = this.how === "semi" || this.how === "anti" ? null : "inner";
    for await (const whole of right.pieces(partBytes)) {
      const matched = this.#rightWanted ? new Uint8Array(bitmapBytes(whole.rows)) : null;
      let from = 0;
      for await (const piece of left.pieces(partBytes)) {
        yield* this.#joined(piece, whole, { how, right: matched, left: bits && { bits, from } });
        from += piece.rows;
      }
      if (matched !== null) yield* this.#unmatched(whole, matched);
    }
    if (bits !== null) yield* this.#leftRows(left, bits);
  }

  /** Rows of the right that match nothing. */
  async *#unmatched(right: RowBatch, matched: Uint8Array): AsyncGenerator<Table> {
    const rest = restOf(this.how, "left", matched, right.rows);
    if (rest === null || rest.rows === 0) return;
    yield* this.#alone(this.empty.left, right, rest);
  }

  /** Rows of the left by whether they match something. */
  async *#leftRows(left: Part, bits: Uint8Array): AsyncGenerator<Table> {
    const set = this.how === "semi";
    let from = 0;
    for await (const piece of left.pieces(this.session.partBytes)) {
      const own = alignBits(bits, from, piece.rows);
      const found = countSet(own, piece.rows);
      const rows = rowsWhere(own, piece.rows, set, set ? found : piece.rows - found);
      const segment: Segment = { rows: rows.length, left: rows, right: null };
      if (rows.length > 0) yield* this.#alone(piece, this.empty.right, segment);
      from += piece.rows;
    }
  }

  /** The rows of two batches. */
  #joined(left: RowBatch, right: RowBatch, part: PartJoin): AsyncGenerator<Table> {
    const made = joinPart(this.prepare(left, right), part, this.maxBytes);
    return this.call.eachOnSlot([left, right], made);
  }

  /** Rows of one of two batches. */
  #alone(left: SourceTable, right: SourceTable, segment: Segment): AsyncGenerator<Table> {
    const made = segmentTables(this.prepare(left, right), segment, this.maxBytes);
    return this.call.eachOnSlot([left, right], made);
  }
}

function otherSide(side: "left" | "right"): "left" | "right" {
  return side === "left" ? "right" : "left";
}

/** A table of `side` and one of the other side, the left one first. */
function sidesOf(side: "left" | "right", table: SourceTable, other: SourceTable) {
  return side === "left" ? ([table, other] as const) : ([other, table] as const);
}

/** What each of some parts has of all. */
function sharesOf(parts: readonly Part[]): number[] {
  const total = parts.reduce((sum, { rows }) => sum + rows, 0);
  return parts.map(({ rows }) => rows / Math.max(1, total));
}

/** All rows of a part that fits into memory. */
async function wholeOf(part: Part): Promise<RowBatch> {
  const batches: RowBatch[] = [];
  for await (const batch of part.pieces(Number.POSITIVE_INFINITY)) batches.push(batch);
  return RowBatch.concat(part.shape, batches);
}
