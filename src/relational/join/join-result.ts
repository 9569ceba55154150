/** What `join` answers: a promise of the table that begins its work when it is asked, and two other ways to ask. */
import type { Table } from "@uwdata/flechette";
import { collectTables } from "../../arrow/stack-tables.js";
import { type Batches, batchesOf, isPending, type TableInput, type Tables } from "../../arrow/table-input.js";
import type { OutputOption } from "../../containers/arguments.js";
import type { Device } from "../../device.js";
import type { Placement } from "../../engine/engine.js";
import type { Sides } from "../../engine/join-kinds.js";
import { lazily } from "../../engine/lazily.js";
import { ValidationError } from "../../errors.js";
import { check, checkOptions } from "../../options.js";
import { checkMemory, type MemoryOptions, NO_LIMIT } from "../../spill/memory-options.js";
import { DeviceTable } from "../device/device-table.js";
import { LazyPromise } from "../lazy-promise.js";
import type { JoinOptions } from "./join.js";
import { joinBatches } from "./join-batches.js";
import { countJoin } from "./join-count.js";
import { joinedThere, joinSides, onHost } from "./join-sides.js";
import { type JoinSides, prepareJoin } from "./prepare-join.js";
import { joinPieces } from "./run-join.js";

/** Options of {@link JoinResult.batches}. */
export interface BatchOptions {
  /**
   * Most bytes of a batch's own columns; a row that takes more by itself comes alone. Dictionaries are not counted:
   * batches share the inputs'. Default: 64 MiB.
   */
  readonly maxBytes?: number;
}

const BATCH_BYTES = 2 ** 26;

/** Needs files: no page loads it. */
const loadLarge = lazily(() => import("./join-large.js"));

/**
 * A join that was asked for. Awaiting it, `then`, `catch` and `finally` run it once; `count` and `batches` each time.
 */
export class JoinResult<T extends Table | DeviceTable = Table> extends LazyPromise<T> {
  readonly [Symbol.toStringTag] = "JoinResult";
  readonly #sides: Sides<JoinInput>;
  readonly #options: JoinOptions<never> & OutputOption<Placement>;

  /** Made by `join`. @internal */
  constructor(left: JoinInput, right: JoinInput, options: JoinOptions<never> & OutputOption<Placement>) {
    super();
    this.#sides = { left, right };
    this.#options = options;
  }

  /**
   * How many rows the table would have. No row is gathered, and no pair written unless there is a `where`: time and
   * memory are those of grouping the keys of both sides, however many pairs there are. A count above 2^53 is rounded.
   * With `memory`, and of inputs in batches, rows are made and counted.
   * @throws as the join, but for results that are too large
   */
  async count(): Promise<number> {
    const memory = this.#memory();
    if (memory === null) {
      const prepared = await this.#prepare();
      return prepared.call.onSlot(await prepared.call.begin(), prepared.inputs, () => countJoin(prepared));
    }
    let rows = 0;
    for await (const { numRows } of this.#spilled(memory, BATCH_BYTES)) rows += numRows;
    return rows;
  }

  /**
   * The table's rows as tables of the same columns, one after the other, each when it is asked for: for results that
   * are too large to hold, or that are written away. Parts of the left table are joined in turn, each of at least as
   * many rows as the right has; the pairs of a part take at most `maxBytes` as well, except those of a single row.
   * Without rows comes one table without rows.
   * @throws as the join
   */
  async *batches(options: BatchOptions = {}): AsyncGenerator<OnHost<T>, void, undefined> {
    checkOptions(options, "maxBytes");
    const { maxBytes = BATCH_BYTES } = options;
    const isSize = typeof maxBytes === "number" && maxBytes >= 1;
    check(isSize, "maxBytes", maxBytes, "Give a number of bytes of at least 1.");
    const memory = this.#memory();
    const made = memory === null ? this.#stepwise(maxBytes) : this.#spilled(memory, maxBytes);
    yield* made as AsyncGenerator<OnHost<T>>;
  }

  /** The table's record batches, each made when it is asked for: they have the same dictionaries. @internal */
  async *pieces(): AsyncGenerator<Table> {
    const prepared = await this.#prepare();
    yield* prepared.call.eachOnSlot(prepared.inputs, joinPieces(prepared));
  }

  /** The join with these columns alone, unless it names some itself. @internal */
  narrowed(needed: readonly string[]): JoinResult<T> {
    const { left, right } = this.#sides;
    return new JoinResult(left, right, { select: needed, ...this.#options });
  }

  /** As a table on the device, if the join is made there; the caller frees it. @internal */
  async onDevice(device: Device | undefined): Promise<DeviceTable | null> {
    if (this.#memory() !== null) return null;
    return joinedThere(this.#sides as JoinSides, { device, ...this.#options });
  }

  protected async run(): Promise<T> {
    const memory = this.#memory();
    if (memory === null) return joinSides(this.#sides as JoinSides, this.#options) as Promise<T>;
    if (this.#options.output === "device") {
      throw new ValidationError(
        "A join that comes in batches or has a memory limit does not stay on a device.",
        "Leave output out, and upload the result with device.uploadTable.",
      );
    }
    return collectTables(this.#spilled(memory, BATCH_BYTES)) as Promise<T>;
  }

  /** What a join whose inputs need not fit into memory keeps to; null for one of tables without such an option. */
  #memory(): MemoryOptions | null {
    const memory: MemoryOptions | undefined = this.#options?.memory;
    if (memory !== undefined) return checkMemory(memory);
    const { left, right } = this.#sides;
    return isBatches(left) || isBatches(right) ? NO_LIMIT : null;
  }

  async *#stepwise(maxBytes: number): AsyncGenerator<Table> {
    const prepared = await this.#prepare();
    yield* prepared.call.eachOnSlot(prepared.inputs, joinBatches(prepared, maxBytes));
  }

  async *#spilled(memory: MemoryOptions, maxBytes: number): AsyncGenerator<Table> {
    const { joinLarge } = await loadLarge();
    const { memory: _, ...options } = this.#options;
    const { left, right } = this.#sides;
    yield* joinLarge({ left: await brought(left), right: await brought(right) }, options, memory, maxBytes);
  }

  /** The join of what is on the host. */
  async #prepare() {
    return prepareJoin(await onHost(this.#sides as JoinSides), this.#options);
  }
}

/** The type of a table's batches, which are on the host. */
type OnHost<T> = T extends Table ? T : Table;

/** What a join takes as a side. */
export type JoinInput = TableInput | DeviceTable | Tables;

function isBatches(side: JoinInput): boolean {
  return !(side instanceof DeviceTable) && batchesOf(side) !== null;
}

async function brought(side: JoinInput): Promise<TableInput | Batches> {
  if (side instanceof DeviceTable) return side.toArrow();
  return isPending(side) ? side.batches() : side; // it would be awaited here
}
