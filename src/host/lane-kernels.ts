/**
 * The loops over a block of rows in WebAssembly with SIMD (lane-kernels.wat), which take half as long as JavaScript's. They
 * see but their own memory: rows are copied there block by block, and sums and tables are to be in a block's room. A page's
 * content policy may refuse WebAssembly; then JavaScript's loops do the same, and no sum shows which it was.
 */
import bytes from "./lane-kernels.wat";
import { addLower, BLOCK_ROWS, fitsLimbs, LaneBlock, type Target } from "./lane-loops.js";
import { wasmModule } from "./wasm-module.js";

interface Kernels {
  readonly memory: WebAssembly.Memory;
  findNear(count: number, least: number, near: number, last: number): number;
  addOnes(count: number, at: number, stride: number): void;
  countWords(count: number, at: number, stride: number, unsigned: number): void;
  addLimbs(count: number, at: number, stride: number, scale: number): number;
  findBetter(count: number, at: number, stride: number, sign: number): number;
}

/** Where things are in memory, behind the block itself. */
const RESTS = 16 * BLOCK_ROWS;
const REST_ROWS = RESTS + 8 * BLOCK_ROWS;
const ROOM = REST_ROWS + 4 * BLOCK_ROWS;

export class KernelBlock extends LaneBlock {
  readonly #kernels: Kernels;
  /** Of pairs of rows that `addLimbs` leaves something of: what that is, and the first one's place; −1 ends them. */
  readonly #rests: Float64Array;
  readonly #restRows: Int32Array;
  readonly #room: Uint32Array;

  constructor(kernels: Kernels) {
    const { buffer } = kernels.memory;
    super(buffer);
    this.#kernels = kernels;
    this.#rests = new Float64Array(buffer, RESTS, BLOCK_ROWS);
    this.#restRows = new Int32Array(buffer, REST_ROWS, BLOCK_ROWS);
    this.#room = new Uint32Array(buffer, ROOM);
  }

  /** So many words that kernels reach, which hold anything: the same ones each time. Null where there are no such. */
  room(words: number): Uint32Array | null {
    return words <= this.#room.length ? this.#room.subarray(0, words) : null;
  }

  /**
   * Finds the groups of keys in an array of group + 1, which begins with the key `least` and is in the room.
   * @returns keys found, up to some of which one is not there
   */
  findNear(codes: Uint32Array, from: number, to: number, least: number, near: Uint32Array): number {
    this.words.set(codes.subarray(from, to));
    return this.#kernels.findNear(to - from, least, near.byteOffset, near.length - 1);
  }

  override addOnes(to: Target): void {
    if (this.#reaches(to)) this.#kernels.addOnes(to.count, placeOf(to, 0), 8 * to.stride);
    else super.addOnes(to);
  }

  override countWords(to: Target, words: Uint32Array, from: number, signed: boolean): void {
    if (!this.#reaches(to)) {
      super.countWords(to, words, from, signed);
      return;
    }
    this.words.set(words.subarray(from, from + to.count));
    this.#kernels.countWords(to.count, placeOf(to, 0), 8 * to.stride, signed ? 0 : 1);
  }

  override findBetter(to: Target, values: Float64Array, from: number, sign: -1 | 1): number {
    if (!this.#reaches(to)) return super.findBetter(to, values, from, sign);
    this.#bringNumbers(values, from, to.count);
    return this.#kernels.findBetter(to.count, placeOf(to, 0), 8 * to.stride, -sign);
  }

  override addLimbs(
    to: Target,
    lane: number,
    limbs: number,
    scale: number,
    values: Float64Array,
    from: number,
  ): boolean {
    if (!this.#reaches(to)) return super.addLimbs(to, lane, limbs, scale, values, from);
    const { ids, numbers } = this;
    const { sums, stride, count } = to;
    this.#bringNumbers(values, from, count);
    if (count & 1) {
      numbers[count] = 0;
      ids[count] = 0;
    }
    const size = this.#kernels.addLimbs(count, placeOf(to, lane + limbs - 2), 8 * stride, scale);
    let isExact = fitsLimbs(size, count);
    const [rests, restRows] = [this.#rests, this.#restRows];
    const top = to.offset + lane + limbs - 1;
    for (let k = 0, row = restRows[0]; row >= 0; row = restRows[++k]) {
      if (!addLower(sums, ids[row] * stride + top, rests[2 * k], limbs)) isExact = false;
      if (!addLower(sums, ids[row + 1] * stride + top, rests[2 * k + 1], limbs)) isExact = false;
    }
    return isExact;
  }

  #bringNumbers(values: Float64Array, from: number, count: number): void {
    if (values !== this.numbers) this.numbers.set(values.subarray(from, from + count));
  }

  #reaches({ sums, ids }: Target): boolean {
    return sums.buffer === this.#room.buffer && ids === this.ids;
  }
}

/** Where kernels find a lane of group 0. */
function placeOf({ sums, offset }: Target, lane: number): number {
  return sums.byteOffset + 8 * (offset + lane);
}

/** Blocks of this thread that nobody has. */
const spare: LaneBlock[] = [];
let module: WebAssembly.Module | null | undefined;

/** A block for this thread alone, with kernels where there are any; `giveBack` is due where it is no longer used. */
export function takeBlock(): LaneBlock {
  return spare.pop() ?? newBlock();
}

export function giveBack(block: LaneBlock): void {
  spare.push(block);
}

/** So many words that a block's kernels reach; null where there are no such. */
export function roomOf(block: LaneBlock, words: number): Uint32Array | null {
  return block instanceof KernelBlock ? block.room(words) : null;
}

function newBlock(): LaneBlock {
  if (module === null) return new LaneBlock();
  try {
    module ??= wasmModule(bytes);
    return new KernelBlock(new WebAssembly.Instance(module).exports as unknown as Kernels);
  } catch {
    module = null; // no WebAssembly, no SIMD, or no memory for it
    return new LaneBlock();
  }
}
