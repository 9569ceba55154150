/**
 * Joins, group-bys and their relatives of tables on the host and on the device, beside loops over the rows. test/relational compares with
 * DuckDB, which runs in Node only; this runs on every engine and host.
 */
import * as flechette from "@uwdata/flechette";
import { describe, expect, it } from "vitest";
import {
  type ArrowTable,
  approxCountDistinct,
  count,
  DeviceTable,
  distinct,
  dropDuplicates,
  first,
  GroupBy,
  groupBy,
  isIn,
  JoinIndex,
  type JoinKind,
  join,
  last,
  max,
  mean,
  median,
  sum,
  valueCounts,
} from "../../src/relational/index.js";
import { useDevice } from "./helpers/device.js";

const device = useDevice();

type Row = Readonly<Record<string, unknown>>;

const { int32, utf8 } = flechette;
const column = (values: readonly unknown[], type: flechette.DataType) =>
  flechette.columnFromArray([...values], type);
const random = (row: number, below: number) => (Math.imul(row + 1, 0x9e3779b1) >>> 7) % below;

/** Keys that repeat on both sides, some of one side alone, some null. */
const leftRows = Array.from({ length: 700 }, (_, row) => ({
  id: row % 17 === 3 ? null : random(row, 300),
  name: row % 5 === 0 ? null : `left ${row}`,
}));
const rightRows = Array.from({ length: 400 }, (_, row) => ({
  key: row % 13 === 3 ? null : random(row + 9, 300) + 100,
  city: `city ${"é".repeat(row % 3)}${row}`,
}));
const left = flechette.tableFromColumns({
  id: column(
    leftRows.map(({ id }) => id),
    int32(),
  ),
  name: column(
    leftRows.map(({ name }) => name),
    utf8(),
  ),
});
const right = flechette.tableFromColumns({
  key: column(
    rightRows.map(({ key }) => key),
    int32(),
  ),
  city: column(
    rightRows.map(({ city }) => city),
    utf8(),
  ),
});

/** The rows of a join by nested loops; right and full joins hold the key of whichever side has the row. */
function joined(how: JoinKind): Row[] {
  const matches = (l: (typeof leftRows)[0], r: (typeof rightRows)[0]) => l.id !== null && l.id === r.key;
  const alone = leftRows.filter((l) => !rightRows.some((r) => matches(l, r)));
  if (how === "anti") return alone;
  if (how === "semi") return leftRows.filter((l) => !alone.includes(l));
  const pairs: Row[] = leftRows.flatMap((l) =>
    rightRows.filter((r) => matches(l, r)).map(({ city }) => ({ ...l, city })),
  );
  if (how === "left" || how === "full") pairs.push(...alone.map((l) => ({ ...l, city: null })));
  if (how === "right" || how === "full") {
    const others = rightRows.filter((r) => !leftRows.some((l) => matches(l, r)));
    pairs.push(...others.map(({ key, city }) => ({ id: key, name: null, city })));
  }
  return pairs;
}

const texts = (rows: readonly Row[]) => rows.map((row) => JSON.stringify(row)).sort();

/** Runs a call with tables of the host, and with the same on the device, whose answer is to stay there. */
async function everyWay(
  tables: readonly ArrowTable[],
  call: (
    tables: readonly (ArrowTable | DeviceTable)[],
    output: "host" | "device",
  ) => PromiseLike<flechette.Table | DeviceTable>,
  expected: (rows: Row[]) => void,
): Promise<void> {
  expected(((await call(tables, "host")) as flechette.Table).toArray());
  const there = await Promise.all(tables.map((table) => device().uploadTable(table)));
  const made = (await call(there, "device")) as DeviceTable;
  expect(made).toBeInstanceOf(DeviceTable);
  expected((await made.toArrow()).toArray());
  for (const table of [made, ...there]) table.destroy();
}

describe("joins", () => {
  const on = [["id", "key"]] as const;
  for (const how of ["inner", "left", "right", "full", "semi", "anti"] as const) {
    it(`${how}, of tables on the host and on the device, and by an index of either side`, async () => {
      const expected = texts(joined(how));
      const isRight = (rows: Row[]) => expect(texts(rows)).toEqual(expected);
      await everyWay(
        [left, right],
        ([l, r], output) => join(l, r, { on, how, device: device(), output }),
        isRight,
      );
      await everyWay(
        [left, right],
        async ([l, r], output) => {
          using index = await JoinIndex.create(device(), r, { on: ["key"] });
          return await index.join(l, { on: ["id"], how, output });
        },
        isRight,
      );
      await everyWay(
        [left, right],
        async ([l, r], output) => {
          using index = await JoinIndex.create(device(), l, { on: ["id"] });
          return await index.join(r, { on: ["key"], how, side: "right", output });
        },
        isRight,
      );
    });
  }

  it("with a condition on pairs, counted, and batch by batch", async () => {
    const where = {
      columns: ["name", "city"],
      test: ({ name, city }: Row) => String(name ?? "").length !== String(city ?? "").length,
    };
    const isKept = (row: Row) => where.test(row);
    const options = { on, device: device() };
    for (const how of ["inner", "full"] as const) {
      const expected = texts(joined(how));
      expect(await join(left, right, { ...options, how }).count()).toBe(expected.length);
      const rows: Row[] = [];
      for await (const batch of join(left, right, { ...options, how }).batches({ maxBytes: 4000 })) {
        expect(batch.numRows).toBeLessThan(expected.length / 2);
        rows.push(...batch.toArray());
      }
      expect(texts(rows)).toEqual(expected);
    }
    const kept = joined("inner").filter(isKept);
    expect(texts((await join(left, right, { ...options, where })).toArray())).toEqual(texts(kept));
    expect(await join(left, right, { ...options, where }).count()).toBe(kept.length);
  });

  it("by strings that repeat on one side alone", async () => {
    const names = { name: ["left 1", "left 4", "nobody"], x: Int32Array.of(1, 2, 3) };
    const table = flechette.tableFromArrays(names);
    await everyWay(
      [left, table],
      ([l, r], output) => join(l, r, { on: ["name"], select: ["id", "x"], device: device(), output }),
      (rows) => expect(rows.map(({ x }) => x).sort()).toEqual([1, 2]),
    );
  });
});

describe("groups", () => {
  const groups = new Map<number | null, typeof leftRows>();
  for (const row of leftRows) groups.set(row.id, [...(groups.get(row.id) ?? []), row]);
  const values = leftRows.map((_, row) => (row % 11 === 0 ? null : random(row, 99) - 40));
  const halves = values.map((value) => (value === null ? null : value / 2));
  const table = flechette.tableFromColumns({
    ...Object.fromEntries(left.names.map((name) => [name, left.getChild(name)])),
    x: column(values, int32()),
    half: column(halves, flechette.float64()),
  });

  it("with aggregates of the device, and of the host beside them", async () => {
    const rowsOf = (id: number | null) => leftRows.flatMap((row, i) => (row.id === id ? [i] : []));
    const expected = Array.from(groups.keys(), (id) => {
      const rows = rowsOf(id);
      const xs = rows.flatMap((row) => values[row] ?? []).sort((a, b) => a - b);
      const total = xs.reduce((a, b) => a + b, 0);
      const some = <T>(value: T) => (xs.length === 0 ? null : value);
      return {
        id,
        n: rows.length,
        total: some(BigInt(total)),
        middle: some((xs[Math.floor((xs.length - 1) / 2)] + xs[Math.ceil((xs.length - 1) / 2)]) / 2),
        most: some(xs[xs.length - 1]),
        halves: some(total / 2),
        average: some(total / xs.length),
        different: new Set(xs).size,
        from: leftRows[rows[0]].name,
        to: leftRows[rows[rows.length - 1]].name,
      };
    });
    const aggregate = {
      n: count(),
      total: sum("x"),
      middle: median("x"),
      most: max("x"),
      halves: sum("half"),
      average: mean("x"),
      different: approxCountDistinct("x"),
      from: first("name"),
      to: last("name"),
    };
    await everyWay(
      [table],
      ([input], output) => groupBy(input, { by: ["id"], aggregate, device: device(), output }),
      (rows) => expect(rows).toEqual(expected),
    );
  });

  it("of batches, of an iterable of them, and of what several group-bys took", async () => {
    const rowsOf = Array.from({ length: table.numRows }, (_, row) => table.get(row) as Row);
    const cuts = [0, 100, 101, 450, table.numRows];
    const batches = cuts.slice(1).map((end, i) => {
      const part = rowsOf.slice(cuts[i], end);
      return flechette.tableFromColumns({
        id: column(
          part.map(({ id }) => id),
          int32(),
        ),
        x: column(
          part.map(({ x }) => x),
          int32(),
        ),
      });
    });
    const options = { by: ["id"], aggregate: { n: count(), total: sum("x") }, device: device() };
    const expected = (await groupBy(table, options)).toArray();
    expect((await groupBy(batches, options)).toArray()).toEqual(expected);
    const [some, others] = [new GroupBy(options), new GroupBy(options)];
    for (const batch of batches.slice(0, 2)) await some.add(batch);
    for (const batch of batches.slice(2)) await others.add(batch);
    await some.merge(others);
    expect((await some.finish()).toArray()).toEqual(expected);
  });

  it("are what distinct rows and counts of values come from", async () => {
    const kept = {
      first: [...groups.values()].map(([row]) => row),
      last: leftRows.filter((row) => groups.get(row.id)?.at(-1) === row),
      none: leftRows.filter((row) => groups.get(row.id)?.length === 1),
    };
    const on = ["id"];
    await everyWay(
      [left],
      ([input], output) => distinct(input, { on, device: device(), output }),
      (rows) => expect(rows).toEqual(kept.first),
    );
    for (const keep of ["last", "none"] as const) {
      await everyWay(
        [left],
        ([input], output) => dropDuplicates(input, { on, keep, device: device(), output }),
        (rows) => expect(rows).toEqual(kept[keep]),
      );
    }
    const counts = Array.from(groups, ([id, { length }]) => ({ id, count: length }));
    await everyWay(
      [left],
      ([input], output) => valueCounts(input, "id", { device: device(), output }),
      (rows) => expect(rows).toEqual(counts.sort((a, b) => b.count - a.count)),
    );
  });
});

it("isIn answers a mask, on the device too", async () => {
  const among = new Set(rightRows.flatMap(({ key }) => key ?? []));
  const expected = leftRows.map(({ id }) => Number(id !== null && among.has(id)));
  const [ids, keys] = [left.getChild("id"), right.getChild("key")];
  expect([...(await isIn(ids, keys, { device: device() }))]).toEqual(expected);
  using there = await device().uploadTable(left);
  const mask = await isIn(there.getChild("id"), keys, { output: "device" });
  expect([...(await mask.read())]).toEqual(expected);
  mask.destroy();
});
