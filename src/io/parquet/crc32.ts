/** CRC-32 as gzip and Parquet have it (IEEE 802.3, reflected), by Node's zlib where that has it. */
import { builtin } from "../builtin.js";

const native = builtin("node:zlib")?.crc32;

/** The checksum of some bytes. */
export function crc32(bytes: Uint8Array): number {
  return native === undefined ? crc32InJs(bytes) : native(bytes);
}

/** @internal */
export function crc32InJs(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = TABLE[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  return ~crc >>> 0;
}

const POLYNOMIAL = 0xedb88320;

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? POLYNOMIAL ^ (crc >>> 1) : crc >>> 1;
  return crc;
});
