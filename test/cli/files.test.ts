/** What commands read and write besides files by extension: standard streams, csv of other kinds, chosen columns and rows. */
import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { binary, type Column, columnFromArray, tableFromArrays, tableFromColumns } from "@uwdata/flechette";
import { describe, expect, it } from "vitest";
import { type Format, readTable, tableToBytes, writeTable } from "../../src/io/index.js";
import { texts } from "../io/contents.js";
import { temporaryFolder } from "../io/temporary.js";
import { cli } from "./run-cli.js";

const path = temporaryFolder();
const CPU = ["--device", "cpu"];
const VISITS = "visit,city,note\n10,2,x\n11,1,y\n12,2,z\n";
writeFileSync(path("visits.csv"), VISITS);
writeFileSync(path("cities.csv"), "id,name,note\n1,Oslo,a\n2,Rome,b\n");
const JOIN = ["join", path("visits.csv"), path("cities.csv"), "--on", "city=id", ...CPU];

describe("standard streams", () => {
  it.each<Format>(["csv", "tsv", "parquet", "arrow"])("reads and writes %s", async (format) => {
    const table = tableFromArrays({ a: [1, 1, 2], b: ["x", "y", "z"] });
    const stdin = await tableToBytes(table, { format });
    for (const content of [stdin, gzipSync(stdin)]) {
      const args = ["distinct", "-", "--on", "a", "--format", format, "--out", "-", ...CPU];
      const { status, bytes, stderr } = await cli(args, { stdin: content });
      expect(status).toBe(0);
      expect(texts(await readTable(bytes as Buffer, { format }))).toEqual({ a: ["1", "2"], b: ["x", "z"] });
      expect(stderr).toMatch(/^wrote 2 rows × 2 columns to standard output\n\ndevice: /);
    }
  });

  it("is one side of a join; the other goes by its extension", async () => {
    const args = ["join", "-", path("cities.csv"), "--on", "city=id", "--format", "csv", "--json", ...CPU];
    const { stdout } = await cli(args, { stdin: Buffer.from(VISITS) });
    expect(JSON.parse(stdout)).toMatchObject({
      rows: 3,
      columns: ["visit", "city", "note", "name", "note_right"],
    });
  });

  it("names the stream in errors", async () => {
    const args = ["distinct", "-", "--on", "a", "--format", "csv", ...CPU];
    const { status, stderr } = await cli(args, { stdin: Buffer.from("a,b\n1\n") });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^warpmap: standard input: line 2: 1 fields where the header names 2\./);
  });

  it("--format says what files of other extensions are", async () => {
    writeFileSync(path("visits.txt"), VISITS);
    const args = ["group", path("visits.txt"), "--by", "city", "--format", "csv", "--out", path("out.data")];
    expect((await cli([...args, ...CPU])).status).toBe(0);
    expect(texts(await readTable(path("out.data"), { format: "csv" }))).toEqual({
      city: ["2", "1"],
      count: ["2", "1"],
    });
  });

  it.each<[string, string[], RegExp]>([
    ["no format", ["distinct", "-", "--on", "a"], /what format standard input has.*\nhint: Add --format csv/],
    ["no format for the output", [...JOIN, "--out", "-"], /what format standard output has/],
    [
      "an unknown format",
      [...JOIN, "--format", "xml"],
      /no format "xml".*\nhint: .*csv, tsv, parquet, arrow/,
    ],
    ["a format that says nothing", [...JOIN, "--format", "csv"], /--format csv says nothing here/],
    ["twice the input", ["join", "-", "-", "--on", "a", "--format", "csv"], /Standard input is named twice/],
    [
      "--json beside it",
      [...JOIN, "--out", "-", "--format", "csv", "--json"],
      /both print to standard output/,
    ],
  ])("refuses %s", async (_, args, message) => {
    const { status, stdout, stderr } = await cli(args);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
  });

  it("does not print binary data on a terminal", async () => {
    const { status, stderr } = await cli([...JOIN, "--out", "-", "--format", "arrow"], { columns: 80 });
    expect(status).toBe(2);
    expect(stderr).toMatch(/A terminal cannot show arrow data/);
    const csv = await cli([...JOIN, "--out", "-", "--format", "csv", "--limit", "0"], { columns: 80 });
    expect(csv.stdout).toBe("visit,city,note,name,note_right\n");
  });
});

describe("csv of other kinds", () => {
  it("--delimiter, --quote, --no-header", async () => {
    writeFileSync(path("odd.csv"), "1;'a;b'\n1;c\n2;\"d\n");
    const options = ["--delimiter", ";", "--quote", "'", "--no-header", "--type", "column_1=utf8"];
    const args = [
      "distinct",
      path("odd.csv"),
      "--on",
      "column_1",
      "--out",
      path("odd.tsv"),
      ...options,
      ...CPU,
    ];
    expect((await cli(args)).status).toBe(0);
    expect(texts(await readTable(path("odd.tsv")))).toEqual({
      column_1: ["1", "2"],
      column_2: ["a;b", '"d'],
    });
  });

  it("--type NAME=utf8 makes text of a parquet file's bytes, and other types are for csv alone", async () => {
    const bytes = columnFromArray([Uint8Array.of(97), Uint8Array.of(98)], binary()) as Column<unknown>;
    await writeTable(path("bytes.parquet"), tableFromColumns({ b: bytes }));
    const args = ["distinct", path("bytes.parquet"), "--on", "b", "--out", "-", "--format", "csv", ...CPU];
    expect((await cli(args)).stdout).toBe("b\n61\n62\n");
    expect((await cli([...args, "--type", "b=utf8"])).stdout).toBe("b\na\nb\n");
    const { status, stderr } = await cli([...args, "--type", "b=int32"]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/which says itself what type it has/);
  });

  it("are refused where no csv file is read, and wrong characters always", async () => {
    writeFileSync(path("a.arrow"), await tableToBytes(tableFromArrays({ a: [1] }), { format: "arrow" }));
    const args = ["distinct", path("a.arrow"), "--on", "a", ...CPU];
    for (const option of [["--delimiter", ";"], ["--quote", ""], ["--no-header"]]) {
      const { status, stderr } = await cli([...args, ...option]);
      expect([status, stderr]).toEqual([2, expect.stringContaining(`${option[0]} is for csv files`)]);
    }
    const { stderr } = await cli([...JOIN, "--delimiter", "ab"]);
    expect(stderr).toMatch(/delimiter is "ab".*\nhint: Give one ASCII character/);
  });

  it("notes columns of one name", async () => {
    writeFileSync(path("twice.csv"), "a,a\n1,2\n");
    const { stdout, stderr } = await cli(["distinct", path("twice.csv"), "--on", "a", "--json", ...CPU]);
    expect(JSON.parse(stdout).columns).toEqual(["a", "a_1"]);
    expect(stderr).toMatch(
      /^note: .*twice\.csv: several columns are called "a"; the second is read as "a_1"\.$/m,
    );
  });
});

describe("--select and --limit", () => {
  const columns = async (args: readonly string[]) => JSON.parse((await cli([...args, "--json"])).stdout);

  it("take columns and rows of a join's result", async () => {
    const out = path("selected.csv");
    const args = [...JOIN, "--select", "name,note_right,visit", "--limit", "2", "--out", out];
    expect(await columns(args)).toMatchObject({ rows: 2, columns: ["name", "note_right", "visit"] });
    const { name, visit } = texts(await readTable(out));
    const cities: Record<string, string> = { 10: "Rome", 11: "Oslo", 12: "Rome" };
    expect(name).toEqual(visit.map((each) => cities[each ?? ""]));
    expect(await columns([...JOIN, "--how", "anti", "--select", "visit"])).toMatchObject({ rows: 0 });
  });

  it("read no more columns than they need", async () => {
    const { stderr } = await cli([...JOIN, "--select", "name"]);
    expect(stderr).toMatch(/read left .*visits\.csv, 3 rows × 1 column$/m);
    expect(stderr).toMatch(/read right .*cities\.csv, 2 rows × 2 columns$/m);
    const grouped = await cli(["group", path("visits.csv"), "--by", "city", ...CPU]);
    expect(grouped.stderr).toMatch(/read .*visits\.csv, 3 rows × 1 column$/m);
    const semi = await cli([...JOIN, "--how", "semi"]);
    expect(semi.stderr).toMatch(/read right .*cities\.csv, 2 rows × 1 column$/m);
  });

  it("keep the names that a whole join gives", async () => {
    writeFileSync(path("l.csv"), "id,x,x_right\n1,l,m\n");
    writeFileSync(path("r.csv"), "id,x\n1,r\n");
    const args = ["join", path("l.csv"), path("r.csv"), "--on", "id", ...CPU];
    const { columns: all } = await columns(args);
    expect(all).toEqual(["id", "x", "x_right", "x_right_right"]);
    for (const name of all) {
      const out = path("one.csv");
      expect(await columns([...args, "--select", name, "--out", out])).toMatchObject({ columns: [name] });
      const value = { id: "1", x: "l", x_right: "m", x_right_right: "r" }[name as string];
      expect(texts(await readTable(out))).toEqual({ [name]: [value] });
    }
  });

  it("take columns of distinct rows", async () => {
    const args = ["distinct", path("visits.csv"), "--on", "city", "--select", "note,visit", ...CPU];
    expect(await columns([...args, "--limit", "9"])).toMatchObject({ rows: 2, columns: ["note", "visit"] });
    expect(await columns([...args, "--limit", "1"])).toMatchObject({ rows: 1 });
  });

  it("are refused where they say nothing", async () => {
    const failed = async (...options: string[]) => (await cli([...JOIN, ...options])).stderr;
    expect(await failed("--limit", "-1")).toMatch(/--limit -1 is not a number of rows/);
    expect(await failed("--limit", "1.5")).toMatch(/is not a number of rows/);
    expect(await failed("--select", "name,name")).toMatch(/not a list of different columns/);
    expect(await failed("--select", "nam")).toMatch(/no column "nam".*\nhint: Did you mean "name"\?/);
  });
});
