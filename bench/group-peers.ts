/**
 * Others that group rows, for the benchmark group on a CPU: DuckDB with as many threads and Arquero, where they are installed, each
 * from a table in its own memory to one there; and flights by route, with JavaScript's Map beside.
 */
import type { Column, Table } from "@uwdata/flechette";
import { firstRows } from "../src/arrow/first-rows.js";
import { type Device, EngineError } from "../src/index.js";
import { readTable } from "../src/io/index.js";
import { count, groupBy, sum } from "../src/relational/index.js";
import { type Duck, flightFiles, installed, loadInto } from "./flight-files.js";
import type { TimedCall } from "./timing.js";

/** What all count and add up. */
export interface Grouping {
  readonly by: readonly string[];
  /** The column that is added up, of integers. */
  readonly value: string;
}

/** What an answer is checked by. */
interface Totals {
  readonly groups: number;
  readonly rows: number;
  readonly sum: number;
}

/** Ways to group a table, each checked by what it is checked by. @throws EngineError for another answer */
export async function peersOf(
  table: Table,
  grouping: Grouping,
  duck: Duck | null,
): Promise<Record<string, TimedCall>> {
  const expected = await totalsOf(table, grouping);
  const check = (by: string, found: Totals) => {
    const isSame =
      found.groups === expected.groups && found.rows === expected.rows && found.sum === expected.sum;
    if (!isSame) {
      throw new EngineError(
        `group: ${by} found ${JSON.stringify(found)} in place of ${JSON.stringify(expected)}.`,
      );
    }
  };
  const ways: Record<string, TimedCall> = {};
  if (duck !== null) {
    await loadInto(duck, "grouped", table);
    const { by, value } = grouping;
    const sql = `SELECT ${by.join(", ")}, count(*) AS n, sum(${value}) AS total FROM grouped GROUP BY ${by.join(", ")}`;
    const [groups, rows, total] = (await duck.first(`SELECT count(*), sum(n), sum(total) FROM (${sql})`)).map(
      Number,
    );
    check("DuckDB", { groups, rows, sum: total });
    ways.DuckDB = { call: () => duck.run(sql) };
  }
  const arquero = await installed<typeof import("arquero")>("arquero");
  if (arquero !== null) {
    const { op } = arquero;
    const columns = Object.fromEntries(
      [...grouping.by, grouping.value].map((name) => [name, numbersOf(table, name)]),
    );
    const there = arquero.table(columns);
    const call = () => there.groupby(...grouping.by).rollup({ n: op.count(), total: op.sum(grouping.value) });
    const made = call();
    const added = (name: string) => (made.array(name) as number[]).reduce((a, b) => a + b, 0);
    check("Arquero", { groups: made.numRows(), rows: added("n"), sum: added("total") });
    ways.Arquero = { call };
  }
  return ways;
}

async function totalsOf(table: Table, { by, value }: Grouping): Promise<Totals> {
  const groups = new Set<string>();
  const keys = by.map((name) => numbersOf(table, name));
  for (let row = 0; row < table.numRows; row++) groups.add(keys.map((column) => column[row]).join(","));
  let total = 0;
  for (const number of numbersOf(table, value)) total += Number(number);
  return { groups: groups.size, rows: table.numRows, sum: total };
}

/** Values as JavaScript's own, 64-bit integers as numbers. */
function numbersOf(table: Table, name: string): ArrayLike<string | number> & Iterable<string | number> {
  const column = table.getChild(name) as Column<unknown>;
  const values = column.toArray() as unknown as ArrayLike<string | number | bigint>;
  return values instanceof BigInt64Array || typeof values[0] === "bigint"
    ? Float64Array.from(values as ArrayLike<bigint>, Number)
    : (values as ArrayLike<string | number> & Iterable<string | number>);
}

/** Flights, at most so many, and all ways to count them by route and add up their delays. */
export async function flightsByRoute(
  device: Device,
  duck: Duck | null,
  most: number,
): Promise<{ rows: number; groups: number; ways: Record<string, TimedCall> }> {
  const grouping = { by: ["origin", "destination"], value: "delay" };
  const columns = [...grouping.by, grouping.value];
  const flights = firstRows(await readTable(flightFiles().flights, { columns }), most);
  const aggregate = { n: count(), total: sum("delay") };
  const own = () => groupBy(flights, { by: grouping.by, aggregate, device });
  const byMap = mapByRoute(columns.map((name) => numbersOf(flights, name)));
  const expected = await totalsOf(flights, grouping);
  const made = await own();
  const added = (name: string) =>
    Number([...(made.getChild(name) as Iterable<bigint>)].reduce((a, b) => a + BigInt(b), 0n));
  const found = { groups: made.numRows, rows: added("n"), sum: added("total") };
  if (JSON.stringify(found) !== JSON.stringify(expected) || byMap().size !== expected.groups) {
    throw new EngineError(
      `group: flights: ${JSON.stringify(found)} in place of ${JSON.stringify(expected)}.`,
    );
  }
  const ways = {
    "Arrow to Arrow": { call: own },
    "JS Map": { call: byMap },
    ...(await peersOf(flights, grouping, duck)),
  };
  return { rows: flights.numRows, groups: expected.groups, ways };
}

/** Strings of both columns as one key. */
function mapByRoute([origins, destinations, delays]: readonly ArrayLike<string | number>[]) {
  return () => {
    const routes = new Map<string, { n: number; total: number }>();
    for (let row = 0; row < origins.length; row++) {
      const key = `${origins[row]},${destinations[row]}`;
      const route = routes.get(key);
      if (route === undefined) routes.set(key, { n: 1, total: Number(delays[row]) });
      else {
        route.n++;
        route.total += Number(delays[row]);
      }
    }
    return routes;
  };
}
