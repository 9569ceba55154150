/**
 * Sketches as bytes: `toBytes` and `fromBytes`. The contents are those of engine/sketch-operations.ts, so any engine
 * reads what another one wrote. In the frame of containers/sealed-bytes.ts, letters "WSKT", version 1, the numbers are:
 *
 * | bytes | |
 * |---|---|
 * | 16-19, 20-23 | kind (0 Bloom filter, 1 HyperLogLog) and key type (place in the list below): 32 bits |
 * | 32-39, 40-47, 48-55 | 64 bits floating-point. Bloom filter: capacity, falsePositives, blocks. HyperLogLog: precision, 0, 0 |
 * | 24-31, 56-63 | 0 |
 * | from 64 | the blocks, 8 words each; or the registers, a byte each |
 */
import { damaged, HEADER_BYTES, newBytes, type Seal, seal, unseal } from "../containers/sealed-bytes.js";
import type { BasicType } from "../engine/scalars.js";
import type { EngineSketch } from "../engine/sketch-operations.js";
import { FormatError } from "../errors.js";

const SKETCH: Seal = {
  letters: "WSKT",
  version: 1,
  what: "warpmap sketch",
  instead: "Make a smaller sketch.",
};
const kinds = ["BloomFilter", "HyperLogLog"] as const;
/** New types come behind the others. */
const types = ["u32", "i32", "f32", "u64"] as const;

export type SketchKind = (typeof kinds)[number];

/** What sketch bytes hold. */
export interface SketchBytes {
  readonly key: BasicType;
  /** The three numbers of the kind. */
  readonly numbers: readonly number[];
  readonly contents: Uint8Array;
}

/** A sketch as bytes. @throws LimitError */
export async function packSketch(
  kind: SketchKind,
  key: BasicType,
  numbers: readonly number[],
  sketch: EngineSketch,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = newBytes(SKETCH, HEADER_BYTES + sketch.bytes);
  const header = new DataView(bytes.buffer);
  header.setUint32(16, kinds.indexOf(kind), true);
  header.setUint32(20, types.indexOf(key), true);
  for (const [i, number] of numbers.entries()) header.setFloat64(32 + 8 * i, number, true);
  await sketch.read(bytes.subarray(HEADER_BYTES));
  seal(SKETCH, bytes);
  return bytes;
}

/**
 * What `packSketch` of this kind wrote; the kind's own numbers and the contents are not checked. @throws FormatError
 */
export function unpackSketch(kind: SketchKind, bytes: Uint8Array): SketchBytes {
  const header = unseal(SKETCH, bytes);
  const found = kinds[header.getUint32(16, true)];
  const key = types[header.getUint32(20, true)];
  if (found === undefined || key === undefined) throw damaged("The header has numbers that mean nothing.");
  if (found !== kind) {
    throw new FormatError(`The bytes are a ${found}'s, not a ${kind}'s.`, `Use ${found}.fromBytes.`);
  }
  const numbers = [0, 1, 2].map((i) => header.getFloat64(32 + 8 * i, true));
  return { key, numbers, contents: bytes.subarray(HEADER_BYTES) };
}

/** Checks that contents have the bytes that the header tells of. @throws FormatError */
export function checkContents({ contents }: SketchBytes, bytes: number): void {
  if (contents.length === bytes) return;
  throw damaged(`There are ${contents.length} bytes of contents, and the header tells of ${bytes}.`);
}
