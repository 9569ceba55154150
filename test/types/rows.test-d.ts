/** What the types of rows promise, checked by `npm run typecheck`. Nothing here runs. */
import type { Table, TypeMap } from "@uwdata/flechette";
import type { Table as ApacheTable } from "apache-arrow";
import {
  count,
  type DeviceTable,
  distinct,
  dropDuplicates,
  first,
  groupBy,
  type JoinKind,
  join,
  max,
  mean,
  sum,
} from "../../src/relational/index.js";

/** Takes a value of exactly this type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A>() => ({ as: <B>(_: B, __: Same<A, B>) => {} });

declare const typed: Table<{ id: number; city: string | null }>;
declare const plain: Table;
declare const apache: ApacheTable;
declare const there: DeviceTable;
declare const how: JoinKind;
declare const name: string;

const flights = {
  origin: ["SFO", "JFK", null],
  delay: Int16Array.of(12, 3, 5),
  at: [new Date(0), new Date(1), new Date(2)],
  number: BigInt64Array.of(1n, 2n, 3n),
};
const airports = [
  { iata: "SFO", city: "San Francisco", delay: true },
  { iata: "JFK", city: "New York", delay: null },
];

type Flight = { origin: string | null; delay: number; at: number; number: number };

export async function rows(): Promise<void> {
  const [distinctRow] = (await distinct(flights)).toArray();
  same<Flight>().as(distinctRow, true);
  same<Flight>().as((await dropDuplicates(flights, { on: ["origin"] })).toArray()[0], true);
  same<{ id: number; city: string | null }>().as((await distinct(typed)).toArray()[0], true);
  for (const table of [await distinct(plain), await distinct(apache), await distinct(there)])
    same<TypeMap>().as(table.toArray()[0], true);
  const onDevice: DeviceTable = await distinct(flights, { output: "device" });
  const some: Table = await distinct(flights);
  const later: Promise<Table> = distinct(flights);
  await distinct([plain, plain]).then((table) => [table, onDevice, some, later]);
  // @ts-expect-error: there is no such column
  distinctRow.destination;
  same<string | null>().as((await distinct(flights)).getChild("origin").at(0), true);
  (await distinct(flights)).getChild(name);
}

export async function joins(): Promise<void> {
  const on = [["origin", "iata"]] as const;
  const inner = (await join(flights, airports, { on })).toArray()[0];
  const all: Flight & { city: string; delay_right: boolean | null } = inner;
  const { origin, delay, delay_right, city } = inner;
  same<string | null>().as(origin, true);
  same<number>().as(delay, true);
  same<boolean | null>().as(delay_right, true);
  same<string>().as(city, true);
  same<number>().as(all.delay, true);
  const left = (await join(flights, airports, { on: [["origin", "iata"]], how: "left" })).toArray()[0];
  same<string | null>().as(left.city, true);
  same<number>().as(left.delay, true);
  const right = (await join(flights, airports, { on: [["origin", "iata"]], how: "right" })).toArray()[0];
  same<string>().as(right.origin, true);
  same<number | null>().as(right.delay, true);
  const semi = (await join(flights, airports, { on: [["origin", "iata"]], how: "semi" })).toArray()[0];
  same<Flight>().as(semi, true);
  const few = join(flights, airports, { on: [["origin", "iata"]], select: ["city", "delay"] });
  same<{ delay: number; city: string }>().as((await few).toArray()[0], true);
  for await (const batch of few.batches()) same<string>().as(batch.toArray()[0].city, true);
  // of what is not known
  same<TypeMap>().as((await join(flights, airports, { on, how })).toArray()[0], true);
  same<TypeMap>().as((await join(flights, airports, { on: [name] })).toArray()[0], true);
  same<TypeMap>().as((await join(flights, plain, { on: ["origin"] })).toArray()[0], true);
  same<TypeMap>().as((await join(flights, airports, { on, select: [name] })).toArray()[0], true);
  const where = { columns: ["delay"], test: ({ delay }: { delay: number }) => delay > 3 } as const;
  same<string>().as((await join(flights, airports, { on, where })).toArray()[0].city, true);
}

export async function groups(): Promise<void> {
  const aggregate = {
    n: count(),
    first: first("at"),
    mean: mean("delay"),
    most: max("origin"),
    all: sum("delay"),
  };
  const [row] = (await groupBy(flights, { by: ["origin"], aggregate })).toArray();
  same<string | null>().as(row.origin, true);
  same<number>().as(row.n, true);
  same<string | null>().as(row.most, true);
  same<number | bigint>().as(row.all, true);
  // of a join that is not awaited
  const joined = join(flights, airports, { on: [["origin", "iata"]] });
  const [city] = (await groupBy(joined, { by: ["city"], aggregate: { n: count() } })).toArray();
  same<{ city: string; n: number }>().as(city, true);
  same<TypeMap>().as((await groupBy(flights, { by: [name], aggregate })).toArray()[0], true);
  same<TypeMap>().as((await groupBy(plain, { by: ["a"], aggregate })).toArray()[0], true);
  // @ts-expect-error: there is no such column
  row.delay;
}
