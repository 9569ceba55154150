/** What a plan of a call is, on any GPU; which strategies there are for tables is each engine's own. */

/**
 * `direct`: the chunk as it is. `partitions`: in the order of partitions that fit the cache. `pages`: in pages that
 * workgroups own.
 */
export interface Choice {
  strategy: "direct" | "partitions" | "pages";
  reason: string;
}

/** Why a batch goes directly. */
export const SMALL = "the batch is small";
