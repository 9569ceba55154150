/**
 * One side of joins, whose keys are put into a table once: batches of the other side are joined with it one after the
 * other. The engine's index finds pairs (engine/row-operations.ts); the rest is done as for any join.
 */
import type { Table } from "@uwdata/flechette";
import { eachBatch } from "../../arrow/batch-reader.js";
import type { SourceTable } from "../../arrow/columns.js";
import { materialise } from "../../arrow/materialise.js";
import { batchesOf, type TableInput, type Tables } from "../../arrow/table-input.js";
import { bitmapBytes, setBit } from "../../bitmaps.js";
import type { OutputOption } from "../../containers/arguments.js";
import type { Device } from "../../device.js";
import type { Placement } from "../../engine/engine.js";
import { lazily } from "../../engine/lazily.js";
import type { RowPairs } from "../../engine/rows.js";
import { keepWhenDropped, whenDropped } from "../../engine/when-dropped.js";
import { ValidationError } from "../../errors.js";
import { check, checkBoolean, checkCallbacks, checkOneOf, checkOptions } from "../../options.js";
import { untilAborted } from "../../until-aborted.js";
import { commonDevice, DeviceTable, type PlacedTable, uploadTable } from "../device/device-table.js";
import { encodeSide, keyForms } from "../keys/encode-keys.js";
import { checkNames } from "../relational-call.js";
import { onSlot } from "../slots.js";
import { IndexedTable } from "./indexed-table.js";
import type { JoinOptions } from "./join.js";
import { PARTS, restOf } from "./join-parts.js";
import { placeOf } from "./join-place.js";
import { type PreparedJoin, prepareJoin } from "./prepare-join.js";
import { filteredPairs, joinedRows } from "./run-join.js";

const loadThere = lazily(() => import("./device-index.js"));

/** Options of {@link JoinIndex.create}. */
export interface JoinIndexOptions {
  /** Key columns of the table. */
  readonly on: readonly string[];
  /** True: a null key equals a null key. Default false: rows with a null in any key column match nothing. */
  readonly nullsEqual?: boolean;
  /** Ends the call: it rejects with the signal's reason at once, and the building stops at its next chunk of work. */
  readonly signal?: AbortSignal;
}

/** Options of {@link JoinIndex.join}: those of a join but for `device` and `nullsEqual`, which the index has. */
export interface IndexedJoinOptions<Row extends object = Readonly<Record<string, unknown>>>
  extends Omit<JoinOptions<Row>, "on" | "device" | "nullsEqual" | "dictionaries" | "memory"> {
  /** The batch's key columns, in the order of the index's. Default: the same names. */
  readonly on?: readonly string[];
  /** Which side of the join the batch is; the index is the other one. Default: `"left"`. */
  readonly side?: "left" | "right";
}

/** A table that many batches are joined with. */
export class JoinIndex {
  readonly #device: Device;
  readonly #indexed: IndexedTable;
  readonly #probing = new Set<Promise<unknown>>();
  #destroyed = false;

  private constructor(indexed: IndexedTable) {
    this.#device = indexed.device;
    this.#indexed = indexed;
    whenDropped(this, () => indexed.destroyAfter(Promise.resolve()));
  }

  /**
   * Puts the keys of a table into an index on a device. Other columns are read when a join asks for them. The table may
   * be on the device itself (`device.uploadTable`); then it is to stay there as long as the index. Keys of batches may
   * have other types: where both must be widened to be compared, the index is built once more for those types.
   *
   * @throws ValidationError for wrong options, unknown columns, and types that cannot be keys
   * @throws LimitError when there is no memory for the index
   * @example
   * const airports = { iata: ["SFO", "JFK"], city: ["San Francisco", "New York"] };
   * const index = await JoinIndex.create(device, airports, { on: ["iata"] });
   * for (const origin of [["SFO"], ["JFK", "OAK"]]) {
   *   const joined = await index.join({ origin }, { on: ["origin"], how: "left" });
   *   console.log(joined.toArray()); // [ { origin: 'SFO', city: 'San Francisco' } ], then two rows
   * }
   * index.destroy();
   */
  static async create(
    device: Device,
    table: TableInput | DeviceTable,
    options: JoinIndexOptions,
  ): Promise<JoinIndex> {
    check(Boolean(device?.engine), "device", device, "Give what `await openDevice()` answers.");
    checkOptions(options, "on nullsEqual signal");
    const { nullsEqual, signal } = options;
    checkCallbacks({ signal });
    checkBoolean("nullsEqual", nullsEqual);
    const on = checkNames("JoinIndex.create", "on", "key column", options.on);
    const indexed = new IndexedTable(device, table, on, nullsEqual ?? false);
    const forms = keyForms(indexed.keys, indexed.keys);
    const build = () =>
      onSlot(device, signal, [indexed.table], () => indexed.indexFor(forms, "rightFactors", signal));
    await untilAborted(signal, build, () => indexed.destroyAfter(Promise.resolve()));
    return new JoinIndex(indexed);
  }

  /** Rows of the table. */
  get rows(): number {
    return this.#indexed.rows;
  }

  /**
   * Joins a table or record batch with the index's, as {@link join} does. Either may be on the device, and with
   * `output: "device"` the answer is: then the join runs there from end to end, but for full joins and `where`.
   * @throws as `join`; ValidationError after `destroy`
   */
  async join<Row extends object = Readonly<Record<string, unknown>>, P extends Placement = "host">(
    batch: TableInput | DeviceTable,
    options: IndexedJoinOptions<Row> & OutputOption<P> = {},
  ): Promise<PlacedTable<P>> {
    const { output: asked, ...own } = options;
    const output: Placement = asked ?? "host";
    checkOneOf("output", output, ["host", "device"]);
    const isThere = batch instanceof DeviceTable;
    if (isThere) commonDevice(this.#device, [batch]);
    const prepared = this.#prepare(isThere ? batch.source : batch, own, this.#indexed.table);
    return prepared.call.onSlot(this.#device, prepared.inputs, async () => {
      if ((await placeOf(this.#device, prepared, output, false)) === "device") {
        const answer = await this.#joinThere(prepared, own, output);
        prepared.call.endStage("materialise");
        prepared.call.tellPlan();
        return answer as PlacedTable<P>;
      }
      const here = isThere ? await batch.toArrow() : batch;
      const isHost = !isThere && this.#indexed.there === null;
      const onHost = isHost ? prepared : this.#prepare(here, own, await this.#onHost());
      const joined = await joinedRows(onHost, this.#device, await this.#pairs(onHost, own));
      return (output === "device" ? await uploadTable(this.#device, joined) : joined) as PlacedTable<P>;
    });
  }

  /**
   * Joins batches of one table, which are read one after the other, and yields the rows of each; then, for kinds of
   * join that want them, the index's rows that no batch, or that some batch had a match for. All together the rows are
   * those of a join of the whole table.
   * @throws as `join`
   */
  async *joinAll<Row extends object = Readonly<Record<string, unknown>>>(
    batches: Tables,
    options: IndexedJoinOptions<Row> = {},
  ): AsyncGenerator<Table, void, undefined> {
    const all = batchesOf(batches);
    if (all === null)
      throw new ValidationError("The batches are not iterable.", "Give a list, or an async iterable.");
    checkCallbacks({ signal: options.signal });
    const { side = "left" } = options;
    const own = side === "left" ? "right" : "left";
    const matched = new Uint8Array(bitmapBytes(this.rows));
    let last: PreparedJoin | undefined;
    for await (const batch of eachBatch(all, options.signal)) {
      const prepared = this.#prepare(batch, options, await this.#onHost());
      last = prepared;
      const joined = await prepared.call.onSlot(this.#device, prepared.inputs, async () => {
        const pairs = await this.#pairs(prepared, options);
        for (const row of pairs[own]) setBit(matched, row);
        const part = PARTS[side][prepared.how];
        if (part !== null) return joinedRows({ ...prepared, how: part }, this.#device, pairs);
        pairs.release?.();
        prepared.call.tellPlan();
        return null;
      });
      if (joined !== null) yield joined;
    }
    if (last === undefined) return;
    const rest = restOf(last.how, side, matched, this.rows);
    if (rest === null) return;
    const { inputs, outputs, call } = last;
    yield await call.onSlot(this.#device, inputs, () => materialise(outputs, [rest], call.pause));
  }

  /** Frees the memory of the index, once batches under way have found their pairs. Idempotent. */
  destroy(): void {
    this.#destroyed = true;
    keepWhenDropped(this);
    this.#indexed.destroyAfter(Promise.allSettled(this.#probing));
  }

  get [Symbol.toStringTag](): string {
    return "JoinIndex";
  }

  [Symbol.dispose](): void {
    this.destroy();
  }

  #checkAlive(): void {
    if (this.#destroyed) throw new ValidationError("The JoinIndex was destroyed.", "Create another one.");
    this.#indexed.there?.check();
  }

  #onHost(): Promise<SourceTable> | SourceTable {
    this.#checkAlive();
    return this.#indexed.onHost();
  }

  async #joinThere(
    prepared: PreparedJoin,
    { side = "left", signal }: IndexedJoinOptions<never>,
    output: Placement,
  ): Promise<Table | DeviceTable> {
    const own = side === "left" ? "right" : "left";
    prepared.call.beginStages();
    const { joinIndexed } = await loadThere();
    const uploads = await this.#indexed.uploads();
    this.#checkAlive();
    const indexFor = (forms: ReturnType<typeof keyForms>) =>
      this.#indexed.indexFor(forms, `${own}Factors`, signal);
    return this.#underWay(joinIndexed(this.#device, prepared, { side, indexFor, uploads }, output));
  }

  /** Notes what uses the index's memory until it has ended. */
  #underWay<T>(probing: Promise<T>): Promise<T> {
    this.#probing.add(probing);
    return probing.finally(() => this.#probing.delete(probing));
  }

  /** @param table the index's */
  #prepare(
    batch: TableInput | SourceTable,
    options: IndexedJoinOptions<never>,
    table: SourceTable,
  ): PreparedJoin {
    this.#checkAlive();
    checkOptions(options, "on side how select where signal onProgress onPlan onStage");
    const { side = "left", on, ...rest } = options;
    checkOneOf("side", side, ["left", "right"]);
    const names = on === undefined ? this.#indexed.on : checkNames("JoinIndex.join", "on", "key column", on);
    if (names.length !== this.#indexed.on.length) {
      const fix = `Name one for each of ${this.#indexed.on.join(", ")}.`;
      throw new ValidationError(
        `on names ${names.length} columns, the index has ${this.#indexed.on.length}.`,
        fix,
      );
    }
    const { on: own, nullsEqual } = this.#indexed;
    const isLeft = side === "left";
    const pairs = names.map((name, i) => (isLeft ? ([name, own[i]] as const) : ([own[i], name] as const)));
    const sides = isLeft ? { left: batch, right: table } : { left: table, right: batch };
    return prepareJoin(sides, { ...rest, device: this.#device, nullsEqual, on: pairs });
  }

  async #pairs(
    prepared: PreparedJoin,
    { side = "left", signal }: IndexedJoinOptions<never>,
  ): Promise<RowPairs> {
    const { call, keys, rows } = prepared;
    await call.begin();
    this.#checkAlive();
    const forms = keyForms(keys.left, keys.right);
    const own = side === "left" ? "right" : "left";
    const index = await this.#indexed.indexFor(forms, `${own}Factors`, signal);
    const encoded = encodeSide(keys[side], forms, rows[side], `${side}Factors`);
    call.endStage("encode keys");
    const found = await call.onEngine((engineCall) => {
      this.#checkAlive();
      return this.#underWay(index.match(encoded, side, "inner", { ...engineCall, output: "host" }));
    });
    const kept = await filteredPairs(prepared, this.#device, found);
    call.endStage("hash join");
    return kept;
  }
}
