// Values that another unit or type of a file has no room for: written as they are, or an error that names them; never other values.
import {
  type Column,
  columnFromArray,
  type DataType,
  dateMillisecond,
  decimal,
  dictionary,
  int32,
  int64,
  TimeUnit,
  tableFromColumns,
  tableFromIPC,
  tableToIPC,
  timeSecond,
  timestamp,
  utf8,
} from "@uwdata/flechette";
import { describe, expect, it } from "vitest";
import { RAW } from "../../src/arrow/raw.js";
import { ValidationError } from "../../src/errors.js";
import { type Format, readTable, tableToBytes } from "../../src/io/index.js";
import { texts } from "./contents.js";

/** A column over the integers that Arrow has for its values. */
function storedTable(type: DataType, values: readonly (bigint | number)[]) {
  const isWide = typeof values[0] === "bigint";
  const column = columnFromArray(values as bigint[], isWide ? int64() : int32()) as Column<unknown>;
  (column as { type: DataType }).type = type;
  for (const batch of column.data) (batch as { type: DataType }).type = type;
  // as it comes out of a file: of batches of its type
  return tableFromIPC(tableToIPC(tableFromColumns({ a: column }), {}) as Uint8Array, RAW);
}

async function read(type: DataType, values: readonly (bigint | number)[], format: Format) {
  const bytes = await tableToBytes(storedTable(type, values), { format });
  return texts(await readTable(bytes, { format })).a;
}

const LAST = 2n ** 63n - 1n;
const DAY = 86_400_000n;

describe("parquet", () => {
  it.each<[string, DataType, bigint | number]>([
    ["timestamps in seconds", timestamp(TimeUnit.SECOND), LAST],
    ["timestamps in seconds", timestamp(TimeUnit.SECOND, "UTC"), -(2n ** 63n)],
    ["timestamps in seconds", timestamp(TimeUnit.SECOND), LAST / 1000n + 1n],
    ["times in seconds", timeSecond(), 2 ** 31 - 1],
    ["times in seconds", timeSecond(), Math.ceil(2 ** 31 / 1000)],
    ["dates of 64 bits", dateMillisecond(), 2n ** 31n * DAY],
    ["dates of 64 bits", dateMillisecond(), -(2n ** 31n) * DAY - 1n],
    ["dates of 64 bits", dateMillisecond(), LAST],
  ])("refuses %s that it has no room for: %s %s", async (_, type, value) => {
    const call = tableToBytes(storedTable(type, [value]), { format: "parquet" });
    await expect(call).rejects.toThrow(ValidationError);
    await expect(call).rejects.toThrow(`Column "a" holds ${value}, which Parquet has no room for`);
  });

  it("refuses decimals of more digits than their type says, where they do not fit", async () => {
    for (const [precision, value] of [
      [9, 2n ** 31n],
      [18, -(2n ** 63n) - 1n],
      [20, 2n ** 71n],
    ] as const) {
      const column = columnFromArray([value], decimal(precision, 0, 128)) as Column<unknown>;
      const call = tableToBytes(tableFromColumns({ a: column }), { format: "parquet" });
      await expect(call).rejects.toThrow(`Column "a" holds ${value}, which Parquet has no room for`);
    }
  });

  it("holds what is next to that", async () => {
    const seconds = [LAST / 1000n, -LAST / 1000n, 0n];
    const bytes = await tableToBytes(storedTable(timestamp(TimeUnit.SECOND), seconds), { format: "parquet" });
    const { values } = (await readTable(bytes, { format: "parquet" })).getChildAt(0).data[0] as unknown as {
      values: BigInt64Array;
    };
    expect([...values]).toEqual(seconds.map((value) => value * 1000n));
    expect(await read(timeSecond(), [86_399, 2_147_483], "parquet")).toEqual(["23:59:59", "2147483000"]);
    const days = [(2n ** 31n - 1n) * DAY, -(2n ** 31n) * DAY, 5n * DAY];
    expect(await read(dateMillisecond(), days, "parquet")).toEqual([
      String(days[0]),
      String(days[1]),
      "1970-01-06",
    ]);
  });
});

describe("csv", () => {
  it("has dates and times beyond its years as the integers that they are", async () => {
    const far = 9_223_372_036_828_800_000n;
    expect(await read(dateMillisecond(), [far, -far, DAY], "csv")).toEqual([
      String(far),
      String(-far),
      "1970-01-02",
    ]);
    for (const unit of [TimeUnit.SECOND, TimeUnit.MILLISECOND] as const) {
      expect(await read(timestamp(unit), [LAST, 0n], "csv")).toEqual([String(LAST), "1970-01-01T00:00:00"]);
    }
  });
});

it.each(["csv", "parquet", "arrow"] as const)("a U+FEFF at the start of a text stays: %s", async (format) => {
  const values = ["\ufeffx", "\ufeff", "y"];
  // a dictionary that is mostly unused takes another way
  const words = [...values, ...Array.from({ length: 5000 }, (_, i) => `word ${i}`)];
  for (const type of [utf8(), dictionary(utf8())]) {
    const whole = tableFromColumns({ a: columnFromArray(words, type) as Column<unknown> });
    const bytes = await tableToBytes(whole, { format });
    expect(texts(await readTable(bytes, { format })).a.slice(0, 3)).toEqual(values);
  }
});
