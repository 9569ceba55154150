/** Fields as csv-fields.ts writes them are the text that values.ts makes, for every type and any bits. */
import * as arrow from "@uwdata/flechette";
import fc from "fast-check";
import { expect, it } from "vitest";
import { RAW } from "../../src/arrow/raw.js";
import { tableToBytes } from "../../src/io/index.js";
import { rounds } from "../helpers/rounds.js";
import { texts } from "./contents.js";

const { TimeUnit } = arrow;

/** Types of fixed width, and the bytes of a value. */
const FIXED: [arrow.DataType, number][] = [
  [arrow.int8(), 1],
  [arrow.uint8(), 1],
  [arrow.int16(), 2],
  [arrow.uint16(), 2],
  [arrow.int32(), 4],
  [arrow.uint32(), 4],
  [arrow.int64(), 8],
  [arrow.uint64(), 8],
  [arrow.float16(), 2],
  [arrow.float32(), 4],
  [arrow.float64(), 8],
  [arrow.decimal(20, 3), 16],
  [arrow.dateDay(), 4],
  [arrow.timeSecond(), 4],
  [arrow.timeNanosecond(), 8],
  [arrow.duration(TimeUnit.MILLISECOND), 8],
  [arrow.fixedSizeBinary(5), 5],
  ...Object.values(TimeUnit).flatMap((unit): [arrow.DataType, number][] => [
    [arrow.timestamp(unit, null), 8],
    [arrow.timestamp(unit, "Europe/Berlin"), 8],
  ]),
];

/** A batch of a type over these bytes, of which some rows are null. */
function fixedTable(type: arrow.DataType, bytes: Uint8Array, width: number, nulls: number): arrow.Table {
  const rows = Math.floor(bytes.length / width);
  const Values = (type as { values?: Uint8ArrayConstructor }).values ?? Uint8Array;
  const own = bytes.slice(0, rows * width);
  const validity = Uint8Array.from({ length: (rows + 7) >> 3 }, (_, i) => ~(nulls >>> (i % 24)));
  const nullCount = Array.from({ length: rows }, (_, i) => (validity[i >> 3] >> (i & 7)) & 1).filter(
    (bit) => bit === 0,
  ).length;
  const Batch = arrow.batchType(type, RAW) as unknown as new (parts: object) => arrow.Batch<unknown>;
  const parts = { type, length: rows, nullCount, validity, values: new Values(own.buffer) };
  return arrow.tableFromColumns({ x: new arrow.Column([new Batch(parts)], type) });
}

async function linesOf(table: arrow.Table): Promise<string[]> {
  const bytes = await tableToBytes(table, { format: "csv" });
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).split("\n").slice(1, -1);
}

/** Of 64 bits, values near what they are interesting around: units of time, powers of two, the ends of what is exact. */
const near = fc
  .tuple(
    fc.constantFrom(
      0n,
      1n,
      10n ** 3n,
      10n ** 6n,
      10n ** 9n,
      86_400_000_000n,
      2n ** 31n,
      2n ** 53n,
      253_402_300_800_000n,
    ),
    fc.bigInt({ min: -2000n, max: 2000n }),
    fc.bigInt({ min: -3n, max: 3n }),
  )
  .map(
    ([unit, times, more]) => new Uint8Array(BigInt64Array.of(BigInt.asIntN(64, unit * times + more)).buffer),
  );
const bytes = fc
  .array(fc.oneof(near, fc.uint8Array({ minLength: 8, maxLength: 8 })), { minLength: 1, maxLength: 12 })
  .map((parts) => Uint8Array.from(parts.flatMap((part) => [...part])));

it.each(FIXED.map(([type, width], i) => [i, type, width] as const))("type %d", async (_, type, width) => {
  await fc.assert(
    fc.asyncProperty(bytes, fc.nat(2 ** 31), async (values, nulls) => {
      const table = fixedTable(type, values, width, nulls);
      expect(await linesOf(table)).toEqual(texts(table).x.map((text) => text ?? ""));
    }),
    { numRuns: rounds(70) },
  );
});

it("text and dictionaries, in batches, with and without what has to be quoted", async () => {
  const text = fc.option(fc.string({ unit: fc.constantFrom(...'ab,"\r\té🦊'), maxLength: 40 }), {
    nil: null,
  });
  const random = fc.tuple(fc.array(text, { minLength: 1, maxLength: 30 }), fc.integer({ min: 1, max: 9 }));
  await fc.assert(
    fc.asyncProperty(random, async ([values, maxBatchRows]) => {
      const quoted = values.map((value) => {
        if (value === null) return "";
        return value === "" || /[",\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
      });
      for (const type of [arrow.utf8(), arrow.largeUtf8(), arrow.dictionary(arrow.utf8(), arrow.int8())]) {
        const table = arrow.tableFromArrays({ x: values }, { types: { x: type }, maxBatchRows });
        expect(await linesOf(table)).toEqual(quoted);
      }
    }),
    { numRuns: rounds(70) },
  );
});

it("dictionaries of other types, booleans and nested values", async () => {
  const values = [3n, null, -(2n ** 60n), 3n];
  for (const type of [arrow.int64(), arrow.decimal(30, 0)]) {
    const table = arrow.tableFromArrays(
      { x: values },
      { types: { x: arrow.dictionary(type) }, useBigInt: true },
    );
    expect(await linesOf(table)).toEqual(texts(table).x.map((text) => text ?? ""));
  }
  const table = arrow.tableFromArrays(
    { b: [true, null, false], l: [[1], null, [1, 2]] },
    { types: { l: arrow.list(arrow.int32()) } },
  );
  expect(await linesOf(table)).toEqual(["true,[1]", ",", 'false,"[1,2]"']);
});

it("values of more than one block", async () => {
  const rows = 300_000;
  const lines = await linesOf(arrow.tableFromArrays({ a: Int32Array.from({ length: rows }, (_, i) => i) }));
  expect(lines.length).toBe(rows);
  expect(lines.every((line, i) => line === String(i))).toBe(true);
});
