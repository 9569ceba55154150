/** Whole csv files against a writer that goes row by row and joins strings. */
import * as arrow from "@uwdata/flechette";
import fc from "fast-check";
import { expect, it } from "vitest";
import { tableToBytes } from "../../src/io/index.js";
import { rounds } from "../helpers/rounds.js";
import { texts } from "./contents.js";

/** A column of random values: how to make one, and its type. */
interface Kind {
  readonly type: arrow.DataType;
  readonly value: fc.Arbitrary<unknown>;
  readonly quoted?: boolean;
}

const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'ab é,"\r\n;🦊'), maxLength: 12 }),
  fc.constantFrom("", "Atlanta", "New York", "é".repeat(50), `long, ${"x".repeat(90)}`, "y".repeat(200)),
);
/** Decimals of few and of many digits, around where their form changes. */
const double = fc.oneof(
  fc.double(),
  fc
    .tuple(fc.integer({ min: -(10 ** 9), max: 10 ** 9 }), fc.integer({ min: -12, max: 20 }))
    .map(([n, places]) => Number(`${n}e${-places}`)),
  fc
    .tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 16 }))
    .map(([n, places]) => Number(`${n}e${-places}`)),
  fc.constantFrom(0, -0, 1e-6, 9.9e-7, 1e-7, 123456.5, 1e15, 1e15 + 0.5, 999999999999999.9, 1e21, 0.1 + 0.2),
);

const KINDS: readonly Kind[] = [
  { type: arrow.int32(), value: fc.oneof(fc.integer(), fc.integer({ min: -1100, max: 10_100 })) },
  {
    type: arrow.int64(),
    value: fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt(-2000n, 2000n)),
  },
  { type: arrow.uint64(), value: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) },
  { type: arrow.uint8(), value: fc.integer({ min: 0, max: 255 }) },
  { type: arrow.float64(), value: double },
  { type: arrow.float32(), value: double.map(Math.fround) },
  { type: arrow.bool(), value: fc.boolean() },
  {
    type: arrow.dateDay(),
    value: fc.date({ noInvalidDate: true }).map((date) => new Date(Math.floor(+date / 864e5) * 864e5)),
  },
  {
    type: arrow.timestamp(arrow.TimeUnit.MICROSECOND, "UTC"),
    value: fc.integer({ min: 0, max: 2 ** 31 }).map((s) => s * 1000 + (s % 3)),
  },
  { type: arrow.utf8(), value: text, quoted: true },
  { type: arrow.dictionary(arrow.utf8(), arrow.int16()), value: text, quoted: true },
  { type: arrow.decimal(12, 2), value: fc.integer({ min: -1e6, max: 1e6 }).map((n) => n / 100) },
];

const columns = fc
  .array(fc.tuple(fc.nat({ max: KINDS.length - 1 }), fc.nat({ max: 2 }), fc.integer({ min: 1, max: 60 })), {
    minLength: 1,
    maxLength: 5,
  })
  .chain((chosen) => {
    const rows = fc.integer({ min: 0, max: 70 });
    return rows.chain((count) =>
      fc.tuple(
        ...chosen.map(([kind, nulls, batch]) => {
          const value =
            nulls === 0 ? KINDS[kind].value : fc.option(KINDS[kind].value, { nil: null, freq: 3 * nulls });
          return fc
            .array(value, { minLength: count, maxLength: count })
            .map((values) => ({ kind: KINDS[kind], values, batch }));
        }),
      ),
    );
  });

/** What a writer has to write that does no more than join strings. */
function plainText(table: arrow.Table, quoted: ReadonlySet<number>, delimiter: string): string {
  const fields = Object.values(texts(table));
  const must = new RegExp(`["\\r\\n${delimiter}]`);
  const field = (value: string | null, i: number) => {
    if (value === null) return "";
    const quotes = quoted.has(i) && (value === "" || must.test(value));
    return quotes ? `"${value.replaceAll('"', '""')}"` : value;
  };
  const lines = Array.from({ length: table.numRows }, (_, row) =>
    fields.map((values, i) => field(values[row], i)).join(delimiter),
  );
  return [table.names.join(delimiter), ...lines, ""].join("\n");
}

it("random schemas, batches of different lengths", async () => {
  await fc.assert(
    fc.asyncProperty(columns, fc.constantFrom(",", ";"), async (made, delimiter) => {
      const table = arrow.tableFromColumns(
        made.map(({ kind, values, batch }, i): [string, arrow.Column<unknown>] => [
          `c${i}`,
          arrow.columnFromArray(values as unknown[], kind.type, { maxBatchRows: batch, useBigInt: true }),
        ]),
      );
      const quoted = new Set(made.flatMap(({ kind }, i) => (kind.quoted ? [i] : [])));
      const bytes = await tableToBytes(table, { format: "csv", delimiter });
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
      expect(text).toBe(plainText(table, quoted, delimiter));
    }),
    { numRuns: rounds(70) },
  );
});

it("floats whose texts share a place, and come again", async () => {
  const values = Float64Array.from({ length: 40_000 }, (_, i) => ((i * 7919) % 9001) / 1000 + (i % 3) * 1e-7);
  const single = Float32Array.from(values);
  const bytes = await tableToBytes(arrow.tableFromArrays({ values, single }), { format: "csv" });
  const lines = new TextDecoder().decode(bytes).split("\n").slice(1, -1);
  const short = (value: number) => {
    for (let digits = 1; ; digits++)
      if (Math.fround(Number(value.toPrecision(digits))) === value)
        return String(Number(value.toPrecision(digits)));
  };
  expect(lines).toEqual(Array.from(values, (value, i) => `${value},${short(single[i])}`));
});

it("threads write the same bytes", async () => {
  const rows = 130_000;
  const columns = KINDS.flatMap((kind, i) => {
    const sample = fc.sample(fc.option(kind.value, { nil: null }), { numRuns: 300, seed: 1000 + i });
    const values = Array.from({ length: rows }, (_, row) => sample[(row * (i + 3)) % sample.length]);
    const options = { maxBatchRows: 30_000 + 1111 * i, useBigInt: true };
    return [[`c${i}`, arrow.columnFromArray(values, kind.type, options)] as [string, arrow.Column<unknown>]];
  });
  const table = arrow.tableFromColumns(columns);
  const written = async (threads: number) => {
    const told: number[] = [];
    const options = { format: "csv", threads, onProgress: (done: number) => told.push(done) } as const;
    const bytes = await tableToBytes(table, options);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    expect(told.at(-1)).toBe(rows);
    return Buffer.from(bytes);
  };
  const alone = await written(1);
  const quoted = new Set(KINDS.flatMap(({ quoted }, i) => (quoted ? [i] : [])));
  expect(alone.length).toBeGreaterThan(2 ** 24);
  expect(alone.equals(Buffer.from(plainText(table, quoted, ",")))).toBe(true);
  for (const threads of [2, 3]) expect((await written(threads)).equals(alone)).toBe(true);
}, 60_000);
