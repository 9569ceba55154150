/** Tables with a seed, and with a hash function of the user's own, by partitions and by pages. */
import { expect, it } from "vitest";
import { StaticMap } from "../../../../src/index.js";
import { expectNoneSet, expectSame } from "../../../conformance/helpers/checks.js";
import { absentKeys, counting, uniqueKeys } from "../../../conformance/helpers/keys.js";
import { planned } from "../../../conformance/helpers/plan.js";
import { PAGE_SLOTS, usePagedTables } from "../helpers/paged-tables.js";

const { device } = usePagedTables(2 ** 30);
const COUNT = 9 * PAGE_SLOTS;

it("hold and find what they are given", async () => {
  const own = {
    name: "reversed",
    js: (word: number) => Math.imul(word, 0x9e3779b1),
    wgsl: "fn reversed(word: u32) -> u32 { return word * 0x9e3779b1u; }",
  };
  using map = await StaticMap.create(device(), {
    key: "u32",
    value: "u32",
    capacity: COUNT,
    maxLoadFactor: 0.9,
    hash: own,
    seed: 0xfeedbeef,
  });
  const keys = uniqueKeys(COUNT);
  const inserting = await planned((onPlan) =>
    map.insert(keys, counting(COUNT), { strategy: "partitioned", onPlan }),
  );
  expect(inserting.answer).toEqual({ inserted: COUNT, existing: 0 });
  expect(inserting.plan).toMatchObject({ strategy: "partitioned" });
  expect(inserting.plan.pages).toBeGreaterThan(0);
  // the direct kernels find what the pages' have placed, and the other way around
  for (const strategy of ["direct", "partitioned"] as const) {
    expectSame((await map.find(keys, { strategy })).values, counting(COUNT));
    expectNoneSet(await map.contains(absentKeys(COUNT), { strategy }), COUNT);
  }
  expect((await map.stats()).live).toBe(COUNT);
});
