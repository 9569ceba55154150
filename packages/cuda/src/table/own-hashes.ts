/**
 * Hashes by users' own functions, which are JavaScript: the keys of a chunk come to the host, and their hashes go back
 * with them.
 */
import {
  asBytes,
  type BoundChunk,
  type Column,
  canonicalise,
  keyedWord,
  NO_SEED,
  type OwnHash,
  readBytes,
  type TableSpec,
} from "warpmap/engine";
import { formatOf } from "./formats.js";
import type { TableState } from "./table-state.js";

/** The hashes of a chunk's keys in a column; undefined where the kernels have the function. */
export async function hashesOf({ host, spec }: TableState, chunk: BoundChunk): Promise<Column | undefined> {
  if (typeof spec.hash === "string") return undefined;
  const { keyWords } = formatOf(spec);
  const { count, keys, scratch } = chunk;
  const words = new Uint32Array(count * keyWords);
  const { buffer, offset = 0 } = keys.range;
  await readBytes(host.gpu, "keys", { buffer, offset: offset + keys.shift * 4, into: asBytes(words) });
  const hashes = await scratch.column("u32", count);
  await host.gpu.upload(hashes.range.buffer, hashes.range.offset ?? 0, asBytes(hashKeys(spec, words)));
  return hashes;
}

/** The hashes of keys whose words lie next to each other. Gives the keys their canonical bits. */
export function hashKeys(spec: TableSpec, words: Uint32Array): Uint32Array {
  const { keyWords, keyFloats } = formatOf(spec);
  const { seed = NO_SEED } = spec;
  const { js } = spec.hash as OwnHash;
  const count = words.length / keyWords;
  canonicalise(words, keyWords, keyFloats, count);
  return Uint32Array.from({ length: count }, (_, i) => {
    const key = words.subarray(i * keyWords, (i + 1) * keyWords);
    return js(...Array.from(key, (word) => keyedWord(word, seed)));
  });
}
