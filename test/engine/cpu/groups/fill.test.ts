/** Regions of a table that threads fill together: none writes where another does. */
import { expect, it } from "vitest";
import { openFill } from "../../../../src/engine/cpu/groups/fill.js";
import { hashKeys, mixedWord, type PackedKeys } from "../../../../src/engine/cpu/groups/row-keys.js";
import { ALL_BITS } from "../../../../src/engine/cpu/rows/row-run.js";
import { keyingOf } from "../../../../src/engine/hash-seed.js";

const SLOTS = 1024;
const REGIONS = 4;
const END = SLOTS / REGIONS;
const LATE = 2 ** 32 - 1;
const hashing = { ...keyingOf(7), mask: ALL_BITS };

function homeOf(exact: boolean, key: number): number {
  if (exact) return mixedWord((Math.imul(key, hashing.multiplier) + hashing.offset) | 0) % SLOTS;
  const keys = packed(false, [key]);
  hashKeys(keys, 0, 1);
  return keys.codes[0] % SLOTS;
}

function packed(exact: boolean, all: readonly number[]): PackedKeys {
  const words = Uint32Array.from(all);
  const codes = exact ? words : new Uint32Array(all.length);
  const form = { width: 1, stride: 1, bytes: [], skip: null, exact, hashing };
  return { rows: all.length, words, codes, ...form };
}

it.each([true, false])(
  "keys that go past a region's end are left, and so are those equal to them: exact %s",
  (exact) => {
    // the homes of these are the last two slots of a region
    const found: Record<number, number[]> = { 0: [], [REGIONS - 1]: [] };
    for (let key = 0; found[0].length < 5 || found[REGIONS - 1].length < 5; key++) {
      const home = homeOf(exact, key);
      if (home % END >= END - 2) found[Math.floor(home / END)]?.push(key);
    }
    for (const [region, some] of Object.entries(found)) {
      const all = [...some.slice(0, 5), ...some.slice(0, 5)];
      const keys = packed(exact, all);
      hashKeys(keys, 0, keys.rows);
      const slots = new Uint32Array(2 * SLOTS);
      const follows = new Uint32Array(keys.rows);
      const work = openFill({ kind: "fill", keys, slots, regions: REGIONS, follows });
      for (const _ of work.run(Number(region)));
      const end = 2 * END * (Number(region) + 1);
      expect(slots.subarray(0, end - 4).some(Boolean)).toBe(false);
      expect(slots.subarray(end).some(Boolean)).toBe(false);
      const late = follows.subarray(0, 5).filter((row) => row === LATE).length;
      // one of its two slots may be empty: where all homes are the last one
      expect(late).toBeGreaterThanOrEqual(3);
      expect(work.result().repeats).toBe(5 - late);
      for (let row = 0; row < 5; row++) expect(follows[row + 5]).toBe(follows[row] === LATE ? LATE : row + 1);
    }
  },
);
