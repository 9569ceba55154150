// What of a join is asked for: select, where, count and batches, beside the whole join and DuckDB.
import * as flechette from "@uwdata/flechette";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JOIN_KINDS } from "../../../src/engine/join-kinds.js";
import { LimitError } from "../../../src/index.js";
import { type JoinOptions, join } from "../../../src/relational/index.js";
import { scaled, useDevice } from "../../conformance/helpers/device.js";
import { rounds } from "../../helpers/rounds.js";
import { kinds } from "../helpers/kinds.js";
import { expectSameJoin } from "../helpers/oracle.js";
import { arrowTable, testTable } from "../helpers/tables.js";

const device = useDevice();

const { tableFromArrays, tableFromColumns } = flechette;
const flights = tableFromArrays({
  origin: ["SFO", "JFK", "SFO", "XXX", null],
  delay: [12, 3, -4, 0, 7],
  name: ["f0", "f1", "f2", "f3", "f4"],
});
const airports = tableFromArrays({
  iata: ["SFO", "JFK", "OAK"],
  name: ["San", "New", "Oak"],
  most: [5, 9, 1],
});
const key: JoinOptions = { on: [["origin", "iata"]] };
const texts = (table: flechette.Table) => table.toArray().map((row) => JSON.stringify(row));

describe("select", () => {
  it("gives columns by their names in the result, in the order asked for", async () => {
    const select = ["name_right", "origin", "delay"];
    const made = await join(flights, airports, { ...key, select, device: device() });
    expect(made.names).toEqual(select);
    expect(texts(made).sort()).toEqual(
      [
        '{"name_right":"New","origin":"JFK","delay":3}',
        '{"name_right":"San","origin":"SFO","delay":-4}',
        '{"name_right":"San","origin":"SFO","delay":12}',
      ].sort(),
    );
    const right = await join(flights, airports, {
      ...key,
      how: "right",
      select: ["origin"],
      device: device(),
    });
    expect([...right.getChild("origin")].sort()).toEqual(["JFK", "OAK", "SFO", "SFO"]);
    const full = await join(flights, airports, {
      ...key,
      how: "full",
      select: ["most", "origin"],
      device: device(),
    });
    expect([full.names, full.numRows]).toEqual([["most", "origin"], 6]);
  });

  it("does not read columns that nobody asks for", async () => {
    const runs = flechette.columnFromArray(
      [1, 1, 1],
      flechette.runEndEncoded(flechette.int32(), flechette.int32()),
    );
    const right = tableFromColumns({ iata: flechette.columnFromArray(["SFO", "JFK", "OAK"]), runs });
    await expect(join(flights, right, { ...key, device: device() })).rejects.toThrow(
      /"runs" of the right table/,
    );
    const made = await join(flights, right, { ...key, select: ["delay"], device: device() });
    expect([...made.getChild("delay")].sort()).toEqual([-4, 12, 3]);
    expect((await join(flights, right, { ...key, how: "anti", device: device() })).numRows).toBe(2);
  });

  it.each<[string, object, RegExp]>([
    [
      "a name there is not",
      { select: ["nme_right"] },
      /select names a column "nme_right".*Did you mean "name_right"\?/,
    ],
    [
      "the right's columns of a semi join",
      { select: ["most"], how: "semi" },
      /columns would be: origin, delay, name\./,
    ],
    ["a right key", { select: ["iata"] }, /"iata" that the result would not have/],
    ["one name", { select: "origin" }, /select is "origin", not a list/],
    ["none", { select: [] }, /at least one column in select/],
    ["a name twice", { select: ["origin", "origin"] }, /"origin" twice/],
    ["a condition without columns", { where: { test: () => true } }, /at least one column in where\.columns/],
    ["a condition without a test", { where: { columns: ["delay"] } }, /where\.test is undefined/],
    ["a condition that is a function", { where: () => true }, /where is a function/],
    [
      "a condition on what there is not",
      { where: { columns: ["x"], test: () => true } },
      /where\.columns names/,
    ],
    ["a condition of more", { where: { columns: ["x"], tests: 1 } }, /Did you mean "test"\?/],
    ["an answer that is none", { where: { columns: ["delay"], test: () => 1 } }, /where\.test answered 1/],
  ])("refuses %s", async (_, options, message) => {
    const call = join(flights, airports, { ...key, ...options, device: device() } as never);
    await expect(call).rejects.toMatchObject({ code: "VALIDATION", message: expect.stringMatching(message) });
  });
});

describe("a join", () => {
  it("begins when it is asked, and runs once", async () => {
    let runs = 0;
    const onStage = (stage: string) => {
      if (stage === "hash join") runs++;
    };
    const asked = join(flights, airports, { ...key, device: device(), onStage });
    expect(runs).toBe(0);
    expect(Object.prototype.toString.call(asked)).toBe("[object JoinResult]");
    expect(await asked).toBe(await asked);
    let settled = 0;
    await asked.finally(() => settled++);
    expect([runs, settled]).toEqual([1, 1]);
    const wrong = join(flights, airports, { on: ["no"] });
    expect(await wrong.catch((error) => error.code)).toBe("VALIDATION");
    await expect(wrong.count()).rejects.toThrow(/no column "no"/);
    await expect(wrong.batches().next()).rejects.toThrow(/no column "no"/);
  });

  it("of many pairs is counted, and refused with its row count before a pair is written", async () => {
    const rows = 50_000;
    const same = tableFromArrays({ k: new Int32Array(rows), v: new Int32Array(rows) });
    const asked = join(same, same, { on: ["k"], device: device() });
    expect(await asked.count()).toBe(rows * rows);
    const error = await asked.catch((reason) => reason);
    expect(error).toBeInstanceOf(LimitError);
    expect(error).toMatchObject({ limit: "rows", need: rows * rows, have: 2 ** 31 - 1 });
  });
});

describe("batches", () => {
  it("take at most the bytes asked for, or one row", async () => {
    const words = Array.from({ length: 400 }, (_, i) => "x".repeat((i * 37) % 300));
    const left = tableFromArrays({ k: Int32Array.from(words, (_, i) => i % 20), word: words });
    const right = tableFromArrays({
      k: Int32Array.from({ length: 30 }, (_, i) => i % 15),
      n: new Float64Array(30),
    });
    const asked = join(left, right, { on: ["k"], select: ["n", "word"], device: device() });
    let rows = 0;
    const types = { word: flechette.utf8() };
    const plain = tableFromArrays({ k: Int32Array.from(left.getChild("k")), word: words }, { types });
    for await (const batch of join(plain, right, {
      on: ["k"],
      select: ["n", "word"],
      device: device(),
    }).batches({
      maxBytes: 1000,
    })) {
      const bytes = [...batch.getChild("word")].reduce((sum, word) => sum + word.length + 4 + 8, 0);
      expect(batch.numRows === 1 || bytes <= 1000).toBe(true);
      expect(batch.names).toEqual(["n", "word"]);
      rows += batch.numRows;
    }
    expect(rows).toBe(await asked.count());
    const options = { maxBytes: 0 };
    await expect(asked.batches(options).next()).rejects.toThrow(/maxBytes is 0/);
    await expect(asked.batches({ bytes: 1 } as never).next()).rejects.toThrow(
      /Did you mean "maxBytes"|no option/,
    );
  });

  it("heed the signal between them", async () => {
    const abort = new AbortController();
    const batches = join(flights, airports, { ...key, device: device(), signal: abort.signal }).batches({
      maxBytes: 1,
    });
    expect((await batches.next()).value).toMatchObject({ numRows: 1 });
    abort.abort(new Error("enough"));
    await expect(batches.next()).rejects.toThrow("enough");
  });
});

const aColumn = (rows: number, most: number) =>
  fc.array(fc.option(fc.nat(most), { freq: 9 }), { minLength: rows, maxLength: rows });

const aCase = fc
  .record({
    left: fc.nat(60),
    right: fc.nat(60),
    text: fc.boolean(),
    dictionary: fc.boolean(),
    how: fc.constantFrom(...JOIN_KINDS),
    nullsEqual: fc.boolean(),
    filtered: fc.boolean(),
    maxBytes: fc.constantFrom(1, 100, 600, 2 ** 20),
  })
  .chain((shape) =>
    fc.record({
      shape: fc.constant(shape),
      left: fc.tuple(aColumn(shape.left, 8), aColumn(shape.left, 9)),
      right: fc.tuple(aColumn(shape.right, 8), aColumn(shape.right, 9)),
    }),
  );

it("any join has the rows, the count and the batches that DuckDB's has, with a condition or without", async () => {
  await fc.assert(
    fc.asyncProperty(aCase, async ({ shape, left, right }) => {
      const { how, nullsEqual, filtered, text, dictionary, maxBytes } = shape;
      const kind = text ? kinds.utf8 : kinds.int32;
      const value = (x: number | null) => (x === null ? null : text ? `key ${"x".repeat(3 * x)}` : BigInt(x));
      const whole = (x: number | null) => (x === null ? null : BigInt(x));
      const table = ([keys, numbers]: (number | null)[][], name: string) =>
        testTable([
          { name: "k", kind, values: keys.map(value), dictionary: text && dictionary },
          { name, kind: kinds.int32, values: numbers.map(whole) },
        ]);
      const sides = { left: table(left, "a"), right: table(right, "b") };
      const where = filtered
        ? {
            columns: ["a", "b"],
            test: ({ a, b }: { a: number | null; b: number | null }) => a !== null && b !== null && a < b,
          }
        : undefined;
      const rows = await expectSameJoin(device(), {
        ...sides,
        on: [["k", "k"]],
        how,
        nullsEqual,
        where,
        sql: 'l."a" < r."b"',
      });
      const call = { on: ["k"], how, nullsEqual, where, device: device() };
      const asked = join(arrowTable(sides.left), arrowTable(sides.right), call);
      expect(await asked.count()).toBe(rows);
      const pieces: string[] = [];
      for await (const batch of asked.batches({ maxBytes })) pieces.push(...texts(batch));
      expect(pieces.sort()).toEqual(texts(await asked).sort());
      const names = (await asked).names.reverse();
      const selected = await join(arrowTable(sides.left), arrowTable(sides.right), {
        ...call,
        select: names.map(String),
      });
      expect([selected.names, selected.numRows]).toEqual([names, rows]);
    }),
    { numRuns: rounds(scaled(40, 8)) },
  );
});
