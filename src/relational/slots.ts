/**
 * How many operators work on one device at once. Many that advance together all answer late: of 50 joins at once the
 * first would answer with the last. So a few work, and the others wait in the order in which they came. A call that
 * works in parts gives its slot away after each, and keeps its place: its next part goes before calls that came later.
 *
 * Invariant: who holds a slot waits for nothing but the device and temporary files of its own. Inputs that come in
 * batches are read, and batches are handed out, without one: an operator that reads what another one makes can't wait
 * for a slot that its own reader holds. Calls on containers take no slots.
 */

import { whileAttached } from "../arrow/attached.js";
import type { SourceTable } from "../arrow/columns.js";
import type { Device } from "../device.js";

/**
 * Of so many turns one goes to the part that has waited longest: early calls whose input never ends hold up nobody for
 * good.
 */
const LONGEST_WAIT = 8;

interface Waiting {
  readonly since: number;
  readonly begin: () => void;
}

class Slots {
  #free: number;
  #turns = 0;
  /** In the order in which they began to wait. */
  readonly #waiting: Waiting[] = [];
  /** Inputs of the work under way: they are not collected before it ends, whoever drops them. */
  readonly #held = new Set<object>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Does work when its turn has come. @throws the signal's reason at once while it waits */
  async run<T>(since: number, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(since, signal);
    this.#held.add(work);
    try {
      return await work();
    } finally {
      this.#held.delete(work);
      const next = this.#next();
      if (next) next.begin();
      else this.#free++;
    }
  }

  /** Whose turn it is. */
  #next(): Waiting | undefined {
    const waiting = this.#waiting;
    let at = 0;
    if (++this.#turns % LONGEST_WAIT !== 0)
      for (let i = 1; i < waiting.length; i++) if (waiting[i].since < waiting[at].since) at = i;
    return waiting.splice(at, 1)[0];
  }

  /** Resolves when a slot is handed over. */
  #turn(since: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener("abort", stop);
        resolve();
      };
      const place = { since, begin };
      const stop = () => {
        this.#waiting.splice(this.#waiting.indexOf(place), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", stop, { once: true });
      this.#waiting.push(place);
    });
  }
}

const slots = new WeakMap<Device, Slots>();

let calls = 0;

/** The place of a call that begins now among all calls: what came earlier has a smaller number. */
export function nextPlace(): number {
  return calls++;
}

/**
 * Does work of an operator on a device when its turn has come. The work must not wait for other operators, nor for what
 * users make.
 * @param inputs the tables that the answer is made of
 * @param since the place of the call that the work is part of
 * @throws ValidationError where they lost their memory before the work was done
 */
export function onSlot<T>(
  device: Device,
  signal: AbortSignal | undefined,
  inputs: readonly SourceTable[],
  work: () => Promise<T>,
  since = nextPlace(),
): Promise<T> {
  let own = slots.get(device);
  if (own === undefined) {
    own = new Slots(device.concurrency);
    slots.set(device, own);
  }
  return own.run(since, signal, () => whileAttached(inputs, signal, work));
}
