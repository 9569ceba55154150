/**
 * Joins and indexes on keys of 64 bits that lie close together, which the cpu engine looks up in an array: around every
 * power of two where words carry over, beside keys that differ in the upper word alone, repeated keys and nulls.
 */
import { columnFromArray, int64, type Table, tableFromColumns, uint64 } from "@uwdata/flechette";
import { afterAll, expect, it } from "vitest";
import { openDevice } from "../../../src/index.js";
import { JoinIndex, join } from "../../../src/relational/index.js";

const device = await openDevice({ backend: "cpu", threads: 1 });
afterAll(() => device.destroy());

const ROWS = 300;
const mix = (n: number) => Math.imul(n + 1, 0x9e3779b1) >>> 0;
type Key = bigint | null;

/** Keys from `start` on, in no order, each sixth a repeat and each tenth null. */
const keysFrom = (start: bigint, salt: number): Key[] =>
  Array.from({ length: ROWS }, (_, row) => {
    if (row % 10 === 3) return null;
    return start + BigInt(mix(row % 6 === 5 ? salt : row + salt) % (2 * ROWS));
  });

function tableOf(keys: readonly Key[], name: string, isSigned: boolean): Table {
  const rows = Int32Array.from(keys, (_, row) => row);
  return tableFromColumns({
    k: columnFromArray([...keys], isSigned ? int64() : uint64()),
    [name]: columnFromArray(rows),
  });
}

/** Pairs of row numbers, as text. */
function pairsOf(left: readonly Key[], right: readonly Key[]): string[] {
  return left
    .flatMap((key, l) => right.flatMap((other, r) => (key !== null && key === other ? [`${l} ${r}`] : [])))
    .sort();
}

const pairsIn = (table: Table) =>
  Array.from(table.getChild("l") as Iterable<number>, (l, i) => `${l} ${table.getChild("r")?.at(i)}`).sort();

const SIGNED = [
  -(2n ** 63n),
  -(2n ** 32n) - 40n,
  -50n,
  0n,
  2n ** 31n - 60n,
  2n ** 32n - 70n,
  2n ** 53n - 80n,
];
const UNSIGNED = [0n, 2n ** 32n - 90n, 2n ** 63n, 2n ** 64n - 700n];

it.each([
  ...SIGNED.map((start) => [start, true] as const),
  ...UNSIGNED.map((start) => [start, false] as const),
])("keys from %s on (signed: %s)", async (start, isSigned) => {
  const right = keysFrom(start, 7);
  // some are as far from the other side's as a word reaches
  const far = isSigned ? 2n ** 32n : start >= 2n ** 33n ? -(2n ** 32n) : 2n ** 32n;
  const left = keysFrom(start, 0).map((key, row) => (key !== null && row % 7 === 2 ? key + far : key));
  const expected = pairsOf(left, right);
  expect(expected.length).toBeGreaterThan(50);
  const [l, r] = [tableOf(left, "l", isSigned), tableOf(right, "r", isSigned)];
  let reason = "";
  const onPlan = (plan: { reason: string }) => (reason = plan.reason);
  expect(pairsIn(await join(l, r, { on: ["k"], device, onPlan }))).toEqual(expected);
  expect(reason).toBe("the build side's keys lie close together");

  await using index = await JoinIndex.create(device, r, { on: ["k"] });
  expect(pairsIn(await index.join(l, { on: ["k"] }))).toEqual(expected);
});

it("keys that lie far apart, and of which all are null, take another way", async () => {
  const left = keysFrom(5n, 0).map((key, row) => (row === 17 ? 2n ** 40n : key));
  const right = keysFrom(5n, 7).map((key, row) => (row === 11 ? 2n ** 40n : key));
  const joined = async (a: readonly Key[], b: readonly Key[], isSigned = true) =>
    pairsIn(await join(tableOf(a, "l", isSigned), tableOf(b, "r", isSigned), { on: ["k"], device }));
  expect(await joined(left, right)).toEqual(pairsOf(left, right));
  // unsigned keys on either side of 2^63 are far apart as signed ones
  const [a, b] = [keysFrom(2n ** 63n - 300n, 0), keysFrom(2n ** 63n - 300n, 7)];
  expect(await joined(a, b, false)).toEqual(pairsOf(a, b));
  expect(
    await joined(
      left,
      right.map(() => null),
    ),
  ).toEqual([]);
});
