// Sets of groups that threads leave to each other, beside a Map; where there is no room both stay as they were.
import { expect, it } from "vitest";
import { addGroups, leaveSet, type SummedSet } from "../../../../src/engine/cpu/groups/group-sets.js";
import { type GroupKeys, GroupTable, groupMemory } from "../../../../src/engine/cpu/groups/group-table.js";
import type { TableKeys } from "../../../../src/engine/cpu/groups/key-tables.js";
import { keyingOf } from "../../../../src/engine/hash-seed.js";
import { LaneSums } from "../../../../src/host/lanes.js";

const FORM: GroupKeys = { exact: true, hashed: false, stride: 1, width: 1, bytes: [], range: null };
const lanes = new LaneSums([
  { kind: "rows", validity: null },
  { kind: "extremes", data: Float64Array.of(0), ranks: null, sign: 1, validity: null },
]);

type Group = [row: number, count: number, greatest: number];

function newSet(room: number, keys: readonly number[], first: number): SummedSet {
  const table = new GroupTable(
    groupMemory(FORM, room, (length) => new Uint32Array(length)),
    FORM,
    { ...keyingOf(7), mask: 0xffffffff },
  );
  const sums = new Float64Array(room * lanes.stride);
  const codes = Uint32Array.from(keys);
  const ids = new Uint32Array(keys.length);
  const all = {
    codes,
    words: codes,
    codeStride: 1,
    stride: 1,
    base: 0,
    recorded: false,
    width: 1,
    bytes: [],
  };
  expect(table.find({ ...all, skip: null } as TableKeys, 0, keys.length, first, ids)).toBe(keys.length);
  for (const [i, id] of ids.entries()) {
    const at = id * lanes.stride;
    sums[at]++;
    if (sums[at + 2] !== 0 && sums[at + 1] >= keys[i]) continue;
    sums[at + 1] = keys[i];
    sums[at + 2] = first + i + 1;
  }
  return { table, sums };
}

function groupsOf({ table, sums }: SummedSet): Map<number, Group> {
  const groups = new Map<number, Group>();
  for (let group = 0; group < table.groups; group++) {
    const [count, greatest] = sums.subarray(group * lanes.stride);
    if (count > 0) groups.set(table.memory.codes[group], [table.memory.firsts[group], count, greatest]);
  }
  return groups;
}

function union(a: Map<number, Group>, b: Map<number, Group>): Map<number, Group> {
  const all = new Map(a);
  for (const [key, [row, count, greatest]] of b) {
    const known = all.get(key) ?? [row, 0, greatest];
    all.set(key, [Math.min(row, known[0]), count + known[1], Math.max(greatest, known[2])]);
  }
  return all;
}

const sorted = (groups: Map<number, Group>) => [...groups].sort(([a], [b]) => a - b);
const keysFrom = (least: number, count: number) =>
  Array.from({ length: count }, (_, i) => least + 3 * (i % 40));

it.each([1, 7, 64])("adds the groups of one set to another, %i at once", (block) => {
  for (const [a, b] of [
    [keysFrom(0, 100), keysFrom(60, 90)],
    [keysFrom(100_000, 90), keysFrom(0, 100)],
    [[], keysFrom(0, 9)],
    [keysFrom(0, 9), []],
  ]) {
    const [to, from] = [newSet(128, a, 500), newSet(128, b, 0)];
    const expected = union(groupsOf(to), groupsOf(from));
    expect(addGroups(to, from, lanes, new Uint32Array(block))).toBe(true);
    expect(sorted(groupsOf(to))).toEqual(sorted(expected));
  }
});

it.each([1, 7, 64])("adds no sums where there is no room for all groups, %i at once", (block) => {
  const [to, from] = [newSet(64, keysFrom(0, 40), 500), newSet(64, keysFrom(30, 40), 0)];
  const [before, there] = [groupsOf(to), groupsOf(from)];
  // nor where one is full
  const full = newSet(40, keysFrom(0, 40), 0);
  expect(addGroups(full, from, lanes, new Uint32Array(block))).toBe(false);
  const sumsOf = (set: SummedSet) => [...groupsOf(set)].map(([key, [, ...sums]]) => [key, ...sums]);
  expect(sumsOf(full)).toEqual(sumsOf(newSet(40, keysFrom(0, 40), 0)));
  const sums = sumsOf(to);
  expect(addGroups(to, newSet(64, keysFrom(3000, 40), 0), lanes, new Uint32Array(block))).toBe(false);
  expect(sumsOf(to)).toEqual(sums);
  // groups that it got without sums do no harm
  const all = newSet(256, [], 0);
  for (const set of [to, from]) expect(addGroups(all, set, lanes, new Uint32Array(block))).toBe(true);
  expect(sorted(groupsOf(all))).toEqual(sorted(union(before, there)));
});

it("a thread takes over what others have left, and leaves it to the next", () => {
  const left = new Int32Array(1);
  const log: string[] = [];
  const leave = (number: number, meanwhile = -1) =>
    leaveSet(
      left,
      number,
      (set) => log.push(`${number} takes ${set}`),
      () => {
        log.push(`${number} is stored`);
        if (meanwhile >= 0) left[0] = meanwhile + 1;
        meanwhile = -1;
      },
    );
  leave(0);
  leave(1);
  leave(2, 3);
  expect(log).toEqual([
    "0 is stored",
    "1 takes 0",
    "1 is stored",
    "2 takes 1",
    "2 is stored",
    "2 takes 3",
    "2 is stored",
  ]);
  expect(left[0]).toBe(3);
});
