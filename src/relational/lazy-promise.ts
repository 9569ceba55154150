/** A promise that begins its work when it is first asked for, and does it once. */

/** `then`, `catch` and `finally` begin the work. */
export abstract class LazyPromise<T> implements Promise<T> {
  abstract readonly [Symbol.toStringTag]: string;
  #promise: Promise<T> | undefined;

  /** The work. @internal */
  protected abstract run(): Promise<T>;

  #begun(): Promise<T> {
    this.#promise ??= this.run();
    return this.#promise;
  }

  /** Begins the work, unless it began already. */
  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  readonly then: Promise<T>["then"] = (fulfilled, rejected) => this.#begun().then(fulfilled, rejected);

  /** As a promise's. */
  readonly catch: Promise<T>["catch"] = (rejected) => this.#begun().catch(rejected);

  /** As a promise's. */
  readonly finally: Promise<T>["finally"] = (settled) => this.#begun().finally(settled);
}
