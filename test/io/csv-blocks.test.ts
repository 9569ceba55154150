/** CSV read in blocks of any size, on any number of threads: the table that one block of all the text gives, or the same error. */
import { type Table, tableToIPC } from "@uwdata/flechette";
import fc from "fast-check";
import { expect, it } from "vitest";
import { BlockCutter } from "../../src/io/csv/csv-blocks.js";
import { csvBatches, readCsv } from "../../src/io/csv/csv-read.js";
import { RecordScanner } from "../../src/io/csv/csv-records.js";
import { type ReadOptions, readTable } from "../../src/io/index.js";
import { sourceOf } from "../../src/io/source.js";
import { rounds } from "../helpers/rounds.js";
import { texts, types } from "./contents.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The bytes in pieces of some lengths, again and again. */
async function* pieces(bytes: Uint8Array, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const end = at + lengths[i % lengths.length];
    yield bytes.slice(at, end);
    at = end;
  }
}

const lengths = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 });

it("cuts text where records end, and nowhere else", async () => {
  const quoted = fc
    .string({ unit: fc.constantFrom("a", "\n", "\r", ",", '"'), maxLength: 12 })
    .map((text) => `"${text.replaceAll('"', '""')}"`);
  const plain = fc.string({ unit: fc.constantFrom("a", "b", " "), maxLength: 5 });
  const field = fc.oneof({ weight: 3, arbitrary: plain }, quoted);
  const record = fc.array(field, { minLength: 1, maxLength: 3 }).map((fields) => fields.join(","));
  const line = fc.tuple(record, fc.constantFrom("\n", "\n", "\r\n", "\r")).map(([text, end]) => text + end);
  const text = fc
    .tuple(fc.array(line, { maxLength: 30 }), record)
    .map(([lines, last]) => lines.join("") + last);
  await fc.assert(
    fc.asyncProperty(text, lengths, fc.integer({ min: 1, max: 60 }), async (text, some, size) => {
      const syntax = { delimiter: 44, quote: 34 };
      const cutter = new BlockCutter(syntax, 100, size);
      const blocks: string[] = [];
      const keep = (block: Uint8Array | null) => block && blocks.push(decoder.decode(block));
      for await (const piece of pieces(encoder.encode(text), some)) keep(cutter.add(piece));
      keep(cutter.rest());
      expect(blocks.join("")).toBe(/[\r\n]$/.test(text) || text === "" ? text : `${text}\n`);
      const ends = new Set<number>();
      const bytes = encoder.encode(text);
      const scanner = new RecordScanner(syntax, 100);
      for (let at = 0; at < bytes.length; at = scanner.next) {
        scanner.scan(bytes, at, true);
        ends.add(scanner.next);
      }
      let end = 0;
      for (const block of blocks.slice(0, -1)) {
        end += block.length;
        expect(ends).toContain(end);
      }
    }),
    { numRuns: rounds(80) },
  );
});

/** Values of columns whose type widens now and then. */
const values = [
  fc.integer().map(String),
  fc.oneof(
    { weight: 30, arbitrary: fc.integer({ min: 0, max: 999 }).map(String) },
    fc.constantFrom("2147483648", "0.5", "007", "9007199254740993", "-0", "x"),
  ),
  fc.oneof(
    { weight: 30, arbitrary: fc.double({ noNaN: true }).map(String) },
    fc.constantFrom("1", "3000000000", "NaN", "1e400", ".5", "9007199254740993"),
  ),
  fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom("2024-01-02T03:04:05", "2024-01-03 23:59:59") },
    fc.constantFrom(
      "2024-01-02",
      "2300-01-01",
      "2024-01-02T03:04:05.1234567",
      "2024-01-02T03:04",
      "9999-12-31",
    ),
  ),
  fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom("2024-01-02", "1600-02-28") },
    fc.constantFrom("2024-02-30", "2024-01-02T00:00:00"),
  ),
  fc.oneof({ weight: 30, arbitrary: fc.constantFrom("true", "FALSE") }, fc.constantFrom("t")),
  fc.string({ unit: fc.constantFrom("a", "é", '"', ",", "\n", "\r", "🦊"), maxLength: 9 }),
  fc.constantFrom("", "", "", "7"),
];

/** A field as it is written, quoted where it has to be and now and then elsewhere; or empty, or "". */
function fieldOf(kind: number): fc.Arbitrary<string> {
  const written = fc.tuple(values[kind], fc.integer({ min: 0, max: 9 })).map(([text, quotes]) => {
    const must = /[",\r\n]/.test(text) || quotes === 0;
    return must ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return fc.oneof({ weight: 12, arbitrary: written }, fc.constant(""), {
    weight: 1,
    arbitrary: fc.constant('""'),
  });
}

const file = fc
  .tuple(
    fc.array(fc.nat({ max: values.length - 1 }), { minLength: 1, maxLength: 4 }),
    fc.constantFrom("\n", "\r\n", "\r"),
  )
  .chain(([kinds, end]) =>
    fc.array(fc.tuple(...kinds.map(fieldOf)), { maxLength: 60 }).map((rows) => ({
      names: kinds.map((_, i) => `c${i}`),
      text: [kinds.map((_, i) => `c${i}`), ...rows].map((row) => row.join(",") + end).join(""),
    })),
  );

type Answer = { types: object; texts: object } | { error: string };

async function answerOf(table: Promise<Table>): Promise<Answer> {
  try {
    const read = await table;
    return { types: types(read), texts: texts(read) };
  } catch (error) {
    return { error: String(error) };
  }
}

/** As one block, in blocks on one thread, and on more. */
async function answers(bytes: Uint8Array, options: ReadOptions, some: number[], block: number) {
  const whole = await answerOf(readTable(bytes, { ...options, format: "csv", name: "it", threads: 1 }));
  const others = [1, 2, 3].map((threads) =>
    answerOf(readCsv(sourceOf(pieces(bytes, some), "it"), { ...options, threads }, { block, large: 0 })),
  );
  return { whole, others: await Promise.all(others) };
}

const block = fc.integer({ min: 1, max: 400 });

it("gives the same table", async () => {
  await fc.assert(
    fc.asyncProperty(file, lengths, block, fc.boolean(), async ({ text, names }, some, size, isAsked) => {
      const options: ReadOptions = isAsked
        ? { types: { c0: "utf8", c1: "int32" }, columns: names.slice(0, 2) }
        : {};
      const { whole, others } = await answers(encoder.encode(text), options, some, size);
      for (const other of others) expect(other).toEqual(whole);
    }),
    { numRuns: rounds(60) },
  );
});

it("gives the same error for text that is damaged at one place", async () => {
  const damage = fc.constantFrom('"', ",", "\n", '"x', ",,", '\n"');
  await fc.assert(
    fc.asyncProperty(file, lengths, block, damage, fc.nat(), async ({ text }, some, size, put, at) => {
      const place = at % (text.length + 1);
      const { whole, others } = await answers(
        encoder.encode(text.slice(0, place) + put + text.slice(place)),
        {},
        some,
        size,
      );
      for (const other of others) expect(other).toEqual(whole);
    }),
    { numRuns: rounds(60) },
  );
});

it("gives the same rows in batches, whose types are settled", async () => {
  await fc.assert(
    fc.asyncProperty(file, block, async ({ text }, size) => {
      const bytes = encoder.encode(text);
      const whole = await readTable(bytes, { format: "csv" });
      for (const threads of [1, 2]) {
        const source = sourceOf(bytes, "it");
        const rows: unknown[] = [];
        for await (const table of csvBatches(source, { threads }, { block: size, large: 0 })) {
          expect(types(table)).toEqual(types(whole));
          rows.push(texts(table));
        }
        const columns = Object.keys(texts(whole)).map((name) =>
          rows.flatMap((table) => (table as Record<string, (string | null)[]>)[name]),
        );
        expect(columns).toEqual(Object.values(texts(whole)));
      }
    }),
    { numRuns: rounds(25) },
  );
});

const ipcOf = (table: Table) => tableToIPC(table, { format: "stream" }) as Uint8Array;

it("workers read what the calling thread reads", async () => {
  const rows = Array.from({ length: 160_000 }, (_, i) => {
    const late = i < 150_000 ? i : `${i}.25`;
    const text = i % 9 === 0 ? `"line ${i}\nand ""more"" ${i % 97}"` : `word${i % 1000}`;
    return `${i},${late},${text},2024-0${1 + (i % 9)}-01T00:00:${10 + (i % 50)},${i % 7 === 0 ? "" : (i % 1000) / 8},${i === 159_999 ? "x" : i % 3}`;
  });
  const bytes = encoder.encode(`id,late,text,at,f,last\n${rows.join("\n")}\n`);
  const whole = await readTable(bytes, { format: "csv", threads: 1 });
  expect(Object.values(types(whole))).toEqual([
    "int32",
    "float64",
    "utf8",
    "timestamp[us]",
    "float64",
    "utf8",
  ]);
  for (const threads of [2, 3]) {
    const table = await readTable(new Blob([bytes]).stream(), { format: "csv", threads });
    expect(Buffer.compare(ipcOf(table), ipcOf(whole))).toBe(0);
  }
  const wrong = encoder.encode(`${decoder.decode(bytes)}1,2\n`);
  for (const threads of [1, 2, 3]) {
    const read = readTable(wrong, { format: "csv", threads });
    await expect(read).rejects.toThrow(/line 177780: 2 fields where the header names 6/);
  }
}, 60_000);
