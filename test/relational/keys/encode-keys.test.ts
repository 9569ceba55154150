// Key encoding: what is shared with the input, exactness of widening and scaling against BigInt, canonical floats.
import * as flechette from "@uwdata/flechette";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Chunk } from "../../../src/arrow/chunk.js";
import { readTable } from "../../../src/arrow/columns.js";
import type { ByteColumn, WordColumn } from "../../../src/engine/rows.js";
import { ValidationError } from "../../../src/index.js";
import { encodeIntegers } from "../../../src/relational/keys/encode-integers.js";
import { encodeKeys } from "../../../src/relational/keys/encode-keys.js";
import { type KeyForm, keyForm } from "../../../src/relational/keys/key-types.js";

function encode(left: flechette.Column<unknown>, right = left) {
  const tables = [left, right].map((column) => readTable(flechette.tableFromColumns({ k: column }), "left"));
  const encoded = encodeKeys([tables[0].columns[0]], [tables[1].columns[0]], {
    left: tables[0].rows,
    right: tables[1].rows,
  });
  return { left: encoded.left.columns[0], right: encoded.right.columns[0] };
}

const values = (column: flechette.Column<unknown>) => column.data[0].values;

describe("encoding shares memory", () => {
  it.each([
    ["int32", flechette.columnFromArray(Int32Array.of(1, 2, 3))],
    ["uint32", flechette.columnFromArray(Uint32Array.of(1, 2, 3))],
    ["int64", flechette.columnFromArray(BigInt64Array.of(1n, 2n, 3n))],
    ["timestamp", flechette.columnFromArray([1, 2, 3], flechette.timestamp())],
    ["decimal", flechette.columnFromArray([1, 2, 3], flechette.decimal(20, 1))],
  ])("of %s columns in one batch", (_, column) => {
    expect((encode(column).left as WordColumn).data.buffer).toBe(values(column).buffer);
  });

  it("of utf8 columns, offsets and bytes", () => {
    const column = flechette.columnFromArray(["a", "bc", ""], flechette.utf8());
    const { starts, ends, bytes } = encode(column).left as ByteColumn;
    expect([starts.buffer, ends.buffer]).toEqual([
      column.data[0].offsets.buffer,
      column.data[0].offsets.buffer,
    ]);
    expect(bytes.buffer).toBe(values(column).buffer);
    expect([Array.from(starts), Array.from(ends)]).toEqual([
      [0, 1, 3],
      [1, 3, 3],
    ]);
  });

  it("of a dictionary's bytes, however many rows there are", () => {
    const column = flechette.columnFromArray(
      ["a", "b", "a", null, "b"],
      flechette.dictionary(flechette.utf8()),
    );
    const { starts, ends, bytes, validity } = encode(column).left as ByteColumn;
    const [batch] = column.data as unknown as { dictionary: flechette.Column<string> }[];
    expect(bytes.buffer).toBe(values(batch.dictionary).buffer);
    expect([starts[0], ends[0], starts[4], ends[4]]).toEqual([0, 1, 1, 2]);
    expect(Array.from(validity as Uint8Array)).toEqual([0b10111]);
  });

  it("and never changes it", () => {
    const column = flechette.columnFromArray([1.5, -2.5], flechette.decimal(40, 1, 256));
    const before = values(column).slice();
    encode(column, flechette.columnFromArray([1.5, -2.5], flechette.decimal(40, 20, 256)));
    expect(values(column)).toEqual(before);
  });
});

/** A value's words as one signed number. */
function readWords(words: Uint32Array, width: number, row: number): bigint {
  let bits = 0n;
  for (let k = width - 1; k >= 0; k--) bits = (bits << 32n) | BigInt(words[row * width + k]);
  return BigInt.asIntN(32 * width, bits);
}

describe("integers", () => {
  it("of any width, multiplied, are what BigInt says", () => {
    const wide = fc.constantFrom(64, 128, 256).chain((bits) =>
      fc.record({
        bits: fc.constant(bits),
        value: fc.bigInt({ min: -(2n ** BigInt(bits - 1)), max: 2n ** BigInt(bits - 1) - 1n }),
        factors: fc.array(fc.integer({ min: 1, max: 1_000_000 }), {
          maxLength: bits === 64 ? 6 : bits === 128 ? 5 : 0,
        }),
      }),
    );
    fc.assert(
      fc.property(fc.array(wide, { minLength: 1, maxLength: 1 }), ([{ bits, value, factors }]) => {
        const stored = new BigUint64Array(bits / 64);
        stored.forEach((_, k) => {
          stored[k] = BigInt.asUintN(64, value >> BigInt(64 * k));
        });
        const type = bits === 64 ? flechette.int64() : flechette.decimal(20, 0, bits as 128);
        const chunk: Chunk = {
          layout: "fixed",
          type,
          length: 1,
          width: bits / 8,
          data: new Uint8Array(stored.buffer),
          validity: null,
          batchClass: null,
        };
        const product = factors.reduce((result, factor) => result * BigInt(factor), value);
        expect(readWords(encodeIntegers(chunk, 8, factors), 8, 0)).toBe(product);
      }),
    );
  });
});

describe("the common form", () => {
  const form = (left: flechette.DataType, right: flechette.DataType): KeyForm =>
    keyForm({ name: "a", type: left }, { name: "b", type: right });
  const words = (left: flechette.DataType, right: flechette.DataType) =>
    (form(left, right) as { words: number }).words;
  const { int8, int32, int64, uint8, uint32, uint64, float16, float32, float64, decimal, timestamp } =
    flechette;

  it("is as wide as both sides' values need, and no wider", () => {
    expect([words(int8(), int8()), words(uint8(), int32()), words(uint32(), uint8())]).toEqual([1, 1, 1]);
    expect([words(uint32(), int8()), words(int64(), uint32()), words(uint64(), uint8())]).toEqual([2, 2, 2]);
    expect([words(uint64(), int8()), words(int64(), uint64())]).toEqual([3, 3]);
    expect([words(float16(), float32()), words(float32(), float64()), words(int8(), float16())]).toEqual([
      1, 2, 2,
    ]);
    expect([words(timestamp(0), timestamp(0)), words(timestamp(0), timestamp(3))]).toEqual([2, 3]);
    expect([words(decimal(38, 0), decimal(38, 0)), words(decimal(38, 0), decimal(38, 38))]).toEqual([4, 8]);
    expect([words(decimal(9, 0, 32), int32()), words(decimal(76, 0, 256), decimal(76, 0, 256))]).toEqual([
      1, 8,
    ]);
  });

  it("multiplies the coarser side only", () => {
    expect(form(timestamp(3), timestamp(0))).toEqual({
      kind: "integer",
      words: 3,
      leftFactors: [],
      rightFactors: [1e6, 1000],
    });
    expect(form(decimal(10, 2), decimal(10, 9))).toMatchObject({ leftFactors: [1e6, 10], rightFactors: [] });
    expect(form(decimal(10, -2), int32())).toMatchObject({ leftFactors: [100], rightFactors: [] });
  });

  it("is refused where 256 bits are too few", () => {
    expect(() => form(decimal(76, 0, 256), decimal(76, 10, 256))).toThrow(ValidationError);
    expect(words(decimal(60, 0, 256), decimal(60, 10, 256))).toBe(8);
  });
});

describe("floats", () => {
  it("have one zero and one NaN", () => {
    const nans = new Float64Array(
      new BigUint64Array([0x7ff8000000000000n, 0xfff8000000000001n, 0x7ff0000000000001n]).buffer,
    );
    const doubles = encode(flechette.columnFromArray(Float64Array.of(0, -0, ...nans, 1))).left as WordColumn;
    expect(readWords(doubles.data, 2, 0)).toBe(readWords(doubles.data, 2, 1));
    expect(new Set([2, 3, 4].map((row) => readWords(doubles.data, 2, row))).size).toBe(1);
    const singles = encode(flechette.columnFromArray(Float32Array.of(0, -0, Number.NaN, 1)))
      .left as WordColumn;
    expect([singles.data[0], singles.data[1]]).toEqual([0, 0]);
  });

  it("of 16 bits have the value that flechette reads", () => {
    const bits = Uint16Array.from({ length: 65536 }, (_, i) => i);
    const Batch = flechette.batchType(flechette.float16(), {});
    const column = new flechette.Column([
      new Batch({
        length: 65536,
        nullCount: 0,
        type: flechette.float16(),
        validity: new Uint8Array(0),
        values: bits,
      }),
    ]);
    const { data } = encode(column).left as WordColumn;
    const floats = new Float32Array(data.buffer);
    for (let i = 0; i < 65536; i++)
      if (!(floats[i] === column.at(i) || (Number.isNaN(floats[i]) && Number.isNaN(column.at(i)))))
        expect.fail(`half ${i}`);
  });
});

describe("a column without a type of its own", () => {
  it("is null against anything", () => {
    const nulls = flechette.columnFromArray([null, null], flechette.nullType());
    for (const other of [
      flechette.columnFromArray([1, null]),
      flechette.columnFromArray(["x", null], flechette.utf8()),
      nulls,
    ]) {
      const { left, right } = encode(nulls, other);
      expect(left.kind).toBe(right.kind);
      expect(Array.from(left.validity as Uint8Array)).toEqual([0]);
    }
  });
});
