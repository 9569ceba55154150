/**
 * Keys of any form in a table: several words, or strings. Slots hold hashes and positions; a key is where its hash is and
 * equals it. Tables that the caches hold are looked up key by key. Of others many keys are looked up at once: their
 * slots are read ahead, then what has the same hash is found, then all of that is read and compared.
 */
import type { KeyTable, Slots, TableKeys } from "./key-tables.js";
import type { CompareKey, KeyTree } from "./key-tree.js";
import { sameBytes } from "./strings.js";

/**
 * Keys whose places are read ahead, and slots that the L2 cache holds. Measured with 100,000 and 2 million strings, on an
 * EPYC and a Xeon, Node 20.
 */
export const TOUCHED = 2 ** 7;
const CACHED_SLOTS = 2 ** 16;
/** What was found for keys that are looked up together: the key's row or position + 1; 0: none. */
const matched = new Uint32Array(TOUCHED);

/** Keys of any form: equal codes are candidates, and the keys themselves are compared. Slots hold positions. */
export class RowTable implements KeyTable {
  readonly #slots: Slots;
  readonly #build: TableKeys;

  constructor(slots: Slots, build: TableKeys) {
    this.#slots = slots;
    this.#build = build;
  }

  get tree(): KeyTree {
    return this.#slots.tree;
  }

  insert(build: TableKeys, from: number, to: number, follows: Uint32Array): number {
    const { codes, codeStride, recorded, skip } = build;
    const { words: slots, mask, reach, tree } = this.#slots;
    const wrap = 2 * mask + 1;
    let repeats = 0;
    for (let position = from; position < to; position++) {
      if ((position - from) % TOUCHED === 0) this.#touch(build, position, Math.min(to, position + TOUCHED));
      if (skip !== null && skip[position] !== 0) continue;
      const code = codes[position * codeStride];
      let slot = (code & mask) << 1;
      let left = reach;
      let found = slots[slot + 1];
      while (found !== 0) {
        if (slots[slot] === code && sameKey(build, found, build, position)) break;
        slot = (slot + 2) & wrap;
        if (--left === 0) break;
        found = slots[slot + 1];
      }
      if (found === 0) {
        slots[slot] = code;
        slots[slot + 1] = position + 1;
        continue;
      }
      if (left === 0) {
        found = tree.add(code, position + 1, comparingRows(code, build, position, build));
        if (found === position + 1) continue;
      }
      const leader = recorded ? codes[(found - 1) * codeStride + 1] : found - 1;
      follows[recorded ? codes[position * codeStride + 1] : position] = leader + 1;
      repeats++;
    }
    return repeats;
  }

  probe(probe: TableKeys, from: number, to: number, matches: Uint32Array): number {
    const { codeStride, recorded } = probe;
    const { codes } = this.#build;
    let hits = 0;
    for (let first = from; first < to; first += TOUCHED) {
      const end = Math.min(to, first + TOUCHED);
      if (this.#slots.mask < CACHED_SLOTS) this.#findAll(probe, first, end);
      else this.#findFar(probe, first, end);
      for (let position = first; position < end; position++) {
        const match = matched[position - first];
        if (match !== 0) hits++;
        matches[position * codeStride] =
          match !== 0 && recorded ? codes[(match - 1) * codeStride + 1] + 1 : match;
      }
    }
    return hits;
  }

  #findAll(probe: TableKeys, from: number, to: number): void {
    for (let position = from; position < to; position++)
      matched[position - from] = probe.skip?.[position] ? 0 : this.#find(probe, position);
  }

  /**
   * The same where slots and keys are outside of the caches: first by codes alone, which few keys share, then the keys
   * are compared, so that misses of neither wait for each other.
   */
  #findFar(probe: TableKeys, from: number, to: number): void {
    this.#touch(probe, from, to);
    this.#findCodes(probe, from, to);
    this.#touchFound(to - from);
    for (let position = from; position < to; position++) {
      const match = matched[position - from];
      if (match !== 0 && !sameKey(this.#build, match, probe, position))
        matched[position - from] = this.#find(probe, position);
    }
  }

  /** For each key the one with the same code; past the slots' reach any one. */
  #findCodes({ codes, codeStride, skip }: TableKeys, from: number, to: number): void {
    const { words: slots, mask, reach } = this.#slots;
    const wrap = 2 * mask + 1;
    for (let position = from; position < to; position++) {
      const code = codes[position * codeStride];
      let slot = (code & mask) << 1;
      let left = reach;
      let match = skip?.[position] ? 0 : slots[slot + 1];
      while (match !== 0 && slots[slot] !== code) {
        slot = (slot + 2) & wrap;
        if (--left === 0) break;
        match = slots[slot + 1];
      }
      matched[position - from] = match;
    }
  }

  /** As slots have it: the key that equals another one; 0: none does. */
  #find(probe: TableKeys, position: number): number {
    const build = this.#build;
    const { words: slots, mask, reach, tree } = this.#slots;
    const code = probe.codes[position * probe.codeStride];
    let slot = (code & mask) << 1;
    for (let left = reach; left > 0; left--) {
      const match = slots[slot + 1];
      if (match === 0) return 0;
      if (slots[slot] === code && sameKey(build, match, probe, position)) return match;
      slot = (slot + 2) & (2 * mask + 1);
    }
    return tree.find(comparingRows(code, probe, position, build));
  }

  /** Reads the home slots of some keys, where those are outside of the caches: so their misses overlap. */
  #touch({ codes, codeStride }: TableKeys, from: number, to: number): void {
    const { words: slots, mask } = this.#slots;
    if (mask < CACHED_SLOTS) return;
    let sum = 0;
    for (let position = from; position < to; position++)
      sum ^= slots[((codes[position * codeStride] & mask) << 1) + 1];
    this.#slots.touched = sum;
  }

  /** The same of the keys that were found. */
  #touchFound(count: number): void {
    const { words, stride, base, width, bytes } = this.#build;
    let sum = 0;
    for (let k = 0; k < count; k++) if (matched[k] !== 0) sum ^= words[(matched[k] - 1) * stride + base];
    for (let k = 0; bytes.length > 0 && k < count; k++)
      if (matched[k] !== 0) sum ^= bytes[0][words[(matched[k] - 1) * stride + base + width]];
    this.#slots.touched = sum;
  }
}

/** Whether a key of the build side, by its position + 1, equals one of the probe side. */
export function sameKey(build: TableKeys, match: number, probe: TableKeys, position: number): boolean {
  const p = (match - 1) * build.stride + build.base;
  const q = position * probe.stride + probe.base;
  return sameWords(build.words, p, probe.words, q, probe.width) && sameStrings(build, p, probe, q);
}

export function sameWords(a: Uint32Array, p: number, b: Uint32Array, q: number, width: number): boolean {
  for (let k = 0; k < width; k++) if (a[p + k] !== b[q + k]) return false;
  return true;
}

/** Where the strings of keys are. */
type StringKeys = Pick<TableKeys, "words" | "width" | "bytes">;

/** Whether the strings are the same whose ranges come after the words of two keys. */
export function sameStrings(a: StringKeys, atA: number, b: StringKeys, atB: number): boolean {
  let p = atA + a.width;
  let q = atB + b.width;
  for (let c = 0; c < a.bytes.length; c++, p += 2, q += 2) {
    const [start, end] = [a.words[p], a.words[p + 1]];
    const otherStart = b.words[q];
    if (end - start !== b.words[q + 1] - otherStart) return false;
    if (!sameBytes(a.bytes[c], start, end, b.bytes[c], otherStart)) return false;
  }
  return true;
}

/** Where a row is among those of a build side: by hash, then by words, then by strings, shorter ones first. */
function comparingRows(code: number, row: TableKeys, position: number, build: TableKeys): CompareKey {
  return (otherCode, other) => {
    if (code !== otherCode) return code - otherCode;
    const at = position * row.stride + row.base;
    const atOther = (other - 1) * build.stride + build.base;
    for (let k = 0; k < row.width; k++) {
      const [word, otherWord] = [row.words[at + k], build.words[atOther + k]];
      if (word !== otherWord) return word - otherWord;
    }
    return compareStrings(row, at + row.width, build, atOther + build.width);
  };
}

/** Compares the strings whose ranges begin at words p and q. */
function compareStrings(a: TableKeys, p: number, b: TableKeys, q: number): number {
  for (let c = 0; c < a.bytes.length; c++) {
    const [start, otherStart] = [a.words[p + 2 * c], b.words[q + 2 * c]];
    const length = a.words[p + 2 * c + 1] - start;
    const difference = length - (b.words[q + 2 * c + 1] - otherStart);
    if (difference !== 0) return difference;
    for (let i = 0; i < length; i++) {
      const bytes = a.bytes[c][start + i] - b.bytes[c][otherStart + i];
      if (bytes !== 0) return bytes;
    }
  }
  return 0;
}
