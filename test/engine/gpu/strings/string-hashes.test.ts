/** Kernels hash strings as the reference code does: the tags of strings of every length, with a seed and without. */
import { expect, it } from "vitest";
import { dictionaryKernels } from "../../../../src/engine/gpu/strings/dictionary-kernels.js";
import { murmur3Bytes } from "../../../../src/engine/hash-bytes.js";
import { hashNames } from "../../../../src/engine/hash-names.js";
import { keyingOf, UNKEYED } from "../../../../src/engine/hash-seed.js";
import { asBytes } from "../../../../src/engine/scalars.js";
import { tagOf } from "../../../../src/engine/tags.js";
import { xxh32Of } from "../../../../src/xxh32.js";
import { uniqueKeys } from "../../../conformance/helpers/keys.js";
import { openGpu } from "../helpers/open-gpu.js";

const SLOTS = 256;
const LENGTHS = 70;

/** Records of strings of 0 bytes, 1, 2, …, and where each begins. */
function recordsOf(lengths: number) {
  const words: number[] = [];
  const numbers = Array.from({ length: lengths }, (_, length) => {
    const number = words.length;
    const bytes = new Uint8Array(Math.ceil(length / 4) * 4);
    bytes.set(asBytes(uniqueKeys(20, length)).subarray(0, length));
    words.push(length, ...new Uint32Array(bytes.buffer));
    return number;
  });
  return { arena: Uint32Array.from(words), numbers };
}

it.each(["murmur3", "xxhash32"] as const)("%s", async (name) => {
  const engine = await openGpu();
  const { gpu } = engine.tableHost;
  const { arena, numbers } = recordsOf(LENGTHS);
  const view = new DataView(arena.buffer);
  const old = Uint32Array.from({ length: 2 * SLOTS }, (_, i) => {
    const number = numbers[i >> 1];
    return number === undefined ? 0xffffffff : i % 2 === 1 ? number : 0x80000000;
  });
  const upload = async (words: Uint32Array) => {
    const buffer = await gpu.memory.acquire("strings", { bytes: words.byteLength });
    gpu.write(buffer, 0, asBytes(words));
    return { buffer, size: words.byteLength };
  };
  const constants = { HASH: hashNames.indexOf(name), RECORDS: true, REHASH: true };
  const kernel = await gpu.compile(dictionaryKernels.moveSlots, constants);
  const [slots, bytes, control] = [await upload(old), await upload(arena), await upload(new Uint32Array(8))];
  for (const keying of [UNKEYED, keyingOf(0x12345678)]) {
    const moved = new Uint32Array(2 * SLOTS).fill(0xffffffff);
    const table = await upload(moved);
    const params = { count: SLOTS, slotMask: SLOTS - 1, hashMask: 0xffffffff, ...keying };
    await gpu.submit(
      "move slots",
      (recorder) => recorder.dispatch(kernel, { control, table, slots, offsets: slots, bytes }, params, 1),
      [{ buffer: table.buffer, offset: 0, into: asBytes(moved) }],
    );
    const tags = numbers.map(
      (number) => moved[moved.findIndex((word, i) => i % 2 === 1 && word === number) - 1],
    );
    const { factor, summand, multiplier, offset } = keying;
    const expected = numbers.map((number, length) => {
      const [from, to] = [(number + 1) * 4, (number + 1) * 4 + length];
      const hash =
        name === "murmur3"
          ? murmur3Bytes(view, from, to, 0, factor, summand)
          : xxh32Of(view, from, to, 0, multiplier, offset);
      return tagOf(hash);
    });
    expect(tags).toEqual(expected);
  }
  engine.destroy();
});
