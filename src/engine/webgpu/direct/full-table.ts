/**
 * Inserting into a table without a free slot. What an insert leaves unfinished then either meets its key or does not
 * fit. A key that is not there is probed for as far as the longest probe of the table goes, which may be all its slots;
 * so with many such elements the table's keys are put into a roomy set once a call, and elements are looked up there.
 */
import type { BoundChunk } from "../../gpu/batch/bound-chunk.js";
import type { Column } from "../../gpu/batch/columns.js";
import type { TableState } from "../table/table-state.js";
import { compileRun, runOverRest } from "./further-rounds.js";
import { lookupRun } from "./look-up.js";
import { runOverChunk, type Totals } from "./rounds.js";
import { roomyCopy } from "./table-copy.js";

/** Steps above which copying a table's keys is cheaper: some ten milliseconds of either device. */
const COPY_ABOVE_STEPS = { software: 2 ** 21, hardware: 2 ** 28 };

/**
 * One insert call's view of a table that may become full. While a call runs a full table stays full, with the same
 * keys.
 */
export class FullTable {
  /** Null when there is no memory for it. */
  #copy: TableState | null | undefined;
  /** Steps that looking up in the table takes at worst, in all chunks so far. */
  #steps = 0;

  constructor(readonly state: TableState) {}

  /** Allocates and compiles, before anything changes, what it takes to say which keys of a chunk are there. */
  async prepare({ scratch, count, mask, groupSize }: BoundChunk): Promise<Column> {
    const present = await scratch.column("u8", count);
    const run = lookupRun(this.state, count, { mask, flags: present, counted: true });
    await compileRun(this.state, run, groupSize);
    return present;
  }

  /**
   * How many elements of a chunk have no slot, after a run of inserts that stopped at the full table.
   * @param present where to say of every element whether its key is in the table, if dispatches that follow want to
   * know.
   */
  async countRejected(
    chunk: BoundChunk,
    { selected, rejected, rest }: Pick<Totals, "selected" | "rejected" | "rest">,
    present?: Column,
  ): Promise<number> {
    if (!rest?.listed || present) return selected - (await this.countPresent(chunk, present, rest?.count));
    const table = await this.#cheapest(rest.count);
    if (table !== this.state) return selected - (await this.#countIn(table, chunk));
    const run = lookupRun(table, chunk.count, { mask: chunk.mask, counted: true });
    const { found } = await runOverRest(table, chunk, run, rest);
    return rejected + rest.count - found;
  }

  /**
   * How many elements of a chunk have their keys in the table.
   * @param present where to say so of each
   * @param absent how many may be looked for in vain, at most
   */
  async countPresent(chunk: BoundChunk, present?: Column, absent = chunk.count): Promise<number> {
    return this.#countIn(await this.#cheapest(absent), chunk, present);
  }

  async #countIn(table: TableState, chunk: BoundChunk, present?: Column): Promise<number> {
    const { count, mask } = chunk;
    // partitions are ranges of the table's own slots
    const at = table === this.state ? chunk : { ...chunk, partitionShift: 0 };
    const run = lookupRun(table, count, { mask, flags: present, counted: true });
    return (await runOverChunk(table, at, run)).found;
  }

  /** Where to look `count` keys up: the table, or the copy when that is cheaper. */
  async #cheapest(count: number): Promise<TableState> {
    const { state } = this;
    const { gpu, tuning } = state.host;
    const { copyAboveSteps = COPY_ABOVE_STEPS[gpu.traits.isEmulated ? "software" : "hardware"] } = tuning;
    // chunks may be short, since slow ones make the next ones shorter
    this.#steps += count * state.maxProbe;
    if (this.#copy === undefined && this.#steps > copyAboveSteps) {
      this.#copy = await roomyCopy(state);
    }
    return this.#copy ?? state;
  }

  destroy(): void {
    this.#copy?.destroy();
    this.#copy = null;
  }
}
