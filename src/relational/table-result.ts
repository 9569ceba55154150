/** What group-bys and distincts answer: a promise of the table, and another way to ask for its rows. */
import type { Table } from "@uwdata/flechette";
import { LazyPromise } from "./lazy-promise.js";

/** A table that was asked for. Awaiting it makes it once; `batches` makes it each time. */
export class TableResult<T = Table> extends LazyPromise<T> {
  readonly [Symbol.toStringTag] = "TableResult";
  readonly #make: () => Promise<T>;
  readonly #batches: () => AsyncIterable<T>;

  /** Made by the operators. @internal */
  constructor(make: () => Promise<T>, batches: () => AsyncIterable<T>) {
    super();
    this.#make = make;
    this.#batches = batches;
  }

  /**
   * The table's rows as tables of the same columns, one after the other, each when it is asked for, at least one. With
   * `memory` they are as large as the operator makes them; without, there is one.
   */
  async *batches(): AsyncGenerator<T, void, undefined> {
    yield* this.#batches();
  }

  protected run(): Promise<T> {
    return this.#make();
  }
}
