/**
 * One side of joins, whose keys are put into a table once: batches of the other side are joined with it one after the other. The
 * engine's index finds pairs (engine/row-operations.ts); the rest is done as for any join.
 */
import type { Table } from "@uwdata/flechette";
import type { Device } from "../device.js";
import { bitmapBytes, setBit } from "../engine/bitmaps.js";
import type { RowIndex } from "../engine/row-operations.js";
import type { RowPairs } from "../engine/rows.js";
import { ValidationError } from "../errors.js";
import { check, checkBoolean, checkCallbacks, checkOneOf, checkOptions } from "../options.js";
import { eachBatch } from "./batch-reader.js";
import { columnIndex, readTable, type SourceTable } from "./columns.js";
import { encodeSide, keyForms } from "./encode-keys.js";
import type { JoinOptions } from "./join.js";
import { PARTS, restOf } from "./join-parts.js";
import { materialise } from "./materialise.js";
import { type PreparedJoin, prepareJoin } from "./prepare-join.js";
import { checkNames } from "./relational-call.js";
import { filteredPairs, joinedRows } from "./run-join.js";
import { batchesOf, type TableInput, type Tables } from "./table-input.js";

/** Options of {@link JoinIndex.create}. */
export interface JoinIndexOptions {
  /** Key columns of the table. */
  readonly on: readonly string[];
  /** True: a null key equals a null key. Default false: rows with a null in any key column match nothing. */
  readonly nullsEqual?: boolean;
  /** Stops the building between chunks of work. */
  readonly signal?: AbortSignal;
}

/** Options of {@link JoinIndex.join}: those of a join but for `device` and `nullsEqual`, which the index has. */
export interface IndexedJoinOptions<Row extends object = Readonly<Record<string, unknown>>>
  extends Omit<JoinOptions<Row>, "on" | "device" | "nullsEqual"> {
  /** The batch's key columns, in the order of the index's. Default: the same names. */
  readonly on?: readonly string[];
  /** Which side of the join the batch is; the index is the other one. Default: `"left"`. */
  readonly side?: "left" | "right";
}

/** A table that many batches are joined with. */
export class JoinIndex {
  readonly #device: Device;
  readonly #table: SourceTable;
  readonly #on: readonly string[];
  readonly #nullsEqual: boolean;
  /** By the form of the keys, which depends on the types of both sides. */
  readonly #indexes = new Map<string, Promise<RowIndex>>();
  readonly #probing = new Set<Promise<RowPairs>>();
  #destroyed = false;

  private constructor(device: Device, table: SourceTable, { on, nullsEqual = false }: JoinIndexOptions) {
    this.#device = device;
    this.#table = table;
    this.#on = on;
    this.#nullsEqual = nullsEqual;
  }

  /**
   * Puts the keys of a table into an index on a device. Other columns are read when a join asks for them. Keys of batches may have
   * other types: where both must be widened to be compared, the index is built once more for those types.
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
  static async create(device: Device, table: TableInput, options: JoinIndexOptions): Promise<JoinIndex> {
    check(Boolean(device?.engine), "device", device, "Give what `await openDevice()` answers.");
    checkOptions(options, "on nullsEqual signal");
    const { nullsEqual, signal } = options;
    checkCallbacks({ signal });
    checkBoolean("nullsEqual", nullsEqual);
    const on = checkNames("JoinIndex.create", "on", "key column", options.on);
    const index = new JoinIndex(device, readTable(table, "indexed"), { ...options, on });
    const keys = on.map((name) => index.#table.column(columnIndex(index.#table, name, "indexed")));
    await index.#indexFor(keyForms(keys, keys), "rightFactors", signal);
    return index;
  }

  /** Rows of the table. */
  get rows(): number {
    return this.#table.rows;
  }

  /**
   * Joins a table or record batch with the index's, as {@link join} does.
   * @throws as `join`; ValidationError after `destroy`
   */
  async join<Row extends object = Readonly<Record<string, unknown>>>(
    batch: TableInput,
    options: IndexedJoinOptions<Row> = {},
  ): Promise<Table> {
    const prepared = this.#prepare(batch, options);
    const pairs = await this.#pairs(prepared, options);
    return joinedRows(prepared, this.#device, pairs);
  }

  /**
   * Joins batches of one table, which are read one after the other, and yields the rows of each; then, for kinds of join that want
   * them, the index's rows that no batch, or that some batch had a match for. All together the rows are those of a join of the
   * whole table.
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
      const prepared = this.#prepare(batch, options);
      last = prepared;
      const pairs = await this.#pairs(prepared, options);
      for (const row of pairs[own]) setBit(matched, row);
      const part = PARTS[side][prepared.how];
      if (part === null) {
        pairs.release?.();
        prepared.call.tellPlan();
      } else yield await joinedRows({ ...prepared, how: part }, this.#device, pairs);
    }
    if (last === undefined) return;
    const rest = restOf(last.how, side, matched, this.rows);
    if (rest !== null) yield await materialise(last.outputs, [rest], last.call.pause);
  }

  /** Frees the memory of the index, once batches under way have found their pairs. Idempotent. */
  destroy(): void {
    this.#destroyed = true;
    const probed = Promise.allSettled(this.#probing);
    for (const index of this.#indexes.values()) {
      Promise.all([index, probed]).then(
        ([made]) => made.destroy(),
        () => {}, // it was never built
      );
    }
    this.#indexes.clear();
  }

  [Symbol.dispose](): void {
    this.destroy();
  }

  #checkAlive(): void {
    if (this.#destroyed) throw new ValidationError("The JoinIndex was destroyed.", "Create another one.");
  }

  #prepare(batch: TableInput, options: IndexedJoinOptions<never>): PreparedJoin {
    this.#checkAlive();
    checkOptions(options, "on side how select where signal onProgress onPlan onStage");
    const { side = "left", on, ...rest } = options;
    checkOneOf("side", side, ["left", "right"]);
    const names = on === undefined ? this.#on : checkNames("JoinIndex.join", "on", "key column", on);
    if (names.length !== this.#on.length) {
      const fix = `Name one for each of ${this.#on.join(", ")}.`;
      throw new ValidationError(`on names ${names.length} columns, the index has ${this.#on.length}.`, fix);
    }
    const call = { ...rest, device: this.#device, nullsEqual: this.#nullsEqual };
    return side === "left"
      ? prepareJoin(
          { left: batch, right: this.#table },
          { ...call, on: names.map((name, i) => [name, this.#on[i]] as const) },
        )
      : prepareJoin(
          { left: this.#table, right: batch },
          {
            ...call,
            on: names.map((name, i) => [this.#on[i], name] as const),
          },
        );
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
    const index = await this.#indexFor(forms, `${own}Factors`, signal);
    const encoded = encodeSide(keys[side], forms, rows[side], `${side}Factors`);
    call.endStage("encode keys");
    const found = await call.onEngine((engineCall) => {
      this.#checkAlive();
      const probing = index.probe(encoded, engineCall);
      this.#probing.add(probing);
      return probing.finally(() => this.#probing.delete(probing));
    });
    const pairs: RowPairs =
      side === "left"
        ? found
        : { ...found, left: found.right, right: found.left, inOrder: found.inOrder && "right" };
    const kept = await filteredPairs(prepared, this.#device, pairs);
    call.endStage("hash join");
    return kept;
  }

  /** The index of keys in some form; built when such keys come first. */
  async #indexFor(
    forms: ReturnType<typeof keyForms>,
    factors: "leftFactors" | "rightFactors",
    signal: AbortSignal | undefined,
  ): Promise<RowIndex> {
    const own = forms.map((form) => [
      form.kind,
      "words" in form && form.words,
      factors in form && form[factors as never],
    ]);
    const name = JSON.stringify(own);
    const known = this.#indexes.get(name);
    if (known) return known;
    const keys = this.#on.map((column) => this.#table.column(columnIndex(this.#table, column, "indexed")));
    const encoded = encodeSide(keys, forms, this.rows, factors);
    const building = this.#device.engine
      .rows()
      .then((rows) => rows.index(encoded, { nullsEqual: this.#nullsEqual, signal }));
    this.#indexes.set(name, building);
    building.catch(() => this.#indexes.delete(name));
    return building;
  }
}
