// Joins whose keys lie close together, against a loop over a Map: where the range begins and ends, keys of either sign and of two words, gaps, nulls,
// build rows that are equal, rows without a partner; and keys that lie too far apart, which go another way.
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { Pacer } from "../../../../src/engine/gpu/pacer.js";
import { JOIN_KINDS, type JoinKind } from "../../../../src/engine/join-kinds.js";
import {
  denseSides as dense,
  from,
  INT32_MIN,
  joinAndCompare,
  type Key,
  mix,
  rowsOf,
  type Sides,
  UINT32_MAX,
} from "../../../helpers/dense-sides.js";
import { rounds } from "../../../helpers/rounds.js";
import { sharedGpu } from "../helpers/open-gpu.js";

const PLACES = "keys lie close together, and are the places of an array";

const open = () => sharedGpu({ tuning: { denseJoin: { leastRows: 0 } } });

/** Joins, compares, and answers whether keys were places. */
async function isByPlaces(sides: Sides, how: JoinKind): Promise<boolean> {
  return (await joinAndCompare(await open(), sides, how)).includes(PLACES);
}

describe("keys that lie close together", () => {
  it.each(Object.keys(dense))("%s", async (name) => {
    for (const how of JOIN_KINDS) expect(await isByPlaces(dense[name], how), how).toBe(true);
  });

  it("in chunks, each of which is waited for", async () => {
    const next = vi.spyOn(Pacer.prototype, "next").mockReturnValue(128);
    try {
      for (const name of Object.keys(dense).slice(0, 2)) {
        for (const how of JOIN_KINDS) expect(await isByPlaces(dense[name], how)).toBe(true);
      }
      expect(next).toHaveBeenCalled();
    } finally {
      next.mockRestore();
    }
  });

  it("as many rows as a sample is taken of", async () => {
    const rows = 40_000;
    const right = rowsOf(rows, (row) => BigInt(mix(row) % 2 ** 16) + (BigInt(row) << 17n));
    const dense = rowsOf(rows, (row) => BigInt((row * 7919) % rows) - 9000n);
    const left = rowsOf(rows, (row) => BigInt(row * 2));
    const some = dense.map((key, row) => (row % 9 === 0 ? null : key));
    for (const width of [1, 2] as const) {
      expect(await joinAndCompare(await open(), { left, right: some, width }, "inner")).toEqual([PLACES]);
      // one row that no sample has
      const outlier = dense.with(17, 2n ** 30n);
      expect(await isByPlaces({ left, right: outlier, width }, "semi")).toBe(false);
    }
    expect(await isByPlaces({ left, right, width: 2 }, "inner")).toBe(false);
  });

  it("any rows", async () => {
    const aCase = fc.record({
      builds: fc.integer({ min: 1, max: 800 }),
      probes: fc.integer({ min: 1, max: 1500 }),
      least: fc.constantFrom(0n, -400n, INT32_MIN, UINT32_MAX - 3n, 2n ** 31n - 300n),
      wide: fc.constantFrom(0n, 2n ** 40n, -(2n ** 63n), 2n ** 63n - 700n, null),
      // up to four times as many keys as there are build rows
      share: fc.constantFrom(0.01, 0.5, 1, 3.9),
      nulls: fc.constantFrom(0, 2, 30),
      nullsEqual: fc.boolean(),
      how: fc.constantFrom(...JOIN_KINDS),
      seed: fc.integer({ min: 0, max: 1000 }),
    });
    const property = fc.asyncProperty(
      aCase,
      async ({ builds, probes, least, wide, share, seed, ...rest }) => {
        const width = wide === null ? 1 : 2;
        const range = Math.max(1, Math.floor(share * builds));
        const keyOf = (row: number, keys: number): Key => {
          if (rest.nulls > 0 && mix(row + seed) % 100 < rest.nulls) return null;
          const key = (wide ?? least) + BigInt(mix(row * 3 + seed) % keys);
          return width === 2 ? BigInt.asIntN(64, key) : BigInt.asUintN(32, key);
        };
        const right = rowsOf(builds, (row) => keyOf(row, range));
        const left = rowsOf(Math.max(probes, builds), (row) => keyOf(row + 5000, 2 * range));
        expect(await isByPlaces({ left, right, width, nullsEqual: rest.nullsEqual }, rest.how)).toBe(true);
      },
    );
    await fc.assert(property, { numRuns: rounds(12), seed: 1 });
  });
});

describe("another way", () => {
  it.each<[string, Sides]>([
    ["keys that lie far apart", { left: from(0n, 40, 5), right: from(0n, 30, 5) }],
    ["one key far above", { left: from(0n, 40), right: [...from(0n, 30), 2n ** 31n] }],
    ["one key far below", { left: from(0n, 40), right: [...from(0n, 30), -(2n ** 31n)] }],
    [
      "keys of the same lower words",
      { left: from(0n, 40), right: [...from(0n, 30), 2n ** 32n + 3n], width: 2 as const },
    ],
    ["nothing to look up", { left: [], right: from(0n, 30) }],
    ["nothing but nulls far apart", { left: from(0n, 3), right: [1n, null, 100n], width: 2 as const }],
  ])("%s", async (_, sides) => {
    for (const how of ["inner", "full"] as const) expect(await isByPlaces(sides, how)).toBe(false);
  });
});
