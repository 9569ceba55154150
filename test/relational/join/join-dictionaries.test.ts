// Joins whose columns of a side come as dictionaries: the same rows as without, of every kind of column and of join.
import {
  type DictionaryType,
  type Table,
  Type,
  tableFromArrays,
  tableFromColumns,
  utf8,
} from "@uwdata/flechette";
import fc from "fast-check";
import { expect, it } from "vitest";
import { JOIN_KINDS } from "../../../src/engine/join-kinds.js";
import { tableToBytes } from "../../../src/io/index.js";
import { join } from "../../../src/relational/index.js";
import { rounds } from "../../helpers/rounds.js";
import { kinds } from "../helpers/kinds.js";
import { arrowTable, forms, type TestColumn, testTable } from "../helpers/tables.js";

const plain = (value: unknown) => (typeof value === "bigint" ? `${value}n` : value);
const textOf = (value: unknown) =>
  Object.is(value, -0)
    ? "-0"
    : Number.isNaN(value)
      ? "NaN"
      : JSON.stringify(value, (_, inner) => plain(inner));

function rowsOf(table: Table): string[] {
  const columns = table.names.map((_, i) => [...table.getChildAt(i)].map(textOf));
  return Array.from({ length: table.numRows }, (_, row) => columns.map((column) => column[row]).join(" | "));
}

const key = kinds.int16;
const payload = Object.values(kinds);

/** A table of every kind of column, whose keys are these. */
function everyKind(keys: readonly (number | null)[], nulls: boolean, form: (typeof forms)[number]) {
  const columns = payload.map((kind, k): TestColumn => {
    const values = keys.map((_, row) =>
      nulls && (row + k) % 4 === 0 ? null : kind.domain[(row + k) % kind.domain.length],
    );
    return { name: kind.name, kind, values, dictionary: k % 9 === 8 };
  });
  const own = { name: "k", kind: key, values: keys.map((each) => (each === null ? null : BigInt(each))) };
  return arrowTable(testTable([own, ...columns]), form) as Table;
}

const keysOf = (most: number) => fc.array(fc.option(fc.nat(6), { freq: 6 }), { maxLength: most });
const cases = fc.record({
  left: keysOf(25),
  right: keysOf(9),
  how: fc.constantFrom(...JOIN_KINDS),
  side: fc.constantFrom("left" as const, "right" as const),
  nulls: fc.boolean(),
  batched: fc.boolean(),
});

it("any join has the same rows with dictionaries as without, at once and in batches", async () => {
  const check = fc.asyncProperty(cases, async ({ left, right, how, side, nulls, batched }) => {
    const form = forms[batched ? 1 : 0];
    const sides = [everyKind(left, nulls, form), everyKind(right, nulls, form)] as const;
    const options = { on: ["k"], how };
    const expected = await join(...sides, options);
    const made = await join(...sides, { ...options, dictionaries: side });
    expect(made.names).toEqual(expected.names);
    expect(rowsOf(made)).toEqual(rowsOf(expected));
    const batches: string[] = [];
    for await (const batch of join(...sides, { ...options, dictionaries: side }).batches({
      maxBytes: 2000,
    })) {
      expect(batch.schema.fields.map(({ type }) => type.typeId)).toEqual(
        made.schema.fields.map(({ type }) => type.typeId),
      );
      batches.push(...rowsOf(batch));
    }
    expect(batches.sort()).toEqual(rowsOf(expected).sort());
  });
  await fc.assert(check, { numRuns: rounds(40), seed: 1 });
});

const flights = tableFromArrays({ origin: ["SFO", "JFK", "SFO", null, "XXX"], delay: [12, 3, -4, 1, 2] });
const airports = tableFromArrays({ iata: ["SFO", "JFK"], lat: [37.5, 40.25], open: [true, false] });
const on = { on: [["origin", "iata"]] } as const;

it("columns of the side are dictionaries that share their codes, and files are the same", async () => {
  const made = await join(flights, airports, { ...on, how: "left", dictionaries: "right" });
  const types = made.schema.fields.map(({ type }) => type.typeId);
  expect(types).toEqual([Type.Dictionary, Type.Int, Type.Dictionary, Type.Bool]);
  expect((made.schema.fields[2].type as DictionaryType).dictionary.typeId).toBe(Type.Float);
  const twice = tableFromColumns({
    iata: airports.getChild("iata"),
    a: airports.getChild("lat"),
    b: airports.getChild("lat"),
  });
  const shared = await join(flights, twice, { ...on, dictionaries: "right" });
  const [a, b] = ["a", "b"].map((name) => shared.getChild(name).data[0] as unknown as { values: Int32Array });
  expect(a.values.buffer).toBe(b.values.buffer);
  const expected = await join(flights, airports, { ...on, how: "left" });
  const csv = (table: Table) => tableToBytes(table, { format: "csv" });
  expect(await csv(made)).toEqual(await csv(expected));
});

it("a value that many rows of the side have is stored once in parquet files", async () => {
  const states = tableFromArrays(
    { iata: ["SFO", "JFK", "LAX"], state: ["CA", "NY", "CA"] },
    { types: { state: utf8() } },
  );
  const many = tableFromArrays({
    origin: Array.from({ length: 60 }, (_, row) => ["LAX", "SFO", "JFK"][row % 3]),
  });
  const made = await join(many, states, { ...on, dictionaries: "right" });
  const parquet = (table: Table) => tableToBytes(table, { format: "parquet" });
  const [own, expected] = await Promise.all([parquet(made), parquet(await join(many, states, on))]);
  expect(own).toEqual(expected);
});

it("keys of a long side that is held come from the rows of each batch", async () => {
  const rows = 2 ** 15;
  const keys = (count: number) => Array.from({ length: count }, (_, row) => `key ${row}`);
  const types = { k: utf8() };
  const held = tableFromArrays(
    { k: keys(rows + 1000), a: Int32Array.from({ length: rows + 1000 }, (_, i) => i) },
    { types },
  );
  const few = tableFromArrays(
    { k: keys(rows), b: Int32Array.from({ length: rows }, (_, i) => -i) },
    { types },
  );
  const batches = async function* () {
    yield few;
  };
  const made: Table[] = [];
  for await (const table of join(held, batches(), { on: ["k"], how: "left", dictionaries: "left" }).batches())
    made.push(table);
  const [pairs, alone] = made;
  const bytesOf = (table: Table) => (table.getChild("k").data[0] as unknown as { values: Uint8Array }).values;
  expect(bytesOf(pairs).buffer).toBe(bytesOf(few).buffer);
  expect([pairs.numRows, alone.numRows, made.length]).toEqual([rows, 1000, 2]);
  expect([...made.flatMap(rowsOf)].sort()).toEqual(
    rowsOf(await join(held, few, { on: ["k"], how: "left" })).sort(),
  );
});

it.each([{}, { memory: { limit: 2 ** 20 } }])("anything but a side is refused with %o", async (within) => {
  const call = join(flights, airports, { ...on, ...within, dictionaries: "both" as never });
  await expect(call).rejects.toMatchObject({
    code: "VALIDATION",
    message: expect.stringMatching(/dictionaries/),
  });
});

it("are values within a limit of memory", async () => {
  const made = join(flights, airports, { ...on, dictionaries: "right", memory: { limit: 2 ** 20 } });
  expect((await made).toArray()).toEqual((await join(flights, airports, on)).toArray());
});
