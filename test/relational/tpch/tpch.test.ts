// TPC-H, row for row against DuckDB: eight queries in our operators, over tables of a seeded generator.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scaled, useDevice } from "../../conformance/helpers/device.js";
import { isLong } from "../../helpers/rounds.js";
import { dropTables, expectSameRows, loadTables, rowsIn } from "./duckdb.js";
import { generate, TABLE_NAMES, type Tables } from "./generate.js";
import { queries } from "./queries.js";

const device = useDevice();

const SCALE = isLong() ? scaled(1, 0.02) : 0.002;
let tables: Tables;

beforeAll(async () => {
  tables = generate(SCALE);
  await loadTables(tables);
});
afterAll(dropTables);

describe(`at scale ${SCALE}`, () => {
  it.each(queries)("query $title", async ({ sql, run }) => {
    expect(await expectSameRows(await run(tables, device()), sql)).toBeGreaterThan(0);
  });
});

/** Rows that break a rule of the specification (section 4.2.3). */
const violations: readonly (readonly [rule: string, from: string])[] = [
  ["orders have keys of their own", "(select o_orderkey from orders group by 1 having count(*) > 1)"],
  ["orders have a customer", "orders where o_custkey not in (select c_custkey from customer)"],
  ["a third of customers has no orders", "orders where o_custkey % 3 = 0"],
  ["lineitems have an order", "lineitem where l_orderkey not in (select o_orderkey from orders)"],
  [
    "orders have 1 to 7 lineitems, numbered from 1",
    `(select 1 from orders left join lineitem on l_orderkey = o_orderkey group by o_orderkey
      having count(l_linenumber) not between 1 and 7 or max(l_linenumber) <> count(distinct l_linenumber))`,
  ],
  [
    "parts have four suppliers",
    `(select 1 from part left join (partsupp join supplier on ps_suppkey = s_suppkey) on ps_partkey = p_partkey
      group by p_partkey having count(distinct ps_suppkey) <> 4 or count(*) <> 4)`,
  ],
  [
    "lineitems come from a supplier of the part",
    "lineitem anti join partsupp on l_partkey = ps_partkey and l_suppkey = ps_suppkey",
  ],
  ["orders are from 1992 to 1998", "orders where o_orderdate not between '1992-01-01' and '1998-08-02'"],
  [
    "lineitems are shipped, promised and received after the order",
    `lineitem join orders on l_orderkey = o_orderkey where l_shipdate - o_orderdate not between 1 and 121
      or l_commitdate - o_orderdate not between 30 and 90 or l_receiptdate - l_shipdate not between 1 and 30`,
  ],
  [
    "what is received by 1995-06-17 is returned or accepted",
    "lineitem where (l_receiptdate <= '1995-06-17') <> (l_returnflag in ('R', 'A'))",
  ],
  ["what is shipped later is open", "lineitem where (l_shipdate > '1995-06-17') <> (l_linestatus = 'O')"],
  [
    "prices follow from parts",
    "lineitem join part on l_partkey = p_partkey where l_extendedprice <> l_quantity * p_retailprice",
  ],
  [
    "quantities, discounts and taxes have ranges",
    `lineitem where l_quantity not between 1 and 50 or l_discount not between 0 and 0.10
      or l_tax not between 0 and 0.08`,
  ],
  [
    "orders cost what their lineitems cost",
    `(select 1 from orders join lineitem on l_orderkey = o_orderkey group by o_orderkey, o_totalprice
      having o_totalprice <> sum(round(l_extendedprice * (1 - l_discount) * (1 + l_tax), 2)))`,
  ],
  [
    "orders are open or finished as their lineitems are",
    `(select 1 from orders join lineitem on l_orderkey = o_orderkey group by o_orderkey, o_orderstatus
      having o_orderstatus <> case when min(l_linestatus) <> max(l_linestatus) then 'P' else min(l_linestatus) end)`,
  ],
];

describe("generated tables", () => {
  it.each(violations)("%s", async (_, from) => {
    expect(await rowsIn(from)).toBe(0);
  });

  it("have the specification's numbers of rows", async () => {
    const rows = await Promise.all(TABLE_NAMES.map(rowsIn));
    const per = [0, 0, 10_000, 150_000, 200_000, 800_000, 1_500_000].map((each) => each * SCALE);
    expect(rows.slice(0, 7)).toEqual([5, 25, ...per.slice(2)]);
    expect(rows[7] / per[6]).toBeCloseTo(4, 0);
  });

  it("depend on the seed alone", () => {
    const drawn = (seed: number) => generate(0.001, seed).lineitem.getChild("l_extendedprice").toArray();
    expect(drawn(1)).toEqual(drawn(1));
    expect(drawn(1)).not.toEqual(drawn(2));
  });
});
