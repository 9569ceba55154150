/** Numbers that look random and are known everywhere: what benchmarks fill tables with, and the keys they insert. */

/**
 * lowbias32 (Wellons, "Prospecting for Hash Functions"): a bijection of 32-bit numbers, so distinct numbers stay distinct.
 * None of the library's hash functions, so it favours none of them. gups.wgsl has the same arithmetic.
 */
export function mix(value: number): number {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0xd35a2d97);
  return (x ^ (x >>> 15)) >>> 0;
}
