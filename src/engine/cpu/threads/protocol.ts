/**
 * How the calling thread and its workers talk. Jobs go out as messages and results come back as messages; who
 * takes part in a job is settled in a few words of shared memory, so that the caller never waits for a worker
 * that has not begun.
 */

import type { Ready } from "../../../threads/start-worker.js";

/** To a worker: join job `id`, as worker number `worker`, unless it is closed. */
export interface ToWorker<J> {
  readonly id: number;
  readonly worker: number;
  readonly job: J;
  readonly control: Int32Array;
}

/** From a worker. */
export type ToPool<R> =
  | Ready
  | { readonly kind: "done"; readonly id: number; readonly worker: number; readonly result: R };

/** Word of a job's control array that holds the next piece to take. */
export const NEXT = 0;
/** What that word holds, or more, once no piece is to be taken any more. */
const STOPPED = 2 ** 30;
/** Word of worker 0's state; the others follow. */
const STATES = 1;
const OPEN = 0;
const JOINED = 1;
const CLOSED = 2;

/** Control words of a job that up to `workers` workers may join. */
export function newControl(workers: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4 * (STATES + workers)));
}

/** A worker's side: true if it may take part, and then owes an answer. */
export function joinJob(control: Int32Array, worker: number): boolean {
  return Atomics.compareExchange(control, STATES + worker, OPEN, JOINED) === OPEN;
}

/** The caller's side: keeps out who has not joined, and returns the numbers of those who have. */
export function closeJob(control: Int32Array): number[] {
  const joined: number[] = [];
  for (let worker = 0; worker < control.length - STATES; worker++) {
    if (Atomics.compareExchange(control, STATES + worker, OPEN, CLOSED) === JOINED) joined.push(worker);
  }
  return joined;
}

/**
 * Leaves no piece of a job to take. Returns how many times one was asked for before; STOPPED or more when the job was ended
 * already.
 */
export function endJob(control: Int32Array): number {
  return Atomics.exchange(control, NEXT, STOPPED);
}

/** True once `endJob` was called. */
export function isEnded(control: Int32Array): boolean {
  return Atomics.load(control, NEXT) >= STOPPED;
}
