/**
 * Blocks of elements that are ready to probe in a table of wide slots, as blocks.ts has them for narrow ones: chosen,
 * brought together from the columns they come in, hashed, and their home slots brought into the cache.
 *
 * The first word of a slot tells EMPTY and TOMBSTONE from entries, and is called its *mark* here: a key of one word
 * itself, else the tag of the key (slot-format.ts). Equal keys have equal marks, and the home slot follows from the
 * mark alone.
 */
import { canonicalise } from "../../float-keys.js";
import { homeSlot } from "../../hash.js";
import { EMPTY, TOMBSTONE } from "../../layout.js";
import { scalarWords } from "../../scalars.js";
import type { SlotFormat } from "../../slot-format.js";
import { hashOfTag, tagOf } from "../../tags.js";
import { BLOCK, type TableMemory } from "./blocks.js";
import type { Columns } from "./sequential.js";
import { hashOfWord } from "./table-hash.js";
import { hashOfWords } from "./wide-hash.js";

/** Tables of more words than this do not fit the L2 cache (1 MiB), and touching home slots early pays. */
const TOUCH_WORDS = 2 ** 18;

// Keeps the JIT from dropping loads whose values nobody wants.
const sink = new Uint32Array(1);

export class WideBlock {
  /** Words of the keys, one key after the other. */
  readonly key: Uint32Array;
  readonly mark = new Uint32Array(BLOCK);
  /** First word of the key's home slot; of its side slot where the key equals a sentinel. */
  readonly home = new Uint32Array(BLOCK);
  /** Number of the element in its batch. */
  readonly element = new Uint32Array(BLOCK);

  constructor(
    readonly table: TableMemory,
    readonly format: SlotFormat,
  ) {
    this.key = new Uint32Array(BLOCK * format.keyWords);
  }

  /**
   * Fills the block with elements `from..to` of a batch, BLOCK at most, less those that `where` leaves out. Answers how
   * many there are.
   */
  fill(keys: Columns, where: Uint8Array | null, from: number, to: number): number {
    const { element } = this;
    let count = 0;
    for (let i = from; i < to; i++) {
      element[count] = i;
      // 1 for every byte that is not 0: no branch to mispredict
      count += where === null ? 1 : (where[i] + 255) >>> 8;
    }
    this.#takeKeys(keys, count);
    this.#computeHomes(count);
    this.#touch(count);
    return count;
  }

  #takeKeys(columns: Columns, count: number): void {
    const { key, element } = this;
    const { keyWords, keyScalars, keyFloats } = this.format;
    let offset = 0;
    for (const [c, scalar] of keyScalars.entries()) {
      const column = columns[c];
      if (scalarWords[scalar] === 1) {
        for (let j = 0, at = offset; j < count; j++, at += keyWords) key[at] = column[element[j]];
        offset += 1;
        continue;
      }
      for (let j = 0, at = offset; j < count; j++, at += keyWords) {
        key[at] = column[2 * element[j]];
        key[at + 1] = column[2 * element[j] + 1];
      }
      offset += 2;
    }
    canonicalise(key, keyWords, keyFloats, count);
  }

  #computeHomes(count: number): void {
    const { key, mark, home, table, format } = this;
    const { slotCount, words } = table;
    const { keyWords, claim } = format;
    for (let j = 0; j < count; j++) {
      const m = claim === "key" ? key[j] : tagOf(hashOfWords(table, key, j * keyWords, keyWords));
      mark[j] = m;
      // no tag is a sentinel
      home[j] = (m >= TOMBSTONE ? slotCount + (EMPTY - m) : homeOfMark(table, format, m)) * words;
    }
  }

  /** Brings home slots into the cache, so that the processor overlaps their cache misses. */
  #touch(count: number): void {
    const { slots } = this.table;
    if (slots.length <= TOUCH_WORDS) return;
    const { home } = this;
    let seen = 0;
    for (let j = 0; j < count; j++) seen ^= slots[home[j]];
    sink[0] = seen;
  }
}

/** Home slot of the entry with this mark. */
export function homeOfMark(table: TableMemory, { claim }: SlotFormat, mark: number): number {
  return homeSlot(claim === "row" ? hashOfTag(mark) : hashOfWord(table, mark), table.slotCount);
}
