import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readTable } from "../../src/io/index.js";
import { texts, types } from "./contents.js";
import { temporaryFolder } from "./temporary.js";

const path = temporaryFolder();

async function read(content: string | Buffer) {
  const file = path("input.csv");
  writeFileSync(file, content);
  return readTable(file);
}

/** The type of the one column of these values, and its values as text. */
async function column(...values: string[]) {
  const table = await read(`x,y\n${values.map((value) => `${value},z\n`).join("")}`);
  return { type: types(table).x, values: texts(table).x };
}

describe("types are the narrowest that hold every value", () => {
  it.each([
    ["int32", ["0", "-1", "2147483647", "-2147483648"]],
    ["int64", ["1", "2147483648", "9223372036854775807", "-9223372036854775808"]],
    ["int64", ["2147483648"]],
    ["int64", ["-2147483649"]],
    ["float64", ["1", "2.5", "-0", "1e-7", "NaN", "Infinity", "-Infinity"]],
    ["bool", ["true", "false", "true"]],
    ["date32", ["2024-02-29", "1969-12-31", "0001-01-01", "9999-12-31"]],
    ["timestamp[us]", ["2001-01-01T00:01:00", "1960-06-01T23:59:59.000001"]],
    ["timestamp[us, UTC]", ["2001-01-01T00:01:00Z", "1960-06-01T23:59:59.500Z"]],
    ["timestamp[ns]", ["2001-01-01T00:01:00.123456789", "1960-06-01T23:59:59.000000001"]],
    ["utf8", ["01234", "00501"]],
    ["utf8", ["+49 30 1234", "+1"]],
    ["utf8", ["9223372036854775808", "1"]],
    ["utf8", ["2023-02-29", "2024-01-01"]],
    ["utf8", ["1900-02-29", "2000-02-28"]],
    ["date32", ["2000-02-29"]],
    ["utf8", ["2024-13-01", "2024-01-01"]],
    ["utf8", ["2001-01-01T24:00:00", "2001-01-01T00:00:00"]],
    ["utf8", ["1", "true"]],
    ["utf8", ["2024-01-01", "17"]],
    ["utf8", ["2001-01-01T00:01:00Z", "2001-01-01T00:01:00"]],
    ["utf8", ["0x10", "1_000", "NULL", "-", "."]],
  ])("%s %j", async (type, values) => {
    expect(await column(...values)).toEqual({ type, values });
  });

  it("widens late: one value decides", async () => {
    const many = Array.from({ length: 20_000 }, (_, i) => String(i));
    expect((await column(...many)).type).toBe("int32");
    expect((await column(...many, "3000000000")).type).toBe("int64");
    expect((await column(...many, "0.5")).type).toBe("float64");
    expect(await column(...many, "007")).toEqual({ type: "utf8", values: [...many, "007"] });
  });

  it("takes other spellings of dates and numbers", async () => {
    expect((await column("2001-01-01 10:20", "2001-01-01T10:20:30.5")).values).toEqual([
      "2001-01-01T10:20:00",
      "2001-01-01T10:20:30.500",
    ]);
    expect((await column("2001-01-01T00:30:00+01:00", "2001-01-01 00:30:00-0130")).values).toEqual([
      "2000-12-31T23:30:00Z",
      "2001-01-01T02:00:00Z",
    ]);
    expect((await column("2001-01-01", "2001-01-01T12:00:00")).values).toEqual([
      "2001-01-01T00:00:00",
      "2001-01-01T12:00:00",
    ]);
    expect(await column(".5", "2.", "1E3")).toEqual({ type: "float64", values: ["0.5", "2", "1000"] });
  });
});

describe("nulls", () => {
  it("are empty fields, in columns of every type", async () => {
    const table = await read("i,f,b,d,s\n1,1.5,true,2001-01-01,x\n,,,,\n2,2.5,false,2001-01-02,y\n");
    expect(types(table)).toEqual({ i: "int32", f: "float64", b: "bool", d: "date32", s: "utf8" });
    expect(texts(table)).toMatchObject({
      i: ["1", null, "2"],
      s: ["x", null, "y"],
      d: ["2001-01-01", null, "2001-01-02"],
    });
  });

  it("are not quoted empty fields of string columns", async () => {
    expect((await column("a", "", '""')).values).toEqual(["a", null, ""]);
    expect((await column('"a ""b"" ,"', '""', "")).values).toEqual(['a "b" ,', "", null]);
    expect((await column("1", "", '""')).values).toEqual(["1", null, null]);
    expect(await column('""', "")).toEqual({ type: "utf8", values: ["", null] });
    expect(await column("", "")).toEqual({ type: "null", values: [null, null] });
  });
});

describe("the format", () => {
  it("is RFC 4180: quotes, embedded newlines and commas, CRLF, a byte order mark", async () => {
    const table = await read('\ufeffa,"b, c"\r\n"1","x\r\ny"\r\n\r\n2,"say ""hi"""\r\n');
    expect(texts(table)).toEqual({ a: ["1", "2"], "b, c": ["x\r\ny", 'say "hi"'] });
  });

  it("takes every kind of line end, also in one file", async () => {
    expect(texts(await read("a,b\n1,x\r\n2,y\r3,z\n"))).toEqual({ a: ["1", "2", "3"], b: ["x", "y", "z"] });
    expect(texts(await read("a,b\r1,x\r2,y"))).toEqual({ a: ["1", "2"], b: ["x", "y"] });
  });

  it("needs no newline at the end, and takes a header alone", async () => {
    expect(texts(await read("a,b\n1,2"))).toEqual({ a: ["1"], b: ["2"] });
    expect(texts(await read("a,b\n"))).toEqual({ a: [], b: [] });
    expect(texts(await read("a,b"))).toEqual({ a: [], b: [] });
  });

  it("reads empty lines of a one-column file as nulls", async () => {
    expect(texts(await read('a\nx\n\n""\ny\n'))).toEqual({ a: ["x", null, "", "y"] });
  });

  it("names columns without a name", async () => {
    expect((await read(",a,\n1,2,3\n")).names).toEqual(["column_1", "a", "column_3"]);
  });

  it("keeps text of any length and script", async () => {
    const values = ["漢字", "🦊".repeat(3000), "é", "a".repeat(100_000)];
    expect((await column(...values)).values).toEqual(values);
  });
});

describe("bad files are refused with the line", () => {
  it.each([
    ["a,b\n1,2\n3\n", /input\.csv: line 3: 1 fields where the header names 2\./],
    ["a,b\n1,2\n3,4,5\n", /line 3: 3 fields where the header names 2\./],
    ['a,b\n1,"x\n2,3\n', /the file ends inside a quoted field of record 1\. .*cut off/],
    ['a,b\n1,x"y\n', /line 2: a quote in the middle of a field/],
    ['a,b\n1,"x"y\n', /line 2: text follows a closing quote/],
    ["", /is empty/],
    ["a,b,a\n1,2,3\n", /has two columns named "a"/],
    [Buffer.from("a,b\n1,2\ncaf\xe9,3\n", "latin1"), /is not UTF-8 text/],
    [Buffer.from("PAR1\0\0\xff\xfe,x\n", "latin1"), /is not a CSV file/],
  ])("%j", async (content, message) => {
    await expect(read(content)).rejects.toThrow(message);
  });
});

it("stops when aborted", async () => {
  writeFileSync(path("long.csv"), `a\n${"1\n".repeat(1_000_000)}`);
  const controller = new AbortController();
  const reading = readTable(path("long.csv"), {
    signal: controller.signal,
    onProgress: () => controller.abort(),
  });
  const error = await reading.catch((reason: unknown) => reason);
  expect(error).toBe(controller.signal.reason);
});
