/** What `join` answers: a promise of the table that begins its work when it is asked, and two other ways to ask. */
import type { Table } from "@uwdata/flechette";
import type { OutputOption } from "../containers/arguments.js";
import type { Placement } from "../engine/engine.js";
import { check, checkOptions } from "../options.js";
import type { DeviceTable } from "./device-table.js";
import type { JoinOptions } from "./join.js";
import { joinBatches } from "./join-batches.js";
import { countJoin } from "./join-count.js";
import { joinSides, onHost } from "./join-sides.js";
import { type JoinSides, prepareJoin } from "./prepare-join.js";
import type { TableInput } from "./table-input.js";

/** Options of {@link JoinResult.batches}. */
export interface BatchOptions {
  /**
   * Most bytes of a batch's own columns; a row that takes more by itself comes alone. Dictionaries are not counted: batches
   * share the inputs'. Default: 64 MiB.
   */
  readonly maxBytes?: number;
}

const BATCH_BYTES = 2 ** 26;

/** A join that was asked for. Awaiting it, `then`, `catch` and `finally` run it once; `count` and `batches` each time. */
export class JoinResult<T extends Table | DeviceTable = Table> implements Promise<T> {
  readonly [Symbol.toStringTag] = "JoinResult";
  readonly #sides: JoinSides;
  readonly #options: JoinOptions<never> & OutputOption<Placement>;
  #table: Promise<T> | undefined;

  /** Made by `join`. @internal */
  constructor(
    left: TableInput | DeviceTable,
    right: TableInput | DeviceTable,
    options: JoinOptions<never> & OutputOption<Placement>,
  ) {
    this.#sides = { left, right };
    this.#options = options;
  }

  /** Runs the join, unless it ran already. */
  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  readonly then: Promise<T>["then"] = (fulfilled, rejected) => this.#run().then(fulfilled, rejected);

  /** As a promise's. */
  readonly catch: Promise<T>["catch"] = (rejected) => this.#run().catch(rejected);

  /** As a promise's. */
  readonly finally: Promise<T>["finally"] = (settled) => this.#run().finally(settled);

  /**
   * How many rows the table would have. No row is gathered, and no pair written unless there is a `where`: time and memory are
   * those of grouping the keys of both sides, however many pairs there are. A count above 2^53 is rounded.
   * @throws as the join, but for results that are too large
   */
  async count(): Promise<number> {
    return countJoin(await this.#prepare());
  }

  /**
   * The table's rows as tables of the same columns, one after the other, each when it is asked for: for results that are too
   * large to hold, or that are written away. Parts of the left table are joined in turn, each of at least as many rows as the
   * right has; the pairs of a part take at most `maxBytes` as well, except those of a single row. Without rows comes one table
   * without rows.
   * @throws as the join
   */
  async *batches(options: BatchOptions = {}): AsyncGenerator<Table, void, undefined> {
    checkOptions(options, "maxBytes");
    const { maxBytes = BATCH_BYTES } = options;
    const isSize = typeof maxBytes === "number" && maxBytes >= 1;
    check(isSize, "maxBytes", maxBytes, "Give a number of bytes of at least 1.");
    yield* joinBatches(await this.#prepare(), maxBytes);
  }

  #run(): Promise<T> {
    this.#table ??= joinSides(this.#sides, this.#options) as Promise<T>;
    return this.#table;
  }

  /** The join of what is on the host. */
  async #prepare() {
    return prepareJoin(await onHost(this.#sides), this.#options);
  }
}
