// What operators take as a table besides Arrow tables: columns by name, lists of row objects; and what they refuse.
import * as flechette from "@uwdata/flechette";
import * as apache from "apache-arrow";
import { table as arqueroTable } from "arquero";
import { describe, expect, it } from "vitest";
import { readTable } from "../../src/arrow/columns.js";
import {
  count,
  distinct,
  dropDuplicates,
  groupBy,
  join,
  sum,
  valueCounts,
} from "../../src/relational/index.js";
import { useDevice } from "../conformance/helpers/device.js";

const device = useDevice();

const rows = [
  { origin: "SFO", delay: 12 },
  { origin: "JFK", delay: null },
  { delay: -4, origin: "SFO" },
  { origin: undefined, late: true },
];
const expected = [
  { origin: "SFO", rows: 2, delay: 8 },
  { origin: "JFK", rows: 1, delay: null },
  { origin: null, rows: 1, delay: null },
];

describe("tables", () => {
  it.each<[string, Parameters<typeof groupBy>[0]]>([
    ["row objects", rows],
    ["lists", { origin: ["SFO", "JFK", "SFO", null], delay: [12, null, -4, undefined] }],
    [
      "columns of both libraries",
      {
        origin: apache.vectorFromArray(["SFO", "JFK", "SFO", null], new apache.Utf8()),
        delay: flechette.columnFromArray([12, null, -4, null], flechette.int64()),
      },
    ],
    [
      "a record batch of apache-arrow",
      apache.tableFromArrays({ origin: ["SFO", "JFK", "SFO", null], delay: [12, null, -4, null] }).batches[0],
    ],
    [
      "a table of Arquero",
      arqueroTable({ origin: ["SFO", "JFK", "SFO", null], delay: [12, null, -4, null] }),
    ],
  ])("may be %s", async (_, table) => {
    const aggregate = { rows: count(), delay: sum("delay") };
    const made = await groupBy(table, { by: ["origin"], aggregate, device: device() });
    // apache-arrow infers floats, and sums of floats are floats
    const plain = made
      .toArray()
      .map((row) => ({ ...row, delay: row.delay === null ? null : Number(row.delay) }));
    expect(plain).toEqual(expected);
  });

  it("share the memory of typed arrays, wherever they begin", async () => {
    const whole = Float64Array.of(0, 1, 2, 3);
    const part = whole.subarray(1, 3);
    const [column] = readTable({ x: part }, "").columns;
    const chunk = column.contiguous() as { data: Uint8Array };
    expect([chunk.data.buffer, chunk.data.byteOffset]).toEqual([whole.buffer, 8]);
    const made = await join({ id: Uint32Array.of(1, 2) }, [{ id: 2, word: "two" }], {
      on: ["id"],
      device: device(),
    });
    expect(made.toArray()).toEqual([{ id: 2, word: "two" }]);
    const bytes = readTable({ x: Buffer.from([7, 8]) }, "").columns[0].contiguous() as { data: Uint8Array };
    expect([...bytes.data.subarray(0, 2)]).toEqual([7, 8]);
    expect((await distinct([{ a: 1 }, { a: 1 }], { device: device() })).numRows).toBe(1);
  });

  it.each<[string, unknown, RegExp]>([
    ["a number", 7, /The table is not a table/],
    ["a typed array", Int32Array.of(1), /The table is not a table/],
    ["a Map", new Map([["a", [1]]]), /The table is not a table/],
    ["a promise", Promise.resolve({ a: [1] }), /The table is a promise. Write await/],
    ["what makes no Arrow table", { toArrow: () => 7 }, /The table is not a table/],
    ["no columns", {}, /The table has no columns/],
    ["a row that is none", [{ a: 1 }, 2], /Row 1 of the table is 2/],
    ["a row that is a list", [[1]], /Row 0 of the table is an Array/],
    ["a first row that is an empty list", [[], { a: 1 }], /Row 0 of the table is an Array/],
    ["a column that is none", { a: 3 }, /Column "a" of the table is 3/],
    ["values of many types", { a: [1, "x"] }, /Column "a" of the table holds values of no one type/],
    ["integers beyond 64 bits", { a: [1n << 70n] }, /"a".*BigInt exceeds 64 bits/],
    [
      "a typed array that Arrow has not",
      { a: new Uint8ClampedArray(2) },
      /Column "a" of the table is a Uint8ClampedArray/,
    ],
    ["columns of different lengths", { a: [1, 2], b: [1] }, /Column "b" has 1 rows where the table has 2/],
  ])("are refused: %s", async (_, table, message) => {
    const call = distinct(table as never, { device: device() });
    await expect(call).rejects.toMatchObject({ code: "VALIDATION", message: expect.stringMatching(message) });
  });
});

describe("what an operator answers, not awaited", () => {
  const flights = { origin: ["SFO", "JFK", "SFO", "OAK"], delay: Int32Array.of(12, 3, -4, 9) };
  const airports = { iata: ["JFK", "SFO"], state: ["NY", "CA"] };
  const on = [["origin", "iata"]] as const;
  const asked = () => join(flights, airports, { on, device: device() });

  it("is grouped as its rows come, with only the columns that the groups need", async () => {
    const unread = flechette.columnFromArray(
      [1, 2],
      flechette.runEndEncoded(flechette.int32(), flechette.int32()),
    );
    const columns = Object.entries(airports).map(
      ([name, values]) => [name, flechette.columnFromArray(values)] as const,
    );
    const right = flechette.tableFromColumns({ ...Object.fromEntries(columns), unread });
    const options = { by: ["state"], aggregate: { n: count(), delay: sum("delay") }, device: device() };
    const expected = [
      { state: "CA", n: 2, delay: 8n },
      { state: "NY", n: 1, delay: 3n },
    ];
    const sorted = (made: flechette.Table) => made.toArray().toSorted((a, b) => (a.state < b.state ? -1 : 1));
    const pending = join(flights, right, { on, device: device() });
    expect(sorted(await groupBy(pending, options))).toEqual(expected);
    expect(sorted(await groupBy(asked(), options))).toEqual(expected);
    expect(sorted(await groupBy(asked(), { ...options, memory: { limit: 2 ** 24 } }))).toEqual(expected);
    await expect(groupBy(pending, { ...options, by: ["unread"] })).rejects.toThrow(
      /"unread" of the right table/,
    );
    await expect(groupBy(asked(), { ...options, by: ["nope"] })).rejects.toThrow(/a column "nope"/);
  });

  it("is a side of a join, and has distinct rows", async () => {
    const states = arqueroTable({ state: ["CA"], name: ["California"] });
    const joined = await join(asked(), states, { on: ["state"], device: device() });
    expect(joined.numRows).toBe(2);
    expect((await distinct(asked(), { on: ["state"], device: device() })).numRows).toBe(2);
    expect(
      (await distinct(groupBy(flights, { by: ["origin"], aggregate: {} }), { device: device() })).numRows,
    ).toBe(3);
    expect((await valueCounts(asked(), "state", { device: device() })).toArray()[0]).toEqual({
      state: "CA",
      count: 2,
    });
  });

  it("is refused where tables do not come in batches", async () => {
    const wrong = async () => dropDuplicates(asked() as never, { device: device() });
    await expect(wrong()).rejects.toThrow("The table is a promise. Write await before it.");
    async function* batches() {
      yield flights;
    }
    const batched = dropDuplicates(batches() as never, { device: device() });
    await expect(batched).rejects.toThrow(/The table comes in batches, which this call does not take/);
  });
});
