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

/** A number of any width, at a multiple of it or not: extreme, or small enough to be an offset or a length. */
const setAnyNumber: Mutation = (bytes, next) => {
  const width = 2 ** (1 + below(next, 3));
  if (bytes.length < width) return bytes;
  const at = below(next, bytes.length - width + 1);
  const value = next() < 0.5 ? EXTREMES[below(next, EXTREMES.length)] : below(next, 2 * bytes.length);
  if (width === 8) bytes.writeBigInt64LE(BigInt(value) << (next() < 0.2 ? 32n : 0n), at);
  else bytes.writeIntLE(width === 2 ? (value << 16) >> 16 : value | 0, at, width);
  return bytes;
};

/** Bytes of one place over those of another. */
const copy: Mutation = (bytes, next) => {
  const from = below(next, bytes.length);
  const to = below(next, bytes.length);
  bytes.copyWithin(to, from, from + 1 + below(next, 64));
  return bytes;
};

/** Damage that aims at what leads through a file: offsets, lengths, sizes of tables. */
const STRUCTURE: readonly Mutation[] = [...BINARY, setAnyNumber, setAnyNumber, setAnyNumber, copy, copy];

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

const KINDS = { binary: BINARY, structure: STRUCTURE, text: TEXT };

/** A copy of a file with damage in one to three places. */
export function damaged(bytes: Uint8Array, seed: number, kind: keyof typeof KINDS): Buffer {
  const next = random(seed);
  const mutations = KINDS[kind];
  let copy: Buffer = Buffer.from(bytes);
  const times = next() < 0.7 ? 1 : 2 + below(next, 2);
  for (let i = 0; i < times && copy.length > 0; i++)
    copy = mutations[below(next, mutations.length)](copy, next);
  return copy;
}
