// Joins of many shapes, row for row against DuckDB.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { scaled, useDevice } from "../../conformance/helpers/device.js";
import { isLong } from "../../helpers/rounds.js";
import type { Logical } from "../helpers/buffers.js";
import { kinds } from "../helpers/kinds.js";
import { expectSameJoin } from "../helpers/oracle.js";
import { Random } from "../helpers/random.js";
import { type TestColumn, testTable } from "../helpers/tables.js";

const device = useDevice();
/** Rows of sides a tenth of which has one key: its pairs are a hundredth of the square. */
const HOT_ROWS = isLong() ? 4000 : 1200;

function numbers(name: string, rows: number): TestColumn {
  return { name, kind: kinds.int32, values: Array.from({ length: rows }, (_, i) => BigInt(i)) };
}

function column(
  name: string,
  kind: string,
  rows: number,
  value: (row: number) => Logical | null,
): TestColumn {
  return { name, kind: kinds[kind], values: Array.from({ length: rows }, (_, row) => value(row)) };
}

/** Lines of one of the data files of vega-datasets, split at commas (none of them quotes one in the columns used). */
async function dataset(file: string): Promise<string[][]> {
  const path = fileURLToPath(new URL(`../../../node_modules/vega-datasets/data/${file}`, import.meta.url));
  return (await readFile(path, "utf8"))
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => line.split(","));
}

describe("flights and airports", () => {
  it("join on one string key", async () => {
    const [, ...airports] = await dataset("airports.csv");
    const flights = JSON.parse(
      await readFile(
        fileURLToPath(new URL("../../../node_modules/vega-datasets/data/flights-20k.json", import.meta.url)),
        "utf8",
      ),
    ) as { origin: string; destination: string; delay: number; distance: number }[];
    const rows = isLong() ? flights.length : scaled(5000, 3000);
    const left = testTable([
      column("origin", "utf8", rows, (row) => flights[row].origin),
      column("destination", "utf8", rows, (row) => flights[row].destination),
      column("delay", "int16", rows, (row) => BigInt(flights[row].delay)),
    ]);
    const right = testTable([
      column("iata", "utf8", airports.length, (row) => airports[row][0]),
      column("name", "large utf8", airports.length, (row) => airports[row][1]),
      column("latitude", "float64", airports.length, (row) => Number(airports[row].at(-2))),
    ]);
    expect(await expectSameJoin(device(), { left, right, on: [["origin", "iata"]] })).toBeGreaterThan(
      rows / 2,
    );
    expect(
      await expectSameJoin(device(), { left: right, right: left, on: [["iata", "destination"]] }),
    ).toBeGreaterThan(rows / 2);
    const on = [["iata", "destination"]] as const;
    const used = await expectSameJoin(device(), { left: right, right: left, on, how: "semi" });
    const unused = await expectSameJoin(device(), { left: right, right: left, on, how: "anti" });
    expect(used + unused).toBe(airports.length);
    expect(await expectSameJoin(device(), { left: right, right: left, on, how: "full" })).toBeGreaterThan(
      rows + unused - 1,
    );
  });
});

describe("several keys", () => {
  const random = new Random(1);
  const pick = <T>(values: readonly T[]): T => values[random.below(values.length)];
  const orNull = (value: Logical): Logical | null => (random.below(8) === 0 ? null : value);

  function mixed(rows: number, number: string) {
    return testTable([
      column("city", "utf8", rows, () =>
        orNull(pick(["", "Paris", "Köln", "a much longer name than the others, 東京都"])),
      ),
      column("day", "date32", rows, () => orNull(BigInt(random.below(6)))),
      column("grade", "int64", rows, () => orNull(BigInt(random.below(5)) << 40n)),
      column("rate", "float64", rows, () => orNull(pick([0, -0, 0.5, Number.NaN]))),
      numbers(number, rows),
    ]);
  }

  it.each([false, true])("two of mixed types with nulls, nulls equal %s", async (nullsEqual) => {
    const on = [
      ["city", "city"],
      ["day", "day"],
    ] as const;
    expect(
      await expectSameJoin(device(), { left: mixed(700, "a"), right: mixed(400, "b"), on, nullsEqual }),
    ).toBeGreaterThan(1000);
  });

  it.each([false, true])("three of mixed types with nulls, nulls equal %s", async (nullsEqual) => {
    const on = [
      ["day", "day"],
      ["rate", "rate"],
      ["grade", "grade"],
    ] as const;
    expect(
      await expectSameJoin(device(), { left: mixed(500, "a"), right: mixed(900, "b"), on, nullsEqual }),
    ).toBeGreaterThan(1000);
  });

  it.each([false, true])("the same column twice, nulls equal %s", async (nullsEqual) => {
    const on = [
      ["grade", "grade"],
      ["grade", "other"],
    ] as const;
    const right = testTable([
      ...mixed(300, "b").columns,
      column("other", "int64", 300, () => orNull(BigInt(random.below(5)) << 40n)),
    ]);
    await expectSameJoin(device(), { left: mixed(200, "a"), right, on, nullsEqual });
  });

  it("more than 32 columns", async () => {
    const wide = (rows: number, number: string) =>
      testTable([
        ...Array.from({ length: 40 }, (_, c) =>
          column(`c${c}`, "uint8", rows, (row) =>
            c % 9 === 0 && row % 4 === 0 ? null : BigInt((row % 20) + c),
          ),
        ),
        numbers(number, rows),
      ]);
    const on = Array.from({ length: 40 }, (_, c) => [`c${c}`, `c${c}`] as const);
    expect(
      await expectSameJoin(device(), { left: wide(100, "a"), right: wide(60, "b"), on, nullsEqual: true }),
    ).toBe(300);
    expect(await expectSameJoin(device(), { left: wide(100, "a"), right: wide(60, "b"), on })).toBe(225);
  });
});

describe("many rows per key", () => {
  it("one key with a tenth of both sides", async () => {
    const rows = HOT_ROWS;
    const random = new Random(2);
    const side = (number: string) =>
      testTable([
        column("k", "int32", rows, () => (random.below(10) === 0 ? -1n : BigInt(random.below(rows)))),
        numbers(number, rows),
      ]);
    expect(
      await expectSameJoin(device(), { left: side("a"), right: side("b"), on: [["k", "k"]] }),
    ).toBeGreaterThan((rows / 12) ** 2);
  });

  it("one string key with a tenth of both sides", async () => {
    const rows = HOT_ROWS;
    const random = new Random(3);
    const side = (number: string) =>
      testTable([
        column("k", "utf8", rows, () =>
          random.below(10) === 0 ? "the one that is everywhere, and long" : `key ${random.below(rows)}`,
        ),
        numbers(number, rows),
      ]);
    expect(
      await expectSameJoin(device(), { left: side("a"), right: side("b"), on: [["k", "k"]] }),
    ).toBeGreaterThan((rows / 12) ** 2);
  });

  it("all rows of both sides equal", async () => {
    const side = (rows: number, number: string) =>
      testTable([column("k", "utf8", rows, () => "x"), numbers(number, rows)]);
    expect(
      await expectSameJoin(device(), { left: side(300, "a"), right: side(200, "b"), on: [["k", "k"]] }),
    ).toBe(60_000);
  });
});

describe("few matches and none", () => {
  const side = (rows: number, number: string, shift = 0n, kind = "int64") =>
    testTable([column("k", kind, rows, (row) => BigInt(row) + shift), numbers(number, rows)]);

  it.each([
    [0, 0],
    [0, 50],
    [50, 0],
    [1, 1],
    [1, 1000],
    [1000, 1],
  ])("sides of %i and %i rows", async (leftRows, rightRows) => {
    for (const nullsEqual of [false, true]) {
      const rows = await expectSameJoin(device(), {
        left: side(leftRows, "a"),
        right: side(rightRows, "b"),
        on: [["k", "k"]],
        nullsEqual,
      });
      expect(rows).toBe(Math.min(leftRows, rightRows));
    }
  });

  it("no row matches", async () => {
    expect(
      await expectSameJoin(device(), {
        left: side(3000, "a"),
        right: side(2000, "b", 10_000n),
        on: [["k", "k"]],
      }),
    ).toBe(0);
  });

  it("every row matches once, in order and in another order", async () => {
    expect(
      await expectSameJoin(device(), { left: side(3000, "a"), right: side(3000, "b"), on: [["k", "k"]] }),
    ).toBe(3000);
    const shuffled = testTable([
      column("k", "int64", 3000, (row) => BigInt((row * 7) % 3000)),
      numbers("b", 3000),
    ]);
    expect(await expectSameJoin(device(), { left: side(3000, "a"), right: shuffled, on: [["k", "k"]] })).toBe(
      3000,
    );
  });

  it("keys far apart, and negative ones", async () => {
    const spread = (rows: number, number: string) =>
      testTable([
        column("k", "int32", rows, (row) => BigInt(Math.imul(row, 0x9e3779b1))),
        numbers(number, rows),
      ]);
    expect(
      await expectSameJoin(device(), { left: spread(3000, "a"), right: spread(2000, "b"), on: [["k", "k"]] }),
    ).toBe(2000);
    expect(
      await expectSameJoin(device(), {
        left: side(300, "a", -150n, "int32"),
        right: side(200, "b", -100n, "int32"),
        on: [["k", "k"]],
      }),
    ).toBe(200);
  });

  it("all keys null", async () => {
    const nulls = (rows: number, number: string) =>
      testTable([column("k", "utf8", rows, () => null), numbers(number, rows)]);
    expect(
      await expectSameJoin(device(), { left: nulls(30, "a"), right: nulls(20, "b"), on: [["k", "k"]] }),
    ).toBe(0);
    expect(
      await expectSameJoin(device(), {
        left: nulls(30, "a"),
        right: nulls(20, "b"),
        on: [["k", "k"]],
        nullsEqual: true,
      }),
    ).toBe(600);
  });
});

describe("strings of many lengths", () => {
  const alphabet = ["a", "z", "é", "ß", "日", "本", "🦆", "\u0000", " "];
  const random = new Random(4);
  const lengths = [
    0, 1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 16, 30, 31, 32, 33, 63, 64, 65, 100, 255, 1000, 4097, 10_000,
  ];
  /** Some strings of each length, in characters; a few differ in their last character only. */
  const pool = lengths.flatMap((length) => {
    const characters = Array.from({ length }, () => alphabet[random.below(alphabet.length)]);
    const text = characters.join("");
    return length === 0 ? [""] : [text, `${text.slice(0, -1)}x`, `${text.slice(0, -1)}y`];
  });

  it.each(["utf8", "large utf8", "utf8 view"])("of type %s", async (kind) => {
    const side = (rows: number, number: string, from: number) =>
      testTable([
        column("k", kind, rows, (row) => (row % 50 === 49 ? null : pool[(from + row * 9) % pool.length])),
        numbers(number, rows),
      ]);
    for (const nullsEqual of [false, true]) {
      const rows = await expectSameJoin(device(), {
        left: side(400, "a", 0),
        right: side(150, "b", 20),
        on: [["k", "k"]],
        nullsEqual,
      });
      expect(rows).toBeGreaterThan(500);
    }
  });

  it("short on the smaller side, of all lengths on the other", async () => {
    const short = pool.filter((text) => Buffer.byteLength(text) <= 11);
    const left = testTable([column("k", "utf8", 600, (row) => pool[row % pool.length]), numbers("a", 600)]);
    const right = testTable([column("k", "utf8", 40, (row) => short[row % short.length]), numbers("b", 40)]);
    expect(await expectSameJoin(device(), { left, right, on: [["k", "k"]] })).toBeGreaterThan(100);
  });
});
