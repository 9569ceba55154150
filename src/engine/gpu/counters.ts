/**
 * What the invocations of a dispatch tell the host, and each other: atomic words with names, in the binding `control`.
 */
import { fragment, readWrite } from "./kernel-source.js";

/** Counters as the host reads them. */
export type CountersOf<N extends string> = { readonly [K in N]: number };

/** Counters by name, in the order of their words; `type` names them all. */
export function countersOf<const N extends string>(type: string, names: readonly N[]) {
  return {
    /** Declares them in a kernel. */
    control: fragment("", { bindings: { control: readWrite(type) }, counters: { type, names } }),
    bytes: names.length * 4,
    read(bytes: Uint8Array): CountersOf<N> {
      const words = new Uint32Array(bytes.buffer, bytes.byteOffset, names.length);
      // Object.fromEntries takes ten times as long
      const counters = {} as Record<N, number>;
      for (let i = 0; i < names.length; i++) counters[names[i]] = words[i];
      return counters;
    },
  };
}
