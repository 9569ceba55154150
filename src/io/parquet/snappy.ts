/**
 * Snappy compression of Parquet pages in WebAssembly (snappy.wat), which takes a third of JavaScript's time. A page's
 * content policy may refuse WebAssembly; then hyparquet-writer compresses, to the same bytes.
 */
import { snappyCompress } from "hyparquet-writer/src/snappy.js";
import { wasmModule } from "../../host/wasm-module.js";
import bytes from "./snappy.wat";

interface Kernel {
  readonly memory: WebAssembly.Memory;
  compress(length: number, to: number): number;
}

/** Where the kernel expects the input. */
const INPUT = 1 << 16;
/** Bytes that the kernel reads or writes behind what is there. */
const SPARE = 16;
/** Bytes of memory that are kept, which never shrinks. */
const MOST_KEPT_BYTES = 1 << 24;
const MEMORY_PAGE = 1 << 16;

/** Of this thread; null: there is none. */
let kernel: Kernel | null | undefined;

/** The bytes compressed, in memory that the next call overwrites. */
export function compressSnappy(input: Uint8Array): Uint8Array {
  const used = kernel === undefined ? newKernel() : kernel;
  kernel = used;
  if (used === null) return snappyCompress(input);
  const { length } = input;
  const { memory } = used;
  const to = INPUT + length + SPARE;
  const missing = to + 32 + length + Math.ceil(length / 6) + SPARE - memory.buffer.byteLength;
  if (missing > 0) {
    memory.grow(Math.ceil(missing / MEMORY_PAGE));
    if (memory.buffer.byteLength > MOST_KEPT_BYTES) kernel = undefined;
  }
  const all = new Uint8Array(memory.buffer);
  all.set(input, INPUT);
  return all.subarray(to, used.compress(length, to));
}

function newKernel(): Kernel | null {
  try {
    return new WebAssembly.Instance(wasmModule(bytes)).exports as unknown as Kernel;
  } catch {
    return null; // no WebAssembly, or no SIMD
  }
}
