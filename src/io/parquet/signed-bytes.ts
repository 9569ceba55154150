/** Signed integers of any width as Parquet's decimals have them: bytes in two's complement, the largest first. */

/** A signed integer from its bytes, the largest first. */
export function signedInteger(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(8 * bytes.length, value);
}

/** `length` bytes of a signed integer, the largest first. */
export function integerBytes(value: bigint, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = length - 1, rest = value; i >= 0; i--, rest >>= 8n) bytes[i] = Number(rest & 0xffn);
  return bytes;
}
