/** Errors of clusters: what happened, and what to do. */
import { WarpmapError } from "warpmap";

/** A run that could not be finished; a queue, an exchange or files that cannot be used. Nothing was answered. */
export class ClusterError extends WarpmapError {
  override readonly name = "ClusterError";
  declare readonly code: "CLUSTER";

  /** Stable and machine-readable, such as `"JOB_FAILED"`. */
  readonly reason: string;

  constructor(reason: string, problem: string, fix: string, options?: ErrorOptions) {
    super("CLUSTER", problem, fix, options);
    this.reason = reason;
  }
}
