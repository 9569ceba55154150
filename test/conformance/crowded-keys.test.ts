/** Keys that were chosen for a device's seed, and for none: results and their order do not depend on the seed. */
import { expect, it } from "vitest";
import { StaticMap } from "../../src/index.js";
import { count, distinct, first as firstOf, groupBy, isIn, join } from "../../src/relational/index.js";
import { crowdedWords } from "../helpers/crowding.js";
import { openFreshDevice, openTestDevice, scaled } from "./helpers/device.js";

const SEED = 7;
const COUNT = scaled(3000, 1500);

/** Keys of 64 bits that all have one row hash, and some of them again. */
function keys64(seed: number | null): BigInt64Array {
  const words = crowdedWords(COUNT, 2, seed);
  const all = new BigInt64Array(words.buffer);
  return BigInt64Array.from([...all, ...all.subarray(0, COUNT / 2)]);
}

it("joins, groups, distinct rows and masks", async () => {
  const k = keys64(SEED);
  const i = Uint32Array.from(k, (_, row) => row);
  const composite = Int32Array.from(k, (_, i) => i % 3);
  const answers = [];
  for (const seed of [SEED, 0, 4_000_000_000]) {
    const device = await openFreshDevice({ seed });
    try {
      const grouped = await groupBy(
        { k, i },
        { by: ["k"], aggregate: { n: count(), i: firstOf("i") }, device },
      );
      const pairs = await groupBy(
        { k, composite },
        { by: ["k", "composite"], aggregate: { n: count() }, device },
      );
      const different = await distinct({ k, i }, { on: ["k"], device });
      const joined = await join(
        { k, l: Uint32Array.from(k.keys()) },
        { k: k.subarray(0, COUNT) },
        { on: ["k"], device },
      );
      answers.push({
        groups: [...grouped.getChild("i").toArray()],
        counts: [...grouped.getChild("n").toArray()].map(Number),
        pairs: [...pairs.getChild("n").toArray()].map(Number),
        distinct: [...different.getChild("i").toArray()],
        // the order of pairs is unspecified
        joined: [...joined.getChild("l").toArray()].map(Number).sort((a, b) => a - b),
        isIn: await isIn(k, k.subarray(0, 10), { device }),
      });
    } finally {
      device.destroy();
    }
  }
  expect(answers[0].groups).toEqual([...i.subarray(0, COUNT)]);
  expect(answers[0].distinct).toEqual(answers[0].groups);
  expect(answers[0].counts).toEqual(Array.from({ length: COUNT }, (_, i) => (i < COUNT / 2 ? 2 : 1)));
  expect(answers[0].joined).toHaveLength(k.length);
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
});

it("maps of strings, whose bytes hold no hashes", async () => {
  const words = crowdedWords(COUNT, 2, SEED);
  const keys = {
    offsets: Uint32Array.from({ length: COUNT + 1 }, (_, i) => 8 * i),
    bytes: new Uint8Array(words.buffer),
  };
  const values = Uint32Array.from({ length: COUNT }, (_, i) => i);
  const first = await openFreshDevice({ seed: SEED });
  const second = await openFreshDevice({ seed: 8 });
  try {
    const map = await StaticMap.create(first, { key: "utf8", value: "u32", capacity: COUNT });
    expect(await map.insert(keys, values)).toMatchObject({ inserted: COUNT });
    expect((await map.find(keys)).values).toEqual(values);
    const moved = await StaticMap.fromBytes(second, await map.toBytes());
    await map.rehash({ seed: "random" });
    for (const one of [map, moved]) expect((await one.find(keys as never)).values).toEqual(values);
  } finally {
    first.destroy();
    second.destroy();
  }
});

it("a seed is a whole number of 32 bits", async () => {
  for (const seed of [-1, 0.5, 2 ** 32, "random"])
    await expect(openTestDevice({ seed: seed as number })).rejects.toMatchObject({ code: "VALIDATION" });
});
