/** The arithmetic in hash.wgsl, the hash functions' fragments and probe.wgsl against the reference in TypeScript, bit by bit. */
import { describe, expect, it } from "vitest";
import { hashOfWord } from "../../../../src/engine/cpu/table/table-hash.js";
import { hashOfWords } from "../../../../src/engine/cpu/table/wide-hash.js";
import { canonicalF32 } from "../../../../src/engine/float-keys.js";
import { homeSlot } from "../../../../src/engine/hash.js";
import { hashNames } from "../../../../src/engine/hash-names.js";
import { hashWords } from "../../../../src/engine/hash-words.js";
import { constantLines } from "../../../../src/engine/webgpu/device/module-code.js";
import hash from "../../../../src/engine/webgpu/table/hash.wgsl";
import { hashCode } from "../../../../src/engine/webgpu/table/hash-code.js";
import hashWide from "../../../../src/engine/webgpu/table/hash-wide.wgsl";
import { probingCode } from "../../../../src/engine/webgpu/table/slot-code.js";
import xxhash64 from "../../../../src/engine/webgpu/table/xxhash64.wgsl";
import { expectSame } from "../../../conformance/helpers/checks.js";
import { useDevice } from "../../../conformance/helpers/device.js";
import { edgePatterns, oddFloats, uniqueKeys } from "../../../conformance/helpers/keys.js";
import { arrayEntries, bindGroup, computePipeline, dispatch, gpuOf } from "../helpers/compute.js";

const device = useDevice();
const patterns = Uint32Array.of(...uniqueKeys(100_000), ...edgePatterns, ...oddFloats);

/** What `expression` makes of every pair of elements a and b. */
async function evaluate(
  fragments: readonly string[],
  expression: string,
  a: Uint32Array,
  b: Uint32Array = a,
): Promise<Uint32Array> {
  const code = `${fragments.join("\n")}
    @group(0) @binding(0) var<storage, read> left: array<u32>;
    @group(0) @binding(1) var<storage, read> right: array<u32>;
    @group(0) @binding(2) var<storage, read_write> result: array<u32>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
      if (id.x >= arrayLength(&left)) { return; }
      let a = left[id.x];
      let b = right[id.x];
      result[id.x] = ${expression};
    }`;
  const gpu = gpuOf(device());
  const pipeline = await computePipeline(gpu, code);
  using left = await device().upload(a);
  using right = await device().upload(b);
  using result = await device().allocate("u32", a.length);
  const groups = [arrayEntries([left, right, result])];
  await dispatch(
    gpu,
    pipeline,
    groups.map((entries, i) => bindGroup(gpu, pipeline, i, entries)),
    Math.ceil(a.length / 64),
  );
  return result.read();
}

describe("hash.wgsl", () => {
  for (const name of hashNames) {
    for (const seed of [0, 0x89abcdef]) {
      const code = (keyWords: number) =>
        hashCode({ key: keyWords === 1 ? "u32" : "u64", value: null, slots: 1, hash: name, seed });
      const fragments = (KEY_WORDS: number) => [
        constantLines({ KEY_WORDS }),
        hash,
        `fn hashSeed() -> u32 { return ${seed}u; }`,
        code(KEY_WORDS),
      ];

      it(`${name} with the seed ${seed} is that of hash.ts`, async () => {
        const hashes = await evaluate(fragments(1), "hashKey(a) + b * 0u", patterns);
        expectSame(
          hashes,
          patterns.map((word) => hashOfWord({ hash: hashNames.indexOf(name), seed }, word)),
        );
      });

      it(`${name} with the seed ${seed} of keys of two words is that of hash-words.ts`, async () => {
        const others = uniqueKeys(patterns.length, 700_000);
        const hashes = await evaluate(fragments(2), "hashWords(array<u32, 2>(a, b))", patterns, others);
        const at = { hash: hashNames.indexOf(name), seed };
        expectSame(
          hashes,
          patterns.map((a, i) => hashOfWords(at, Uint32Array.of(a, others[i]), 0, 2)),
        );
      });
    }
  }

  for (const [name, text, call] of [
    ["murmur3", hashWide, "murmur3Words(KEY, 0u)"],
    ["xxhash32", hashWide, "xxhash32Words(KEY)"],
    ["xxhash64", xxhash64, "xxhash64(KEY)"],
  ] as const) {
    it(`${name} of keys of many words is that of hash-words.ts`, async () => {
      const others = uniqueKeys(patterns.length, 700_000);
      // five words go through the four lanes of xxhash32, eleven through those of xxhash64
      for (const words of ["a, b, b ^ a, a, b", "a, b, b ^ a, a, b, b, a, a ^ b, b, a, b"]) {
        const KEY_WORDS = words.split(",").length;
        const hashed = call.replace("KEY", `array<u32, KEY_WORDS>(${words})`);
        const hashes = await evaluate([constantLines({ KEY_WORDS }), hash, text], hashed, patterns, others);
        const key = (a: number, b: number) => Uint32Array.of(a, b, b ^ a, a, b, b, a, a ^ b, b, a, b);
        const short = (a: number, b: number) => Uint32Array.of(a, b, b ^ a, a, b);
        expectSame(
          hashes,
          patterns.map((a, i) =>
            hashWords(name, (KEY_WORDS === 5 ? short : key)(a, others[i]), 0, KEY_WORDS),
          ),
        );
      }
    });
  }

  it("home slots are those of hash.ts, for odd slot counts up to the largest", async () => {
    const counts = [
      1,
      3,
      7,
      255,
      257,
      65_535,
      65_537,
      1_000_003,
      2 ** 24 + 1,
      2 ** 31 - 1,
      2 ** 31 + 1,
      2 ** 32 - 3,
    ];
    const random = uniqueKeys(patterns.length, 300_000);
    // half of them random counts up to 2^31
    const slots = random.map((n, i) => (i % 2 === 0 ? counts[(i / 2) % counts.length] : (n >>> 1) | 1));
    const homes = await evaluate([hash], "multiplyHigh(a, b)", patterns, slots);
    expectSame(
      homes,
      patterns.map((h, i) => homeSlot(h, slots[i])),
    );
    for (let i = 0; i < patterns.length; i += 97) {
      expect(BigInt(homes[i])).toBe((BigInt(patterns[i]) * BigInt(slots[i])) >> 32n);
    }
  });
});

describe("probe.wgsl", () => {
  it("gives f32 keys the bit pattern that scalars.ts gives them", async () => {
    const specOf = (key: "f32" | "u32") => ({ key, value: null, slots: 1, hash: "murmur3" }) as const;
    const fragments = (key: "f32" | "u32") => [
      probingCode(specOf(key), hashCode(specOf(key))),
      "fn slotCount() -> u32 { return 1u; }",
    ];
    const canonical = "canonicalKey(a) + b * 0u";
    expectSame(await evaluate(fragments("f32"), canonical, patterns), patterns.map(canonicalF32));
    expectSame(await evaluate(fragments("u32"), canonical, patterns), patterns);
  });
});
