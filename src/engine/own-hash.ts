/**
 * Checks of users' own hash functions, made before a table is: whether the two forms of one may agree can't be known,
 * so they are compared on samples. Loaded with the first table that has such a function.
 */
import { ValidationError } from "../errors.js";
import { murmur3 } from "./hash.js";
import { hashNames, type OwnHash } from "./hash-names.js";

/** Keys that a function is tried on. */
const SAMPLES = 1024;
/** Words that functions go wrong at. */
const EDGES = [
  0, 1, 2, 0x7f, 0xff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x7fc00000,
];

/** Words of sample keys, one key after the other: edges, single bits, and patterns of all kinds. */
export function sampleKeys(keyWords: number): Uint32Array<ArrayBuffer> {
  return Uint32Array.from({ length: SAMPLES * keyWords }, (_, i) => {
    const key = Math.floor(i / keyWords);
    // every edge in every word, beside every edge in the others
    const turn = key + (i % keyWords) * (1 + Math.floor(key / EDGES.length));
    if (key < EDGES.length * EDGES.length) return EDGES[turn % EDGES.length];
    return key % 4 === 0 ? 1 << (murmur3(i) % 32) : murmur3(i);
  });
}

/**
 * Hashes of the sample keys by the function's JavaScript.
 * @throws ValidationError when it is not a function that answers whole numbers, always the same ones
 */
export function sampleHashes({ name, js }: OwnHash, keys: Uint32Array, keyWords: number): Uint32Array {
  const hashes = new Uint32Array(keys.length / keyWords);
  for (let i = 0; i < hashes.length; i++) {
    const key = keys.subarray(i * keyWords, (i + 1) * keyWords);
    const [hash, again] = [js(...key), js(...key)];
    if (!Number.isInteger(hash) || !Number.isInteger(again)) {
      throw new ValidationError(
        `The js of the hash function ${name} answers ${hash} for the key ${inWords(key)}.`,
        "Answer a whole number of 32 bits, as `h >>> 0` makes one; multiply by Math.imul.",
      );
    }
    if (hash >>> 0 !== again >>> 0) {
      throw new ValidationError(
        `The js of the hash function ${name} answers ${inHex(hash)} and then ${inHex(again)} for the key ${inWords(key)}.`,
        "Make the hash of a key depend on nothing else.",
      );
    }
    hashes[i] = hash;
  }
  return hashes;
}

/** Checks what does not depend on an engine. @throws ValidationError */
export function checkOwnHash(own: OwnHash | null, keyWords: number): void {
  const { name, js, wgsl } = own ?? ({} as Partial<OwnHash>);
  const isName = typeof name === "string" && /^[A-Za-z]\w*$/.test(name);
  if (!isName || hashNames.includes(name as never)) {
    throw new ValidationError(
      `${JSON.stringify(name) ?? String(name)} is no name for a hash function of your own.`,
      `Give { name, js, wgsl }, and a name of ASCII letters, digits and underscores other than ${hashNames.join(", ")}.`,
    );
  }
  if (typeof js !== "function" || (wgsl !== undefined && typeof wgsl !== "string")) {
    throw new ValidationError(
      `The hash function ${name} has no js that is a function, or a wgsl that is no text.`,
      "Give { name, js: (word) => …, wgsl: `fn NAME(word: u32) -> u32 { … }` }.",
    );
  }
  sampleHashes(own as OwnHash, sampleKeys(keyWords), keyWords);
}

/** A key in words, as a message shows it. */
export function inWords(key: Iterable<number>): string {
  return `(${Array.from(key, inHex).join(", ")})`;
}

/** 32 bits, as a message shows them. */
export function inHex(word: number): string {
  return `0x${(word >>> 0).toString(16).padStart(8, "0")}`;
}
