/**
 * Operators over tables larger than memory, in Node: inputs are partitioned by a hash of their keys to Arrow IPC streams in a temporary
 * folder, and worked part by part from there (Grace hash join; hybrid hash aggregation). Relational operators load this when a call has
 * the option `memory` or a join's side comes in batches.
 */
export { distinctLarge, groupLarge } from "./group-large.js";
export { joinLarge } from "./join-large.js";
