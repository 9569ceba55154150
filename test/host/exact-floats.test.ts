import { describe, expect, it } from "vitest";
import { gridOf, guessedGrid, joined, rangeOf, roundedBig, roundedSum } from "../../src/host/exact-floats.js";
import { BLOCK_ROWS } from "../../src/host/lane-loops.js";
import { LaneSums, lanesOf } from "../../src/host/lanes.js";
import { exactSum } from "../helpers/exact-sum.js";

/** The sum by lanes, of values that are all of one group. */
function laneSum(
  values: readonly number[],
  Floats: typeof Float64Array | typeof Float32Array = Float64Array,
): number {
  const data = Floats.from(values);
  const grid = gridOf(rangeOf(data, 0, data.length), data instanceof Float32Array);
  const column = { kind: "floats", data, grid, validity: null } as const;
  const lanes = new LaneSums([column]);
  expect(lanes.stride).toBe(lanesOf(column));
  const sums = new Float64Array(lanes.stride);
  for (let from = 0; from < data.length; from += BLOCK_ROWS) {
    const count = Math.min(BLOCK_ROWS, data.length - from);
    lanes.add(sums, new Uint32Array(count), from, count);
  }
  lanes.carry(sums, 1);
  let at = 0;
  return roundedSum(
    grid.bands.map(({ exponent, limbs }) => {
      at += limbs + 1;
      return { exponent, limbs: sums.slice(at - limbs - 1, at) };
    }),
  );
}

/** The sum by the grid that is guessed; null where there is none, or where it is known not to hold all floats. */
function guessedSum(data: Float64Array | Float32Array): number | null {
  const grid = guessedGrid(data, null);
  if (grid === null) return null;
  const lanes = new LaneSums([{ kind: "floats", data, grid, validity: null }]);
  const sums = new Float64Array(lanes.stride);
  const ids = new Uint32Array(BLOCK_ROWS);
  for (let at = 0; at < data.length; at += BLOCK_ROWS)
    lanes.add(sums, ids, at, Math.min(BLOCK_ROWS, data.length - at));
  lanes.carry(sums, 1);
  return lanes.lost ? null : roundedSum([{ exponent: grid.bands[0].exponent, limbs: sums }]);
}

/** Numbers from a seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("rounding", () => {
  it("is to nearest even, once", () => {
    expect(roundedBig(2n ** 53n + 1n, 0)).toBe(2 ** 53);
    expect(roundedBig(2n ** 53n + 3n, 0)).toBe(2 ** 53 + 4);
    expect(roundedBig((2n ** 53n + 1n) * 2n ** 60n + 1n, -60)).toBe(2 ** 53 + 2);
    expect(roundedBig(3n, -1075)).toBe(2 * 2 ** -1074);
    expect(roundedBig(1n, -1075)).toBe(0);
    expect(roundedBig(2n ** 1100n, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(roundedBig(2n ** 1024n - 1n, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(roundedBig(-(2n ** 1024n - 2n ** 971n), 0)).toBe(-Number.MAX_VALUE);
  });
});

describe("sums by lanes", () => {
  const cases: Record<string, number[]> = {
    none: [0, -0],
    "what cancels out": [1e308, 1e308, -1e308],
    "small beside great": [1e16, 1, -1e16],
    "far apart": [1e300, 1e-300, -1e300],
    subnormals: [5e-324, 5e-324, 1e-310, -3e-320],
    "the greatest and the least": [Number.MAX_VALUE, 5e-324, -Number.MAX_VALUE],
    overflow: [Number.MAX_VALUE, Number.MAX_VALUE],
    "half a unit": [1, 2 ** -53],
    "half a unit and more": [1, 2 ** -53, 2 ** -105],
    "half a unit, odd": [1 + 2 ** -52, 2 ** -53],
    negative: [-0.1, -0.2, -0.3, 0.05],
  };
  for (const [name, values] of Object.entries(cases)) {
    it(`of ${name}`, () => expect(laneSum(values)).toBe(exactSum(values)));
  }

  it("of random floats of narrow and wide ranges", () => {
    const next = random(7);
    for (const spread of [0, 1, 20, 60, 200, 600, 1000]) {
      for (let round = 0; round < 20; round++) {
        const length = 1 + Math.floor(next() * 3000);
        const values = Array.from(
          { length },
          () => (next() - 0.5) * 2 ** Math.floor((next() - 0.5) * 2 * spread) + (next() < 0.1 ? -next() : 0),
        );
        expect(laneSum(values)).toBe(exactSum(values));
        const single = Array.from(
          Float32Array.from(values, (v) => (Number.isFinite(Math.fround(v)) ? v : 1)),
        );
        expect(laneSum(single, Float32Array)).toBe(exactSum(single));
      }
    }
  });

  it("by guessed grids are exact, or known not to be", () => {
    const next = random(11);
    let exact = 0;
    for (const spread of [0, 1, 10, 40, 200, 900]) {
      for (const shift of [0, -300, 40, 600]) {
        for (let round = 0; round < 8; round++) {
          const length = 1 + Math.floor(next() * 3000);
          const values = Array.from(
            { length },
            () => (next() - 0.5) * 2 ** (shift + Math.floor((next() - 0.5) * 2 * spread)),
          );
          for (const data of [Float64Array.from(values), Float32Array.from(values)]) {
            const sum = guessedSum(data);
            if (sum === null) continue;
            exact++;
            expect(sum).toBe(exactSum(Array.from(data)));
          }
        }
      }
    }
    expect(exact).toBeGreaterThan(200);
  });

  it("by guessed grids notice what the sample has not seen", () => {
    for (const base of [1, 2 ** 40, 2 ** 600]) {
      for (const other of [
        Number.NaN,
        Number.POSITIVE_INFINITY,
        1e308,
        base * 2 ** 30,
        base * 2 ** -150,
        5e-324,
      ]) {
        const data = new Float64Array(2 ** 12).fill(base);
        data[1] = other;
        expect(guessedSum(data)).toBe(null);
      }
      const data = new Float64Array(2 ** 12).fill(base);
      [data[1], data[2], data[3], data[5]] = [base * 8, base / 3, -0, base * (2 ** -20 + 2 ** -70)];
      expect(guessedSum(data)).toBe(exactSum(Array.from(data)));
    }
  });

  it("have grids of one band or two", () => {
    const range = rangeOf(Float64Array.of(1.5, -3e10, 0), 0, 3);
    expect(range).toEqual({ least: 1.5, greatest: 3e10, odd: false });
    expect(rangeOf(Float64Array.of(Number.NaN, 2, Number.NEGATIVE_INFINITY), 0, 3)).toEqual({
      least: 2,
      greatest: 2,
      odd: true,
    });
    expect(gridOf(range, false)).toEqual({ bands: [{ exponent: -61, limbs: 3 }], odd: false });
    const wide = gridOf(joined(range, rangeOf(Float64Array.of(1e-300, 1e300), 0, 2)), false);
    expect(wide.bands.length).toBe(2);
  });
});
