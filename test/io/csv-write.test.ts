import { readFileSync } from "node:fs";
import { float64, int64, type Table, tableFromArrays, utf8 } from "@uwdata/flechette";
import fc from "fast-check";
import { expect, it } from "vitest";
import { readTable, writeTable } from "../../src/io/index.js";
import { rounds } from "../helpers/rounds.js";
import { texts, types } from "./contents.js";
import { temporaryFolder } from "./temporary.js";

const path = temporaryFolder();

async function written(table: Table): Promise<string> {
  await writeTable(path("out.csv"), table);
  return readFileSync(path("out.csv"), "utf8");
}

async function readBack(table: Table): Promise<Table> {
  await writeTable(path("out.csv"), table);
  return readTable(path("out.csv"));
}

it("writes a header, quotes where needed, nulls as empty fields", async () => {
  const table = tableFromArrays({
    id: [1, 2, null],
    'na"me, full': ["Ada\rLovelace", 'say "hi", you\nthere', ""],
    when: [new Date(0), null, new Date(1.5e12)],
  });
  expect(await written(table)).toBe(
    [
      'id,"na""me, full",when',
      '1,"Ada\rLovelace",1970-01-01T00:00:00',
      '2,"say ""hi"", you\nthere",',
      ',"",2017-07-14T02:40:00',
      "",
    ].join("\n"),
  );
});

it("writes a table without rows", async () => {
  expect(await written(tableFromArrays({ a: [], b: [] }, { types: { a: utf8(), b: float64() } }))).toBe(
    "a,b\n",
  );
});

it("strings and nulls read back as they were", async () => {
  const text = fc.option(fc.string({ unit: "grapheme", maxLength: 20 }), { nil: null });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(text, text), { maxLength: 20 }), async (rows) => {
      // The first row makes both columns string columns whatever comes after it.
      const table = tableFromArrays(
        { a: ["x", ...rows.map(([a]) => a)], b: ["x", ...rows.map(([, b]) => b)] },
        { types: { a: utf8(), b: utf8() } },
      );
      expect(texts(await readBack(table))).toEqual(texts(table));
    }),
    { numRuns: rounds(60) },
  );
});

it("a single column of strings and nulls reads back as it was", async () => {
  const values = ["x", null, "", "y", null];
  expect(texts(await readBack(tableFromArrays({ a: values })))).toEqual({ a: values });
});

it("numbers read back to the last bit", async () => {
  const double = fc.option(fc.double(), { nil: null });
  const long = fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { nil: null });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(double, long), { minLength: 1, maxLength: 20 }), async (rows) => {
      const table = tableFromArrays(
        { d: [0.5, ...rows.map(([d]) => d)], l: [2n ** 40n, ...rows.map(([, l]) => l)] },
        { types: { d: float64(), l: int64() }, useBigInt: true },
      );
      const back = await readBack(table);
      expect(types(back)).toEqual({ d: "float64", l: "int64" });
      expect([...back.children[0]]).toEqual([...table.children[0]]);
      expect([...back.children[1]]).toEqual([...table.children[1]]);
    }),
    { numRuns: rounds(60) },
  );
});
