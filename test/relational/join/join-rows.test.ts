// The cpu engine's row join against nested loops: forced hash collisions, every plan (index array, one part, many parts),
// packed and unpacked strings, nulls, limits, abort and progress.
import { describe, expect, it } from "vitest";
import { CodedBytes } from "../../../src/engine/coded-bytes.js";
import { joinRows } from "../../../src/engine/cpu/join/join-rows.js";
import { indexRows } from "../../../src/engine/cpu/join/row-index.js";
import type { ByteColumn, KeyColumn, RowKeys, RowPairs, WordColumn } from "../../../src/engine/rows.js";
import { LimitError } from "../../../src/index.js";
import { covering } from "../../helpers/rounds.js";
import { Random } from "../helpers/random.js";

type Value = number | bigint | string | null;

function validityOf(values: readonly Value[]): Uint8Array | null {
  if (!values.includes(null)) return null;
  const bits = new Uint8Array((values.length + 7) >> 3);
  values.forEach((value, row) => {
    if (value !== null) bits[row >> 3] |= 1 << (row & 7);
  });
  return bits;
}

/** Nulls hold something that must not be looked at. */
function words(values: readonly Value[], width = 1): WordColumn {
  const data = new Uint32Array(values.length * width);
  values.forEach((value, row) => {
    const bits = value === null ? BigInt(row) * 7n : BigInt(value);
    for (let k = 0; k < width; k++) data[row * width + k] = Number((bits >> BigInt(32 * k)) & 0xffffffffn);
  });
  return { kind: "words", width, data, validity: validityOf(values) };
}

function strings(values: readonly Value[]): ByteColumn {
  const encoded = values.map((value) => new TextEncoder().encode(String(value ?? "")));
  const bytes = new Uint8Array(encoded.reduce((sum, each) => sum + each.length, 0));
  const starts = new Uint32Array(values.length);
  const ends = new Uint32Array(values.length);
  let at = 0;
  encoded.forEach((each, row) => {
    // the range of a null is garbage
    starts[row] = values[row] === null ? 4_000_000_000 : at;
    bytes.set(each, at);
    at += each.length;
    ends[row] = values[row] === null ? (row * 31) >>> 0 : at;
  });
  return { kind: "bytes", starts, ends, bytes, validity: validityOf(values) };
}

function keys(...columns: KeyColumn[]): RowKeys {
  const [first] = columns;
  return { rows: first.kind === "words" ? first.data.length / first.width : first.starts.length, columns };
}

/** A pair as a number: numbers are sorted far faster than texts. */
const pairOf = (left: number, right: number) => left * 2 ** 26 + right;
const textOf = (pair: number) => `${Math.floor(pair / 2 ** 26)} ${pair % 2 ** 26}`;

function pairsOf({ left, right }: RowPairs): Float64Array {
  return Float64Array.from(left, (row, i) => pairOf(row, right[i])).sort();
}

function sorted(pairs: RowPairs): string[] {
  return Array.from(pairsOf(pairs), textOf);
}

/** What nested loops over the values find. */
function expectedPairs(
  left: readonly (readonly Value[])[],
  right: readonly (readonly Value[])[],
  nullsEqual: boolean,
): Float64Array {
  const text = (columns: readonly (readonly Value[])[], row: number) =>
    columns.map((c) => (c[row] === null ? "null" : `=${c[row]}`)).join();
  const hasNull = (columns: readonly (readonly Value[])[], row: number) =>
    columns.some((c) => c[row] === null);
  const rightRows = new Map<string, number[]>();
  right[0].forEach((_, row) => {
    if (!nullsEqual && hasNull(right, row)) return;
    const key = text(right, row);
    const rows = rightRows.get(key);
    if (rows) rows.push(row);
    else rightRows.set(key, [row]);
  });
  const pairs: number[] = [];
  left[0].forEach((_, row) => {
    if (!nullsEqual && hasNull(left, row)) return;
    for (const match of rightRows.get(text(left, row)) ?? []) pairs.push(pairOf(row, match));
  });
  return Float64Array.from(pairs).sort();
}

const expected = (...sides: Parameters<typeof expectedPairs>) => Array.from(expectedPairs(...sides), textOf);

const random = new Random(7);
const draw = (rows: number, make: () => Value): Value[] => Array.from({ length: rows }, make);
const orNull = (value: Value): Value => (random.below(9) === 0 ? null : value);

/** Columns of a shape, and how to hand them over. */
const shapes: Record<
  string,
  { columns: (rows: number) => Value[][]; encode: ((values: readonly Value[]) => KeyColumn)[] }
> = {
  "one word, close together": { columns: (n) => [draw(n, () => random.below(n))], encode: [words] },
  "one word, far apart": {
    columns: (n) => [draw(n, () => Math.imul(random.below(n), 0x9e3779b1) >>> 0)],
    encode: [words],
  },
  "one word, negative and positive": {
    columns: (n) => [draw(n, () => (random.below(n) - (n >> 1)) >>> 0)],
    encode: [words],
  },
  "one word with nulls": { columns: (n) => [draw(n, () => orNull(random.below(n)))], encode: [words] },
  "all values at the edges": {
    columns: (n) => [draw(n, () => [0, 0xffffffff, 0xfffffffe, 1, 0x80000000, 0x7fffffff][random.below(6)])],
    encode: [words],
  },
  "two words": {
    columns: (n) => [draw(n, () => BigInt(random.below(n)) << 31n)],
    encode: [(v) => words(v, 2)],
  },
  "eight words with nulls": {
    columns: (n) => [draw(n, () => orNull(BigInt(random.below(n)) << 200n))],
    encode: [(v) => words(v, 8)],
  },
  "short strings": { columns: (n) => [draw(n, () => random.below(n).toString(36))], encode: [strings] },
  "strings of 0 to 40 bytes with nulls": {
    columns: (n) => [draw(n, () => orNull("x".repeat(random.below(41)) + random.below(4)))],
    encode: [strings],
  },
  "long strings": {
    columns: (n) => [draw(n, () => `${"prefix ".repeat(6)}${random.below(n)}`)],
    encode: [strings],
  },
  "mixed with nulls": {
    columns: (n) => [
      draw(n, () => orNull(random.below(6))),
      draw(n, () => orNull(`${"y".repeat(random.below(45))}`)),
      draw(n, () => orNull(BigInt(random.below(3)) << 64n)),
      draw(n, () => orNull("abc".slice(random.below(3)))),
    ],
    encode: [words, strings, (v) => words(v, 3), strings],
  },
};

describe.each(Object.entries(shapes))("keys of %s", (_, { columns, encode }) => {
  const encoded = (values: Value[][]) => keys(...values.map((column, c) => encode[c](column)));

  it.each([
    [0xffffffff, 900, 700],
    [0xffffffff, 300, 1100],
    [0x3, 500, 300],
    [0, 300, 400],
  ])("hash mask %i, %i and %i rows", async (hashMask, leftRows, rightRows) => {
    const left = columns(leftRows);
    const right = columns(rightRows);
    for (const nullsEqual of [false, true]) {
      const pairs = await joinRows(encoded(left), encoded(right), { nullsEqual }, hashMask);
      expect(sorted(pairs)).toEqual(expected(left, right, nullsEqual));
    }
  });
});

describe("large sides", () => {
  const names = [
    "one word, far apart",
    "two words",
    "short strings",
    "mixed with nulls",
    "one word with nulls",
  ];
  // parts are made of hashes, whatever the keys are
  it.each(covering(names, (name) => name === "one word, far apart" || name === "mixed with nulls"))(
    "are joined part by part: %s",
    async (name) => {
      const { columns, encode } = shapes[name];
      const rows = 140_000;
      // many-to-many on few values would be too many pairs
      const distinct = (values: Value[][]) =>
        name === "mixed with nulls"
          ? [draw(rows, () => orNull(random.below(rows))), ...values.slice(1)]
          : values;
      const left = distinct(columns(rows));
      const right = distinct(columns(rows));
      const encoded = (values: Value[][]) => keys(...values.map((column, c) => encode[c](column)));
      const many = name === "one word with nulls"; // a ninth of both sides is null: 240 million pairs
      const ways = many ? [false] : covering([false, true], (equal) => equal === name.includes("nulls"));
      for (const nullsEqual of ways) {
        const pairs = await joinRows(encoded(left), encoded(right), { nullsEqual });
        const want = expectedPairs(left, right, nullsEqual);
        expect(pairs.left.length).toBe(want.length);
        const got = pairsOf(pairs);
        // long arrays take `expect` long
        const at = got.findIndex((pair, i) => pair !== want[i]);
        if (at >= 0) expect(textOf(got[at])).toBe(textOf(want[at]));
      }
    },
  );

  // Row i has key i modulo `keys`, and a null in the first column when i is a multiple of 7.
  function cyclic(rows: number, count: number): RowKeys {
    const key = (row: number) => row % count;
    const data = Uint32Array.from({ length: 2 * rows }, (_, k) =>
      k & 1 ? 5 : Math.imul(key(k >> 1), 0x9e3779b1),
    );
    const validity = new Uint8Array((rows + 7) >> 3);
    for (let row = 0; row < rows; row++) if (row % 7 !== 0) validity[row >> 3] |= 1 << (row & 7);
    const texts = [(k: number) => k.toString(36), (k: number) => `${"long ".repeat(14)}${k}`].map((text) => {
      const pool = strings(Array.from({ length: count }, (_, k) => text(k)));
      const pick = (from: Uint32Array) => Uint32Array.from({ length: rows }, (_, row) => from[key(row)]);
      return { ...pool, starts: pick(pool.starts), ends: pick(pool.ends) };
    });
    return { rows, columns: [{ kind: "words", width: 2, data, validity }, ...texts] };
  }

  it.each([
    ["one part", 500, 1000],
    ["many parts", 140_000, 150_000],
  ])("are looked up range by range in %s", async (_, buildRows, count) => {
    const probeRows = 2 ** 20 + 3001;
    const [build, probe] = [cyclic(buildRows, count), cyclic(probeRows, count)];
    for (const nullsEqual of covering([false, true], (equal) => equal === buildRows > 1000)) {
      const { left, right } = await joinRows(probe, build, { nullsEqual });
      let at = 0;
      for (let row = 0; row < probeRows; row++) {
        const match = row % count;
        const nulls = [row, match].filter((each) => each % 7 === 0).length;
        const same = match < buildRows && (nulls === 0 || (nulls === 2 && nullsEqual));
        if (!same) continue;
        if (left[at] !== row || right[at] !== match)
          expect.fail(`pair ${at}: ${left[at]} ${right[at]}, not ${row} ${match}`);
        at++;
      }
      expect(left.length).toBe(at);
      expect(at).toBeGreaterThan(300_000);
    }
  });

  it("of one key only", async () => {
    const left = keys(words(draw(200_000, () => 5)));
    const right = keys(words(draw(3, () => 5)));
    const pairs = await joinRows(left, right, { nullsEqual: false });
    expect(pairs.left.length).toBe(600_000);
    expect(new Set(Array.from(pairs.left, (row, i) => row * 3 + pairs.right[i])).size).toBe(600_000);
  });
});

describe("collisions", () => {
  it("10,000 rows whose hashes are all equal join right", async () => {
    const values = draw(10_000, () => null).map((_, row) => BigInt(row) << 33n);
    const left = keys(words(values, 3));
    const right = keys(words([...values].reverse(), 3));
    const { left: leftRows, right: rightRows } = await joinRows(left, right, { nullsEqual: false }, 0);
    expect(leftRows.length).toBe(10_000);
    leftRows.forEach((row, i) => {
      if (row + rightRows[i] !== 9_999) expect(row + rightRows[i]).toBe(9_999);
    });
  });

  it("strings that differ only after 31 equal bytes, or in length, or in a last zero byte", async () => {
    const base = "b".repeat(31);
    const left = [base, `${base}a`, `${base}b`, `${base}\0`, "", "\0", "\0\0", "a", "a\0"];
    const right = [...left].reverse();
    for (const mask of [0xffffffff, 0]) {
      const pairs = await joinRows(keys(strings(left)), keys(strings(right)), { nullsEqual: true }, mask);
      expect(sorted(pairs)).toEqual(left.map((_, row) => `${row} ${left.length - 1 - row}`).sort());
    }
  });

  it("strings that end in zero bytes on the larger side only", async () => {
    const left = ["a\0", "a", "\0", "", "abcd\0", "abcd", "abc\0", "abcdefg\0\0"];
    const right = ["a", "", "abcd", "abcdefghi"];
    const pairs = await joinRows(keys(strings(left)), keys(strings(right)), { nullsEqual: false });
    expect(sorted(pairs)).toEqual(["1 0", "3 1", "5 2"]);
    const short = await joinRows(keys(strings(left)), keys(strings(right.slice(0, 3))), {
      nullsEqual: false,
    });
    expect(sorted(short)).toEqual(["1 0", "3 1", "5 2"]);
  });

  it("strings that all begin with the same bytes on the smaller side, coded and not", async () => {
    const random = new Random(91);
    for (const length of [3, 4, 5, 8, 9, 15, 40, 70]) {
      const common = "a shared \0 beginning, ".repeat(4).slice(0, length);
      const tails = ["", "x", "y\0z", "1234", "12345", "12345678", null];
      const small = tails.map((tail) => (tail === null ? null : common + tail));
      const changed = (text: string) => {
        const at = random.below(text.length + 1);
        return text.slice(0, at) + ["", "?", "\0"][random.below(3)] + text.slice(at + random.below(2));
      };
      const large = Array.from({ length: 300 }, (_, i): string | null => {
        const text = small[i % small.length];
        return text === null || i % 3 > 0 ? text : changed(text);
      });
      for (const nullsEqual of [false, true]) {
        for (const without of [small, small.slice(1), [`${common}x`], [null, null]]) {
          const codes = Uint8Array.from(without.keys());
          for (const side of [
            strings(without),
            new CodedBytes(strings(without), codes, validityOf(without)),
          ]) {
            const pairs = await joinRows(keys(strings(large)), keys(side), { nullsEqual });
            expect(sorted(pairs)).toEqual(expected([large], [without], nullsEqual));
            const index = await indexRows(keys(side), { nullsEqual });
            expect(sorted(await index.pairs(keys(strings(large)), "left", "inner", {}))).toEqual(
              sorted(pairs),
            );
            index.destroy();
          }
        }
      }
    }
  });

  it("a null in one column is not a null in another, of more than 32", async () => {
    const side = (nullColumn: number) =>
      keys(...Array.from({ length: 70 }, (_, c) => words([c === nullColumn ? null : 0])));
    for (const column of [0, 31, 32, 63, 64, 69]) {
      for (const other of [0, 31, 32, 63, 64, 69]) {
        const { left } = await joinRows(side(column), side(other), { nullsEqual: true });
        expect(left.length, `${column} ${other}`).toBe(column === other ? 1 : 0);
      }
    }
  });

  it("a null is not the value under it, and not an empty string", async () => {
    const left = keys(words([0, null, 7]), strings(["", null, null]));
    const right = keys(words([0, null, 7, 7]), strings(["", null, null, ""]));
    expect(sorted(await joinRows(left, right, { nullsEqual: true }))).toEqual(["0 0", "1 1", "2 2"]);
    expect(sorted(await joinRows(left, right, { nullsEqual: false }))).toEqual(["0 0"]);
  });
});

describe("strings given as codes", () => {
  const texts = [
    "a",
    "bb",
    "",
    "too long for the other side",
    "ends in zero\0",
    null,
    `${"by range ".repeat(9)}`,
  ];

  it.each([
    ["short strings", ["a", "", "bb", "ccc"]],
    ["a dictionary of more strings than rows", ["a"]],
    ["strings of all lengths", ["a", "", null, `${"by range ".repeat(9)}`, "bb", "ends in zero\0", "bb"]],
  ])("match %s", async (_, others) => {
    const codes = Uint8Array.from({ length: 50 }, (_, row) =>
      row % 11 === 10 ? 3 : (row * 3) % texts.length,
    );
    // the last one's null is in the codes, and its code is that of another string
    const values = Array.from(codes, (code, row) => (row % 11 === 10 ? null : texts[code]));
    for (const rows of [50, 5]) {
      const left = [values.slice(0, rows)];
      const coded = new CodedBytes(strings(texts), codes.subarray(0, rows), validityOf(left[0]));
      for (const nullsEqual of [false, true]) {
        const pairs = await joinRows(keys(coded), keys(strings(others)), { nullsEqual });
        expect(sorted(pairs)).toEqual(expected(left, [others], nullsEqual));
        const swapped = await joinRows(keys(strings(others)), keys(coded), { nullsEqual });
        expect(sorted(swapped)).toEqual(expected([others], left, nullsEqual));
      }
    }
  });

  it("are ranges to whoever asks for ranges", () => {
    const plain = strings(["x", "yy"]);
    const coded = new CodedBytes(plain, Uint16Array.of(1, 0, 1), null);
    expect([Array.from(coded.starts), Array.from(coded.ends)]).toEqual([
      [1, 0, 1],
      [3, 1, 3],
    ]);
    expect(coded.bytes).toBe(plain.bytes);
  });
});

describe("limits, abort, progress", () => {
  it("more pairs than rows have numbers is a LimitError with the number", async () => {
    const side = keys(words(draw(60_000, () => 1)));
    const call = joinRows(side, side, { nullsEqual: false });
    await expect(call).rejects.toThrow(LimitError);
    await expect(call).rejects.toMatchObject({ limit: "rows", need: 3_600_000_000, have: 2 ** 31 - 1 });
  });

  it("stops with the signal's reason before and while it runs", async () => {
    const side = keys({
      kind: "words",
      width: 1,
      data: Uint32Array.from({ length: 3 * 2 ** 20 }, (_, i) => i),
      validity: null,
    });
    const reason = new Error("enough");
    await expect(joinRows(side, side, { nullsEqual: false, signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
    const abort = new AbortController();
    const call = joinRows(side, side, {
      nullsEqual: false,
      signal: abort.signal,
      onProgress: () => abort.abort(reason),
    });
    await expect(call).rejects.toBe(reason);
  });

  it("progress grows to the rows of both sides, and timers run meanwhile", async () => {
    const side = keys({
      kind: "words",
      width: 1,
      data: Uint32Array.from({ length: 2 ** 20 + 5 }, (_, i) => Math.imul(i, 0x9e3779b1)),
      validity: null,
    });
    const seen: number[] = [];
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    await joinRows(side, side, {
      nullsEqual: false,
      onProgress: (done, total) => {
        expect(total).toBe(2 ** 21 + 10);
        seen.push(done);
      },
    });
    clearInterval(timer);
    expect(seen.length).toBeGreaterThan(1);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).toBe(2 ** 21 + 10);
    expect(turns).toBeGreaterThan(0);
  });
});

describe("semi joins of rows", () => {
  it("list every left row that matches once, in order, whichever side is built, however the keys collide", async () => {
    const random = new Random(7);
    const values = (rows: number) => Array.from({ length: rows }, () => random.below(9) || null);
    for (const [leftRows, rightRows] of [
      [40, 300],
      [300, 40],
      [0, 5],
      [5, 0],
    ]) {
      const [left, right] = [values(leftRows), values(rightRows).map((key) => (key === 4 ? 5 : key))];
      for (const nullsEqual of [false, true]) {
        const matches = (key: number | null) => (nullsEqual || key !== null) && right.includes(key);
        const expected = Array.from(left.keys()).filter((row) => matches(left[row]));
        for (const make of [words, strings]) {
          for (const mask of [0, 0xffffffff]) {
            // more pairs than the call takes are no matter: none is written
            const call = { nullsEqual, mostPairs: 1 };
            const found = await joinRows(keys(make(left)), keys(make(right)), call, mask, undefined, "semi");
            expect(Array.from(found.left)).toEqual(expected);
          }
        }
      }
    }
  });
});
