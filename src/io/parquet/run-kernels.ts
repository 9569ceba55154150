/**
 * Loops over the codes of pages in WebAssembly with SIMD (run-kernels.wat). They see but their own memory, which holds a
 * page's bytes and codes, and of a row group the numbers that its rows have by their codes. A page's content policy may
 * refuse WebAssembly: who uses kernels does without them as well.
 */
import { wasmModule } from "../../host/wasm-module.js";
import bytes from "./run-kernels.wat";

interface Kernels {
  readonly memory: WebAssembly.Memory;
  runs(at: number, end: number, width: number, count: number, to: number, patterns: number): number;
  combine(codes: number, numbers: number, factor: number, count: number): void;
  tally(numbers: number, count: number, counts: number, listed: number): number;
}

/** Codes of a page, and rows of a row group, at most. */
export const MOST_CODES = 2 ** 20;
/** Numbers that rows may have, at most: they are below this. */
export const MOST_NUMBERS = 2 ** 18;
/** Bits of a code, at most: it lies in four bytes, wherever it begins. */
const MOST_WIDTH = 25;
/** Bytes of a page, at most. */
const MOST_BYTES = 2 ** 22;

/** Bytes that kernels read or write behind what they are asked for. */
const SPARE = 32;
const PATTERN = 64;
const CODES = 2 ** 12;
const NUMBERS = CODES + 4 * MOST_CODES + SPARE;
const COUNTS = NUMBERS + 4 * MOST_CODES;
const LISTED = COUNTS + 4 * MOST_NUMBERS;
const BYTES = LISTED + 4 * MOST_NUMBERS + SPARE;

export class RunKernels {
  readonly #kernels: Kernels;
  /** Of a page: the next one overwrites them. */
  readonly codes: Int32Array<ArrayBuffer>;
  readonly #bytes: Uint8Array;
  readonly #counts: Uint32Array;
  readonly #listed: Uint32Array;

  constructor(kernels: Kernels) {
    const { buffer } = kernels.memory;
    this.#kernels = kernels;
    this.codes = new Int32Array(buffer, CODES, MOST_CODES);
    this.#bytes = new Uint8Array(buffer, BYTES, MOST_BYTES);
    this.#counts = new Uint32Array(buffer, COUNTS, MOST_NUMBERS);
    this.#listed = new Uint32Array(buffer, LISTED, MOST_NUMBERS);
    for (let width = 1; width <= MOST_WIDTH; width++) writePatterns(buffer, width);
  }

  /**
   * Decodes the runs of `count` values of `width` bits to `codes`.
   * @returns the largest; −1 for damaged runs, and for what is not for kernels
   */
  decode(runs: Uint8Array, width: number, count: number): number {
    const isFor = width > 0 && width <= MOST_WIDTH && count <= MOST_CODES && runs.length <= MOST_BYTES;
    if (!isFor) return -1;
    this.#bytes.set(runs);
    return this.#kernels.runs(BYTES, BYTES + runs.length, width, count, CODES, PATTERN * width);
  }

  /** Makes number × factor + code of the numbers of `count` rows from `row` on. */
  combine(row: number, count: number, factor: number): void {
    this.#kernels.combine(CODES, NUMBERS + 4 * row, factor, count);
  }

  /** The different ones of `rows` numbers, one at least, in the order of their first rows, and how often each is there. */
  tally(rows: number, size: number): { numbers: Uint32Array; weights: Uint32Array } {
    const counts = this.#counts.fill(0, 0, size);
    const different = this.#kernels.tally(NUMBERS, rows, COUNTS, LISTED);
    const numbers = this.#listed.slice(0, different);
    const weights = new Uint32Array(different);
    for (let i = 0; i < different; i++) weights[i] = counts[numbers[i]];
    return { numbers, weights };
  }
}

/** Of values 0 to 3 and 4 to 7 of eight: the bytes of each, from byte 0 and `width >>> 1` on, and 2^(7 − its first bit). */
function writePatterns(buffer: ArrayBuffer, width: number): void {
  for (const [half, start] of [0, 8 * (width >>> 1)].entries()) {
    const at = PATTERN * width + 32 * half;
    const places = new Uint8Array(buffer, at, 16);
    const factors = new Uint32Array(buffer, at + 16, 4);
    for (let k = 0; k < 4; k++) {
      const bit = (4 * half + k) * width - start;
      for (let b = 0; b < 4; b++) places[4 * k + b] = (bit >>> 3) + b;
      factors[k] = 2 ** (7 - (bit & 7));
    }
  }
}

/** Of this thread; null: there are none. */
let kernels: RunKernels | null | undefined;

export function runKernels(): RunKernels | null {
  if (kernels === undefined) {
    try {
      kernels = new RunKernels(new WebAssembly.Instance(wasmModule(bytes)).exports as unknown as Kernels);
    } catch {
      kernels = null; // no WebAssembly, no SIMD, or no memory for it
    }
  }
  return kernels;
}
