/**
 * Keys in order, for the few that a hash table has no place for near their home slot: after `REACH` slots a probe goes
 * on here. So hashes that crowd, because many are equal or because somebody chose the keys, cost a logarithm each,
 * whatever the hash function and its seed.
 *
 * A treap: a binary search tree by key, and a heap by priorities that depend on no key (Seidel and Aragon, "Randomized
 * Search Trees", 1996). All of it is words that threads share: a thread that has them finds what another one has added.
 */
import { murmur3 } from "../../hash.js";

/**
 * Slots of a probe from its home on, at most. At the load of 0.6 that tables have, linear probing with random hashes
 * passes so many for one key in a million.
 */
export const REACH = 128;

/** Words of a node: those below it that come before and after, a word of the key, and what it is the key of. */
const NODE_WORDS = 4;
const [BEFORE, AFTER, WORD, VALUE] = [0, 1, 2, 3];

/** Tells where a key is that is looked for: negative before that of a node, 0 there. */
export type CompareKey = (word: number, value: number) => number;

export class KeyTree {
  /** Node 0 is none: its first word is the tree's root, its second one the number of nodes. */
  words: Uint32Array;
  /** Keys that were compared. */
  comparisons = 0;
  readonly #secret = Math.floor(Math.random() * 2 ** 32);

  constructor(words: Uint32Array = new Uint32Array(NODE_WORDS)) {
    this.words = words;
  }

  /** Keys there are. */
  get size(): number {
    return this.words[AFTER];
  }

  clear(): void {
    this.words.fill(0, 0, NODE_WORDS);
  }

  /** The value of a key; 0 where there is none. */
  find(compare: CompareKey): number {
    const { words } = this;
    for (let node = words[BEFORE]; node !== 0; ) {
      const side = this.#compare(compare, node);
      if (side === 0) return words[node * NODE_WORDS + VALUE];
      node = words[node * NODE_WORDS + (side < 0 ? BEFORE : AFTER)];
    }
    return 0;
  }

  /** The value of a key that is there, or else puts it in. The answer is `value` where it is new. */
  add(word: number, value: number, compare: CompareKey): number {
    const known = this.find(compare);
    if (known !== 0) return known;
    const added = this.#newNode(word, value);
    const { words } = this;
    // heap order: down to the first node of a lower priority, which the new one takes the place of
    const priority = this.#priorityOf(added);
    let link = BEFORE;
    let node = words[link];
    while (node !== 0 && this.#priorityOf(node) > priority) {
      link = node * NODE_WORDS + (this.#compare(compare, node) < 0 ? BEFORE : AFTER);
      node = words[link];
    }
    words[link] = added;
    // what was below is split into the keys before and those after
    let [before, after] = [added * NODE_WORDS + BEFORE, added * NODE_WORDS + AFTER];
    while (node !== 0) {
      const isAfter = this.#compare(compare, node) < 0;
      words[isAfter ? after : before] = node;
      if (isAfter) after = node * NODE_WORDS + BEFORE;
      else before = node * NODE_WORDS + AFTER;
      node = words[isAfter ? after : before];
    }
    words[before] = words[after] = 0;
    return value;
  }

  /** Calls `use` with the word and the value of each node. */
  each(use: (word: number, value: number) => void): void {
    for (let node = 1; node <= this.size; node++)
      use(this.words[node * NODE_WORDS + WORD], this.words[node * NODE_WORDS + VALUE]);
  }

  #newNode(word: number, value: number): number {
    const node = this.size + 1;
    if ((node + 1) * NODE_WORDS > this.words.length) {
      const larger = new Uint32Array(2 * this.words.length + NODE_WORDS);
      larger.set(this.words);
      this.words = larger;
    }
    this.words[AFTER] = node;
    this.words[node * NODE_WORDS + WORD] = word;
    this.words[node * NODE_WORDS + VALUE] = value;
    return node;
  }

  #compare(compare: CompareKey, node: number): number {
    this.comparisons++;
    return compare(this.words[node * NODE_WORDS + WORD], this.words[node * NODE_WORDS + VALUE]);
  }

  #priorityOf(node: number): number {
    return murmur3(node ^ this.#secret);
  }
}
