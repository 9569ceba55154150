/**
 * How many operators work on one device at once. Many that advance together all answer late: of 50 joins at once the first would answer with
 * the last. So a few work, and the others wait in the order in which they came.
 *
 * Invariant: who holds a slot waits for nothing but the device. Inputs that come in batches are read, and batches are handed out, without one:
 * an operator that reads what another one makes can't wait for a slot that its own reader holds. Calls on containers take no slots.
 */

import { whileAttached } from "../arrow/attached.js";
import type { SourceTable } from "../arrow/columns.js";
import type { Device } from "../device.js";

class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];
  /** Inputs of the work under way: they are not collected before it ends, whoever drops them. */
  readonly #held = new Set<object>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Does work when its turn has come. @throws the signal's reason at once while it waits */
  async run<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    this.#held.add(work);
    try {
      return await work();
    } finally {
      this.#held.delete(work);
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }

  /** Resolves when a slot is handed over. */
  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener("abort", stop);
        resolve();
      };
      const stop = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", stop, { once: true });
      this.#waiting.push(begin);
    });
  }
}

const slots = new WeakMap<Device, Slots>();

/**
 * Does work of an operator on a device when its turn has come. The work must not wait for other operators, nor for what users make.
 * @param inputs the tables that the answer is made of
 * @throws ValidationError where they lost their memory before the work was done
 */
export function onSlot<T>(
  device: Device,
  signal: AbortSignal | undefined,
  inputs: readonly SourceTable[],
  work: () => Promise<T>,
): Promise<T> {
  let own = slots.get(device);
  if (own === undefined) {
    own = new Slots(device.concurrency);
    slots.set(device, own);
  }
  return own.run(signal, () => whileAttached(inputs, signal, work));
}
