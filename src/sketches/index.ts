/** warpmap/sketches: answers about many keys from little memory, with a known error. */
export { BloomFilter, type BloomFilterOptions } from "./bloom-filter.js";
export { HyperLogLog, type HyperLogLogOptions } from "./hyperloglog.js";
export type { Sketch, SketchCallOptions } from "./sketch.js";
