/** Joins and groups of real files, read from csv, beside DuckDB: zip codes with airports, weather of two files by date. */
import { createRequire } from "node:module";
import { resolve } from "node:path";
import type { Table } from "@uwdata/flechette";
import { expect, it } from "vitest";
import { readTable } from "../../src/io/index.js";
import {
  count,
  countDistinct,
  distinct,
  groupBy,
  join,
  max,
  mean,
  median,
  min,
} from "../../src/relational/index.js";
import { useDevice } from "../conformance/helpers/device.js";
import { texts } from "../io/contents.js";
import { openDuck } from "../io/duckdb.js";

const device = useDevice();
const duck = await openDuck();
const data = resolve(createRequire(import.meta.url).resolve("vega-datasets"), "../../data");
const file = (name: string) => resolve(data, `${name}.csv`);
/** A file in DuckDB: every value as text, but for numbers. */
const inDuck = (name: string, numbers: readonly string[]) => {
  const casts = numbers.map((column) => `${column}::double as ${column}`).join(", ");
  return `(select * replace (${casts}) from read_csv('${file(name)}', all_varchar = true))`;
};

const ZIP_CODES = inDuck("zipcodes", ["latitude", "longitude"]);
const AIRPORTS = inDuck("airports", ["latitude", "longitude"]);
const MEASURED = ["precipitation", "temp_max", "temp_min", "wind"];
const WEATHER = inDuck("weather", MEASURED);
const SEATTLE = inDuck("seattle-weather", MEASURED);

/** Rows in one order, numbers to 12 digits: sums of floats are rounded otherwise. */
function rowsOf(rows: readonly (readonly (string | null)[])[], numbers: ReadonlySet<number>): string[] {
  const cell = (value: string | null, column: number) =>
    value !== null && numbers.has(column) ? Number(Number(value).toPrecision(12)) : value;
  return rows.map((row) => JSON.stringify(row.map(cell))).sort();
}

/** @param numbers names of columns that are numbers */
async function expectSame(made: Table, sql: string, numbers: readonly string[]): Promise<void> {
  const columns = texts(made);
  const names = made.names.map(String);
  const places = new Set(numbers.map((name) => names.indexOf(name)));
  const rows = Array.from({ length: made.numRows }, (_, row) => names.map((name) => columns[name][row]));
  const [mine, theirs] = [rowsOf(rows, places), rowsOf(await duck.rows(sql), places)];
  expect(mine.length).toBe(theirs.length);
  const differs = mine.findIndex((row, i) => row !== theirs[i]);
  if (differs >= 0) expect(mine[differs]).toBe(theirs[differs]); // all of them would take seconds
}

it("zip codes join the airports of their cities, also those that have none", async () => {
  const [zips, airports] = await Promise.all([readTable(file("zipcodes")), readTable(file("airports"))]);
  const options = { on: ["city", "state"], select: ["zip_code", "city", "state", "iata", "latitude_right"] };
  const columns = "z.zip_code, coalesce(z.city, a.city), coalesce(z.state, a.state), a.iata, a.latitude";
  for (const how of ["inner", "full"] as const) {
    const made = await join(zips, airports, { ...options, how, device: device() });
    expect(made.numRows).toBeGreaterThan(3000);
    const sql = `select ${columns} from ${ZIP_CODES} z ${how} join ${AIRPORTS} a on z.city = a.city and z.state = a.state`;
    await expectSame(made, sql, ["latitude_right"]);
  }
  for (const how of ["semi", "anti"] as const) {
    const made = await join(zips, airports, {
      on: ["city", "state"],
      select: ["zip_code"],
      how,
      device: device(),
    });
    const sql = `select z.zip_code from ${ZIP_CODES} z ${how} join ${AIRPORTS} a on z.city = a.city and z.state = a.state`;
    await expectSame(made, sql, []);
  }
});

it("zip codes by state, and the counties that they are in", async () => {
  const zips = await readTable(file("zipcodes"));
  const aggregate = {
    n: count(),
    counties: countDistinct("county"),
    north: max("latitude"),
    first: min("zip_code"),
    middle: median("longitude"),
  };
  const made = await groupBy(zips, { by: ["state"], aggregate, device: device() });
  const sql = `select state, count(*), count(distinct county), max(latitude), min(zip_code), median(longitude) from ${ZIP_CODES} group by state`;
  await expectSame(made, sql, ["n", "counties", "north", "middle"]);
  const counties = await distinct(zips, { on: ["state", "county"], device: device() });
  const [[different]] = await duck.rows(
    `select count(*) from (select distinct state, county from ${ZIP_CODES})`,
  );
  expect(counties.numRows).toBe(Number(different));
});

it("weather of two files by date, and its means by place and kind", async () => {
  const [weather, seattle] = await Promise.all([
    readTable(file("weather")),
    readTable(file("seattle-weather")),
  ]);
  const joined = await join(weather, seattle, {
    on: ["date"],
    where: {
      columns: ["temp_max", "temp_max_right"],
      test: ({ temp_max, temp_max_right }) => Number(temp_max) > Number(temp_max_right),
    },
    select: ["location", "date", "temp_max", "temp_max_right", "weather"],
    device: device(),
  });
  expect(joined.numRows).toBeGreaterThan(100);
  await expectSame(
    joined,
    `select w.location, w.date, w.temp_max, s.temp_max as other, w.weather from ${WEATHER} w join ${SEATTLE} s on w.date = s.date and w.temp_max > s.temp_max`,
    ["temp_max", "temp_max_right"],
  );
  const aggregate = { days: count(), rain: mean("precipitation"), wind: max("wind") };
  const made = await groupBy(weather, { by: ["location", "weather"], aggregate, device: device() });
  await expectSame(
    made,
    `select location, weather, count(*), avg(precipitation), max(wind) from ${WEATHER} group by location, weather`,
    ["days", "rain", "wind"],
  );
});
