/**
 * The eight tables of TPC-H, from a seed: row counts, keys and ranges of values are those of the specification (revision 3,
 * section 4.2), the random numbers are not those of its program dbgen. Comments are there where a query reads them, of customers and orders.
 */
import { type Column, type Table, tableFromColumns } from "@uwdata/flechette";
import { Random } from "../helpers/random.js";
import { dates, decimals, integers, namesOf, texts } from "./columns.js";
import { drawLines, drawOrders, priceOf, supplierOf } from "./draw-orders.js";
import * as words from "./words.js";

export const TABLE_NAMES = [
  "region",
  "nation",
  "supplier",
  "customer",
  "part",
  "partsupp",
  "orders",
  "lineitem",
] as const;

export type Tables = Readonly<Record<(typeof TABLE_NAMES)[number], Table>>;

/** Suppliers of one part. */
const SUPPLIERS_A_PART = 4;

/** @param scale 1 for 150,000 customers, 1,500,000 orders, some 6,000,000 lineitems; at least 0.001 */
export function generate(scale: number, seed = 1): Tables {
  const random = new Random(seed);
  const counts = {
    suppliers: Math.round(10_000 * scale),
    customers: Math.round(150_000 * scale),
    parts: Math.round(200_000 * scale),
    orders: Math.round(1_500_000 * scale),
    clerks: Math.ceil(1000 * scale),
  };
  return {
    region: tableOf({ r_regionkey: keys(words.regions.length, 0), r_name: texts([...words.regions]) }),
    nation: nation(),
    supplier: supplier(random, counts.suppliers),
    customer: customer(random, counts.customers),
    part: part(random, counts.parts),
    partsupp: partsupp(random, counts.parts, counts.suppliers),
    ...ordersAndLines(random, counts),
  };
}

function nation(): Table {
  return tableOf({
    n_nationkey: keys(words.nations.length, 0),
    n_name: texts(words.nations.map(([name]) => name)),
    n_regionkey: integers(Int32Array.from(words.nations, ([, region]) => region)),
  });
}

function supplier(random: Random, rows: number): Table {
  const nationKeys = draw(rows, () => random.below(words.nations.length));
  return tableOf({
    s_suppkey: keys(rows),
    s_name: numbered("Supplier#", rows),
    s_address: texts(Array.from({ length: rows }, () => address(random))),
    s_nationkey: integers(nationKeys),
    s_phone: texts(Array.from(nationKeys, (nationKey) => phone(random, nationKey))),
    s_acctbal: decimals(draw(rows, () => between(random, -99_999, 999_999))),
  });
}

function customer(random: Random, rows: number): Table {
  const nationKeys = draw(rows, () => random.below(words.nations.length));
  return tableOf({
    c_custkey: keys(rows),
    c_name: numbered("Customer#", rows),
    c_address: texts(Array.from({ length: rows }, () => address(random))),
    c_nationkey: integers(nationKeys),
    c_phone: texts(Array.from(nationKeys, (nationKey) => phone(random, nationKey))),
    c_acctbal: decimals(draw(rows, () => between(random, -99_999, 999_999))),
    c_mktsegment: anyOf(random, words.segments, rows),
    c_comment: texts(Array.from({ length: rows }, () => comment(random))),
  });
}

function part(random: Random, rows: number): Table {
  const brandCodes = Int16Array.from({ length: rows }, () => random.below(words.brands.length));
  return tableOf({
    p_partkey: keys(rows),
    p_name: texts(Array.from({ length: rows }, () => phrase(random, words.colours, 5))),
    p_mfgr: namesOf(
      words.manufacturers,
      brandCodes.map((code) => Math.floor(code / 5)),
    ),
    p_brand: namesOf(words.brands, brandCodes),
    p_type: anyOf(random, words.partTypes, rows),
    p_size: integers(draw(rows, () => between(random, 1, 50))),
    p_container: anyOf(random, words.containers, rows),
    p_retailprice: decimals(draw(rows, (row) => priceOf(row + 1))),
  });
}

function partsupp(random: Random, parts: number, suppliers: number): Table {
  const rows = SUPPLIERS_A_PART * parts;
  const partKey = (row: number) => 1 + Math.floor(row / SUPPLIERS_A_PART);
  return tableOf({
    ps_partkey: integers(draw(rows, partKey)),
    ps_suppkey: integers(draw(rows, (row) => supplierOf(partKey(row), row % SUPPLIERS_A_PART, suppliers))),
    ps_availqty: integers(draw(rows, () => between(random, 1, 9999))),
    ps_supplycost: decimals(draw(rows, () => between(random, 100, 100_000))),
  });
}

function ordersAndLines(
  random: Random,
  counts: Parameters<typeof drawOrders>[1] & Parameters<typeof drawLines>[2] & { readonly clerks: number },
): Pick<Tables, "orders" | "lineitem"> {
  const drawn = drawOrders(random, counts);
  const lines = drawLines(random, drawn, counts);
  const rows = counts.orders;
  const orders = tableOf({
    o_orderkey: integers(drawn.orderKey),
    o_custkey: integers(drawn.customerKey),
    o_orderstatus: namesOf(words.orderStatuses, lines.orderStatus),
    o_totalprice: decimals(lines.totalPrice),
    o_orderdate: dates(drawn.orderDate),
    o_orderpriority: anyOf(random, words.priorities, rows),
    o_clerk: texts(Array.from({ length: rows }, () => nameOf("Clerk#", between(random, 1, counts.clerks)))),
    o_shippriority: integers(new Int32Array(rows)),
    o_comment: texts(Array.from({ length: rows }, () => comment(random))),
  });
  const lineitem = tableOf({
    l_orderkey: integers(lines.orderKey),
    l_partkey: integers(lines.partKey),
    l_suppkey: integers(lines.supplierKey),
    l_linenumber: integers(lines.lineNumber),
    l_quantity: decimals(lines.quantity),
    l_extendedprice: decimals(lines.extendedPrice),
    l_discount: decimals(lines.discount),
    l_tax: decimals(lines.tax),
    l_returnflag: namesOf(words.returnFlags, lines.returnFlag),
    l_linestatus: namesOf(words.lineStatuses, lines.lineStatus),
    l_shipdate: dates(lines.shipDate),
    l_commitdate: dates(lines.commitDate),
    l_receiptdate: dates(lines.receiptDate),
    l_shipinstruct: anyOf(random, words.instructions, lines.rows),
    l_shipmode: anyOf(random, words.shipModes, lines.rows),
  });
  return { orders, lineitem };
}

function tableOf(columns: Readonly<Record<string, Column<unknown>>>): Table {
  return tableFromColumns(columns);
}

/** 1, 2, 3, … */
function keys(rows: number, first = 1): Column<number> {
  return integers(draw(rows, (row) => first + row));
}

function draw(rows: number, value: (row: number) => number): Int32Array {
  const values = new Int32Array(rows);
  for (let row = 0; row < rows; row++) values[row] = value(row);
  return values;
}

function anyOf(random: Random, names: readonly string[], rows: number): Column<string> {
  return namesOf(
    names,
    new Int16Array(rows).map(() => random.below(names.length)),
  );
}

/** A whole number of a range, both ends included. */
function between(random: Random, least: number, most: number): number {
  return least + random.below(most - least + 1);
}

function numbered(start: string, rows: number): Column<string> {
  return texts(Array.from({ length: rows }, (_, row) => nameOf(start, row + 1)));
}

function nameOf(start: string, key: number): string {
  return start + String(key).padStart(9, "0");
}

const ADDRESS_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789, ";

function address(random: Random): string {
  const characters = Array.from(
    { length: between(random, 10, 40) },
    () => ADDRESS_CHARACTERS[random.below(ADDRESS_CHARACTERS.length)],
  );
  return characters.join("");
}

/** The country code says which nation. */
function phone(random: Random, nationKey: number): string {
  const local = [between(random, 100, 999), between(random, 100, 999), between(random, 1000, 9999)];
  return [nationKey + 10, ...local].join("-");
}

function comment(random: Random): string {
  return phrase(random, words.commentWords, between(random, 4, 8));
}

function phrase(random: Random, from: readonly string[], length: number): string {
  return Array.from({ length }, () => from[random.below(from.length)]).join(" ");
}
