/** What the coordinator and its worker processes send each other. */
import type { Failure } from "../failure.js";
import type { JobResult } from "../jobs.js";

export interface ChildCall {
  readonly id: number;
  readonly job: unknown;
}

export type ChildAnswer =
  | { readonly id: number; readonly result: JobResult }
  | { readonly id: number; readonly failure: Failure };
