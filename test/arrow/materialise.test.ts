// Chunks: putting together, slicing, gathering, and the limits; results in several record batches.
import * as flechette from "@uwdata/flechette";
import { describe, expect, it } from "vitest";
import { alignBits, appendBits } from "../../src/arrow/bitmaps.js";
import type { Chunk } from "../../src/arrow/chunk.js";
import { readTable } from "../../src/arrow/columns.js";
import { contiguous } from "../../src/arrow/contiguous.js";
import { gather } from "../../src/arrow/gather.js";
import { materialise } from "../../src/arrow/materialise.js";
import { sliceChunk } from "../../src/arrow/slice-chunk.js";
import { countSet } from "../../src/bitmaps.js";
import { gatherBits } from "../../src/host/gather-buffers.js";
import { gatherStrings } from "../../src/host/gather-strings.js";
import { LimitError } from "../../src/index.js";
import { Random } from "../relational/helpers/random.js";

const noPause = async () => {};

describe("bitmaps", () => {
  const random = new Random(5);
  const bits = Array.from({ length: 200 }, () => random.below(2));
  const bytes = new Uint8Array(25);
  bits.forEach((bit, i) => {
    bytes[i >> 3] |= bit << (i & 7);
  });
  const read = (bitmap: Uint8Array, length: number) =>
    Array.from({ length }, (_, i) => (bitmap[i >> 3] >> (i & 7)) & 1);

  it("align, append, count and gather bits from any bit on", () => {
    for (let from = 0; from < 20; from++) {
      for (const length of [0, 1, 7, 8, 9, 63, 64, 65, 180 - from]) {
        const part = bits.slice(from, from + length);
        const aligned = alignBits(bytes, from, length);
        expect(read(aligned, length)).toEqual(part);
        expect(countSet(aligned, length)).toBe(part.reduce((a, b) => a + b, 0));
        const target = new Uint8Array(40);
        appendBits(target, from, aligned, length);
        expect(read(target, 320)).toEqual([
          ...Array(from).fill(0),
          ...part,
          ...Array(320 - from - length).fill(0),
        ]);
        const filled = new Uint8Array(40);
        appendBits(filled, from, null, length);
        expect(countSet(filled, 320)).toBe(length);
      }
    }
    const rows = Uint32Array.from({ length: 77 }, () => random.below(200));
    expect(read(new Uint8Array(gatherBits(bytes, rows)), 77)).toEqual(Array.from(rows, (row) => bits[row]));
  });
});

describe("gathering byte strings", () => {
  const random = new Random(7);

  // many rows per value: lengths are looked up in a list
  it.each([1000, 4000])("of all lengths, from anywhere in the source, %i rows", (count) => {
    const random = new Random(6);
    const lengths = Array.from({ length: 300 }, (_, i) => (i < 130 ? i : random.below(20)));
    const offsets = new Uint32Array(301);
    lengths.forEach((length, i) => {
      offsets[i + 1] = offsets[i] + length;
    });
    const bytes = Uint8Array.from({ length: offsets[300] }, () => random.below(256));
    const rows = Uint32Array.from({ length: count }, (_, i) => (i < 300 ? 299 - i : random.below(300)));
    const [to, gathered] = gatherStrings(offsets, bytes, rows, 2 ** 20).map((buffer, i) =>
      i === 0 ? new Uint32Array(buffer) : new Uint8Array(buffer),
    );
    expect(to.length).toBe(count + 1);
    rows.forEach((row, i) => {
      expect(to[i + 1] - to[i]).toBe(lengths[row]);
    });
    rows.forEach((row, i) => {
      expect(gathered.subarray(to[i], to[i + 1])).toEqual(bytes.subarray(offsets[row], offsets[row + 1]));
    });
  });

  it.each([
    ["of one length", () => 41],
    ["of one length, longer than a copy of blocks", () => 120],
    ["of any length", () => random.below(80)],
    ["of one length but for the last", (i: number) => (i === 69_999 ? 40 : 41)],
  ])("that no cache holds, %s", (_, lengthOf) => {
    const values = 70_000;
    const offsets = new Uint32Array(values + 1);
    offsets[0] = 5; // a slice of a column
    for (let i = 0; i < values; i++) offsets[i + 1] = offsets[i] + lengthOf(i);
    const bytes = Uint8Array.from({ length: offsets[values] }, (_, i) => i * 7 + (i >> 8));
    const rows = Uint32Array.from({ length: values + 77 }, (_, i) =>
      i < 3 ? values - 1 - i : random.below(values),
    );
    const [to, gathered] = gatherStrings(offsets, bytes, rows, 2 ** 30);
    const ends = new Uint32Array(to);
    const all = Buffer.from(gathered);
    const wrong = rows.findIndex((row, i) => {
      const expected = bytes.subarray(offsets[row], offsets[row + 1]);
      return (
        ends[i + 1] - ends[i] !== expected.length ||
        all.compare(expected, 0, expected.length, ends[i], ends[i + 1]) !== 0
      );
    });
    expect(wrong).toBe(-1);
    expect(ends[0]).toBe(0);
  });

  it("of one length that offsets cannot number are refused", () => {
    const offsets = Uint32Array.from({ length: 4 }, (_, i) => i * 1000);
    const rows = Uint32Array.from({ length: 10 }, (_, i) => i % 3);
    expect(() => gatherStrings(offsets, new Uint8Array(3000), rows, 9999)).toThrow(LimitError);
  });
});

describe("results", () => {
  const table = flechette.tableFromArrays({
    n: Array.from({ length: 40 }, (_, i) => (i % 3 ? i : null)),
    s: Array.from({ length: 40 }, (_, i) => "abc".repeat(i % 5)),
    flag: Array.from({ length: 40 }, (_, i) => i % 2 === 0),
  });
  const source = readTable(table, "left");
  const outputs = source.columns.map((column) => ({
    field: column.field,
    left: { chunk: () => column.contiguous() },
  }));

  it.each([1, 7, 8, 40, 1000])("come in batches of at most %i rows", async (batchRows) => {
    for (const rows of [
      Uint32Array.from({ length: 33 }, (_, i) => (i * 7) % 40),
      Uint32Array.from({ length: 40 }, (_, i) => i),
    ]) {
      const joined = await materialise(
        outputs,
        [{ rows: rows.length, left: rows, right: rows }],
        noPause,
        undefined,
        batchRows,
      );
      expect(joined.getChild("n").data.map(({ length }) => length)).toEqual(
        Array.from({ length: Math.ceil(rows.length / batchRows) }, (_, i) =>
          Math.min(batchRows, rows.length - i * batchRows),
        ),
      );
      const read = flechette.tableFromIPC(flechette.tableToIPC(joined, {}) as Uint8Array);
      expect(read.toArray()).toEqual(Array.from(rows, (row) => table.at(row)));
    }
  });

  it("of more bytes than 32-bit offsets can number are a LimitError", () => {
    const offsets = Uint32Array.of(0, 2 ** 20);
    const chunk: Chunk = {
      layout: "bytes",
      type: flechette.utf8(),
      length: 1,
      validity: null,
      batchClass: null,
      offsets,
      bytes: new Uint8Array(2 ** 20),
    };
    expect(() => gather(chunk, new Uint32Array(2048))).toThrow(LimitError);
    expect(() => gather({ ...chunk, type: flechette.largeUtf8() }, new Uint32Array(4096))).toThrow(
      LimitError,
    );
  });
});

describe("slices and joins of chunks", () => {
  it("undo each other for every layout", () => {
    const values = Array.from({ length: 50 }, (_, i) => (i % 6 === 4 ? null : i + 1));
    const make: Record<string, [flechette.DataType, unknown[]]> = {
      bits: [flechette.bool(), values.map((v) => v && v % 2 === 0)],
      fixed: [flechette.int64(), values],
      bytes: [flechette.utf8(), values.map((v) => v && `s${v}`)],
      list: [flechette.list(flechette.utf8()), values.map((v) => v && [`a${v}`, null])],
      fixedList: [flechette.fixedSizeList(flechette.int8(), 2), values.map((v) => v && [v, 1])],
      struct: [
        flechette.struct({ a: flechette.int8(), b: flechette.utf8() }),
        values.map((v) => v && { a: v, b: "b" }),
      ],
      dictionary: [flechette.dictionary(flechette.utf8()), values.map((v) => v && `d${v % 7}`)],
      null: [flechette.nullType(), values.map(() => null)],
    };
    for (const [name, [type, column]] of Object.entries(make)) {
      const table = flechette.tableFromColumns({ c: flechette.columnFromArray(column, type) });
      const whole = readTable(table, "left").columns[0].contiguous();
      const parts = [0, 3, 3, 17, 24, 50].map((to, i, cuts) => sliceChunk(whole, cuts[i - 1] ?? 0, to));
      const joined = contiguous({ type, length: 50, chunks: parts, source: null });
      const rows = Uint32Array.from({ length: 50 }, (_, i) => i);
      expect(gather(joined, rows), name).toEqual(gather(whole, rows));
    }
  });
});

it("says how many rows do not fit into memory", async () => {
  const source = readTable(flechette.tableFromArrays({ k: new Int32Array(3) }), "left");
  const outputs = source.columns.map(({ field, contiguous }, i) => ({
    field,
    left: { chunk: () => contiguous.call(source.columns[i]) },
  }));
  const segment = { rows: 2, left: Uint32Array.of(0, 2), right: null };
  const full = async () => void new Array(2 ** 32);
  const call = materialise(outputs, [segment], full);
  await expect(call).rejects.toMatchObject({ code: "LIMIT", limit: "rows", need: 2 });
});
