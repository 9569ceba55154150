/** Sides of joins whose keys lie close together, and what a loop over a Map joins: for the tests of both engines. */
import { expect } from "vitest";
import { NO_ROW } from "../../src/engine/device-columns.js";
import type { Engine } from "../../src/engine/engine.js";
import type { JoinKind } from "../../src/engine/join-kinds.js";
import { PlanLog } from "../../src/engine/plan-log.js";

/** Null: no key. */
export type Key = bigint | null;
export interface Sides {
  readonly left: readonly Key[];
  readonly right: readonly Key[];
  /** Words of a key. */
  readonly width?: 1 | 2;
  readonly nullsEqual?: boolean;
}

export const rowsOf = <T>(rows: number, of: (row: number) => T) =>
  Array.from({ length: rows }, (_, row) => of(row));
export const mix = (n: number) => Math.imul(n + 1, 0x9e3779b1) >>> 0;

/** Keys as columns of the host. What lies under nulls is far away. */
function keysOf(keys: readonly Key[], width: number) {
  const words = keys.flatMap((key, row) => {
    const bits = BigInt.asUintN(64, key ?? BigInt(mix(row)) << 20n);
    return width === 2 ? [bits & 0xffffffffn, bits >> 32n] : [bits & 0xffffffffn];
  });
  const validity = new Uint8Array(Math.ceil(keys.length / 8));
  for (const [row, key] of keys.entries()) if (key !== null) validity[row >> 3] |= 1 << (row & 7);
  const isNullable = keys.includes(null);
  const column = { kind: "words" as const, width, data: Uint32Array.from(words, Number) };
  return { rows: keys.length, columns: [{ ...column, validity: isNullable ? validity : null }] };
}

/** The rows that a loop over a Map finds. */
function expected({ left, right, nullsEqual = false }: Sides, how: JoinKind): string[] {
  const rights = new Map<Key, number[]>();
  for (const [row, key] of right.entries()) rights.set(key, [...(rights.get(key) ?? []), row]);
  const matched = new Set<number>();
  const rows = left.flatMap((key, row) => {
    const partners = key === null && !nullsEqual ? [] : (rights.get(key) ?? []);
    for (const partner of partners) matched.add(partner);
    if (how === "semi" || how === "anti") return partners.length > 0 === (how === "semi") ? [`${row}`] : [];
    if (partners.length === 0) return how === "left" || how === "full" ? [`${row} ${NO_ROW}`] : [];
    return partners.map((partner) => `${row} ${partner}`);
  });
  if (how === "right" || how === "full") {
    for (const row of right.keys()) if (!matched.has(row)) rows.push(`${NO_ROW} ${row}`);
  }
  return rows.sort();
}

/** Joins, compares, and answers why the engine went which way. */
export async function joinAndCompare(engine: Engine, sides: Sides, how: JoinKind): Promise<string[]> {
  const { left, right, width = 1, nullsEqual = false } = sides;
  const log = new PlanLog();
  log.begin();
  const rows = await engine.rows();
  const found = await rows.match(keysOf(left, width), keysOf(right, width), how, { nullsEqual, log });
  const [a, b] = [await found.left.read(), await found.right?.read()];
  found.left.destroy();
  found.right?.destroy();
  expect(Array.from(a, (row, i) => (b ? `${row} ${b[i]}` : `${row}`)).sort()).toEqual(expected(sides, how));
  return log.finish().strategies.map(({ reason }) => reason);
}

export const from = (least: bigint, rows: number, step = 1) =>
  rowsOf(rows, (row) => least + BigInt(step * row));
const shuffled = (keys: readonly Key[]) => [...keys].sort((a, b) => mix(Number(a)) - mix(Number(b)));

export const INT32_MIN = -(2n ** 31n);
export const UINT32_MAX = 2n ** 32n - 1n;

/** Sides of which the right, or the shorter one, is the build side. */
export const denseSides: { readonly [name: string]: Sides } = {
  "no two rows of a side are equal, with gaps": {
    left: shuffled(from(10n, 700, 3)),
    right: shuffled(from(0n, 500, 2)),
  },
  "build rows repeat": {
    left: rowsOf(700, (row) => BigInt(row % 300)),
    right: rowsOf(500, (row) => BigInt(mix(row) % 400)),
  },
  "more rows than keys": { left: rowsOf(90, () => 7n), right: rowsOf(40, (row) => BigInt(row % 3) + 6n) },
  "from the least 32-bit integer on": { left: from(INT32_MIN, 60), right: shuffled(from(INT32_MIN, 50)) },
  "up to the greatest": { left: from(UINT32_MAX - 59n, 60), right: from(UINT32_MAX - 39n, 40) },
  "keys of either sign": { left: shuffled(from(-30n, 70)), right: shuffled(from(-20n, 40)) },
  "64 bits, around zero": { left: from(-30n, 70), right: shuffled(from(-20n, 40)), width: 2 },
  "64 bits, where the lower word overflows": {
    left: shuffled(from(2n ** 40n - 30n, 70)),
    right: shuffled(from(2n ** 40n - 20n, 40)),
    width: 2,
  },
  "64 bits, where others have the same lower words": {
    left: [...from(5n, 50), ...from(5n + 2n ** 32n, 50), ...from(5n - 2n ** 33n, 20)],
    right: from(0n, 60),
    width: 2,
  },
  "one key": { left: [3n, 4n, 4n, 5n], right: [4n] },
  "no key of the other side": { left: from(1000n, 40), right: from(0n, 30) },
  "nulls, the first rows among them": {
    left: rowsOf(120, (row) => (row % 5 < 2 ? null : BigInt(row + 3000))),
    right: rowsOf(90, (row) => (row % 4 === 0 ? null : BigInt(row + 3010))),
  },
  "nulls that are equal": {
    left: rowsOf(60, (row) => (row % 20 === 0 ? null : BigInt(row))),
    right: rowsOf(50, (row) => (row === 7 ? null : BigInt(row))),
    nullsEqual: true,
  },
  "several nulls that are equal": {
    left: rowsOf(60, (row) => (row % 20 === 0 ? null : BigInt(row))),
    right: rowsOf(50, (row) => (row % 9 === 0 ? null : BigInt(row))),
    nullsEqual: true,
    width: 2,
  },
};
