/** The pace of an operation on rows: lets other work run in between, looks at the signal, and reports rows done. */
import { nextTask } from "../../../host/next-task.js";
import { TURN_MS } from "../../../host/work.js";
import type { JoinCall } from "../../row-operations.js";

export class Pace {
  readonly #call: Pick<JoinCall, "signal" | "onProgress">;
  readonly #total: number;
  readonly #guard: () => void;
  #done = 0;
  #told = 0;
  /** What counting a row as done adds: less than 1 where rows are gone over more than once. */
  share = 1;
  #lastTurn = performance.now();

  /** @param guard throws when the operation must not go on */
  constructor(call: Pick<JoinCall, "signal" | "onProgress">, total: number, guard: () => void) {
    this.#call = call;
    this.#total = total;
    this.#guard = guard;
  }

  /** Counts rows as done. */
  add(rows: number): void {
    this.#done = Math.min(this.#total, this.#done + this.share * rows);
  }

  /**
   * Throws the signal's reason when the operation is to stop.
   * @param more rows that are done besides those that were counted
   */
  readonly pause = async (more = 0): Promise<void> => {
    const done = Math.min(this.#total, Math.floor(this.#done + this.share * more));
    this.#told = Math.max(this.#told, done);
    this.#call.onProgress?.(this.#told, this.#total);
    await this.rest();
  };

  /** The same without a report: of work before the rows are gone over. */
  readonly rest = async (): Promise<void> => {
    await nextTask();
    this.#lastTurn = performance.now();
    this.#call.signal?.throwIfAborted();
    this.#guard();
  };

  /** The same, where the last pause is some time ago. */
  async turn(): Promise<void> {
    if (performance.now() - this.#lastTurn >= TURN_MS) await this.pause();
  }

  finish(): void {
    this.#call.onProgress?.(this.#total, this.#total);
  }
}
