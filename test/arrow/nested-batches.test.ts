// Batches with lists, structs, maps, unions and intervals: which of them are of one type, and what comes of those that are.
import {
  bool,
  columnFromArray,
  type DataType,
  dictionary,
  field,
  float64,
  int8,
  int16,
  interval,
  list,
  map,
  struct,
  type Table,
  tableFromColumns,
  tableFromIPC,
  tableToIPC,
  timestamp,
  union,
  utf8,
} from "@uwdata/flechette";
import { describe, expect, it } from "vitest";
import { readTable, tableToBytes } from "../../src/io/index.js";
import { distinct, first, groupBy, join, type TableInput } from "../../src/relational/index.js";
import { useDevice } from "../conformance/helpers/device.js";

const device = useDevice();
const memory = { limit: 2 ** 20 };

/** A batch of one row for each value, with numbers from `id` on. */
function batch(id: number, values: unknown[], type?: DataType): Table {
  const ids = Int32Array.from(values, (_, i) => id + i);
  return tableFromColumns({ id: columnFromArray(ids), v: columnFromArray(values, type) });
}

/** Every operator that takes batches of `id` and `v`, and gives `v` of each row. */
const OPERATORS: Record<string, (batches: readonly TableInput[]) => Promise<Table>> = {
  "a join": (batches) =>
    join(batches, { id: Int32Array.from({ length: 20 }, (_, i) => i) }, {
      on: ["id"],
      device: device(),
    } as const),
  "a join in little memory": (batches) =>
    join(batches, { id: Int32Array.from({ length: 20 }, (_, i) => i) }, {
      on: ["id"],
      memory,
      device: device(),
    } as const),
  "a group-by in little memory": (batches) => {
    const options = { by: ["id"], aggregate: { v: first("v") }, memory, device: device() };
    return groupBy(batches, options);
  },
  "a group-by": (batches) => groupBy(batches, { by: ["id"], aggregate: { v: first("v") }, device: device() }),
  "a file": async (batches) =>
    readTable(await tableToBytes(batches as Iterable<Table>, { format: "arrow" }), { format: "arrow" }),
};

/** The values of `v` by `id`, lists as arrays. */
function valuesOf(table: Table): unknown[] {
  const ids = [...table.getChild("id")] as number[];
  const values = [...table.getChild("v")].map((value) => JSON.parse(JSON.stringify(value, plain)));
  return ids
    .map((id, i) => [id, values[i]] as const)
    .sort(([a], [b]) => a - b)
    .map(([, value]) => value);
}

function plain(_: string, value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<unknown>);
  return value instanceof Map ? [...value] : value;
}

const DIFFERENT: [string, [unknown[], DataType?], [unknown[], DataType?], RegExp][] = [
  [
    "lists of two and of three",
    [[[1, 2]]],
    [[[3, 4, 5]]],
    /"v".* is of type fixed-size list\(3\)<int8> in this batch, and of type fixed-size list\(2\)<int8> in the ones before/,
  ],
  ["lists of int8 and of int16", [[[1, 2]]], [[[300, 400]]], /fixed-size list\(2\)<int16>.*list\(2\)<int8>/],
  [
    "structs with fields in another order",
    [[{ p: 1, q: true }]],
    [[{ q: true, p: 1 }]],
    /struct<"q": bool, "p": int8>.*struct<"p": int8, "q": bool>/,
  ],
  [
    "structs in lists",
    [[[{ p: 1 }]], list(struct({ p: int8() }))],
    [[[{ p: 1 }]], list(struct({ p: float64() }))],
    /list<struct<"p": float64>>.*list<struct<"p": int8>>/,
  ],
  [
    "maps",
    [[[["a", 1]]], map(utf8(), int8())],
    [[[["a", true]]], map(utf8(), bool())],
    /map<utf8, bool>.*map<utf8, int8>/,
  ],
  [
    "timestamps in lists",
    [[[1000]], list(timestamp(0, "UTC"))],
    [[[1000]], list(timestamp(1, "UTC"))],
    /list<timestamp\[ms, UTC\]>.*list<timestamp\[s, UTC\]>/,
  ],
  [
    "intervals",
    [[1], interval(0)],
    [[Int32Array.of(1, 2)], interval(1)],
    /interval\[day, ms\].*interval\[months\]/,
  ],
];

describe.each(Object.entries(OPERATORS))("%s of batches", (_name, run) => {
  it.each(DIFFERENT)("refuses %s", async (_, [before, type], [now, other], message) => {
    const batches = () => [batch(1, before, type), batch(2, now, other)];
    await expect(run(batches())).rejects.toThrow(message);
    await expect(run(batches())).rejects.toMatchObject({ name: "ValidationError" });
  });

  it("takes lists whose elements have another name", async () => {
    const named = (element: string) => list(field(element, int16()));
    const batches = [batch(1, [[1, 2], [3]], named("item")), batch(3, [[300], []], named("element"))];
    expect(valuesOf(await run(batches))).toEqual([[1, 2], [3], [300], []]);
  });

  it.each([
    ["lists", [["a", "b"], ["c"]], [["x", "y", "z"], ["q"]]],
    [
      "lists of two",
      [
        ["a", "b"],
        ["c", "a"],
      ],
      [
        ["x", "y"],
        ["q", null],
      ],
    ],
    ["structs", [{ p: "a" }, null], [{ p: "x" }, { p: "y" }]],
    ["structs of lists", [{ p: ["a"] }, { p: ["b", "c"] }], [{ p: ["x", "c"] }, { p: ["q"] }]],
  ])("takes text in %s, whose dictionaries differ", async (_, some, others) => {
    const made = await run([batch(1, some), batch(3, others), batch(5, some)]);
    const expected = [...some, ...others, ...some];
    expect(valuesOf(made)).toEqual(JSON.parse(JSON.stringify(expected)));
  });

  it("takes text in maps and unions", async () => {
    const text = () => dictionary(utf8());
    const maps = map(utf8(), text());
    const some = batch(1, [new Map([["k", "a"]]), new Map([["l", "b"]])], maps);
    const others = batch(3, [new Map([["k", "x"]]), new Map()], map(utf8(), text()));
    expect(valuesOf(await run([some, others]))).toEqual([[["k", "a"]], [["l", "b"]], [["k", "x"]], []]);
    for (const mode of [0, 1] as const) {
      const mixed = () =>
        union(mode, [field("n", int8()), field("t", text())], [0, 1], (value) =>
          typeof value === "string" ? 1 : 0,
        );
      const unions = [batch(1, ["a", 1, "b"], mixed()), batch(4, [2, "x"], mixed())];
      expect(valuesOf(await run(unions))).toEqual(["a", 1, "b", 2, "x"]);
    }
  });
});

it("distinct within a limit refuses and takes the same", async () => {
  const run = (batches: readonly TableInput[]) => distinct(batches, { on: ["id"], memory, device: device() });
  await expect(run([batch(1, [[1, 2]]), batch(2, [[3, 4, 5]])])).rejects.toThrow(/fixed-size list\(3\)/);
  expect(valuesOf(await run([batch(1, [["a"]]), batch(2, [["x"]])]))).toEqual([["a"], ["x"]]);
});

it("a join of text in lists that comes in several tables is one that can be written", async () => {
  const rows = 3000;
  const words = ["ab", "xyz", "q"];
  const tags = (word: string) =>
    Array.from({ length: rows }, (_, i) => (i % 2 ? [word] : [word, `${i % 7}`]));
  const left = words.map((word, i) => batch(i * rows, tags(word)));
  const right = { id: Int32Array.from({ length: rows * words.length }, (_, i) => i) };
  const joined = await join(left, right, { on: ["id"], memory, device: device() });
  expect(joined.getChild("v").data.length).toBeGreaterThan(1);
  const written = tableFromIPC(tableToIPC(joined, {}) as Uint8Array);
  expect(valuesOf(written)).toEqual(words.flatMap(tags));
});

it("large and small batches of text in lists are joined and written, whose dictionaries differ", async () => {
  const large = 1 << 15; // rows of a batch that is not put together with others
  const tags = (word: string, rows: number) => Array.from({ length: rows }, () => [word]);
  const batches = () => [
    batch(0, tags("ab", large)),
    batch(large, tags("xyz", 3)),
    batch(large + 3, tags("q", large)),
  ];
  const rows = 2 * large + 3;
  const words = (table: Table) =>
    [0, large - 1, large, large + 2, large + 3, rows - 1].map((row) => [...table.getChild("v").at(row)]);
  const expected = [["ab"], ["ab"], ["xyz"], ["xyz"], ["q"], ["q"]];
  const right = { id: Int32Array.from({ length: rows }, (_, i) => i) };
  const joined = await join(batches(), right, { on: ["id"], how: "semi", device: device() });
  expect([joined.numRows, words(joined)]).toEqual([rows, expected]);
  const written = await readTable(await tableToBytes(batches(), { format: "parquet" }), {
    format: "parquet",
  });
  expect([written.numRows, words(written)]).toEqual([rows, expected]);
});
