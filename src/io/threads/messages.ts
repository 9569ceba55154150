/** How a thread that reads or writes a file and its workers talk: a job goes out, its result or its error comes back. */
import type { Ready } from "../../threads/start-worker.js";
import type { CarriedError } from "./carried-error.js";

/** To a worker: a job. */
export interface ToFileWorker<In> {
  readonly id: number;
  readonly input: In;
}

/** From a worker. */
export type FromFileWorker<Out> =
  | Ready
  | { readonly kind: "done"; readonly id: number; readonly result: Out }
  | { readonly kind: "failed"; readonly id: number; readonly error: CarriedError };
