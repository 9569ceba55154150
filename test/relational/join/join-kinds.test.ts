// Left, right, full, semi and anti joins: shapes of sides, columns, payload of every layout, order, and what cannot be done.
// Keys of two types: full-join-keys.test.ts. Rows are compared with DuckDB's.
import * as flechette from "@uwdata/flechette";
import * as apache from "apache-arrow";
import { describe, expect, it } from "vitest";
import { JOIN_KINDS, segmentsOf } from "../../../src/engine/join-kinds.js";
import { rowMarker } from "../../../src/host/mark-rows.js";
import { LimitError, ValidationError } from "../../../src/index.js";
import { type JoinKind, join } from "../../../src/relational/index.js";
import { scaled, useDevice } from "../../conformance/helpers/device.js";
import { kinds } from "../helpers/kinds.js";
import { expectSameJoin, type Keys } from "../helpers/oracle.js";
import { Random } from "../helpers/random.js";
import { KEY, list, side } from "../helpers/sides.js";
import { arrowTable, type TestTable, testTable } from "../helpers/tables.js";

const device = useDevice();
/** Rows of each kind of join. */
async function rowsByKind(left: TestTable, right: TestTable, on: Keys = KEY, nullsEqual = false) {
  const rows: Partial<Record<JoinKind, number>> = {};
  for (const how of JOIN_KINDS)
    rows[how] = await expectSameJoin(device(), { left, right, on, how, nullsEqual });
  return rows;
}

describe("sides of many shapes", () => {
  it("without rows", async () => {
    const none = side("int32", [], "b");
    const some = side("int32", [1n, null, 1n], "a");
    expect(await rowsByKind(some, none)).toEqual({ inner: 0, left: 3, right: 0, full: 3, semi: 0, anti: 3 });
    expect(await rowsByKind(none, some)).toEqual({ inner: 0, left: 0, right: 3, full: 3, semi: 0, anti: 0 });
    expect(await rowsByKind(none, none)).toEqual({ inner: 0, left: 0, right: 0, full: 0, semi: 0, anti: 0 });
    const words = side("utf8", ["a", null], "a", true);
    const noWords = side("utf8", [], "b", true);
    expect((await rowsByKind(words, noWords)).full).toBe(2);
    expect((await rowsByKind(noWords, words)).full).toBe(2);
  });

  it.each([
    ["no row matches", 0, 1000n, { inner: 0, left: 60, right: 40, full: 100, semi: 0, anti: 60 }],
    ["every right row matches", 0, 0n, { inner: 40, left: 60, right: 40, full: 60, semi: 40, anti: 20 }],
    ["half of the right matches", 0, 40n, { inner: 20, left: 60, right: 40, full: 80, semi: 20, anti: 40 }],
  ])("%s", async (_, __, shift, expected) => {
    const left = side(
      "int64",
      list(60, (row) => BigInt((row * 7) % 60)),
      "a",
    );
    const right = side(
      "int64",
      list(40, (row) => BigInt(row) + shift),
      "b",
    );
    expect(await rowsByKind(left, right)).toEqual(expected);
    const all = await rowsByKind(right, left);
    expect([all.left, all.right]).toEqual([expected.right, expected.left]);
  });

  it("one hot key, and keys of one side only", async () => {
    const rows = scaled(300, 120);
    const random = new Random(7);
    const hot = (from: number) =>
      list(rows, () => (random.below(4) === 0 ? -1n : BigInt(from + random.below(rows))));
    const counts = await rowsByKind(side("int32", hot(0), "a"), side("int32", hot(rows / 2), "b"));
    expect(counts.inner).toBeGreaterThan((rows / 6) ** 2);
    expect(counts.semi).toBeLessThan(rows);
  });

  // more pairs than are taken, on both engines
  it.each([
    ["int32", (row: number) => BigInt(row % 7)],
    ["utf8", (row: number) => (row % 7 ? `word ${row % 7}` : null)],
  ] as const)("semi and anti joins of keys with many pairs, of type %s", async (kind, key) => {
    const rows = 3000;
    for (const dictionary of [false, true]) {
      const keys = list(rows, key);
      const left = side(kind, [...keys, kinds[kind].domain[1]], "a", dictionary);
      const right = side(kind, keys, "b", dictionary);
      for (const nullsEqual of [false, true]) {
        for (const how of ["semi", "anti"] as const) {
          const progress: [number, number][] = [];
          const options = { on: ["k"], how, nullsEqual, device: device() };
          const onProgress = (done: number, total: number) => progress.push([done, total]);
          const joined = await join(arrowTable(left), arrowTable(right), { ...options, onProgress });
          const count = await expectSameJoin(device(), { left, right, on: KEY, how, nullsEqual });
          expect(joined.numRows).toBe(count);
          const [done, total] = progress.at(-1) as [number, number];
          expect(done).toBe(total);
        }
      }
    }
  });

  it.each([false, true])("null keys, nulls equal %s", async (nullsEqual) => {
    const left = side("utf8", ["x", null, "y", null], "a");
    const right = side("utf8", [null, "x", "z"], "b");
    const counts = await rowsByKind(left, right, KEY, nullsEqual);
    expect(counts).toEqual(
      nullsEqual
        ? { inner: 3, left: 4, right: 4, full: 5, semi: 3, anti: 1 }
        : { inner: 1, left: 4, right: 3, full: 6, semi: 1, anti: 3 },
    );
  });

  it.each([
    [true, true],
    [true, false],
    [false, true],
  ])("string keys as dictionaries: left %s, right %s", async (left, right) => {
    const words = (from: number, rows: number) =>
      list(rows, (row) => (row % 9 === 8 ? null : `word ${from + (row % 25)}`));
    const counts = await rowsByKind(
      side("utf8", words(0, 70), "a", left),
      side("utf8", words(15, 50), "b", right),
    );
    expect(counts.full).toBeGreaterThan(counts.left as number);
  });

  it("several keys, one of them a partner of two", async () => {
    const random = new Random(8);
    const column = (name: string, rows: number) => ({
      name,
      kind: kinds.int32,
      values: list(rows, () => (random.below(9) ? BigInt(random.below(5)) : null)),
    });
    const left = testTable([column("a", 60), column("x", 60), column("b", 60)]);
    const right = testTable([column("c", 40), column("d", 40), column("x", 40)]);
    const on = [
      ["b", "d"],
      ["a", "c"],
    ] as const;
    for (const nullsEqual of [false, true]) await rowsByKind(left, right, on, nullsEqual);
    const twice = [
      ["a", "c"],
      ["b", "c"],
    ] as const;
    await rowsByKind(left, right, twice);
  });
});

describe("columns", () => {
  const left = flechette.tableFromColumns({
    k: flechette.columnFromArray([1, 2], flechette.int16()),
    v: flechette.columnFromArray(["a", "b"], flechette.utf8()),
  });
  const right = flechette.tableFromColumns({
    id: flechette.columnFromArray([2, 3], flechette.int32()),
    v: flechette.columnFromArray(["p", "q"], flechette.utf8()),
  });
  const strict = (table: flechette.Table, unit: string) => {
    const fields = table.schema.fields.map((field) => ({
      ...field,
      nullable: false,
      metadata: new Map([["unit", unit]]),
    }));
    return new flechette.Table({ ...table.schema, fields }, table.children);
  };

  it.each([
    ["left", "int16 left, utf8 left, utf8? right"],
    ["right", "int32 right, utf8? left, utf8 right"],
    ["full", "int32 right, utf8? left, utf8? right"],
    ["semi", "int16 left, utf8 left"],
    ["anti", "int16 left, utf8 left"],
  ] as const)("of a %s join: types, nullability, metadata", async (how, expected) => {
    const joined = await join(strict(left, "left"), strict(right, "right"), {
      on: [["k", "id"]],
      how,
      device: device(),
    });
    expect(joined.names).toEqual(["k", "v", "v_right"].slice(0, joined.numCols));
    const described = joined.schema.fields.map(({ type, nullable, metadata }) => {
      const name = type.typeId === flechette.Type.Int ? `int${type.bitWidth}` : "utf8";
      return `${name}${nullable ? "?" : ""} ${metadata?.get("unit")}`;
    });
    expect(described.join(", ")).toBe(expected);
  });

  it("two keys with one left column: refused where rows of the right come alone", async () => {
    const two = flechette.tableFromArrays({ a: Int16Array.of(2), b: Int16Array.of(2) });
    const on = [["k", "a"] as const, ["k", "b"] as const];
    for (const how of ["inner", "left", "semi", "anti"] as const)
      expect((await join(left, two, { on, how, device: device() })).numRows).toBe(how === "left" ? 2 : 1);
    for (const how of ["right", "full"] as const) {
      const refused = join(left, two, { on, how, device: device() });
      await expect(refused).rejects.toThrow(ValidationError);
      await expect(refused).rejects.toThrow('"k" of the left table is compared with two columns');
    }
    expect(
      (
        await join(left, two, {
          on: ["k"].map((k) => [k, "a"] as const).flatMap((pair) => [pair, pair]),
          how: "full",
          device: device(),
        })
      ).numRows,
    ).toBe(2);
  });
});

describe("payload of every layout", () => {
  const ids = Int32Array.of(0, 1, 2, 3, 4);
  const union = (mode: 0 | 1) =>
    flechette.union(mode, [flechette.int32(), flechette.utf8()], [3, 5], (v: unknown) =>
      typeof v === "string" ? 5 : 3,
    );
  const columns: Record<string, [flechette.DataType, unknown[]]> = {
    nothing: [flechette.nullType(), [null, null, null, null, null]],
    bool: [flechette.bool(), [true, false, true, null, true]],
    int64: [flechette.int64(), [1, 2, 3, null, 5]],
    utf8: [flechette.utf8(), ["a", "b", "", null, "e"]],
    view: [flechette.utf8View(), ["a", "a string that is long", "", null, "another that is long"]],
    binary12: [flechette.fixedSizeBinary(3), [0, 1, 2, 3, 4].map((i) => Uint8Array.of(i, i, i))],
    dictionary: [flechette.dictionary(flechette.utf8(), flechette.int8()), ["x", "y", "x", null, "z"]],
    list: [flechette.list(flechette.int32()), [[1], [], [2, null], null, [4]]],
    words: [flechette.list(flechette.dictionary(flechette.utf8())), [["p"], [], ["q", "p"], null, ["r"]]],
    fixedList: [flechette.fixedSizeList(flechette.float32(), 2), [[1, 2], [3, 4], [5, null], null, [6, 7]]],
    struct: [
      flechette.struct({ a: flechette.int32(), w: flechette.dictionary(flechette.utf8()) }),
      [{ a: 1, w: "s" }, { a: 2, w: "t" }, { a: 3, w: null }, null, { a: 5, w: "s" }],
    ],
    map: [
      flechette.map(flechette.field("key", flechette.utf8(), false), flechette.int32()),
      [[["x", 1]], [], [["y", null]], null, [["z", 2]]],
    ],
    sparse: [union(0), [1, "u", 2, "v", 3]],
    dense: [union(1), [1, "u", 2, "v", 3]],
  };
  const built = Object.entries(columns).flatMap(([name, [type, values]]) =>
    name === "view" ? [] : [[name, flechette.columnFromArray(values, type)] as const],
  );
  const payload = flechette.tableFromColumns([["id", flechette.columnFromArray(ids)], ...built] as never);
  const other = flechette.tableFromArrays({ id: Int32Array.of(3, 7, 1, 9, 0, 1) });
  const plain = (value: unknown) =>
    JSON.parse(JSON.stringify(value, (_, v) => (ArrayBuffer.isView(v) ? Array.from(v as never) : v)));

  function expectRows(joined: flechette.Table, expected: number[]): void {
    expect([...joined.getChild("id")].sort()).toEqual(expected);
    for (const [name] of built) {
      const [got, had] = [joined.getChild(name), payload.getChild(name)];
      for (let i = 0; i < joined.numRows; i++) {
        const id = joined.getChild("id").at(i);
        const want = id < 5 ? plain(had.at(id)) : null;
        expect(plain(got.at(i)), `${name} of ${id}`).toEqual(want);
      }
    }
  }

  it.each([
    ["left", "right", [0, 1, 1, 3, 7, 9]],
    ["right", "left", [0, 1, 1, 3, 7, 9]],
    ["full", "right", [0, 1, 1, 2, 3, 4, 7, 9]],
    ["full", "left", [0, 1, 1, 2, 3, 4, 7, 9]],
    ["semi", "left", [0, 1, 3]],
    ["anti", "left", [2, 4]],
  ] as const)("in a %s join, on the %s", async (how, on, expected) => {
    const [left, right] = on === "left" ? [payload, other] : [other, payload];
    const joined = await join(left, right, { on: ["id"], how, device: device() });
    expectRows(joined, [...expected]);
    const bytes = flechette.tableToIPC(joined, { format: "stream" }) as Uint8Array;
    expectRows(flechette.tableFromIPC(bytes), [...expected]);
    expect(apache.tableFromIPC(bytes).numRows).toBe(expected.length);
    // read and joined again: nulls are laid out as other columns are
    const again = await join(joined, payload, { on: ["id"], how: "left", device: device() });
    expect(again.numRows).toBe(expected.length);
  });

  it("of a side without rows", async () => {
    const none = new flechette.Table(
      payload.schema,
      payload.children.map(({ type }) => new flechette.Column([], type)),
    );
    const joined = await join(other, none, { on: ["id"], how: "left", device: device() });
    expect(joined.numRows).toBe(6);
    const read = flechette.tableFromIPC(flechette.tableToIPC(joined, {}) as Uint8Array);
    for (const [name] of built) expect([...read.getChild(name)], name).toEqual(Array(6).fill(null));
  });
});

describe("rows", () => {
  it("of semi and anti joins come once, in the left's order", async () => {
    const rows = 1000;
    const left = flechette.tableFromArrays({
      k: Int32Array.from({ length: rows }, (_, i) => (i * 37) % 101),
    });
    const right = flechette.tableFromArrays({ k: Int32Array.from({ length: 400 }, (_, i) => i % 50) });
    const keys = [...left.getChild("k")] as number[];
    const kept = async (how: JoinKind) => [
      ...(await join(left, right, { on: ["k"], how, device: device() })).getChild("k"),
    ];
    expect(await kept("semi")).toEqual(keys.filter((k) => k < 50));
    expect(await kept("anti")).toEqual(keys.filter((k) => k >= 50));
  });

  it("of a side that comes through whole share its memory", async () => {
    const left = flechette.tableFromArrays({ k: Int32Array.of(5, 6, 7), v: Float64Array.of(1, 2, 3) });
    const right = flechette.tableFromArrays({ k: Int32Array.of(7, 6, 5) });
    const none = flechette.tableFromArrays({ k: Int32Array.of(0) });
    for (const [how, other] of [
      ["semi", right],
      ["anti", none],
      ["left", none],
    ] as const) {
      const joined = await join(left, other, { on: ["k"], how, device: device() });
      expect(joined.getChild("v").data[0].values.buffer).toBe(left.getChild("v").data[0].values.buffer);
    }
  });

  const mark = rowMarker(null, async () => {});
  const pairs = { left: Uint32Array.of(4, 0, 4), right: Uint32Array.of(1, 2, 1) };

  it("are the pairs themselves in an inner join", async () => {
    const [segment, ...others] = await segmentsOf("inner", pairs, { left: 5, right: 3 }, mark);
    expect(others).toEqual([]);
    expect(segment.left).toBe(pairs.left);
    expect(segment.right).toBe(pairs.right);
  });

  it("without a partner ascend, where the pairs are in order too", async () => {
    const rows = { left: 20, right: 3 };
    const [, left, right] = await segmentsOf("full", pairs, rows, mark);
    const unmatched = [1, 2, 3, ...Array.from({ length: 15 }, (_, i) => i + 5)];
    expect([left.left, left.right]).toEqual([Uint32Array.from(unmatched), null]);
    expect([right.left, right.right]).toEqual([null, Uint32Array.of(0)]);
    const inOrder = { left: Uint32Array.of(0, 1), right: Uint32Array.of(2, 2), inOrder: "left" as const };
    const [anti] = await segmentsOf("anti", inOrder, { left: 4, right: 3 }, mark);
    expect(anti.left).toEqual(Uint32Array.of(2, 3));
    const [semi] = await segmentsOf("semi", inOrder, { left: 4, right: 3 }, mark);
    expect(semi.left).toEqual(Uint32Array.of(0, 1));
  });

  it("more than an Arrow table has are a LimitError", async () => {
    const many = { left: new Uint32Array(2), right: new Uint32Array(2) };
    Object.defineProperty(many.left, "length", { value: 2 ** 31 - 1 });
    const inOrder = { ...many, inOrder: "right" as const };
    await expect(segmentsOf("right", inOrder, { left: 1, right: 4 }, mark)).rejects.toThrow(LimitError);
  });

  it("stop with a signal", async () => {
    const reason = new Error("no more");
    const stop = async () => {
      throw reason;
    };
    await expect(segmentsOf("semi", pairs, { left: 5, right: 3 }, rowMarker(null, stop))).rejects.toBe(
      reason,
    );
  });
});
