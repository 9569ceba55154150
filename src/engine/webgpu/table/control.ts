/** What is counted on a table: counters of one call, which the host resets, and facts of the table. */
import { type CountersOf, countersOf } from "../../gpu/counters.js";

/** Words in their order. Those from maxProbe on are facts of the table; the others count one call. */
const names = [
  "selected",
  "inserted",
  "sideInserted",
  "reused",
  "rejected",
  "found",
  "erased",
  "sideErased",
  "unfinished",
  "fallbacks",
  "displaced",
  "aborted",
  "maxProbe",
  "occupied",
  "seed",
  "ambiguous",
] as const;

export type Counters = CountersOf<(typeof names)[number]>;

export const tableCounters = countersOf("Control", names);
/** The counters in WGSL. */
export const { control } = tableCounters;
/**
 * First word of the value of absent keys on its way through a sorted look-up, which tells them without their flags; as
 * f32 a NaN. Once a look-up finds a value that begins so, control.ambiguous is 1, and flags are read.
 */
export const ABSENT = 0xffc593a7;
/** Word that holds the longest probe of any key. */
export const MAX_PROBE_WORD = names.indexOf("maxProbe");
/** Word that holds the table's seed, for users' kernels: the engine's have it as a parameter. */
export const SEED_WORD = names.indexOf("seed");
/** Word that holds the entries in the probing table. */
export const OCCUPIED_WORD = names.indexOf("occupied");
/** First of the words that users' kernels count in, behind those of the engine: see kernel-changes.ts. */
export const KERNEL_WORDS = 32;
/** Bytes at its start that are zeroed before every dispatch round: the counters of the call. */
export const CALL_COUNTER_BYTES = MAX_PROBE_WORD * 4;
