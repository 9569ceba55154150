/**
 * Keys of every pair of integer and decimal types, their widths, precisions and scales, beside BigInt arithmetic: in joins, isIn, indexes
 * probed from both sides, and joins within a limit of memory; groups, distinct rows and added batches of each type.
 */
import * as flechette from "@uwdata/flechette";
import { describe, expect, it } from "vitest";
import { murmur3 } from "../../../src/engine/hash.js";
import { ValidationError } from "../../../src/index.js";
import {
  count,
  distinct,
  GroupBy,
  groupBy,
  isIn,
  JoinIndex,
  join,
  sum,
} from "../../../src/relational/index.js";
import { joinLarge } from "../../../src/relational/join/join-large.js";
import { onSoftwareGpu, useDevice } from "../../conformance/helpers/device.js";
import { isLong } from "../../helpers/rounds.js";

const device = useDevice();

interface Kind {
  readonly name: string;
  readonly type: flechette.DataType;
  /** Stored values are those between, and stand for themselves × 10^-scale. */
  readonly least: bigint;
  readonly most: bigint;
  readonly scale: number;
}

function integer(bits: 8 | 16 | 32 | 64, signed: boolean): Kind {
  const all = 1n << BigInt(bits);
  const [least, most] = signed ? [-all / 2n, all / 2n - 1n] : [0n, all - 1n];
  return { name: `${signed ? "" : "u"}int${bits}`, type: flechette.int(bits, signed), least, most, scale: 0 };
}

function decimal(precision: number, scale: number, bits: 32 | 64 | 128 | 256): Kind {
  const most = 10n ** BigInt(precision) - 1n;
  const name = `decimal${bits}(${precision}, ${scale})`;
  return { name, type: flechette.decimal(precision, scale, bits), least: -most, most, scale };
}

const kinds: readonly Kind[] = [
  ...([8, 16, 32, 64] as const).flatMap((bits) => [integer(bits, true), integer(bits, false)]),
  decimal(9, 0, 32),
  decimal(9, 9, 32),
  decimal(18, 4, 64),
  decimal(38, 0, 128),
  decimal(38, 10, 128),
  decimal(20, 38, 128),
  decimal(76, 0, 256),
  decimal(60, 3, 256),
  decimal(70, 13, 256),
  decimal(10, 2, 256),
];

let seed = 0;
const random = (below: number) => murmur3(++seed) % below;
const scaled = (value: bigint, power: number) => value * 10n ** BigInt(power);
/** A number as all kinds have it: in units of 10^-38. */
const exact = ({ scale }: Kind, value: bigint) => scaled(value, 38 - scale);

/** Values of a kind: its ends, small ones, powers of ten and of two, and such as another kind has, too. */
function valuesOf(kind: Kind, other: Kind, rows: number): bigint[] {
  const own = ({ least, most }: Kind) => {
    const power = random(2) ? 10n ** BigInt(random(most.toString().length)) : 1n << BigInt(random(256));
    const near = [least, most, 0n, power, -power, most / 2n, BigInt(random(1000))][random(7)];
    return near + BigInt(random(3) - 1);
  };
  return Array.from({ length: rows }, () => {
    for (;;) {
      const from = random(3) === 0 ? kind : other;
      const unit = 10n ** BigInt(38 - kind.scale);
      const value = exact(from, own(from)) / unit;
      if (value >= kind.least && value <= kind.most) return value;
    }
  });
}

/** Those values that the other kind has, as it stores them. */
function shared(values: readonly bigint[], kind: Kind, other: Kind): bigint[] {
  const unit = 10n ** BigInt(38 - other.scale);
  const found = values.filter((value) => {
    const stored = exact(kind, value) / unit;
    return exact(kind, value) % unit === 0n && stored >= other.least && stored <= other.most;
  });
  return found.map((value) => exact(kind, value) / unit);
}

function columnOf({ type }: Kind, values: readonly bigint[]): flechette.Column<unknown> {
  const narrow = type.typeId === flechette.Type.Int && type.bitWidth < 64;
  const stored: unknown[] = narrow ? values.map(Number) : [...values];
  return flechette.columnFromArray(stored, type) as flechette.Column<unknown>;
}

/** Keys beside the numbers of their rows. */
function tableOf(kind: Kind, values: readonly bigint[], number: string, from = 0): flechette.Table {
  const rows = Int32Array.from(values, (_, i) => from + i);
  return flechette.tableFromColumns({ k: columnOf(kind, values), [number]: flechette.columnFromArray(rows) });
}

const pairsIn = (tables: readonly flechette.Table[]) =>
  tables
    .flatMap((table) => table.toArray() as { l: number; r: number }[])
    .map(({ l, r }) => `${l} ${r}`)
    .sort();

/** Whether words enough for the values of both on the finer scale are more than a key has. */
function isTooWide(a: Kind, b: Kind): boolean {
  const finer = Math.max(a.scale, b.scale);
  const bits = ({ most, scale }: Kind) => scaled(most, finer - scale).toString(2).length + 1;
  return Math.max(bits(a), bits(b)) > 256;
}

describe.each(kinds)("$name", (kind) => {
  // each pair once, either way round; a software GPU takes 20 ms for a join however small
  const after = kinds.slice(kinds.indexOf(kind));
  const others = onSoftwareGpu && !isLong() ? after.filter(() => random(8) === 0) : after;

  it.each(others)("beside $name", async (second) => {
    const [one, other] = random(2) ? [kind, second] : [second, kind];
    const left = valuesOf(one, other, 39);
    const right = [...valuesOf(other, one, 26), ...shared(left, one, other)].slice(0, 39);
    const [l, r] = [tableOf(one, left, "l"), tableOf(other, right, "r")];
    const options = { on: ["k"], select: ["l", "r"], device: device() } as const;
    if (isTooWide(one, other)) {
      await expect(join(l, r, options)).rejects.toThrow(ValidationError);
      return;
    }
    const numbers = right.map((value) => exact(other, value));
    const expected = left
      .map((value) => exact(one, value))
      .flatMap((a, i) => numbers.flatMap((b, j) => (a === b ? [`${i} ${j}`] : [])))
      .sort();
    expect(expected.length).toBeGreaterThan(0);
    expect(pairsIn([await join(l, r, options)])).toEqual(expected);

    const among = new Set(numbers);
    const mask = await isIn(columnOf(one, left), columnOf(other, right), { device: device() });
    expect([...mask]).toEqual(left.map((value) => Number(among.has(exact(one, value)))));

    const index = await JoinIndex.create(device(), r, { on: ["k"] });
    expect(pairsIn([await index.join(l, { select: ["l", "r"] })])).toEqual(expected);
    index.destroy();
    const reversed = await JoinIndex.create(device(), l, { on: ["k"] });
    expect(pairsIn([await reversed.join(r, { side: "right", select: ["l", "r"] })])).toEqual(expected);
    reversed.destroy();

    if (random(20) > 0 && !isLong()) return;
    const batches = (of: Kind, values: readonly bigint[], name: string) =>
      [0, 13, 26].map((from) => tableOf(of, values.slice(from, from + 13), name, from));
    const sides = { left: batches(one, left, "l"), right: batches(other, right, "r") };
    const spilled: flechette.Table[] = [];
    for await (const table of joinLarge(sides, options as never, { limit: 500 }, 1000)) spilled.push(table);
    expect(pairsIn(spilled)).toEqual(expected);
  });

  it("is grouped by value, at once and batch by batch", async () => {
    const values = [...valuesOf(kind, kind, 30), ...valuesOf(kind, kinds[1], 30)];
    const again = values.map((_, i) => values[(i * 7) % 20]);
    const options = { by: ["k"], aggregate: { rows: count(), rowNumbers: sum("n") }, device: device() };
    const all = [...values, ...again];
    const expected = new Map<bigint, [number, number]>();
    for (const [i, value] of all.entries()) {
      const [rows, numbers] = expected.get(value) ?? [0, 0];
      expected.set(value, [rows + 1, numbers + (i % values.length)]);
    }
    const state = [...expected.values()].map(([rows, numbers]) => `${rows} ${numbers}`);
    const statesOf = (table: flechette.Table) =>
      Array.from({ length: table.numRows }, (_, i) =>
        ["rows", "rowNumbers"].map((name) => table.getChild(name).at(i)).join(" "),
      );
    const tables = [tableOf(kind, values, "n"), tableOf(kind, again, "n")];
    const whole = flechette.tableFromColumns({
      k: columnOf(kind, all),
      n: flechette.columnFromArray(Int32Array.from(all, (_, i) => i % values.length)),
    });
    expect(statesOf(await groupBy(whole, options))).toEqual(state);
    const batches = new GroupBy(options);
    for (const table of tables) await batches.add(table);
    expect(statesOf(await batches.finish())).toEqual(state);
    const rows = await distinct(whole, { on: ["k"], device: device() });
    expect(rows.numRows).toBe(expected.size);
  });
});

it("a decimal with more digits than its type says is refused where they would be lost, and compared where not", async () => {
  const [wide, fine] = [decimal(60, 3, 256), decimal(18, 9, 64)];
  const r = tableOf(fine, [0n, 10n ** 6n], "r");
  const joined = async (left: bigint[]) =>
    pairsIn([await join(tableOf(wide, left, "l"), r, { on: ["k"], select: ["l", "r"], device: device() })]);
  expect(await joined([1n, -(10n ** 70n)])).toEqual(["0 1"]);
  // × 10^6 modulo 2^256: 0, and 10^6
  await expect(joined([1n << 250n])).rejects.toThrow(/decimal256\(60, 3\) has more digits than its type/);
  await expect(joined([(1n << 250n) + 1n])).rejects.toThrow(ValidationError);
  await expect(joined([-(1n << 255n)])).rejects.toThrow(ValidationError);
});
