/**
 * Others that join, for the benchmark join: JavaScript's Map anywhere; on a CPU DuckDB with as many threads and Arquero, where they are
 * installed. Each starts from a table in its own memory and ends with one there: the key and both other columns of every pair.
 */
import type { Column, Table } from "@uwdata/flechette";
import { EngineError } from "../src/index.js";
import { type Duck, installed, loadInto } from "./flight-files.js";
import { checkRows, type Point, type Sides } from "./join-points.js";
import type { TimedCall } from "./timing.js";

/** A Map takes fewer than 2^24 keys. */
const MOST_MAP_ROWS = 2 ** 23;

/** Who joins, by name. */
export type Peers = Readonly<Record<string, TimedCall>>;

/** Ready to be timed, the answer of each checked, all rows of it. @throws EngineError for another answer */
export async function peersOf(
  point: Point,
  sides: Sides,
  others: boolean,
  duck: Duck | null,
): Promise<Peers> {
  const peers: Record<string, TimedCall> = {};
  if (point.rows <= MOST_MAP_ROWS) {
    const call = joinByMap(sides);
    const { a, b } = call();
    checkRows([[a, b]], point, sides.expected, "JS Map");
    peers["JS Map"] = { call };
  }
  if (duck !== null) peers.DuckDB = await joinByDuck(sides, duck);
  const arquero = others ? await installed<typeof import("arquero")>("arquero") : null;
  if (arquero !== null) {
    const [left, right] = [sides.left, sides.right].map((table) => arquero.table(valuesOf(table)));
    const call = () => left.join(right, "key").reify();
    const made = call();
    const [a, b] = ["a", "b"].map((name) => made.array(name) as ArrayLike<number>);
    checkRows([[a, b]], point, sides.expected, "Arquero");
    peers.Arquero = { call };
  }
  return peers;
}

type Keys = Uint32Array | BigInt64Array;

/** Values as JavaScript's own, by the names of their columns. */
function valuesOf(table: Table): Record<string, Keys> {
  const values = (name: string) => (table.getChild(name) as Column<unknown>).data[0].values as Keys;
  return Object.fromEntries(table.names.map((name) => [String(name), values(String(name))]));
}

/** Right rows of a key are a list: the Map has its last row, and each row the one before it. */
function joinByMap({ left, right }: Sides) {
  const [l, r] = [valuesOf(left), valuesOf(right)];
  const keys = l.key as ArrayLike<number | bigint>;
  const others = r.key as ArrayLike<number | bigint>;
  return () => {
    const last = new Map<number | bigint, number>();
    const before = new Int32Array(others.length);
    for (let row = 0; row < others.length; row++) {
      before[row] = last.get(others[row]) ?? -1;
      last.set(others[row], row);
    }
    const made = { key: [] as (number | bigint)[], a: [] as number[], b: [] as number[] };
    for (let row = 0; row < keys.length; row++) {
      for (let match = last.get(keys[row]) ?? -1; match >= 0; match = before[match]) {
        made.key.push(keys[row]);
        made.a.push(l.a[row] as number);
        made.b.push(r.b[match] as number);
      }
    }
    return made;
  };
}

/** @throws EngineError unless count and both sums are those of all rows that match */
async function joinByDuck({ left, right, expected }: Sides, duck: Duck): Promise<TimedCall> {
  await loadInto(duck, "l", left);
  await loadInto(duck, "r", right);
  const sql = "SELECT l.key, l.a, r.b FROM l JOIN r ON l.key = r.key";
  const [rows, pairs] = (
    await duck.first(`SELECT count(*), count(DISTINCT (a::HUGEINT << 32) + b) FROM (${sql})`)
  ).map(Number);
  if (rows !== expected || pairs !== expected)
    throw new EngineError(`join: DuckDB has ${rows} rows in place of ${expected}.`);
  return { call: () => duck.run(sql) };
}
