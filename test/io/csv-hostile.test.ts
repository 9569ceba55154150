/**
 * Tables of values that csv is bad at, written and read again: control characters, byte order marks, quotes, delimiters and ends of lines in
 * names and values, numbers and times at the ends of their types. What is read does not depend on where a stream is cut nor on threads.
 */
import {
  bool,
  type Column,
  columnFromArray,
  type DataType,
  dateDay,
  dateMillisecond,
  decimal,
  dictionary,
  duration,
  float32,
  float64,
  int8,
  int64,
  nullType,
  type Table,
  TimeUnit,
  tableFromColumns,
  tableFromIPC,
  tableToIPC,
  timeNanosecond,
  timestamp,
  uint64,
  utf8,
} from "@uwdata/flechette";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RAW } from "../../src/arrow/raw.js";
import { readCsv } from "../../src/io/csv/csv-read.js";
import { FileError, readTable, tableToBytes } from "../../src/io/index.js";
import { sourceOf } from "../../src/io/source.js";
import { rounds } from "../helpers/rounds.js";
import { texts, types } from "./contents.js";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const one = async (text: string) =>
  (await readTable(bytesOf(`a\n${text}\n`), { format: "csv" })).getChildAt(0);

const PIECES = [
  ..."\0\u0001\u001a\u001b\u007f\u0085\u2028\ufeff\ufffe\u00a0 \t\r\n\",';|#\\=+-_.0eE9xN",
  "\r\n",
  '""',
  "ä",
  "🂡",
  "null",
  "NaN",
  "Infinity",
  "true",
  "1e5",
  "1e400",
  "007",
  "+1",
  "0x1F",
  "1_000",
  "9007199254740993",
  "9223372036854775808",
  "2024-02-29",
  "2024-02-30",
  "2024-02-29T12:30:59.123456789Z",
];
/** Values by chance, again and again the same of a seed. */
type Chance = (below: number) => number;

function chanceOf(seed: number): Chance {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return Math.floor(((state >>> 0) / 2 ** 32) * below);
  };
}

const text = (chance: Chance) =>
  Array.from({ length: chance(5) }, () => PIECES[chance(PIECES.length)]).join("");

const ENDS = [0n, 1n, -1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n)];
/** Near 0, at the ends, or of any 64 bits. */
function wide(chance: Chance): bigint {
  const bits = BigInt(chance(2 ** 32)) * 2n ** 32n + BigInt(chance(2 ** 32));
  return [ENDS[chance(ENDS.length)], BigInt.asIntN(64, bits), BigInt.asIntN(44, bits)][chance(3)];
}

const FLOATS = [
  -0,
  5e-324,
  1.7976931348623157e308,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 63),
  0.1 + 0.2,
  1e21,
  Number.NaN,
];
const float = (chance: Chance) =>
  [
    () => FLOATS[chance(FLOATS.length)],
    () => new Float64Array(BigInt64Array.of(wide(chance)).buffer)[0],
    () => chance(1000) / 8,
  ][chance(3)]();

/** A type, its values, and whether 64-bit integers stand for them that flechette would not take as they are. */
interface Kind {
  readonly type: DataType;
  readonly values: (chance: Chance) => unknown;
  readonly stored?: boolean;
}

const KINDS: Kind[] = [
  { type: utf8(), values: text },
  { type: dictionary(utf8()), values: text },
  { type: int8(), values: (chance) => chance(256) - 128 },
  { type: int64(), values: wide },
  { type: uint64(), values: (chance) => BigInt.asUintN(64, wide(chance)) },
  { type: float64(), values: float },
  { type: float32(), values: (chance) => Math.fround(float(chance)) },
  { type: bool(), values: (chance) => chance(2) === 1 },
  { type: nullType(), values: () => null },
  { type: decimal(38, 5, 128), values: wide },
  { type: dateDay(), values: (chance) => (chance(3_652_425) - 719_528) * 864e5 },
  { type: dateMillisecond(), values: (chance) => (wide(chance) / 86_400_000n) * 86_400_000n, stored: true },
  { type: timeNanosecond(), values: wide, stored: true },
  { type: duration(TimeUnit.MICROSECOND), values: wide, stored: true },
  ...[TimeUnit.SECOND, TimeUnit.MILLISECOND, TimeUnit.MICROSECOND, TimeUnit.NANOSECOND].flatMap((unit) =>
    [null, "UTC"].map((zone): Kind => ({ type: timestamp(unit, zone), values: wide, stored: true })),
  ),
];

function columnOf({ type, stored }: Kind, values: readonly unknown[]): Column<unknown> {
  if (!stored) return columnFromArray(values as unknown[], type) as Column<unknown>;
  const column = columnFromArray(values as bigint[], int64());
  (column as { type: DataType }).type = type;
  for (const batch of column.data) (batch as { type: DataType }).type = type;
  // as it comes out of a file: of batches of its type
  return tableFromIPC(tableToIPC(tableFromColumns({ column }), {}) as Uint8Array, RAW).getChildAt(0);
}

function tableOf(seed: number): Table {
  const chance = chanceOf(seed);
  const rows = 1 + chance(12);
  const columns = new Map<string, Column<unknown>>();
  for (let i = 0, count = 1 + chance(5); i < count; i++) {
    const kind = KINDS[chance(KINDS.length)];
    const values = Array.from({ length: rows }, () => (chance(5) === 0 ? null : kind.values(chance)));
    columns.set(text(chance) || "unnamed", columnOf(kind, values));
  }
  return tableFromColumns([...columns]);
}

async function* cut(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const end of [...new Set(cuts.map((each) => each % (bytes.length + 1)))].sort((a, b) => a - b)) {
    yield bytes.slice(at, end);
    at = end;
  }
  yield bytes.slice(at);
}

const calls = fc.record({
  seed: fc.integer(),
  delimiter: fc.constantFrom(",", "\t", ";", "'", " "),
  header: fc.boolean(),
  cuts: fc.array(fc.nat(2000), { maxLength: 6 }),
  threads: fc.constantFrom(1, 1, 1, 2, 3),
  block: fc.constantFrom(3, 7, 64, 2 ** 20),
});

it("any table is read as it was written, for any cut and any number of threads", async () => {
  const check = fc.asyncProperty(calls, async ({ seed, delimiter, header, cuts, threads, block }) => {
    const table = tableOf(seed);
    const bytes = await tableToBytes(table, { format: "csv", delimiter, header });
    const written = texts(table);
    // of blank lines alone there is no telling that they are a column
    fc.pre(
      header || Object.values(written).some((values, i) => i > 0 || values.some((value) => value !== null)),
    );
    const names = header ? table.names.map(String) : table.names.map((_, i) => `column_${i + 1}`);
    const wanted = Object.fromEntries(names.map((name, i) => [name, written[table.names[i]]]));
    const asText = Object.fromEntries(names.map((name) => [name, "utf8" as const]));
    const reading = { delimiter, header };
    const read = (options: object, source = sourceOf(cut(bytes, cuts), "cut")) =>
      readCsv(source, { ...reading, ...options }, { block, large: 0 });
    expect(texts(await read({ types: asText, threads }))).toEqual(wanted);
    const whole = await readTable(bytes, { ...reading, format: "csv" });
    const inPieces = await read({ threads });
    expect([texts(inPieces), types(inPieces)]).toEqual([texts(whole), types(whole)]);
    for (const [name, values] of Object.entries(texts(whole))) {
      const type = types(whole)[name];
      for (const [row, value] of values.entries()) expectSame(type, wanted[name][row], value);
    }
  });
  await fc.assert(check, { numRuns: rounds(40) });
}, 600_000);

/** What a type was inferred for means what the text did. */
function expectSame(type: string, written: string | null, read: string | null): void {
  if (type === "utf8") expect(read).toBe(written);
  else if (written === null || written === "") expect(read).toBe(null);
  else if (/^int|^float/.test(type)) {
    expect(Number(read)).toBe(Number(written));
    if (/^-?\d+$/.test(written))
      expect(
        BigInt(Number(read) === Number(written) && type === "float64" ? Number(read) : (read as string)),
      ).toBe(BigInt(written));
  } else if (type === "bool") expect(read).toBe(written.toLowerCase());
  else expect(Date.parse(`${read}`)).toBe(Date.parse(written.replace(" ", "T")));
}

describe("U+0000", () => {
  it("in names and values is read back, wherever the stream is cut", async () => {
    const table = { "a\0": ["x\0y", "\0"], b: [1, 2] };
    const bytes = await tableToBytes(table, { format: "csv" });
    for (let at = 0; at <= bytes.length; at++) {
      const read = await readTable(cut(bytes, [at]), { format: "csv" });
      expect(texts(read)).toEqual({ "a\0": ["x\0y", "\0"], b: ["1", "2"] });
    }
  });

  it("outside quotes is a sign of binary data in the first line alone, wherever the stream is cut", async () => {
    const right = bytesOf("a,b\nx\0y,1\n");
    const wrong = bytesOf("a\0,b\nx,1\n");
    for (let at = 0; at <= right.length; at++) {
      expect((await readTable(cut(right, [at]), { format: "csv" })).at(0)).toEqual({ a: "x\0y", b: 1 });
      const refused = readTable(cut(wrong, [at]), { format: "csv" });
      await expect(refused).rejects.toThrow("is not a CSV file: it is not text");
    }
  });
});

it.each([true, false])(
  "a first name or value that begins with U+FEFF keeps it: header %s",
  async (header) => {
    const table = tableFromColumns({ "\ufeffa": columnFromArray(["\ufeff\ufeffx", "\ufeffy"], utf8()) });
    for (const source of [table, [table, table]]) {
      const bytes = await tableToBytes(source, { format: "csv", header });
      const times = source === table ? 1 : 2;
      const values = Array.from({ length: times }, () => ["\ufeff\ufeffx", "\ufeffy"]).flat();
      const read = await readTable(bytes, { format: "csv", header });
      expect(texts(read)).toEqual({ [header ? "\ufeffa" : "column_1"]: values });
    }
  },
);

describe("numbers whose digits a float64 would round", () => {
  it.each([
    "9007199254740993e0",
    "9007199254740993E+0",
    "-9007199254740993e0",
    "90071992547409930e-1",
    "9007199254740993.0e0",
    "9007199254740993.5e+00",
    "900719925474099355e-2",
    "1234567890123456789e5",
    "18446744073709551617e0",
    "1e400",
    "1e-400",
    "0x1F",
    "1_000",
    "00.5",
    "1e",
    "e5",
    ".",
    "-",
    "--1",
    "+1e5",
  ])("%s is text", async (number) => {
    expect((await one(number)).at(0)).toBe(number);
  });

  it.each([
    ["9007199254740992e0", 2 ** 53],
    ["90071992547409920e-1", 2 ** 53],
    ["9007199254740993e-17", 0.09007199254740993],
    ["9.007199254740993e15", 2 ** 53],
    ["1.2345678901234567e+24", Number("1234567890123456800000000")],
    ["0000000000000000e999999999", undefined],
    ["0e999999999", 0],
    ["0.00000000000000000000e99", 0],
    ["-.5", -0.5],
    ["5.", 5],
    ["1E5", 100_000],
    ["4.9e-324", 5e-324],
  ])("%s is %s", async (number, value) => {
    const column = await one(number);
    expect(column.at(0)).toBe(value ?? number);
  });

  it("are an error where a float64 is asked for", async () => {
    const call = readTable(bytesOf("a\n9007199254740993e0\n"), { format: "csv", types: { a: "float64" } });
    await expect(call).rejects.toThrow(FileError);
  });
});
