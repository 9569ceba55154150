/**
 * The frame of all that `toBytes` writes: bytes that say what they are, in which version, and whether they are whole.
 * What comes behind is the business of bytes-header.ts and sketches/sketch-bytes.ts. All numbers are little-endian.
 *
 * | bytes | |
 * |---|---|
 * | 0-7 | 0x89, four letters, 0x0d 0x0a 0x1a: no text, and damaged by what converts line ends |
 * | 8-11 | version |
 * | 12-15 | XXH32 of all bytes from 16 on |
 * | 16-63 | numbers of the kind's own |
 */
import { FormatError, LimitError } from "../errors.js";
import { xxh32 } from "../xxh32.js";

/** What bytes are. */
export interface Seal {
  /** Four letters. */
  readonly letters: string;
  readonly version: number;
  /** What wrote them, in words: "warpmap table". */
  readonly what: string;
  /** What to do where there is no memory for so many bytes. */
  readonly instead: string;
}

export const HEADER_BYTES = 64;
/** Where the bytes begin that the checksum is of. */
const CHECKED = 16;

/** Zeroed bytes with the first eight set. @throws LimitError */
export function newBytes({ letters, instead }: Seal, length: number): Uint8Array<ArrayBuffer> {
  try {
    const bytes = new Uint8Array(length);
    bytes.set(magicOf(letters));
    return bytes;
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new LimitError("memory", length, Number.NaN, instead, { cause });
  }
}

/** Writes version and checksum: the last thing to do. */
export function seal({ version }: Seal, bytes: Uint8Array): void {
  const header = viewOf(bytes);
  header.setUint32(8, version, true);
  header.setUint32(12, xxh32(bytes.subarray(CHECKED)), true);
}

/** Checks the first eight bytes, version and checksum. @throws FormatError */
export function unseal({ letters, version, what }: Seal, bytes: Uint8Array): DataView {
  if (bytes.length < HEADER_BYTES || magicOf(letters).some((byte, i) => bytes[i] !== byte)) {
    throw new FormatError(
      `These ${bytes.length} bytes do not begin as those of a ${what} do.`,
      "Give what toBytes made, whole and as binary data.",
    );
  }
  const header = viewOf(bytes);
  const found = header.getUint32(8, true);
  if (found !== version) {
    throw new FormatError(
      `The bytes have version ${found} of the format, and this warpmap reads version ${version}.`,
      "Read them with the version of warpmap that wrote them, or a newer one.",
    );
  }
  const [said, is] = [header.getUint32(12, true), xxh32(bytes.subarray(CHECKED))];
  if (said !== is) {
    throw damaged(`The checksum of the ${bytes.length} bytes is ${hex(is)} and should be ${hex(said)}.`);
  }
  return header;
}

/** The error of bytes that are not what was written. */
export function damaged(message: string, options?: ErrorOptions): FormatError {
  return new FormatError(message, "The bytes are damaged or cut off: take another copy of them.", options);
}

function magicOf(letters: string): number[] {
  return [0x89, ...Array.from(letters, (letter) => letter.charCodeAt(0)), 0x0d, 0x0a, 0x1a];
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

const hex = (number: number) => `0x${number.toString(16).padStart(8, "0")}`;
