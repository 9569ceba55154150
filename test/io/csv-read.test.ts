import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { type AskedType, readTable } from "../../src/io/index.js";
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
    ["utf8", ["2020-01-01T00:00:00+25:00"]],
    ["utf8", ["2020-01-01T00:00:00+01:99", "2020-01-01T00:00:00+01:00"]],
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

  it("keeps integers that a float64 beside them would round as text", async () => {
    const odd = ["9007199254740993", "NaN"];
    expect(await column(...odd)).toEqual({ type: "utf8", values: odd });
    expect(await column("1.5", "9007199254740993")).toMatchObject({ type: "utf8" });
    expect(await column("1.5", "9007199254740992", "-4611686018427387904")).toMatchObject({
      type: "float64",
    });
    expect(await column("9007199254740993.5")).toMatchObject({ type: "utf8" });
    expect(await column("9007199254740993", "1")).toMatchObject({ type: "int64" });
  });

  it("keeps numbers that are beyond a float64 as text", async () => {
    for (const text of ["1e400", "-1e400", "1e-400", "0.5e-330"])
      expect(await column(text, "1")).toEqual({ type: "utf8", values: [text, "1"] });
    expect((await column("1.7e308", "5e-324", "0e400", "0.0")).type).toBe("float64");
  });

  it("keeps times that nanoseconds do not reach as text, beside nanoseconds", async () => {
    const fine = "2024-01-01T00:00:00.1234567";
    for (const far of ["9999-12-31T00:00:00", "9999-12-31", "1600-01-01"])
      expect(await column(fine, far)).toEqual({ type: "utf8", values: [fine, far] });
    expect(await column(`${fine}Z`, "2262-12-31T00:00:00+01:00")).toMatchObject({ type: "utf8" });
    expect(await column(fine, "2261-12-31T23:59:59", "1678-01-01")).toMatchObject({
      type: "timestamp[ns]",
      values: ["2024-01-01T00:00:00.123456700", "2261-12-31T23:59:59", "1678-01-01T00:00:00"],
    });
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

describe("types that are asked for", () => {
  async function asked(type: AskedType, ...values: string[]) {
    const file = path("asked.csv");
    writeFileSync(file, `x,y\n${values.map((value) => `${value},z\n`).join("")}`);
    const table = await readTable(file, { types: { x: type } });
    return { type: types(table).x, values: texts(table).x };
  }

  it.each<[AskedType, string[], string[]]>([
    ["utf8", ["12", "1e400", "true"], ["12", "1e400", "true"]],
    ["bool", ["1", "f", "TRUE"], ["true", "false", "true"]],
    ["int32", ["007", "+1", "-2147483648"], ["7", "1", "-2147483648"]],
    ["int64", ["007", "9223372036854775807"], ["7", "9223372036854775807"]],
    ["uint32", ["4294967295"], ["4294967295"]],
    ["uint64", ["18446744073709551615"], ["18446744073709551615"]],
    ["float64", ["1", "007.5", "-Infinity"], ["1", "7.5", "-Infinity"]],
    ["date32", ["2024-02-29"], ["2024-02-29"]],
  ])("%s %j", async (type, values, expected) => {
    expect(await asked(type, ...values, "")).toEqual({ type, values: [...expected, null] });
  });

  it.each<[AskedType, string]>([
    ["bool", "2"],
    ["int32", "2147483648"],
    ["int32", "1.0"],
    ["int64", "9223372036854775808"],
    ["uint32", "-1"],
    ["uint64", "18446744073709551616"],
    ["float64", "1e400"],
    ["float64", "9007199254740993"],
    ["float64", "é"],
    ["date32", "2023-02-29"],
  ])("%s does not hold %s", async (type, value) => {
    await expect(asked(type, "", value)).rejects.toThrow(
      `asked.csv: "${value}" in row 2 of column "x" is not ${type}.`,
    );
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

  it("takes the first line that is not blank for the header", async () => {
    for (const blank of ["\n", "\r\n\r\n", "\ufeff\n\r"]) {
      expect(texts(await read(`${blank}key\nx\n\ny\n`))).toEqual({ key: ["x", null, "y"] });
      expect(texts(await read(`${blank}a,b\n\n1,2\n`))).toEqual({ a: ["1"], b: ["2"] });
    }
    await expect(read("\n\r\na,b\n1\n")).rejects.toThrow(/line 4: 1 fields where the header names 2\./);
  });

  it("reads a header that is longer than what is read at a time", async () => {
    const names = Array.from({ length: 20_000 }, (_, i) => `${"n".repeat(70)}${i}`);
    const table = await read(`${names.join(",")}\n${names.map((_, i) => i).join(",")}\n`);
    expect(table.names).toEqual(names);
    expect(table.children.at(-1)?.at(0)).toBe(19_999);
  });

  it("names columns without a name", async () => {
    expect((await read(",a,\n1,2,3\n")).names).toEqual(["column_1", "a", "column_3"]);
    expect((await read("a,,column_2,column_2_2\n1,2,3,4\n")).names).toEqual([
      "a",
      "column_2_1",
      "column_2",
      "column_2_2",
    ]);
  });

  it("tells columns of one name apart as DuckDB does, and says so", async () => {
    writeFileSync(path("twice.csv"), "a,b,a,a_1,a\n1,2,3,4,5\n");
    const notes: string[] = [];
    const table = await readTable(path("twice.csv"), { onNote: (note) => notes.push(note) });
    expect(texts(table)).toEqual({ a: ["1"], b: ["2"], a_2: ["3"], a_1: ["4"], a_3: ["5"] });
    expect(notes).toEqual([
      `${path("twice.csv")}: several columns are called "a"; the second is read as "a_2".`,
    ]);
  });

  it.each([
    [
      "id;name",
      `: its one column is called "id;name"; if ";" separates columns, ask for it as the delimiter.`,
    ],
    [
      "id\tname",
      `: its one column is called "id\\tname"; if "\\t" separates columns, ask for it as the delimiter.`,
    ],
    ["id", undefined],
    ["id;name,x", undefined],
  ])("says when the one column of %j seems to hold several", async (names, note) => {
    writeFileSync(path("lone.csv"), `${names}\n`);
    const notes: string[] = [];
    await readTable(path("lone.csv"), { onNote: (note) => notes.push(note) });
    expect(notes).toEqual(note === undefined ? [] : [path("lone.csv") + note]);
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
    ["\n\n", /is empty/],
    [Buffer.from("a,b\n1,2\ncaf\xe9,3\n", "latin1"), /is not UTF-8 text/],
    [Buffer.from("PAR1\0\0\xff\xfe,x\n", "latin1"), /is not a CSV file/],
  ])("%j", async (content, message) => {
    await expect(read(content)).rejects.toThrow(message);
  });
});

it("refuses a line of nothing but commas", async () => {
  const content = `id,v${",".repeat(2 ** 20)}\n`;
  await expect(read(content)).rejects.toThrow(/has 1048578 columns, more than 262144/);
});

// elsewhere than on Linux there is no /proc/self/mem, whose first bytes cannot be read even by root
it.runIf(process.platform === "linux")("says that a file cannot be read", async () => {
  symlinkSync("/proc/self/mem", path("unreadable.csv"));
  await expect(readTable(path("unreadable.csv"))).rejects.toThrow(/unreadable\.csv: cannot be read/);
});

it("reads a pipe once, from start to end", async () => {
  execFileSync("mkfifo", [path("fifo.csv")]);
  for (const rows of [1, 300_000]) {
    const reading = readTable(path("fifo.csv"));
    await writeFile(path("fifo.csv"), `id,v\n${"17,x\n".repeat(rows)}`);
    expect((await reading).numRows).toBe(rows);
  }
});

it("takes time in proportion to the columns", async () => {
  const count = 50_000;
  const line = Array.from({ length: count }, (_, i) => `c${i}`).join(",");
  const start = process.cpuUsage();
  const table = await read(`${line}\n${line}\n${line}\n`);
  expect(table.numCols).toBe(count);
  // 1 s where each column costs the same, 7 s where each name is looked for among all
  expect(process.cpuUsage(start).user / 1e6).toBeLessThan(4);
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
