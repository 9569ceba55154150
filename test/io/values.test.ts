import * as arrow from "@uwdata/flechette";
import { describe, expect, it } from "vitest";
import { texts } from "./contents.js";

function textsOf(type: arrow.DataType, values: unknown[], options: arrow.TableBuilderOptions = {}) {
  return texts(arrow.tableFromArrays({ x: values as [] }, { types: { x: type }, ...options })).x;
}

describe("values as text", () => {
  it.each<[string, arrow.DataType, unknown[], (string | null)[]]>([
    [
      "float32 in the fewest digits",
      arrow.float32(),
      [0.1, 1 / 3, 16777216, -0, null],
      ["0.1", "0.33333334", "16777216", "-0", null],
    ],
    ["float16", arrow.float16(), [1.5, 0.25], ["1.5", "0.25"]],
    ["uint64", arrow.uint64(), [2n ** 64n - 1n], ["18446744073709551615"]],
    ["decimals", arrow.decimal(10, 3), [-0.5, 12, 1.125], ["-0.500", "12.000", "1.125"]],
    ["decimals of 256 bits", arrow.decimal(60, 2, 256), [-(10n ** 50n)], [`-1${"0".repeat(48)}.00`]],
    ["seconds", arrow.timestamp(arrow.TimeUnit.SECOND, null), [new Date(-1000)], ["1969-12-31T23:59:59"]],
    [
      "milliseconds with a zone",
      arrow.timestamp(arrow.TimeUnit.MILLISECOND, "Europe/Berlin"),
      [new Date(1)],
      ["1970-01-01T00:00:00.001Z"],
    ],
    ["dates of milliseconds", arrow.dateMillisecond(), [new Date(86_400_000)], ["1970-01-02"]],
    ["times", arrow.timeMillisecond(), [45_296_789], ["12:34:56.789"]],
    [
      "the end of a day",
      arrow.timeSecond(),
      [86_400, 0, 86_401, -1],
      ["24:00:00", "00:00:00", "86401", "-1"],
    ],
    ["binary", arrow.binary(), [Uint8Array.of(0, 255)], ["00ff"]],
    [
      "intervals of more nanoseconds than a double counts",
      arrow.interval(),
      [Float64Array.of(1, -2, 3), Float64Array.of(0, 0, 2 ** 60), null],
      ["[1,-2,3]", '[0,0,"1152921504606846976"]', null],
    ],
    ["lists", arrow.list(arrow.int32()), [[1, null, 3]], ["[1,null,3]"]],
    [
      "structs",
      arrow.struct({ a: arrow.int64(), b: arrow.utf8() }),
      [{ a: 5n, b: "x" }],
      ['{"a":5,"b":"x"}'],
    ],
    ["dictionaries", arrow.dictionary(arrow.utf8()), ["b", null, "a", "b"], ["b", null, "a", "b"]],
  ])("%s", (_, type, values, expected) => {
    expect(textsOf(type, values)).toEqual(expected);
  });

  it("does not depend on how the table is extracted", () => {
    const type = arrow.timestamp(arrow.TimeUnit.MICROSECOND, null);
    for (const useDate of [false, true]) {
      expect(textsOf(type, [new Date(1234)], { useDate })).toEqual(["1970-01-01T00:00:01.234"]);
    }
  });

  it("reads dictionaries of several batches", () => {
    const type = arrow.dictionary(arrow.utf8());
    expect(textsOf(type, ["a", "b", "a", null, "c"], { maxBatchRows: 2 })).toEqual([
      "a",
      "b",
      "a",
      null,
      "c",
    ]);
  });
});
