/** What a bulk call did and how long its phases took: what `onPlan` is told. */
import { checkOneOf } from "../options.js";

/**
 * How a bulk call works on its batch. `direct`: every element is probed for from its home slot, wherever that is.
 * `partitioned`: the batch is first brought into the order of the table's slots, so that accesses stay within a cache
 * or the memory of a workgroup. `auto`: the engine decides, by the sizes of batch and table.
 */
export type Strategy = "auto" | "direct" | "partitioned";
export const strategies: readonly Strategy[] = ["auto", "direct", "partitioned"];

/** Slots that a probe of the direct strategy looks at in one step. */
export type GroupSize = 1 | 2 | 4 | 8 | 16 | 32;
export const groupSizes: readonly GroupSize[] = [1, 2, 4, 8, 16, 32];

/** Checks how a bulk call is asked to go about its batch. */
export function checkStrategy({
  strategy,
  groupSize,
}: {
  readonly strategy?: Strategy;
  readonly groupSize?: GroupSize;
}): void {
  if (strategy !== undefined) checkOneOf("strategy", strategy, strategies);
  if (groupSize !== undefined) checkOneOf("group size", groupSize, groupSizes);
}

/** One phase of a call, all of its chunks together. */
export interface PlanPhase {
  readonly name: string;
  readonly milliseconds: number;
}

/** How a chunk of a batch was worked on. */
export interface ChunkPlan {
  readonly strategy: Exclude<Strategy, "auto">;
  /** One sentence: why this strategy. */
  readonly reason: string;
  readonly groupSize: GroupSize;
  /** Ranges of neighbouring slots that the elements were sorted by; 1 when they were not. */
  readonly partitions: number;
  /** Ranges small enough for the memory of one workgroup; 0 when there were none. */
  readonly pages: number;
}

/**
 * What a call did. Where its chunks were worked on differently, the plan's own strategy, reason and sizes are those of
 * the last one.
 */
export interface Plan extends ChunkPlan {
  /** Pieces that the batch was cut into, one after another. */
  readonly chunks: number;
  /** The different plans of its chunks, in the order in which they were first taken, and how many chunks each had. */
  readonly strategies: readonly (ChunkPlan & { readonly chunks: number })[];
  /**
   * In the order in which they first ran; `make room`, which growing tables have, is always timed by the host. Empty
   * when the device has no clock for them.
   */
  readonly phases: readonly PlanPhase[];
  /** What timed the phases: GPU timestamps, or the host's clock. */
  readonly clock: "gpu" | "host";
  /** Wall time of the engine's work, copies to and from the device included. */
  readonly milliseconds: number;
}
