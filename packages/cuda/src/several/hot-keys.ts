/**
 * Keys that very many rows of a join have. Left alone, all rows of a key go to its owner; so of a hot key the rows of the
 * side that has more of them stay where they are, and the other side's go to all GPUs. Keys are told by their hashes, of
 * which any may be taken: all that matters is that both sides agree.
 */

/** Hashes of hot keys, for one side of a join. */
export interface HotHashes {
  /** Those whose rows stay where they are, then those whose rows go to all GPUs. */
  readonly hashes: Uint32Array<ArrayBuffer>;
  /** How many of them are of the first kind. */
  readonly staying: number;
}

export interface SampledSide {
  readonly rows: number;
  readonly sample: Uint32Array;
}

// Estimates, not measured on several GPUs.
/** What the GPU that owns most has at most of what each has on average, where rows stay with their owners. */
const MOST_OF_MEAN = 1.25;
/** A key is hot that has more than this part of what each GPU has on average. */
const HOT_PART = 1 / 8;
/** Rows of a sample that chance does not make one key's. */
const LEAST_SAMPLED = 8;
/** Hot keys at most: each row's hash is compared with all of them. */
const MOST_HOT = 32;

function timesSeen(sample: Uint32Array): Map<number, number> {
  const seen = new Map<number, number>();
  for (const hash of sample) seen.set(hash, (seen.get(hash) ?? 0) + 1);
  return seen;
}

/** Whether one GPU owns much more than its share. */
export function isSkewed(owned: readonly number[]): boolean {
  const all = owned.reduce((sum, count) => sum + count, 0);
  return Math.max(...owned) * owned.length > MOST_OF_MEAN * all;
}

/** What the sides of a join are told of hot keys; null without any. */
export function hotHashes(sides: readonly SampledSide[], gpus: number): HotHashes[] | null {
  const counts = sides.map(({ sample }) => timesSeen(sample));
  const rowsOf = (side: number, hash: number) =>
    ((counts[side].get(hash) ?? 0) * sides[side].rows) / Math.max(1, sides[side].sample.length);
  const hot = sides.flatMap(({ rows, sample }, side) =>
    [...counts[side]].flatMap(([hash, count]) => {
      const isHot = count >= LEAST_SAMPLED && count > (HOT_PART * sample.length) / gpus;
      return isHot ? [{ hash, rows: (count * rows) / sample.length }] : [];
    }),
  );
  const hottest = hot.sort((a, b) => b.rows - a.rows).map(({ hash }) => hash);
  const hashes = [...new Set(hottest)].slice(0, MOST_HOT);
  if (hashes.length === 0) return null;
  const ofFirst = hashes.filter((hash) => rowsOf(0, hash) >= rowsOf(1, hash));
  const ofOther = hashes.filter((hash) => rowsOf(0, hash) < rowsOf(1, hash));
  return [
    { hashes: Uint32Array.from([...ofFirst, ...ofOther]), staying: ofFirst.length },
    { hashes: Uint32Array.from([...ofOther, ...ofFirst]), staying: ofOther.length },
  ];
}
