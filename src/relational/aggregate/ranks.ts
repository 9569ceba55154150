/** The order of a dictionary's strings, as numbers that compare as they do. */
import { type ByteStrings, compareBytes } from "../../host/extremes.js";

/** Bytes that a number holds, each with one value besides for none. */
const NUMBER_BYTES = 6;
const BYTE_VALUES = 257;

/** Of each string how many different ones are less. Takes one sort. */
export function ranksOf(strings: ByteStrings): Uint32Array {
  const compareWhole = compareBytes(strings);
  const numbers = numbersOf(strings);
  const compare = (a: number, b: number) => numbers[a] - numbers[b] || compareWhole(a, b);
  const order = Uint32Array.from({ length: strings.starts.length }, (_, i) => i).sort(compare);
  const ranks = new Uint32Array(order.length);
  for (let i = 1; i < order.length; i++) {
    ranks[order[i]] = ranks[order[i - 1]] + (compare(order[i], order[i - 1]) === 0 ? 0 : 1);
  }
  return ranks;
}

/** Of each string the bytes behind those that all begin with, as one number: where two differ, the strings do as they. */
function numbersOf(strings: ByteStrings): Float64Array {
  const { starts, ends, bytes } = strings;
  const common = commonBytes(strings);
  const numbers = new Float64Array(starts.length);
  for (let i = 0; i < numbers.length; i++) {
    let number = 0;
    for (let k = 0, at = starts[i] + common; k < NUMBER_BYTES; k++, at++)
      number = number * BYTE_VALUES + (at < ends[i] ? bytes[at] + 1 : 0);
    numbers[i] = number;
  }
  return numbers;
}

/** Bytes that all strings begin with. */
function commonBytes({ starts, ends, bytes }: ByteStrings): number {
  let common = starts.length > 0 ? ends[0] - starts[0] : 0;
  for (let i = 1; i < starts.length; i++) {
    const most = Math.min(common, ends[i] - starts[i]);
    common = 0;
    while (common < most && bytes[starts[i] + common] === bytes[starts[0] + common]) common++;
  }
  return common;
}
