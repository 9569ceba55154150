/** What the invocations of a dispatch tell the host, and each other: counters of one call, which the host resets, and facts of the table. */
import { fragment, readWrite } from "../device/kernel-source.js";

/** Words in their order. The last two are facts of the table; the others count one call. */
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
] as const;

const struct = `struct Control { ${names.map((name) => `${name}: atomic<u32>`).join(", ")} }`;

/** The counters in WGSL: `control`. */
export const control = fragment(struct, { bindings: { control: readWrite("Control") } });

export type Counters = { readonly [N in (typeof names)[number]]: number };

/** Bytes of the control buffer. */
export const CONTROL_BYTES = names.length * 4;
/** Word that holds the longest probe of any key. */
export const MAX_PROBE_WORD = names.indexOf("maxProbe");
/** Bytes at its start that are zeroed before every dispatch round: the counters of the call. */
export const CALL_COUNTER_BYTES = MAX_PROBE_WORD * 4;

/** Reads the control buffer's words. */
export function readCounters(bytes: Uint8Array): Counters {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, names.length);
  return Object.fromEntries(names.map((name, i) => [name, words[i]])) as Counters;
}
