/** CSV text by chance, in pieces of any size, against what it was made of; and the two ways to tell what a value is. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { type ReadOptions, readTable } from "../../src/io/index.js";
import { rounds } from "../helpers/rounds.js";
import { texts, types } from "./contents.js";

/** The text in pieces, cut before these bytes. */
async function* pieces(text: string, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  const places = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
  for (const [i, place] of [...places, bytes.length].entries()) yield bytes.slice(places[i - 1] ?? 0, place);
}

const field = fc.record({
  value: fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 8 }),
    fc.string({ unit: fc.constantFrom('"', ",", ";", "\t", "'", "\n", "\r", "é", "a"), maxLength: 6 }),
  ),
  quoted: fc.boolean(),
});

const syntaxes: Pick<ReadOptions, "format" | "delimiter" | "quote">[] = [
  { format: "csv" },
  { format: "tsv" },
  { format: "csv", delimiter: ";", quote: "'" },
  { format: "csv", quote: "" },
];

it("records are read as they were written", async () => {
  const random = fc.record({
    syntax: fc.constantFrom(...syntaxes),
    header: fc.boolean(),
    rows: fc
      .integer({ min: 1, max: 3 })
      .chain((columns) =>
        fc.array(fc.array(field, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 8 }),
      ),
    ends: fc.constantFrom(["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"]),
    last: fc.boolean(),
    cuts: fc.array(fc.nat(), { maxLength: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(random, async ({ syntax, header, rows, ends, last, cuts }) => {
      const delimiter = syntax.delimiter ?? (syntax.format === "tsv" ? "\t" : ",");
      const quote = syntax.quote ?? '"';
      const cells = rows.map((row) =>
        row.map(({ value, quoted }) => {
          if (quote === "") {
            const value0 = value.replaceAll(delimiter, "").replace(/[\r\n]/g, "");
            return { value: value0 || null, text: value0 };
          }
          const must = [delimiter, quote, "\n", "\r"].some((part) => value.includes(part));
          const text = quoted || must ? quote + value.replaceAll(quote, quote + quote) + quote : value;
          return { value: text === "" ? null : value, text };
        }),
      );
      // a blank line is left out where there are several columns; in others it is a null
      const names = rows[0].map((_, i) => `n${i}`);
      const lines = cells.map((row) => row.map(({ text }) => text).join(delimiter));
      // the last end makes a null only where a field is before it
      const text = [...(header ? [names.join(delimiter)] : []), ...lines]
        .map(
          (line, i, all) => line + (i + 1 < all.length || last || line === "" ? ends[i % ends.length] : ""),
        )
        .join("");
      const asked = Object.fromEntries(
        names.map((name, i) => [header ? name : `column_${i + 1}`, "utf8" as const]),
      );
      fc.pre(header || lines[0] !== "");
      const table = await readTable(pieces(text, cuts), { ...syntax, header, types: asked });
      expect(Object.values(texts(table))).toEqual(names.map((_, i) => cells.map((row) => row[i].value)));
    }),
    { numRuns: rounds(150) },
  );
});

it("values have the same type and value however they are looked at", async () => {
  const letters = fc.string({ unit: fc.constantFrom(..."00112359..-+eETZ: "), minLength: 1, maxLength: 12 });
  const two = (max: number) => fc.integer({ min: 0, max }).map((n) => String(n).padStart(2, "0"));
  const day = fc
    .tuple(fc.integer({ min: 0, max: 9999 }), two(13), two(32))
    .map(([year, month, date]) => `${String(year).padStart(4, "0")}-${month}-${date}`);
  const time = fc
    .tuple(day, fc.constantFrom("T", " "), two(25), two(61), two(61))
    .map(([date, t, h, m, s]) => `${date}${t}${h}:${m}:${s}`);
  const number = fc.oneof(fc.integer(), fc.double(), fc.maxSafeInteger()).map(String);
  const value = fc.oneof(letters, day, time, number).filter((text) => text.trim() === text);
  await fc.assert(
    fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 4 }), async (values) => {
      const bytes = new TextEncoder().encode(`x,y\n${values.map((text) => `${text},\n`).join("")}`);
      const table = await readTable(bytes, { format: "csv" });
      const [type, read] = [types(table).x, texts(table).x];
      expect(type).toBe(typeOf(values));
      for (const [i, text] of values.entries()) {
        if (type === "utf8") expect(read[i]).toBe(text);
        else if (/^(int|float)/.test(type)) expect(Number(read[i])).toBe(Number(text));
        else expect(timeOf(read[i] ?? "")).toBe(timeOf(text));
      }
    }),
    { numRuns: rounds(700) },
  );
});

function timeOf(text: string): number {
  return Date.parse(text.length === 10 ? text : `${text.replace(" ", "T")}Z`);
}

const INT = /^(?:0|-?[1-9]\d*)$/;
const DECIMAL = /^-?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** The rules of docs/files.md, for values without fractions of a second and without zones. */
function typeOf(values: readonly string[]): string {
  const isInt = (text: string) => INT.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
  if (values.every(isInt)) {
    return values.every((text) => Number(text) === (Number(text) | 0)) ? "int32" : "int64";
  }
  const exact = (text: string) => !INT.test(text) || BigInt(Number(text)) === BigInt(text);
  const isFloat = (text: string) =>
    /^(?:NaN|-?Infinity)$/.test(text) ||
    (DECIMAL.test(text) &&
      Number.isFinite(Number(text)) &&
      (Number(text) !== 0 || !/^[^eE]*[1-9]/.test(text)) &&
      exact(/^-?\d+(?=\.|$)/.exec(text)?.[0] ?? "0"));
  if (values.every(isFloat)) return "float64";
  const isDay = (text: string) =>
    /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text;
  const isTime = (text: string) =>
    /^.{10}[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$/.test(text) && isDay(text.slice(0, 10));
  if (values.every(isDay)) return "date32";
  return values.every((text) => isDay(text) || isTime(text)) ? "timestamp[us]" : "utf8";
}
