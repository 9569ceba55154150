/** What sketches hold, by the plain reading of engine/sketch-format.ts: contents to compare with, byte for byte. */
import { asBits, type BasicType, type ScalarArrays } from "../../../src/engine/scalars.js";
import {
  BLOCK_WORDS,
  bitOf,
  blockOf,
  hashKeys,
  keyColumn,
  rankOf,
} from "../../../src/engine/sketch-format.js";
import { uniqueKeys } from "./keys.js";

/** Bytes in front of the contents in what `toBytes` writes. */
const HEADER_BYTES = 64;

/** The contents in what `toBytes` writes. */
export const contentsOf = (bytes: Uint8Array) => bytes.subarray(HEADER_BYTES);

/** Both words of the hashes of keys. */
function hashes<K extends BasicType>(type: K, keys: ScalarArrays[K]): [number, number][] {
  const [first, second] = [new Uint32Array(keys.length), new Uint32Array(keys.length)];
  hashKeys(keyColumn(type, asBits(keys.slice())), 0, keys.length, first, second);
  return Array.from(first, (hash, i) => [hash, second[i]]);
}

/** Sets the bits of keys in a filter's contents. */
export function addToFilter<K extends BasicType>(
  contents: Uint8Array,
  type: K,
  keys: ScalarArrays[K],
  where?: Uint8Array,
): void {
  const bits = asBits(contents);
  const blocks = bits.length / BLOCK_WORDS;
  for (const [i, [first, second]] of hashes(type, keys).entries()) {
    if (where?.[i] === 0) continue;
    const at = blockOf(first, blocks) * BLOCK_WORDS;
    for (let word = 0; word < BLOCK_WORDS; word++) bits[at + word] |= bitOf(second, word);
  }
}

/** Which keys a filter with these contents says are there. */
export function inFilter<K extends BasicType>(
  contents: Uint8Array,
  type: K,
  keys: ScalarArrays[K],
  where?: Uint8Array,
): Uint8Array {
  const bits = asBits(contents);
  const blocks = bits.length / BLOCK_WORDS;
  return Uint8Array.from(hashes(type, keys), ([first, second], i) => {
    const at = blockOf(first, blocks) * BLOCK_WORDS;
    const words = Array.from({ length: BLOCK_WORDS }, (_, word) => word);
    return Number(where?.[i] !== 0 && words.every((word) => (bits[at + word] & bitOf(second, word)) !== 0));
  });
}

/** Raises the registers of keys. */
export function addToRegisters<K extends BasicType>(
  registers: Uint8Array,
  type: K,
  keys: ScalarArrays[K],
  where?: Uint8Array,
): void {
  const precision = Math.log2(registers.length);
  for (const [i, [first, second]] of hashes(type, keys).entries()) {
    if (where?.[i] === 0) continue;
    const register = first >>> (32 - precision);
    registers[register] = Math.max(registers[register], rankOf(first, second, precision));
  }
}

/** `count` distinct u64 keys that look random; ranges of `from` as in `uniqueKeys`. */
export function uniqueWideKeys(count: number, from = 0): BigUint64Array {
  const [low, high] = [uniqueKeys(count, from), uniqueKeys(count, from + 0x40000000)];
  return BigUint64Array.from(low, (word, i) => (BigInt(high[i]) << 32n) | BigInt(word));
}

/** Keys of each type with all odd bit patterns. */
export function keysOf<K extends BasicType>(type: K, count: number, from = 0): ScalarArrays[K] {
  if (type === "u64") return uniqueWideKeys(count, from) as ScalarArrays[K];
  const words = uniqueKeys(count, from);
  words.set([0, 0xffffffff, 0xfffffffe, 0x80000000, 0x7fc00000, 0x7f800001].slice(0, count));
  const { buffer } = words;
  if (type === "i32") return new Int32Array(buffer) as ScalarArrays[K];
  return (type === "f32" ? new Float32Array(buffer) : words) as ScalarArrays[K];
}
