/**
 * Keeps the calls on one container apart: each starts when the one before has ended, in the order they were made.
 * A failed call does not stop the ones behind it.
 */
export class CallQueue {
  #tail: Promise<unknown> = Promise.resolve();

  /** Runs `call` after all calls added before, and answers as it does. */
  add<T>(call: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(call);
    this.#tail = result.catch(() => undefined);
    return result;
  }

  /** Resolves when every call added so far has ended. */
  async drained(): Promise<void> {
    await this.#tail;
  }
}
