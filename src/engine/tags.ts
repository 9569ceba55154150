/** Tags of entries: the state words of slots that are claimed by row (slot-format.ts). */
import { EMPTY } from "./layout.js";
import { ENTRY } from "./slot-format.js";

/** The largest tag: EMPTY and TOMBSTONE are above. */
export const MOST_TAG = EMPTY - 2;

/** State word of an entry whose key has this hash: ENTRY, and the upper 31 bits of the hash. */
export function tagOf(hash: number): number {
  return Math.min((ENTRY | (hash >>> 1)) >>> 0, MOST_TAG);
}

/** The hash that an entry's home slot comes from, out of its tag. */
export function hashOfTag(tag: number): number {
  return (tag << 1) >>> 0;
}
