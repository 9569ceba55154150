/** The forms that keys of type utf8 come in, and what is refused. */
import { inspect } from "node:util";
import * as flechette from "@uwdata/flechette";
import * as apache from "apache-arrow";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeStrings } from "../../../src/containers/utf8/encode-strings.js";
import { readKeys } from "../../../src/containers/utf8/read-keys.js";
import { Utf8Column } from "../../../src/engine/utf8-column.js";
import { ValidationError } from "../../../src/index.js";

const words = ["", "a", "é", "\0", "😀", "word", "x".repeat(300), "ä".repeat(200), "\ufeff", "word"];

it("a column prints its first strings", () => {
  expect(inspect(encodeStrings(["a", "é"], "keys"))).toBe("Utf8Column(2) [ 'a', 'é' ]");
  const many = encodeStrings(
    Array.from({ length: 50 }, (_, i) => `word ${i}`),
    "keys",
  );
  expect(inspect(many)).toMatch(/^Utf8Column\(50\) \[\s+'word 0',[\s\S]*'word 19'\s+\] and 30 more$/);
});

describe("strings", () => {
  it("are encoded as TextEncoder does", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary", maxLength: 200 })), (strings) => {
        const { offsets, bytes } = encodeStrings(strings, "keys");
        expect(bytes).toEqual(new TextEncoder().encode(strings.join("")));
        const lengths = strings.map((string) => new TextEncoder().encode(string).length);
        expect(offsets).toEqual(Uint32Array.of(0, ...lengths.map((_, i) => sum(lengths.slice(0, i + 1)))));
      }),
    );
  });

  it.each(["\ud800", "a\udc00", "\ud800\ud800", "\udc00\ud800", "x\ud83d", `${"x".repeat(500)}\udfff`])(
    "with a lone surrogate are refused: %j",
    (string) => {
      expect(() => readKeys(["fine", string])).toThrow(/keys\[1\] has a surrogate without its other half/);
    },
  );

  it("that only together make a pair are refused", () => {
    expect(() => readKeys(["\ud83d", "\ude00"])).toThrow(ValidationError);
  });

  it("and nothing else: numbers, holes, String objects", () => {
    for (const other of [1, undefined, null, new String("x"), ["x"]]) {
      expect(() => readKeys(["x", other])).toThrow(/keys\[1\] is/);
    }
  });
});

describe("columns", () => {
  it("of Arrow are taken: utf8, large utf8, dictionaries; in several batches, and slices", () => {
    const vectors = [
      flechette.columnFromArray(words, flechette.utf8()),
      flechette.columnFromArray(words, flechette.largeUtf8()),
      flechette.columnFromArray(words, flechette.dictionary(flechette.utf8())),
      flechette.columnFromArray(words, flechette.utf8(), { maxBatchRows: 3 }),
      apache.vectorFromArray(words, new apache.Utf8()),
      apache.vectorFromArray(words, new apache.LargeUtf8()),
      apache.vectorFromArray(words),
      apache.vectorFromArray(["before", ...words, "behind"], new apache.Utf8()).slice(1, -1),
      apache.vectorFromArray(["before", ...words, "behind"]).slice(1, -1),
    ];
    for (const vector of vectors) expect(readKeys(vector).toArray()).toEqual(words);
    expect(readKeys(flechette.columnFromArray([], flechette.utf8())).length).toBe(0);
  });

  it("of Arrow with nulls, or of other types, are refused", () => {
    const withNull = ["a", null, "b"];
    const vectors = [
      flechette.columnFromArray(withNull, flechette.utf8()),
      apache.vectorFromArray(withNull, new apache.Utf8()),
    ];
    for (const vector of vectors) expect(() => readKeys(vector)).toThrow(/1 nulls/);
    expect(() => readKeys(flechette.columnFromArray([1, 2]))).toThrow(/another type than utf8/);
    expect(() => readKeys(apache.vectorFromArray([1, 2], new apache.Int32()))).toThrow(
      /another type than utf8/,
    );
  });

  it("of offsets and bytes are taken as they are, whatever they hold", () => {
    const bytes = Uint8Array.of(9, 0xff, 0xc0, 0x80, 65, 9);
    for (const offsets of [Uint32Array.of(1, 1, 2, 5), Int32Array.of(1, 1, 2, 5)]) {
      const column = readKeys({ offsets, bytes });
      expect(column.bytes).toBe(bytes);
      expect(column.toArray()).toEqual(["", "\ufffd", "\ufffd\ufffdA"]);
    }
    const column = new Utf8Column(Uint32Array.of(0, 1), bytes);
    expect(readKeys(column).length).toBe(1);
  });

  it("with wrong offsets are refused", () => {
    const bytes = new Uint8Array(10);
    const wrong = [
      Uint32Array.of(0, 5, 4),
      Uint32Array.of(0, 11),
      Int32Array.of(-1, 5),
      Int32Array.of(0, -5),
      new Uint32Array(0),
      [0, 1],
      Float64Array.of(0, 1),
    ];
    for (const offsets of wrong) expect(() => readKeys({ offsets, bytes })).toThrow(ValidationError);
    expect(() => readKeys({ offsets: Uint32Array.of(0, 1), bytes: [1] })).toThrow(ValidationError);
  });
});

it("other things are refused", () => {
  for (const other of ["a string", 7, null, undefined, {}, new Uint32Array(3), new Map()]) {
    expect(() => readKeys(other)).toThrow(/Give an array of strings/);
  }
});

it("Utf8Column reads one string, all, or from the end", () => {
  const column = readKeys(words);
  expect(column.toArray()).toEqual(words);
  expect([...column]).toEqual(words);
  expect(words.map((_, i) => column.at(i))).toEqual(words);
  expect(column.at(-1)).toBe("word");
  expect(column.at(words.length)).toBeUndefined();
  expect(column.at(-words.length - 1)).toBeUndefined();
  const many = Array.from({ length: 20_000 }, (_, i) => `${i} ascii, and more of it`);
  expect(readKeys(many).toArray()).toEqual(many);
});

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
