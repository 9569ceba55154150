/**
 * Zstandard by Node's own zlib where it has it (22.15, 23.8); else by zstddec, the reference decoder in WebAssembly,
 * once `loadZstd` has loaded it; else by fzstd in JavaScript, which takes five times as long and compares no checksums.
 */
import { decompress as decompressInJs } from "fzstd";
import { builtin } from "./builtin.js";

type Native = (input: Uint8Array, options: { maxOutputLength: number }) => Uint8Array;
const native = (builtin("node:zlib") as { zstdDecompressSync?: Native } | undefined)?.zstdDecompressSync;

type Decode = (input: Uint8Array, length: number) => Uint8Array;
let inWasm: Decode | undefined;
let loading: Promise<void> | undefined;

/**
 * Fewer compressed bytes, of all calls together, are decoded in less time than WebAssembly needs to start, about 20 ms.
 */
const WORTH_LOADING = 1 << 20;
let asked = 0;
/**
 * WebAssembly keeps the memory of the largest frames that it has decoded: those that hold more bytes are left to
 * JavaScript.
 */
const MOST_IN_WASM = 1 << 24;

/**
 * Prepares this thread to decode so many bytes. Where WebAssembly is refused (a page's content policy), JavaScript
 * decodes.
 */
export async function loadZstd(bytes: number): Promise<void> {
  asked += bytes;
  if (native || asked < WORTH_LOADING) return;
  loading ??= inWebAssembly().then(
    (decode) => {
      inWasm = decode;
    },
    () => {},
  );
  await loading;
}

/** The decoder in WebAssembly: answers with other lengths than asked for where the data is damaged. */
export async function inWebAssembly(): Promise<Decode> {
  const { ZSTDDecoder } = await import("zstddec");
  const decoder = new ZSTDDecoder();
  await decoder.init();
  return (input, length) => decoder.decode(input, length);
}

/** Decodes frames that hold `length` bytes in all. @throws Error for other data */
export function decompressZstd(input: Uint8Array, length: number): Uint8Array {
  if (length === 0 && input.length === 0) return new Uint8Array(0);
  const bytes = native ? native(input, { maxOutputLength: Math.max(1, length) }) : decoded(input, length);
  if (bytes.length !== length) throw new Error(`it holds ${bytes.length} bytes where ${length} are declared`);
  return bytes;
}

function decoded(input: Uint8Array, length: number): Uint8Array {
  // of no bytes zstddec would ask the data
  const isForWasm = length > 0 && length <= MOST_IN_WASM && input.length <= MOST_IN_WASM;
  return inWasm && isForWasm ? inWasm(input, length) : inJs(input, length);
}

function inJs(input: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length);
  // fzstd compares its second argument to 1, and a typed array becomes a string of all its elements for that, unless it
  // says otherwise
  Object.defineProperty(output, Symbol.toPrimitive, { value: () => "bytes" });
  const { buffer, byteOffset, byteLength } = decompressInJs(input, output);
  return new Uint8Array(buffer, byteOffset, byteLength);
}
