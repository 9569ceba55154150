// A table of rows that is larger than the caches, whose places are read ahead, beside a Map.
import { expect, it } from "vitest";
import { Slots, slotsFor, unsorted } from "../../../../src/engine/cpu/groups/key-tables.js";
import { hashKeys, type PackedKeys } from "../../../../src/engine/cpu/groups/row-keys.js";
import { RowTable } from "../../../../src/engine/cpu/groups/row-table.js";
import { keyingOf } from "../../../../src/engine/hash-seed.js";

const ROWS = 200_003;

function packed(keyAt: (row: number) => number, skips: (row: number) => boolean, mask: number): PackedKeys {
  const words = Uint32Array.from({ length: 2 * ROWS }, (_, i) => (i & 1) + keyAt(i >>> 1));
  const skip = Uint8Array.from({ length: ROWS }, (_, row) => Number(skips(row)));
  const hashing = { ...keyingOf(7), mask };
  const codes = new Uint32Array(ROWS);
  const made = { rows: ROWS, width: 2, stride: 2, words, bytes: [], skip, codes, exact: false, hashing };
  hashKeys(made, 0, ROWS);
  return made;
}

it.each([
  ["hashes of all bits", 0xffffffff],
  ["hashes that several keys have", 0xffff],
  ["hashes that more keys have than slots are gone through", 0xff],
])("finds the first row of each key, in pieces of any length: %s", (_, mask) => {
  const buildKey = (row: number) => (row % 3 === 0 ? row >>> 4 : row);
  const probeKey = (row: number) => Math.imul(row, 7919) % (2 * ROWS);
  const skips = (row: number) => row % 11 === 5;
  const [build, probe] = [packed(buildKey, skips, mask), packed(probeKey, skips, mask)];
  const leaders = new Map<number, number>();
  const follows = new Uint32Array(ROWS);
  const wantedFollows = new Uint32Array(ROWS);
  for (let row = 0; row < ROWS; row++) {
    if (skips(row)) continue;
    const leader = leaders.get(buildKey(row));
    if (leader === undefined) leaders.set(buildKey(row), row + 1);
    else wantedFollows[row] = leader;
  }
  const slots = new Slots(new Uint32Array(2 * slotsFor(ROWS)));
  const table = new RowTable(slots, unsorted(build));
  const matches = new Uint32Array(ROWS);
  let [repeats, hits] = [0, 0];
  for (let from = 0; from < ROWS; from += 1001)
    repeats += table.insert(unsorted(build), from, Math.min(ROWS, from + 1001), follows);
  for (let from = 0; from < ROWS; from += 999)
    hits += table.probe(unsorted(probe), from, Math.min(ROWS, from + 999), matches);
  const wanted = Uint32Array.from({ length: ROWS }, (_, row) =>
    skips(row) ? 0 : (leaders.get(probeKey(row)) ?? 0),
  );
  expect(follows.findIndex((leader, row) => leader !== wantedFollows[row])).toBe(-1);
  expect(matches.findIndex((leader, row) => leader !== wanted[row])).toBe(-1);
  expect(repeats).toBe(wantedFollows.filter((leader) => leader !== 0).length);
  expect(hits).toBe(wanted.filter((leader) => leader !== 0).length);
});
