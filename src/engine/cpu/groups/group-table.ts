/**
 * A table from keys to group numbers: 0, 1, 2, … in the order in which keys come. Linear probing over slots of code and
 * number + 1, at most half full. Keys of one word that lie near the first ones are found in an array without a hash; where
 * all keys are known to lie there, there are no slots.
 *
 * Its arrays are plain data, which threads can share one after the other.
 */
import type { KernelBlock } from "../../../host/lane-kernels.js";
import { addGroup, findHashes, findInRange, findWords, GROUPS, leastOf, NEAR_FROM } from "./group-loops.js";
import type { KeyRange, TableKeys } from "./key-tables.js";
import { mixedWord, type RowHashing } from "./row-keys.js";
import { sameStrings, sameWords } from "./row-table.js";

/** The arrays of a table. */
export interface GroupMemory {
  /** Groups, and the key at which `near` begins. */
  readonly head: Uint32Array;
  /** Code and group + 1. */
  slots: Uint32Array;
  /** Group + 1 of the keys from head[1] on. Empty for keys that are hashed already, or of several words. */
  readonly near: Uint32Array;
  /** Of each group: its code, its key's words unless the code is the key, and its first row. */
  codes: Uint32Array;
  words: Uint32Array;
  firsts: Uint32Array;
}

/** The form of keys. */
export interface GroupKeys {
  /** A key is its code. */
  readonly exact: boolean;
  /** Codes are hashes. */
  readonly hashed: boolean;
  /** Words of a key that are kept, of which `width` are compared; strings follow as ranges. */
  readonly stride: number;
  readonly width: number;
  readonly bytes: readonly Uint8Array[];
  /** Where all keys of one word lie; null where nobody knows. */
  readonly range: KeyRange | null;
}

const NEAR_KEYS = 2 ** 14;

/** Words of the memory for so many groups. */
export function groupWords(keys: GroupKeys, groups: number): number {
  let sum = 0;
  const none = new Uint32Array(0);
  groupMemory(keys, groups, (length) => {
    sum += length;
    return none;
  });
  return sum;
}

/** Memory for so many groups, zeroed. */
export function groupMemory(
  { exact, hashed, stride, range }: GroupKeys,
  groups: number,
  words: (length: number) => Uint32Array,
): GroupMemory {
  return {
    head: words(2),
    slots: words(range ? 0 : 4 * 2 ** Math.ceil(Math.log2(groups))),
    near: words(range ? 2 ** Math.ceil(Math.log2(range.size)) : exact && !hashed ? NEAR_KEYS : 0),
    codes: words(groups),
    words: words(exact ? 0 : groups * stride),
    firsts: words(groups),
  };
}

export class GroupTable {
  /** @param block that has the memory in its room, if one has: it finds near keys */
  constructor(
    readonly memory: GroupMemory,
    readonly keys: GroupKeys,
    readonly hashing: RowHashing,
    readonly block: KernelBlock | null = null,
  ) {}

  get groups(): number {
    return this.memory.head[GROUPS];
  }

  /** Takes all groups out. */
  clear(): void {
    const { head, slots, near } = this.memory;
    head.fill(0);
    slots.fill(0);
    near.fill(0);
  }

  /** Takes the groups of another table, to this empty one's room. */
  copy({ memory, groups, keys }: GroupTable): void {
    const own = this.memory;
    own.head.set(memory.head);
    own.codes.set(memory.codes.subarray(0, groups));
    own.words.set(memory.words.subarray(0, keys.exact ? 0 : groups * keys.stride));
    own.firsts.set(memory.firsts.subarray(0, groups));
  }

  /** Makes the groups of a copy ready to be found. */
  place(): void {
    const { head, slots, near, codes } = this.memory;
    slots.fill(0);
    near.fill(0);
    for (let group = 0; group < this.groups; group++) {
      if (slots.length > 0) this.#place(group);
      const index = (codes[group] - head[NEAR_FROM]) >>> 0;
      if (index < near.length) near[index] = group + 1;
    }
  }

  /** Groups that there is room for. */
  get room(): number {
    return this.memory.firsts.length;
  }

  /** Room for twice as many groups, in memory of its own. */
  grow(): void {
    const { memory } = this;
    memory.codes = longer(memory.codes);
    memory.words = longer(memory.words);
    memory.firsts = longer(memory.firsts);
    memory.slots = new Uint32Array(2 * memory.slots.length);
    for (let group = 0; group < this.groups; group++) this.#place(group);
  }

  /**
   * Finds the groups of the keys at positions `from` to `to`, and makes those that are not there.
   * @param firstRow number of the row at position 0, where keys do not have their rows' numbers
   * @param ids per key: its group. With a block, that block's
   * @returns keys done: less than there are where there is no room for another group
   */
  find(keys: TableKeys, from: number, to: number, firstRow: number, ids: Uint32Array): number {
    const { exact, hashed } = this.keys;
    if (!exact) return this.#findRows(keys, from, to, firstRow, ids);
    return hashed ? this.#findHashes(keys, from, to, ids) : this.#findWords(keys, from, to, firstRow, ids);
  }

  #findWords({ codes }: TableKeys, from: number, to: number, firstRow: number, ids: Uint32Array): number {
    const { memory, hashing } = this;
    const { head, near } = memory;
    const { range } = this.keys;
    if (head[GROUPS] === 0) head[NEAR_FROM] = range?.smallest ?? leastOf(codes, from, to);
    const least = head[NEAR_FROM] | 0;
    const done = this.block?.findNear(codes, from, to, least, near) ?? 0;
    if (range) {
      findInRange(codes, from, from + done, to, near, head, memory.codes, memory.firsts, firstRow, ids);
      return to - from;
    }
    const { slots, codes: own, firsts } = memory;
    const { multiplier, offset, mask } = hashing;
    const at = from + done;
    return findWords(
      codes,
      from,
      at,
      to,
      near,
      least,
      multiplier,
      offset,
      mask,
      slots,
      head,
      own,
      firsts,
      firstRow,
      ids,
    );
  }

  #findHashes({ codes, codeStride }: TableKeys, from: number, to: number, ids: Uint32Array): number {
    const { slots, head, codes: own, firsts } = this.memory;
    return findHashes(codes, codeStride, from, to, slots, this.hashing.mask, head, own, firsts, ids);
  }

  #findRows(build: TableKeys, from: number, to: number, firstRow: number, ids: Uint32Array): number {
    const { codes, codeStride, recorded, words, stride, base } = build;
    const { width, bytes } = this.keys;
    const { head, slots, words: kept, codes: own, firsts } = this.memory;
    const wrap = slots.length - 1;
    const noStrings = bytes.length === 0;
    const there = { words: kept, width, bytes };
    for (let position = from; position < to; position++) {
      const code = codes[position * codeStride];
      const at = position * stride + base;
      let slot = (code << 1) & wrap & ~1;
      let found = slots[slot + 1];
      while (found !== 0) {
        if (slots[slot] === code) {
          const other = (found - 1) * this.keys.stride;
          if (sameWords(kept, other, words, at, width) && (noStrings || sameStrings(there, other, build, at)))
            break;
        }
        slot = (slot + 2) & wrap;
        found = slots[slot + 1];
      }
      if (found === 0) {
        const row = recorded ? codes[position * codeStride + 1] : firstRow + position;
        found = addGroup(slot, code, row, slots, head, own, firsts);
        if (found === 0) return position - from;
        const to = (found - 1) * this.keys.stride;
        for (let k = 0; k < this.keys.stride; k++) kept[to + k] = words[at + k];
      }
      ids[position - from] = found - 1;
    }
    return to - from;
  }

  /** Puts a group that is not in the slots into them. */
  #place(group: number): void {
    const { slots, codes } = this.memory;
    const { exact, hashed } = this.keys;
    const { multiplier, offset, mask } = this.hashing;
    const code = codes[group];
    const isWord = exact && !hashed;
    const hash = isWord ? mixedWord((Math.imul(code, multiplier) + offset) | 0) : code;
    const wrap = slots.length - 1;
    let slot = ((exact ? hash & mask : hash) << 1) & wrap & ~1;
    while (slots[slot + 1] !== 0) slot = (slot + 2) & wrap;
    slots[slot] = code;
    slots[slot + 1] = group + 1;
  }
}

/** The keys of a table's groups, for another table to find. */
export function keysOf({ memory, groups, keys }: GroupTable): TableKeys {
  const { exact, stride, width, bytes } = keys;
  return {
    codes: memory.codes.subarray(0, groups),
    words: exact ? memory.codes : memory.words,
    codeStride: 1,
    stride,
    base: 0,
    recorded: false,
    width,
    bytes,
    skip: null,
  };
}

function longer(array: Uint32Array): Uint32Array {
  const copy = new Uint32Array(2 * array.length);
  copy.set(array);
  return copy;
}
