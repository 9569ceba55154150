/** The order of a dictionary's strings, as numbers that compare as they do. */
import { type ByteStrings, compareBytes } from "../../host/extremes.js";

/** Of each string how many different ones are less. */
export function ranksOf(strings: ByteStrings): Uint32Array {
  const compare = compareBytes(strings);
  const order = Uint32Array.from({ length: strings.starts.length }, (_, i) => i).sort(compare);
  const ranks = new Uint32Array(order.length);
  for (let i = 1; i < order.length; i++) {
    ranks[order[i]] = ranks[order[i - 1]] + (compare(order[i], order[i - 1]) === 0 ? 0 : 1);
  }
  return ranks;
}
