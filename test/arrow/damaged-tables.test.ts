/** Tables in memory that do not hold what they say: joins refuse them in words. */
import {
  type Batch,
  batchType,
  Column,
  dictionary,
  fixedSizeBinary,
  int32,
  largeUtf8,
  list,
  struct,
  Table,
  tableFromArrays,
  tableFromColumns,
  utf8,
  utf8View,
} from "@uwdata/flechette";
import { describe, expect, it } from "vitest";
import { ValidationError } from "../../src/errors.js";
import { count, distinct, groupBy, join } from "../../src/relational/index.js";
import { useDevice } from "../conformance/helpers/device.js";

const device = useDevice();
const right = tableFromArrays({ id: [1, 2, 3] }, { types: { id: int32() } });

type Members = Record<string, unknown>;

/** The table with members of the only batch of `v` put in place of its own. */
function with_(table: Table, change: (batch: Batch<unknown> & Members) => Members): Table {
  const columns = table.children.map((column, i) => {
    if (table.names[i] !== "v") return column;
    const [batch] = column.data;
    const BatchOfType = batchType(batch.type, {}) as unknown as new (
      options: object,
    ) => Batch<unknown> & {
      setDictionary(values: unknown): void;
    };
    const made = new BatchOfType({ ...batch, ...change(batch as unknown as Batch<unknown> & Members) });
    const { dictionary: values } = batch as unknown as Members;
    if (values) made.setDictionary(values);
    return new Column([made], column.type);
  });
  return new Table(table.schema, columns);
}

/** Three views, the second of which is too long to be inline. Flechette builds none. */
function viewsTable(long: string): Table {
  const values = new Uint8Array(48);
  const words = new DataView(values.buffer);
  words.setInt32(0, 1, true);
  values[4] = 97;
  words.setInt32(16, long.length, true);
  values.set(Buffer.from(long.slice(0, 4)), 20);
  const type = utf8View();
  const BatchOfViews = batchType(type, {}) as unknown as new (options: object) => Batch<unknown>;
  const batch = new BatchOfViews({
    type,
    length: 3,
    nullCount: 0,
    validity: new Uint8Array(0),
    values,
    data: [new Uint8Array(Buffer.from(long))],
  });
  return tableFromColumns({ id: right.children[0], v: new Column([batch], type) });
}

const id = [1, 2, 3];
const types = { id: int32() };
const texts = tableFromArrays({ id, v: ["a", "bb", "ccc"] }, { types: { ...types, v: utf8() } });
const large = tableFromArrays({ id, v: ["a", "bb", "ccc"] }, { types: { ...types, v: largeUtf8() } });
const views = viewsTable("b".repeat(20));
const coded = tableFromArrays({ id, v: ["a", "b", "a"] }, { types: { ...types, v: dictionary(utf8()) } });
const numbers = tableFromArrays({ id, v: [1, null, 3] }, { types: { ...types, v: int32() } });
const lists = tableFromArrays({ id, v: [[1], [], [2, 3]] }, { types: { ...types, v: list(int32()) } });
const structs = tableFromArrays(
  { id, v: [{ a: 1 }, { a: 2 }, { a: 3 }] },
  { types: { ...types, v: struct({ a: int32() }) } },
);
const fixed = tableFromArrays(
  { id, v: [new Uint8Array(4), new Uint8Array(4), new Uint8Array(4)] },
  { types: { ...types, v: fixedSizeBinary(4) } },
);

describe("a damaged column", () => {
  it.each<[string, Table, (batch: Members) => Members, RegExp]>([
    ["offsets that go down", texts, () => ({ offsets: Int32Array.of(0, 3, 1, 6) }), /offset 2 is below/],
    ["negative offsets", texts, () => ({ offsets: Int32Array.of(0, -1, 1, 6) }), /offset 2 is below/],
    [
      "offsets that end behind the values",
      texts,
      () => ({ offsets: Int32Array.of(0, 1, 3, 9) }),
      /end at 9, its values at 8/,
    ],
    ["too few offsets", texts, () => ({ offsets: Int32Array.of(0, 1, 3) }), /need 16 bytes, there are 12/],
    ["no offsets", texts, () => ({ offsets: null }), /need 16 bytes, there are 0/],
    [
      "large offsets",
      large,
      () => ({ offsets: BigInt64Array.of(0n, 1n, 3n, 2n ** 40n) }),
      /need 1099511627776/,
    ],
    ["negative large ones", large, () => ({ offsets: BigInt64Array.of(0n, 1n, 3n, -1n) }), /need Infinity/],
    ["too few values", numbers, () => ({ values: Int32Array.of(1, 2) }), /need 12 bytes, there are 8/],
    ["too few of fixed width", fixed, () => ({ values: new Uint8Array(11) }), /need 12 bytes, there are 11/],
    ["too many nulls", numbers, () => ({ nullCount: 2 }), /says it has 2 nulls and marks 1/],
    ["too few nulls", numbers, () => ({ nullCount: 0 }), /says it has 0 nulls and marks 1/],
    [
      "nulls without a bitmap",
      numbers,
      () => ({ validity: new Uint8Array(0) }),
      /of its 1 nulls none is marked/,
    ],
    ["a negative code", coded, () => ({ values: Int32Array.of(0, -1, 0) }), /row 1 has the code 4294967295/],
    ["a code too many", coded, () => ({ values: Int32Array.of(0, 1, 2) }), /row 2 has the code 2/],
    ["a view without its buffer", views, () => ({ data: [] }), /view 1 leads out of its buffers/],
    ["a view of another string", views, () => ({ data: [new Uint8Array(20)] }), /view 1 starts otherwise/],
    [
      "lists behind their values",
      lists,
      () => ({ offsets: Int32Array.of(0, 1, 1, 4) }),
      /end at 4, its values at 3/,
    ],
    [
      "a struct with a short field",
      structs,
      () => ({ children: [tableFromArrays({ x: Int32Array.of(1, 2) }).children[0].data[0]] }),
      /fewer rows/,
    ],
  ])("%s", async (_, table, change, message) => {
    const error = await join(with_(table, change), right, { on: ["id"], device: device() }).catch(
      (reason) => reason,
    );
    expect(error).toBeInstanceOf(ValidationError);
    expect(error.message).toMatch(message);
    expect(error.message).toMatch(/^Column "v" of the left table: An array of type .* is damaged: /);
    expect((await join(table, right, { on: ["id"], device: device() })).numRows).toBe(3);
  });
});

describe("columns of different lengths", () => {
  const ids = tableFromArrays({ id: [1, 2, 3] }, { types: { id: int32() } });
  const pair = tableFromArrays({ v: [1, 2] }, { types: { v: int32() } });
  /** The first column's length is the table's. */
  const beside = (first: Table, second: Table) =>
    new Table({ ...first.schema, fields: [...first.schema.fields, ...second.schema.fields] }, [
      ...first.children,
      ...second.children,
    ]);
  const short = beside(ids, pair);
  const long = beside(pair, ids);
  const twoRows = 'Column "v" has 2 rows where the table has 3.';
  const threeRows = 'Column "id" has 3 rows where the table has 2.';

  it("join refuses them on either side", async () => {
    const call = { on: ["id"], device: device() };
    for (const [lengths, left, other] of [
      ['Column "v" of the left table has 2 rows where the table has 3.', short, right],
      ['Column "v" of the right table has 2 rows where the table has 3.', right, short],
      ['Column "id" of the left table has 3 rows where the table has 2.', long, right],
      ['Column "id" of the right table has 3 rows where the table has 2.', right, long],
    ] as const) {
      await refused(join(left, other, call), lengths);
    }
  });

  it("groupBy refuses them, keys or not", async () => {
    for (const name of ["id", "v"]) {
      const call = { by: [name], aggregate: { n: count() }, device: device() };
      await refused(groupBy(short, call), twoRows);
      await refused(groupBy(long, call), threeRows);
    }
  });

  it("distinct refuses them, keys or not", async () => {
    for (const on of [undefined, ["id"], ["v"]]) {
      await refused(distinct(short, { on, device: device() }), twoRows);
      await refused(distinct(long, { on, device: device() }), threeRows);
    }
  });

  async function refused(call: Promise<Table>, message: string): Promise<void> {
    const error = await call.catch((reason) => reason);
    expect(error).toBeInstanceOf(ValidationError);
    expect(error.message).toBe(`${message} Read or build the table again.`);
  }
});

it("joins columns that were made of empty arrays, which have no type", async () => {
  const empty = tableFromArrays({ id: new Int32Array(0) });
  expect((await join(empty, right, { on: ["id"], device: device() })).numRows).toBe(0);
  expect((await join(right, empty, { on: ["id"], device: device() })).numRows).toBe(0);
  expect((await join(empty, empty, { on: ["id"], device: device() })).names).toEqual(["id"]);
});
