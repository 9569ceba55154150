/**
 * WGSL of a table's hash function: `hashKey` for keys of one word, `hashWords` for wider ones. The default is murmur3
 * without a seed; its text for keys of one word is also in plain-slots.ts, so that a page with such tables alone does
 * not load this file.
 *
 * A seed is a parameter of dispatches (hashSeed), not a constant: all seeds share their kernels, which are others than
 * those without one.
 */
import type { OwnHash } from "../../hash-names.js";
import type { TableSpec } from "../../layout.js";
import { slotFormat } from "../../slot-format.js";
import hashWide from "./hash-wide.wgsl";
import keyedWord from "./keyed-word.wgsl";
import { prefixNames } from "./prefix-names.js";
import { each } from "./slot-code.js";
import xxhash32 from "./xxhash32.wgsl";
import xxhash64 from "./xxhash64.wgsl";

/** Before the names of a user's own code, which may be those of ours. */
const OWN = "own";

/** WGSL of the hash function of a table's keys; a fragment after hash.wgsl, for modules with hashSeed. */
export function hashCode(spec: TableSpec): string {
  const { hash, seed } = spec;
  const { keyWords, claim } = slotFormat(spec);
  const { helpers, call } = typeof hash === "string" ? BUILT_IN[hash] : own(hash);
  const of = (word: string) => (seed ? `keyedWord(${word})` : word);
  const parts = [...helpers(claim === "row"), ...(seed ? [keyedWord] : [])];
  if (claim === "key") {
    return [...parts, `fn hashKey(key: u32) -> u32 { return ${call([of("key")])}; }`].join("\n");
  }
  const words = each(keyWords, (i) => of(`words[${i}]`));
  return [
    ...parts,
    `fn hashWords(words: array<u32, KEY_WORDS>) -> u32 { return ${call(words, true)}; }`,
  ].join("\n");
}

interface HashCode {
  /** The functions that it needs. */
  readonly helpers: (wide: boolean) => readonly string[];
  /** The expression, of one for each word. */
  readonly call: (words: readonly string[], wide?: boolean) => string;
}

const all = (words: readonly string[]) => `array<u32, KEY_WORDS>(${words.join(", ")})`;

const BUILT_IN: { readonly [name: string]: HashCode } = {
  murmur3: {
    helpers: (wide) => (wide ? [hashWide] : []),
    call: (words, wide) => (wide ? `murmur3Words(${all(words)}, 0u)` : `murmur3(${words})`),
  },
  xxhash32: {
    helpers: (wide) => [wide ? hashWide : xxhash32],
    call: (words, wide) => (wide ? `xxhash32Words(${all(words)})` : `xxhash32(${words})`),
  },
  xxhash64: { helpers: () => [xxhash64], call: (words) => `xxhash64(${all(words)})` },
  identity: { helpers: () => [], call: ([first]) => first },
};

function own({ name, wgsl = "" }: OwnHash): HashCode {
  return { helpers: () => [prefixNames(wgsl, OWN)], call: (words) => `${OWN}_${name}(${words.join(", ")})` };
}
