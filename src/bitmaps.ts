/** Bitmaps: one bit per element, least significant bit first, from bit 0 of the first byte. */

/**
 * Bytes of a bitmap of `length` bits, however many: a damaged file says any number, so there is no arithmetic of 32
 * bits here.
 */
export function bitmapBytes(length: number): number {
  return Math.ceil(length / 8);
}

/** Whether a bitmap's bit is set. */
export function isSet(bits: Uint8Array, index: number): boolean {
  return ((bits[index >>> 3] >>> (index & 7)) & 1) === 1;
}

/** Sets a bitmap's bit. */
export function setBit(bits: Uint8Array, index: number): void {
  bits[index >>> 3] |= 1 << (index & 7);
}

/** Sets bits first + rows[from] up to first + rows[to]. Knows of arrays alone, so that it stays compiled. */
export function setBits(bits: Uint8Array, first: number, rows: Uint32Array, from: number, to: number): void {
  for (let i = from; i < to; i++) setBit(bits, first + rows[i]);
}

/** Bits that are set among the first `length`. */
export function countSet(bits: Uint8Array, length: number): number {
  const whole = length >>> 3;
  let count = 0;
  for (let i = 0; i < whole; i++) count += bitsInByte[bits[i]];
  const rest = length & 7;
  return rest === 0 ? count : count + bitsInByte[bits[whole] & (0xff >>> (8 - rest))];
}

const bitsInByte = Uint8Array.from({ length: 256 }, (_, byte) => {
  let count = 0;
  for (let rest = byte; rest > 0; rest >>= 1) count += rest & 1;
  return count;
});
