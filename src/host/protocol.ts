/**
 * How the calling thread and its workers talk. Tasks go out as messages, and results or errors come back as messages. Who takes part in a
 * shared job is settled in a few words of shared memory, so that the caller never waits for a worker that has not begun.
 */
import type { CarriedError } from "./carried-error.js";

/** To a worker: a task of a kind that it has. */
export interface ToWorker {
  readonly id: number;
  readonly kind: string;
  readonly input: unknown;
  /** Of a shared job: its control words, and which of them is the worker's. It is to be joined unless it is closed. */
  readonly seat?: { readonly control: Int32Array; readonly worker: number };
}

/** From a worker. Its first message has id 0: it is up. */
export type FromWorker =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: CarriedError };

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
export function joinJob({ control, worker }: NonNullable<ToWorker["seat"]>): boolean {
  return Atomics.compareExchange(control, STATES + worker, OPEN, JOINED) === OPEN;
}

/** The caller's side: keeps a worker out that has not joined; true if it has. */
export function closeSeat(control: Int32Array, worker: number): boolean {
  return Atomics.compareExchange(control, STATES + worker, OPEN, CLOSED) === JOINED;
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
