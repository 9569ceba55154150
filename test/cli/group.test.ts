import { existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { readTable } from "../../src/io/index.js";
import { texts, types } from "../io/contents.js";
import { temporaryFolder } from "../io/temporary.js";
import { cli } from "./run-cli.js";

const path = temporaryFolder();
const SALES = path("sales.csv");
writeFileSync(SALES, "shop,day,price\nb,1,2.5\na,1,1\nb,2,\nb,1,0.5\n,3,4\n");
const CPU = ["--device", "cpu"];
const flights = resolve(
  createRequire(import.meta.url).resolve("vega-datasets"),
  "../../data/flights-3m.parquet",
);

it("groups a file and prints the groups in the order of their first rows", async () => {
  const { status, stdout, stderr } = await cli([
    ...["group", SALES, "--by", "shop"],
    ...["--agg", "count,sum:price", "--agg", "days=countDistinct:day", ...CPU],
  ]);
  expect(status).toBe(0);
  const [head, type, , ...rows] = stdout.split("\n").map((line) => line.trim().replace(/ +/g, "|"));
  expect(head).toBe("shop|count|sum_price|days");
  expect(type).toBe("utf8|int64|float64|int64");
  expect(rows.slice(0, 2)).toEqual(["b|3|3|2", "a|1|1|1"]);
  expect(rows[2]).toMatch(/1\|4\|1$/);
  expect(stdout).toMatch(/\n3 rows × 4 columns\n$/);
  for (const stage of ["read", "encode keys", "group rows", "aggregate", "materialise", "total"]) {
    expect(stderr).toMatch(new RegExp(`^  ${stage} +\\d+\\.\\d{3} s`, "m"));
  }
});

it.each(["csv", "parquet", "arrow"])("writes groups to a %s file", async (format) => {
  const out = path(`groups.${format}`);
  const { status, stdout } = await cli([
    ...["group", SALES, "--type", "price=float64,day=int64", "--by", "shop,day"],
    ...["--agg", "count,mean:price,max:price,sum:day", "--out", out, ...CPU],
  ]);
  expect(status).toBe(0);
  expect(stdout).toBe(`wrote 4 rows × 6 columns to ${out}\n`);
  const table = await readTable(out);
  expect(texts(table)).toEqual({
    shop: ["b", "a", "b", null],
    day: ["1", "1", "2", "3"],
    count: ["2", "1", "1", "1"],
    mean_price: ["1.5", "1", null, "4"],
    max_price: ["2.5", "1", null, "4"],
    sum_day: ["2", "1", "2", "3"],
  });
  if (format !== "csv") expect(types(table).sum_day).toMatch(/decimal/i);
});

it("counts rows where no aggregate is named", async () => {
  const { stdout } = await cli(["group", SALES, "--by", "day", "--json", ...CPU]);
  expect(JSON.parse(stdout)).toMatchObject({ rows: 3, columns: ["day", "count"], device: "cpu" });
});

it("keeps the first of equal rows", async () => {
  const out = path("distinct.csv");
  const args = ["distinct", SALES, "--on", "shop,day", "--out", out, "--explain", ...CPU];
  const { status, stdout, stderr } = await cli(args);
  expect([status, stdout]).toEqual([0, `wrote 4 rows × 3 columns to ${out}\n`]);
  expect(stderr).toMatch(/^group rows: \w+, because /m);
  expect(texts(await readTable(out))).toEqual({
    shop: ["b", "a", "b", null],
    day: ["1", "1", "2", "3"],
    price: ["2.5", "1", null, "4"],
  });
});

it("knows spreads, medians and quantiles", async () => {
  const aggregates =
    "var:price,std:price,middle=median:price,quantile0.9:price,quantile1:price,most=max:price";
  const { status, stdout } = await cli([
    "group",
    SALES,
    "--by",
    "day",
    "--agg",
    aggregates,
    "--out",
    path("spreads.csv"),
    "--json",
    ...CPU,
  ]);
  expect([status, JSON.parse(stdout).columns]).toEqual([
    0,
    ["day", "var_price", "std_price", "middle", "quantile0.9_price", "quantile1_price", "most"],
  ]);
  for (const { middle, most, ...row } of (await readTable(path("spreads.csv"))).toArray()) {
    expect(row.quantile1_price).toBe(most);
    expect(Number(row["quantile0.9_price"])).toBeGreaterThanOrEqual(Number(middle)); // or both are null
  }
  const none = await cli(["group", SALES, "--by", "day", "--agg", "quantile0.9", ...CPU]);
  expect([none.status, none.stderr]).toEqual([
    2,
    expect.stringMatching(/"quantile0\.9" in --agg is no aggregate without a column\.\nhint: Write --agg/),
  ]);
  for (const asked of ["quantile", "quantile1.5", "quantile0.5.5", "median0.5"]) {
    const wrong = await cli(["group", SALES, "--by", "day", "--agg", `${asked}:price`, ...CPU]);
    const message = expect.stringContaining(`"${asked}:price" in --agg is no aggregate`);
    expect([wrong.status, wrong.stderr]).toEqual([2, message]);
  }
});

it("groups three million flights", async () => {
  const out = path("origins.csv");
  const args = ["group", flights, "--by", "origin", "--agg", "count,n=count:delay,sum:delay"];
  const { status, stderr } = await cli([...args, "--out", out, ...CPU]);
  expect([status, stderr.includes("3,000,000 rows")]).toEqual([0, true]);
  const groups = texts(await readTable(out));
  const total = (column: string) => groups[column].reduce((sum, text) => sum + Number(text), 0);
  expect(new Set(groups.origin).size).toBe(groups.origin.length);
  expect(groups.origin.length).toBeGreaterThan(200);
  expect(total("count")).toBe(3_000_000);
  expect(total("n")).toBeLessThanOrEqual(3_000_000);
});

it.each<[string, string[], number, RegExp, RegExp]>([
  [
    "an unknown key",
    ["group", SALES, "--by", "shp"],
    1,
    /sales\.csv has no column "shp"/,
    /Did you mean "shop"\?/,
  ],
  [
    "an unknown value",
    ["group", SALES, "--by", "shop", "--agg", "sum:prize"],
    1,
    /no column "prize"/,
    /"price"/,
  ],
  ["an unknown column", ["distinct", SALES, "--on", "dy"], 1, /no column "dy"/, /Did you mean "day"\?/],
  [
    "a sum of text",
    ["group", SALES, "--by", "day", "--agg", "sum:shop"],
    1,
    /no sum of column "shop"/,
    /integers/,
  ],
  [
    "an unknown aggregate",
    ["group", SALES, "--by", "day", "--agg", "men:price"],
    2,
    /"men:price" in --agg/,
    /"mean"/,
  ],
  [
    "an aggregate of nothing",
    ["group", SALES, "--by", "day", "--agg", "sum"],
    2,
    /no aggregate without a column/,
    /--agg count/,
  ],
  ["an empty aggregate", ["group", SALES, "--by", "day", "--agg", ""], 2, /"" in --agg/, /--agg count/],
  [
    "two results of one name",
    ["group", SALES, "--by", "day", "--agg", "count,count"],
    2,
    /two columns "count"/,
    /--agg count_2=count\./,
  ],
  [
    "a result named as a key",
    ["group", SALES, "--by", "day", "--agg", "day=sum:price"],
    2,
    /two columns "day"/,
    /day_2=sum:price\./,
  ],
  ["a key twice", ["group", SALES, "--by", "day,day"], 2, /--by day,day is not a list/, /--by origin/],
  ["no key", ["distinct", SALES, "--on", ""], 2, /--on {2}is not a list/, /--on origin/],
  ["a missing --by", ["group", SALES], 2, /'--by <columns>' not specified/, /group --help/],
  ["a missing --on", ["distinct", SALES], 2, /'--on <columns>' not specified/, /distinct --help/],
  [
    "a type of no column",
    ["distinct", SALES, "--on", "day", "--type", "x=utf8"],
    1,
    /the file does not have/,
    /csv/,
  ],
  [
    "an output that is the input",
    ["distinct", SALES, "--on", "day", "--out", SALES],
    2,
    /is the file to read/,
    /another/,
  ],
  ["a missing file", ["group", path("no.csv"), "--by", "day"], 1, /no\.csv: no such file/, /path/],
])("refuses %s", async (_, args, status, line, hint) => {
  const failed = await cli([...args, ...CPU]);
  const [problem, advice, ...more] = failed.stderr.trimEnd().split("\n");
  expect([failed.status, failed.stdout, more]).toEqual([status, "", []]);
  expect(problem).toMatch(line);
  expect(advice).toMatch(hint);
  expect(existsSync(SALES)).toBe(true);
});
