/** Damage to a file: the same for the same seed. */

/** Numbers from 0 (inclusive) to 1 (exclusive), by the generator mulberry32. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Mutation = (bytes: Buffer, next: () => number) => Buffer;

const below = (next: () => number, limit: number) => Math.floor(next() * limit);

const EXTREMES = [0, 1, -1, 127, 128, 255, 256, 32_767, 65_535, 2 ** 31 - 1, -(2 ** 31), 2 ** 30];

const flipBit: Mutation = (bytes, next) => {
  bytes[below(next, bytes.length)] ^= 1 << below(next, 8);
  return bytes;
};

const setByte: Mutation = (bytes, next) => {
  bytes[below(next, bytes.length)] = below(next, 256);
  return bytes;
};

const setNumber: Mutation = (bytes, next) => {
  if (bytes.length < 4) return bytes;
  bytes.writeInt32LE(EXTREMES[below(next, EXTREMES.length)], 4 * below(next, bytes.length >>> 2));
  return bytes;
};

const cut: Mutation = (bytes, next) => bytes.subarray(0, below(next, bytes.length));

const remove: Mutation = (bytes, next) => {
  const at = below(next, bytes.length);
  return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + below(next, 16))]);
};

const repeat: Mutation = (bytes, next) => {
  const at = below(next, bytes.length);
  const end = at + 1 + below(next, 64);
  return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)]);
};

/** Damage of any kind, most often of one byte. */
const BINARY: readonly Mutation[] = [
  flipBit,
  flipBit,
  flipBit,
  setByte,
  setByte,
  setNumber,
  cut,
  remove,
  repeat,
];

/** What decides how text is read. */
const PIECES = [
  '"',
  '""',
  ",",
  "\n",
  "\r\n",
  "-",
  "1e400",
  "9007199254740993",
  "24:00",
  "\u00e9",
  "\ufeff",
  " ",
];

const insertText: Mutation = (bytes, next) => {
  const at = below(next, bytes.length);
  const piece = Buffer.from(PIECES[below(next, PIECES.length)]);
  return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);
};

const TEXT: readonly Mutation[] = [insertText, insertText, insertText, setByte, flipBit, cut, remove, repeat];

/** A copy of a file with damage in one to three places. */
export function damaged(bytes: Uint8Array, seed: number, kind: "binary" | "text"): Buffer {
  const next = random(seed);
  const mutations = kind === "binary" ? BINARY : TEXT;
  let copy: Buffer = Buffer.from(bytes);
  const times = next() < 0.7 ? 1 : 2 + below(next, 2);
  for (let i = 0; i < times && copy.length > 0; i++)
    copy = mutations[below(next, mutations.length)](copy, next);
  return copy;
}
