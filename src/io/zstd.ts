/** Zstandard by Node's own zlib where it has it (22.15, 23.8), which also compares checksums; else by the package fzstd. */
import { decompressZstd as decompressInJs } from "hyparquet-compressors";
import { builtin } from "./builtin.js";

type Native = (input: Uint8Array, options: { maxOutputLength: number }) => Uint8Array;
const native = (builtin("node:zlib") as { zstdDecompressSync?: Native } | undefined)?.zstdDecompressSync;

/** Decodes frames that hold `length` bytes in all. @throws Error for other data */
export function decompressZstd(input: Uint8Array, length: number): Uint8Array {
  if (length === 0 && input.length === 0) return new Uint8Array(0);
  const bytes = native ? native(input, { maxOutputLength: Math.max(1, length) }) : inJs(input, length);
  if (bytes.length !== length) throw new Error(`it holds ${bytes.length} bytes where ${length} are declared`);
  return bytes;
}

function inJs(input: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length);
  // fzstd compares its second argument to 1, and a typed array becomes a string of all its elements for that, unless it says otherwise
  Object.defineProperty(output, Symbol.toPrimitive, { value: () => "bytes" });
  const { buffer, byteOffset, byteLength } = decompressInJs(input, output);
  return new Uint8Array(buffer, byteOffset, byteLength);
}
