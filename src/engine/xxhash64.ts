/**
 * XXH64 (Collet, public domain) with seed 0 of a key's words, as reference code on 32-bit halves: xxhash64.wgsl is the
 * same arithmetic. Tables take the low 32 bits. Its state is 64 bits, of keys of eight words 256, so words of little
 * entropy spread well.
 */

/** The halves of a 64-bit number, low one first. */
type Halves = readonly [low: number, high: number];

const PRIME1: Halves = [0x85ebca87, 0x9e3779b1];
const PRIME2: Halves = [0x27d4eb4f, 0xc2b2ae3d];
const PRIME3: Halves = [0x9e3779f9, 0x165667b1];
const PRIME4: Halves = [0xc2b2ae63, 0x85ebca77];
const PRIME5: Halves = [0x165667c5, 0x27d4eb2f];
/** Of the four lanes: PRIME1 + PRIME2, PRIME2, 0, -PRIME1. */
const LANES: readonly Halves[] = [[0xadc0b5d6, 0x60ea27ee], PRIME2, [0, 0], [0x7a143579, 0x61c8864e]];

// the halves of the number that is worked on: no array is made for a step
let low = 0;
let high = 0;

/** The low 32 bits of XXH64 of `count` words from `words[at]` on, which stand for their little-endian bytes. */
export function xxhash64(words: Uint32Array, at: number, count: number): number {
  const end = at + count;
  let i = at;
  if (count >= 8) {
    i = absorbLanes(words, at, end);
  } else {
    set(PRIME5);
  }
  add([4 * count, 0]);
  for (; i + 2 <= end; i += 2) {
    const [l, h] = round([0, 0], words[i], words[i + 1]);
    xor(l, h);
    rotate(27);
    multiply(PRIME1);
    add(PRIME4);
  }
  if (i < end) {
    const [l, h] = [low, high];
    low = words[i];
    high = 0;
    multiply(PRIME1);
    xor(l, h);
    rotate(23);
    multiply(PRIME2);
    add(PRIME3);
  }
  return avalanche();
}

/** Takes up 32 bytes at a time in four lanes, and puts these together. Answers where it stopped. */
function absorbLanes(words: Uint32Array, at: number, end: number): number {
  let lanes = LANES;
  let i = at;
  for (; i + 8 <= end; i += 8) {
    lanes = lanes.map((lane, k) => round(lane, words[i + 2 * k], words[i + 2 * k + 1]));
  }
  let sum: Halves = [0, 0];
  for (const [k, turn] of [1, 7, 12, 18].entries()) {
    set(lanes[k]);
    rotate(turn);
    add(sum);
    sum = [low, high];
  }
  for (const lane of lanes) {
    const [l, h] = round([0, 0], lane[0], lane[1], sum);
    set([l, h]);
    multiply(PRIME1);
    add(PRIME4);
    sum = [low, high];
  }
  set(sum);
  return i;
}

/** rotate(lane + input × PRIME2, 31) × PRIME1, xored with `other`. The number that is worked on stays. */
function round(lane: Halves, inputLow: number, inputHigh: number, other: Halves = [0, 0]): Halves {
  const [l, h] = [low, high];
  set([inputLow, inputHigh]);
  multiply(PRIME2);
  add(lane);
  rotate(31);
  multiply(PRIME1);
  xor(other[0], other[1]);
  const result: Halves = [low, high];
  low = l;
  high = h;
  return result;
}

/** The low half, after all bits have gone into it. */
function avalanche(): number {
  // 33 = 32 + 1: the low half takes the high one
  low = (low ^ (high >>> 1)) >>> 0;
  multiply(PRIME2);
  const [l, h] = [low, high];
  low = (l ^ ((l >>> 29) | (h << 3))) >>> 0;
  high = (h ^ (h >>> 29)) >>> 0;
  multiply(PRIME3);
  return (low ^ high) >>> 0;
}

function set([l, h]: Halves): void {
  low = l;
  high = h;
}

function xor(l: number, h: number): void {
  low = (low ^ l) >>> 0;
  high = (high ^ h) >>> 0;
}

function add([l, h]: Halves): void {
  const sum = low + l;
  low = sum >>> 0;
  high = (high + h + (sum > 0xffffffff ? 1 : 0)) >>> 0;
}

function rotate(bits: number): void {
  const l = (low << bits) | (high >>> (32 - bits));
  high = ((high << bits) | (low >>> (32 - bits))) >>> 0;
  low = l >>> 0;
}

function multiply([l, h]: Halves): void {
  const product = multiplyHigh(low, l);
  high = (product + Math.imul(low, h) + Math.imul(high, l)) >>> 0;
  low = Math.imul(low, l) >>> 0;
}

/** The upper 32 bits of a × b, from 16-bit halves. */
function multiplyHigh(a: number, b: number): number {
  const [a0, a1, b0, b1] = [a & 0xffff, a >>> 16, b & 0xffff, b >>> 16];
  const carry = a1 * b0 + Math.floor((a0 * b0) / 65536);
  const middle = (carry % 65536) + a0 * b1;
  return a1 * b1 + Math.floor(carry / 65536) + Math.floor(middle / 65536);
}
