/** The kernels hash keys as the reference code in TypeScript does: a key's slot is its home slot. */
import koffi from "koffi";
import { expect, it } from "vitest";
import { hashOfWord } from "../../../src/engine/cpu/table/table-hash.js";
import { hashOfWords } from "../../../src/engine/cpu/table/wide-hash.js";
import { drawn, homeSlot } from "../../../src/engine/hash.js";
import { hashNames, NO_SEED } from "../../../src/engine/hash-names.js";
import { hashOfTag, tagOf } from "../../../src/engine/tags.js";

const driver = koffi.load(process.env.WARPMAP_CUDA_DRIVER as string);
const cuModuleLoadData = driver.func("cuModuleLoadData", "int", ["_Out_ uint64_t *", "void *"]);
const cuModuleGetFunction = driver.func("cuModuleGetFunction", "int", [
  "_Out_ uint64_t *",
  "uint64_t",
  "const char *",
]);
const cuLaunchKernel = driver.func(
  "int cuLaunchKernel(uint64_t kernel, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint64_t, void **, void *)",
);

const SLOTS = 65521;
/** Ranges of insert_arguments (kernels/arguments.h). */
const RANGES = ["slots", "control", "keys", "values", "mask", "hashes", "list", "isNew", "rejected"];

/** The slot of the only key in a table, which a kernel has put there: on the stand-in, whose memory is the host's. */
function slotOf(name: number, words: Uint32Array, seed: number): number {
  const kind = words.length > 2 ? "wide" : `${words.length}_0`;
  const slotWords = words.length > 2 ? (words.length + 2) & ~1 : words.length;
  const slots = new Uint32Array(SLOTS * slotWords + 16).fill(0xffffffff);
  const memory = { slots, control: new Uint32Array(16), keys: words };
  const { multiplier, offset } = seed === NO_SEED ? { multiplier: 1, offset: 0 } : drawn(seed);
  const fields = new DataView(new ArrayBuffer(RANGES.length * 16 + 14 * 4));
  for (const [i, range] of RANGES.entries()) {
    const bytes = memory[range as keyof typeof memory];
    if (bytes) fields.setBigUint64(i * 16, koffi.address(bytes) as bigint, true);
  }
  const numbers = [SLOTS, name, multiplier, offset, words.length, 0, 0, 0, 1, 0, 0, 0, 0, 0];
  for (const [i, number] of numbers.entries())
    fields.setUint32(RANGES.length * 16 + i * 4, number >>> 0, true);
  const [module, kernel] = [[0], [0]];
  expect(cuModuleLoadData(module, new Uint8Array(8))).toBe(0);
  expect(cuModuleGetFunction(kernel, module[0], `insert_${kind}`)).toBe(0);
  const bytes = new Uint8Array(fields.buffer);
  expect(cuLaunchKernel(kernel[0], 1, 1, 1, 256, 1, 1, 0, 0, [bytes], null)).toBe(0);
  expect(memory.control[0]).toBe(1);
  return Math.floor(slots.findIndex((word) => word !== 0xffffffff) / slotWords);
}

/** The home slot by the reference code. */
function homeOf(name: number, words: Uint32Array, seed: number): number {
  const by = { hash: name, seed };
  if (words.length === 1) return homeSlot(hashOfWord(by, words[0]), SLOTS);
  const hash = hashOfWords(by, words, 0, words.length);
  return homeSlot(words.length > 2 ? hashOfTag(tagOf(hash)) : hash, SLOTS);
}

it.each(hashNames)("%s of keys of 1 to 8 words, with a seed and without", (name) => {
  for (let count = 1; count <= 8; count++) {
    for (const seed of [NO_SEED, 0x12345678]) {
      const words = Uint32Array.from({ length: count }, (_, i) => Math.imul(i + 1, 0x9e3779b1 + count));
      const which = hashNames.indexOf(name);
      expect(slotOf(which, words, seed), `${count} words, seed ${seed}`).toBe(homeOf(which, words, seed));
    }
  }
});
