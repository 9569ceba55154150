/** The pace of a join: lets other work run in between, looks at the signal, and reports rows done. */
import { nextTask } from "../../next-task.js";
import type { JoinCall } from "../../row-join.js";

export class Pace {
  readonly #call: JoinCall;
  readonly #total: number;
  #done = 0;

  constructor(call: JoinCall, total: number) {
    this.#call = call;
    this.#total = total;
  }

  /** Counts rows as done. */
  add(rows: number): void {
    this.#done = Math.min(this.#total, this.#done + rows);
  }

  /** Throws the signal's reason when the join is to stop. */
  readonly pause = async (): Promise<void> => {
    this.#call.onProgress?.(this.#done, this.#total);
    await nextTask();
    this.#call.signal?.throwIfAborted();
  };

  finish(): void {
    this.#call.onProgress?.(this.#total, this.#total);
  }
}
