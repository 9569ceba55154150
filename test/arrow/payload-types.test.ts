// Columns of every type come through a join with their values and nulls: in one batch or several, from both libraries,
// as slices, to memory, to Arrow files, and to apache-arrow.
import * as flechette from "@uwdata/flechette";
import * as apache from "apache-arrow";
import { describe, expect, it } from "vitest";
import { type ArrowTable, join } from "../../src/relational/index.js";
import { useDevice } from "../conformance/helpers/device.js";

const device = useDevice();
const { field } = flechette;

const ROWS = 29;
const row = <T>(make: (i: number) => T): (T | null)[] =>
  Array.from({ length: ROWS }, (_, i) => (i % 5 === 3 ? null : make(i)));
const some = (i: number) => Array.from({ length: i % 4 }, (_, k) => (k === 2 ? null : i * 10 + k));

/** A column of every type that flechette can build. */
const columns: Record<string, [flechette.DataType, unknown[]]> = {
  nothing: [flechette.nullType(), row(() => null)],
  bool: [flechette.bool(), row((i) => i % 3 === 0)],
  int8: [flechette.int8(), row((i) => i - 14)],
  uint16: [flechette.uint16(), row((i) => i * 2000)],
  int32: [flechette.int32(), row((i) => i * -70_000)],
  uint64: [flechette.uint64(), row((i) => BigInt(i) << 40n)],
  float16: [flechette.float16(), row((i) => i / 4)],
  float32: [flechette.float32(), row((i) => i / 8)],
  float64: [flechette.float64(), row((i) => i / 3)],
  decimal: [flechette.decimal(20, 2), row((i) => i + 0.25)],
  decimal256: [flechette.decimal(60, 1, 256), row((i) => i + 0.5)],
  day: [flechette.dateDay(), row((i) => new Date(i * 86_400_000))],
  time: [flechette.timeSecond(), row((i) => i)],
  timestamp: [flechette.timestamp(1, "UTC"), row((i) => new Date(i * 1001))],
  duration: [flechette.duration(), row((i) => i * 5)],
  months: [flechette.interval(0), row((i) => i)],
  dayTime: [flechette.interval(1), row((i) => Int32Array.of(i, i * 2))],
  monthDayNano: [flechette.interval(2), row((i) => Float64Array.of(i, i + 1, i + 2))],
  utf8: [flechette.utf8(), row((i) => "äb日🦆".repeat(i % 4) + (i % 7 === 0 ? "long ".repeat(40) : ""))],
  largeUtf8: [flechette.largeUtf8(), row((i) => String(i).repeat(i % 6))],
  binary: [flechette.binary(), row((i) => Uint8Array.from({ length: i % 20 }, (_, k) => k + i))],
  largeBinary: [flechette.largeBinary(), row((i) => Uint8Array.of(i, 255))],
  fixedBinary: [flechette.fixedSizeBinary(5), row((i) => Uint8Array.of(i, 1, 2, 3, 4))],
  fixedBinary12: [
    flechette.fixedSizeBinary(12),
    row((i) => Uint8Array.from({ length: 12 }, (_, k) => i + k)),
  ],
  dictionary: [flechette.dictionary(flechette.utf8(), flechette.int8()), row((i) => `word ${i % 6}`)],
  numbers: [flechette.dictionary(flechette.int64(), flechette.uint16()), row((i) => i % 3)],
  list: [flechette.list(flechette.int32()), row(some)],
  largeList: [
    flechette.largeList(flechette.utf8()),
    row((i) => some(i).map((x) => (x === null ? null : `s${x}`))),
  ],
  lists: [flechette.list(flechette.list(flechette.int8())), row((i) => [[i], [], [1, 2]].slice(0, i % 4))],
  fixedList: [flechette.fixedSizeList(flechette.float32(), 3), row((i) => [i, i / 2, null])],
  struct: [
    flechette.struct({ a: flechette.int32(), b: flechette.utf8(), c: flechette.list(flechette.bool()) }),
    row((i) => ({ a: i, b: i % 2 ? null : `b${i}`, c: [true, i % 2 === 0] })),
  ],
  words: [flechette.struct({ w: flechette.dictionary(flechette.utf8()) }), row((i) => ({ w: `w${i % 4}` }))],
  map: [
    flechette.map(field("key", flechette.utf8(), false), flechette.int32()),
    row((i) =>
      [
        ["x", i],
        ["y", null],
      ].slice(0, i % 3),
    ),
  ],
  sparse: [
    flechette.union(0, [flechette.int32(), flechette.utf8()], [0, 1], (v: unknown) =>
      typeof v === "string" ? 1 : 0,
    ),
    row((i) => (i % 2 ? i : `u${i}`)).map((v) => v ?? 0),
  ],
  dense: [
    flechette.union(1, [flechette.float64(), flechette.utf8()], [5, 7], (v: unknown) =>
      typeof v === "string" ? 7 : 5,
    ),
    row((i) => (i % 2 ? i : `u${i}`)).map((v) => v ?? 0),
  ],
};

function source(maxBatchRows = ROWS): flechette.Table {
  const built = Object.entries(columns).map(
    ([name, [type, values]]) =>
      [name, flechette.columnFromArray(values, type, { maxBatchRows })] as [
        string,
        flechette.Column<unknown>,
      ],
  );
  const id = flechette.columnFromArray(
    Array.from({ length: ROWS }, (_, i) => i),
    flechette.int32(),
    { maxBatchRows },
  );
  return flechette.tableFromColumns([["id", id], ...built]);
}

const written = (table: flechette.Table) => flechette.tableToIPC(table, { format: "stream" }) as Uint8Array;

/** Picks rows several times, in no order, and some not at all. */
const picks = flechette.tableFromArrays({
  id: Int32Array.of(7, 0, 28, 7, 13, 3, 3, 21, 8, 9, 10, 1000, 22, 16, 2),
});
const matching = 14;

/** Plain values that can be compared: bigints as numbers, typed arrays and Arrow's collections as arrays, rows as objects. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (value === null || typeof value !== "object") return value;
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<unknown>, plain);
  if (value instanceof apache.MapRow) return Object.entries(value.toJSON()).map(([k, v]) => [k, plain(v)]);
  if (value instanceof apache.Vector || Array.isArray(value)) return Array.from(value, plain);
  return Object.fromEntries(
    Object.entries(
      typeof (value as { toJSON?: unknown }).toJSON === "function"
        ? (value as apache.StructRow).toJSON()
        : value,
    ).map(([k, v]) => [k, plain(v)]),
  );
}

type AnyTable = { numRows: number; getChild(name: string): { at(i: number): unknown } | null };

/** Every row of `joined` holds what row `id` of `from` holds, column by column. */
function expectRowsOf(from: AnyTable, joined: AnyTable): void {
  expect(joined.numRows).toBe(matching);
  for (const name of Object.keys(columns)) {
    const [want, got] = [from.getChild(name), joined.getChild(name)];
    for (let i = 0; i < joined.numRows; i++) {
      const id = joined.getChild("id")?.at(i) as number;
      expect(plain(got?.at(i)), `${name} of row ${id}`).toEqual(plain(want?.at(id)));
    }
  }
}

describe("payload columns of every type", () => {
  const inputs: [string, () => ArrowTable][] = [
    ["flechette, one batch", () => source()],
    ["flechette, batches of 7", () => source(7)],
    ["flechette, read from a file", () => flechette.tableFromIPC(written(source(8)))],
    ["apache-arrow", () => apache.tableFromIPC(written(source()))],
    ["apache-arrow, batches of 7", () => apache.tableFromIPC(written(source(7)))],
    [
      "apache-arrow, two slices put together",
      () => {
        const whole = apache.tableFromIPC(written(source(10)));
        return whole.slice(0, 13).concat(whole.slice(13));
      },
    ],
  ];

  it.each(inputs)("%s", async (_, input) => {
    const joined = await join(input(), picks, { on: ["id"], device: device() });
    expectRowsOf(source(), joined);
    expectRowsOf(source(), flechette.tableFromIPC(written(joined)));
    expectRowsOf(
      apache.tableFromIPC(written(source())) as AnyTable,
      apache.tableFromIPC(written(joined)) as AnyTable,
    );
    joined.schema.fields.forEach(({ name, type }) => {
      if (name !== "id") expect(type.typeId, name).toBe(columns[name][0].typeId);
    });
  });

  it("from the right side", async () => {
    expectRowsOf(source(), await join(picks, source(5), { on: ["id"], device: device() }));
  });

  it("a slice of apache-arrow that starts inside a byte", async () => {
    const whole = apache.tableFromIPC(written(source()));
    const joined = await join(whole.slice(3, 27), picks, { on: ["id"], device: device() });
    const ids = Array.from(joined.getChild("id"));
    expect(ids.sort()).toEqual([7, 7, 13, 3, 3, 21, 8, 9, 10, 22, 16].sort());
    for (const name of Object.keys(columns)) {
      for (let i = 0; i < joined.numRows; i++) {
        const id = joined.getChild("id").at(i);
        expect(plain(joined.getChild(name).at(i)), name).toEqual(plain(source().getChild(name).at(id)));
      }
    }
  });
});

/** A column over batches of given buffers. */
function columnOf(type: flechette.DataType, ...parts: object[]): flechette.Column<unknown> {
  const Batch = flechette.batchType(type, {});
  return new flechette.Column(
    parts.map((part) => new Batch({ type, nullCount: 0, validity: new Uint8Array(0), ...part })),
    type,
  );
}

async function pickRows(column: flechette.Column<unknown>, rows: number[]): Promise<flechette.Table> {
  const ids = Int32Array.from({ length: column.length }, (_, i) => i);
  const id = new flechette.Column(
    column.data.map(({ length }, k) => {
      const from = column.offsets[k];
      return flechette.columnFromArray(ids.subarray(from, from + length)).data[0];
    }),
  );
  return join(
    flechette.tableFromArrays({ id: Int32Array.from(rows) }),
    flechette.tableFromColumns({ id, column }),
    { on: ["id"], device: device() },
  );
}

describe("types that no builder makes", () => {
  const byId = (table: flechette.Table) =>
    Object.fromEntries(table.toArray().map(({ id, column }) => [id, plain(column)]));

  it("list views, in two batches", async () => {
    const list = (values: number[]) => flechette.columnFromArray(values, flechette.int32()).data[0];
    for (const [type, Offsets] of [
      [flechette.listView(flechette.int32()), Int32Array.from],
      [flechette.largeListView(flechette.int32()), (v: number[]) => BigInt64Array.from(v, BigInt)],
    ] as const) {
      const offsets = (values: number[]) =>
        Offsets === Int32Array.from
          ? Int32Array.from(values)
          : (Offsets as (v: number[]) => BigInt64Array)(values);
      const column = columnOf(
        type,
        { length: 3, offsets: offsets([2, 0, 1]), sizes: offsets([1, 2, 0]), children: [list([10, 11, 12])] },
        { length: 2, offsets: offsets([1, 0]), sizes: offsets([1, 2]), children: [list([20, 21])] },
      );
      expect(byId(await pickRows(column, [4, 0, 1, 2, 3]))).toEqual({
        0: [12],
        1: [10, 11],
        2: [],
        3: [21],
        4: [20, 21],
      });
    }
  });

  it("string views, in two batches of several buffers", async () => {
    const text = new TextEncoder();
    const view = (strings: string[]) => {
      const views = new Uint8Array(16 * strings.length);
      const fields = new DataView(views.buffer);
      const data = strings.filter((s) => s.length > 12).map((s) => text.encode(s));
      let buffer = 0;
      strings.forEach((s, i) => {
        fields.setInt32(16 * i, s.length, true);
        views.set(text.encode(s).subarray(0, s.length > 12 ? 4 : 12), 16 * i + 4);
        if (s.length > 12) fields.setInt32(16 * i + 8, buffer++, true);
      });
      return { length: strings.length, values: views, data };
    };
    const strings = [
      "short",
      "a string that is long",
      "",
      "another that is long",
      "twelve bytes",
      "and a third long one",
    ];
    const column = columnOf(flechette.utf8View(), view(strings.slice(0, 2)), view(strings.slice(2)));
    const joined = await pickRows(column, [5, 0, 1, 2, 3, 4]);
    expect(byId(joined)).toEqual({ ...strings });
    expect(byId(flechette.tableFromIPC(written(joined)))).toEqual({ ...strings });
  });

  it("batches with dictionaries of their own", async () => {
    const type = flechette.dictionary(flechette.utf8(), flechette.int8());
    const batch = (words: string[], codes: number[]) => {
      const dictionary = flechette.columnFromArray(words, type.dictionary);
      return new (flechette.batchType(type, {}))({
        type,
        length: codes.length,
        nullCount: 0,
        validity: new Uint8Array(0),
        values: Int8Array.from(codes),
      }).setDictionary(dictionary);
    };
    const column = new flechette.Column([batch(["a", "b"], [1, 0]), batch(["c", "a"], [0, 1, 0])], type);
    const joined = await pickRows(column, [4, 3, 2, 1, 0]);
    expect(byId(joined)).toEqual({ 0: "b", 1: "a", 2: "c", 3: "a", 4: "c" });
    expect(joined.schema.fields[1].type).toMatchObject({ indices: { bitWidth: 8 } });
    expect(byId(flechette.tableFromIPC(written(joined)))).toEqual({ 0: "b", 1: "a", 2: "c", 3: "a", 4: "c" });
    const words = (prefix: string) => Array.from({ length: 100 }, (_, i) => `${prefix}${i}`);
    const many = new flechette.Column([batch(words("x"), [99, 0]), batch(words("y"), [98])], type);
    const widened = await pickRows(many, [2, 1, 0]);
    expect(byId(widened)).toEqual({ 0: "x99", 1: "x0", 2: "y98" });
    expect(widened.schema.fields[1].type).toMatchObject({ indices: { bitWidth: 32 } });
  });

  it("two columns with one dictionary type and different dictionaries can be saved", async () => {
    const type = flechette.dictionary(flechette.utf8());
    const left = flechette.tableFromColumns({
      id: flechette.columnFromArray([1, 2]),
      a: flechette.columnFromArray(["x", "y"], type),
      b: flechette.columnFromArray(["p", "q"], type),
    });
    const joined = await join(left, flechette.tableFromArrays({ id: [2] }), { on: ["id"], device: device() });
    expect(flechette.tableFromIPC(written(joined)).toArray()).toEqual([{ id: 2, a: "y", b: "q" }]);
  });
});
