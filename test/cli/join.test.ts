import { existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { readTable } from "../../src/io/index.js";
import { texts, types } from "../io/contents.js";
import { temporaryFolder } from "../io/temporary.js";
import { cli } from "./run-cli.js";

const path = temporaryFolder();
writeFileSync(path("cities.csv"), "id,city,country\n1,Kyōto,jp\n2,Lagos,ng\n,Nowhere,\n3,Lima,pe\n");
writeFileSync(path("visits.csv"), "visit,city_id,city\n10,2,x\n11,1,y\n12,,z\n13,2,w\n");
const JOIN = ["join", path("visits.csv"), path("cities.csv"), "--on", "city_id=id", "--device", "cpu"];

/** Rows without their order, which a join does not promise. */
async function rowsOf(file: string): Promise<string[]> {
  const columns = Object.values(texts(await readTable(file)));
  return columns[0].map((_, row) => columns.map((column) => column[row]).join("|")).sort();
}

const JOINED = ["10|2|x|Lagos|ng", "11|1|y|Kyōto|jp", "13|2|w|Lagos|ng"];

it("prints the first rows and the row count, times on stderr", async () => {
  const { status, stdout, stderr } = await cli(JOIN);
  expect(status).toBe(0);
  const [head, type, rule, ...rows] = stdout.split("\n");
  expect(head).toMatch(/^visit +city_id +city +city_right +country$/);
  expect(type).toMatch(/^int32 +int32 +utf8 +utf8 +utf8$/);
  expect(rule).toMatch(/^[─ ]+$/);
  expect(
    rows
      .slice(0, 3)
      .map((row) => row.trim().replace(/ +/g, "|"))
      .sort(),
  ).toEqual(JOINED);
  expect(rows.slice(3)).toEqual(["", "3 rows × 5 columns", ""]);
  expect(stderr).toMatch(/^\ndevice: cpu, .*\. The cpu engine was asked for\.\n/);
  for (const stage of ["read left", "read right", "encode keys", "hash join", "materialise", "total"]) {
    expect(stderr).toMatch(new RegExp(`^  ${stage} +\\d+\\.\\d{3} s`, "m"));
  }
});

it("takes --on more than once", async () => {
  const left = path("one.csv");
  writeFileSync(left, "a,b\n1,x\n1,y\n");
  const both = await cli(["join", left, left, "--on", "a=a", "--on", "b=b", "--device", "cpu", "--json"]);
  expect(JSON.parse(both.stdout)).toMatchObject({ rows: 2, columns: ["a", "b"] });
});

it("takes one name for a key that both sides have", async () => {
  const left = path("one.csv");
  writeFileSync(left, "a,b\n1,x\n1,y\n");
  const both = await cli(["join", left, left, "--on", "a,b=b", "--device", "cpu", "--json"]);
  expect(JSON.parse(both.stdout)).toMatchObject({ rows: 2, columns: ["a", "b"] });
});

it("reads csv columns as the types that --type names", async () => {
  writeFileSync(path("text.csv"), "code\n007\nx12\n");
  writeFileSync(path("number.csv"), "code,city\n12,Lima\n7,Lagos\n");
  const files = ["join", path("text.csv"), path("number.csv"), "--on", "code", "--device", "cpu"];
  expect((await cli(files)).stderr).toMatch(/cannot be compared.*\nhint: .*--type code=utf8/);
  const text = await cli([...files, "--type", "code=utf8", "--type", "city=utf8", "--json"]);
  expect(JSON.parse(text.stdout)).toMatchObject({ rows: 0 });
  writeFileSync(path("text.csv"), "code\n007\n12\n");
  const numbers = await cli([...files, "--type", "code=int32,city=utf8", "--json"]);
  expect(JSON.parse(numbers.stdout)).toMatchObject({ rows: 2 });
});

it("matches only keys that are equal as written", async () => {
  const rowsOfJoin = async (left: string, right: string) => {
    writeFileSync(path("left.csv"), `id,a\n${left}`);
    writeFileSync(path("right.csv"), `id,b\n${right}`);
    const args = ["join", path("left.csv"), path("right.csv"), "--on", "id", "--device", "cpu", "--json"];
    return JSON.parse((await cli(args)).stdout).rows;
  };
  expect(
    await rowsOfJoin("9007199254740993,l\nNaN,l\n", "9007199254740992,r\n9007199254740993,r\nNaN,r\n"),
  ).toBe(2);
  expect(await rowsOfJoin("1e400,l\n", "2e500,r\n")).toBe(0);
});

it("does not write over a file that it joins", async () => {
  const { status, stderr } = await cli([...JOIN, "--out", path("cities.csv")]);
  expect(status).toBe(2);
  expect(stderr).toMatch(/cities\.csv is one of the files to join/);
  expect(existsSync(path("cities.csv"))).toBe(true);
});

it("prints one JSON object and nothing else with --json", async () => {
  const { status, stdout, stderr } = await cli([...JOIN, "--json"], { progress: true });
  expect(status).toBe(0);
  expect(stderr).toBe("");
  expect(stdout.trim().split("\n").length).toBe(1);
  expect(JSON.parse(stdout)).toEqual({
    rows: 3,
    columns: ["visit", "city_id", "city", "city_right", "country"],
    seconds: expect.any(Number),
    device: "cpu",
  });
});

it("says how the join was done with --explain, and not without", async () => {
  const explained = await cli([...JOIN, "--explain"]);
  expect(explained.stderr).toMatch(
    /\nhash join: direct, because [a-z ']+\n( {2}[a-z ]+ +[\d.]+ m?s {2}[ ▏▎▍▌▋▊▉█]+ host\n)+ {2}total/,
  );
  expect((await cli(JOIN)).stderr).not.toContain("because");
  const { plan, ...rest } = JSON.parse((await cli([...JOIN, "--explain", "--json"])).stdout);
  expect(plan).toMatchObject({ strategy: "direct", partitions: 1, chunks: 1, clock: "host" });
  expect(plan.phases.map(({ name }: { name: string }) => name)).toContain("write pairs");
  expect(Object.keys(rest)).toEqual(["rows", "columns", "seconds", "device"]);
});

it.each(["csv", "parquet", "arrow"])("writes a .%s file and says so", async (extension) => {
  const out = path(`joined.${extension}`);
  const { status, stdout } = await cli([...JOIN, "--out", out]);
  expect([status, stdout]).toEqual([0, `wrote 3 rows × 5 columns to ${out}\n`]);
  expect(await rowsOf(out)).toEqual(JOINED);
  expect(types(await readTable(out))).toMatchObject({ visit: "int32", city_right: "utf8" });
});

it.each(["inner", "left", "full"])(
  "rows of a small side that come many times are the same in every format: %s",
  async (how) => {
    const rows = Array.from({ length: 40 }, (_, row) => `${row},${row % 5}`);
    writeFileSync(path("many.csv"), `n,k\n${rows.join("\n")}\n`);
    writeFileSync(path("few.csv"), 'k,name,size\n0,"a, b",0.5\n1,,2.25\n2,"",\n9,none,4\n');
    const join = ["join", path("many.csv"), path("few.csv"), "--on", "k", "--device", "cpu", "--how", how];
    for (const extension of ["arrow", "csv", "parquet"])
      expect((await cli([...join, "--out", path(`all.${extension}`)])).status).toBe(0);
    const expected = await rowsOf(path("all.arrow"));
    expect(types(await readTable(path("all.arrow")))).toMatchObject({ name: "utf8", size: "float64" });
    expect(await rowsOf(path("all.csv"))).toEqual(expected);
    expect(await rowsOf(path("all.parquet"))).toEqual(expected);
  },
);

it("writes a file and prints JSON with both", async () => {
  const { stdout } = await cli([...JOIN, "--json", "--out", path("both.parquet")]);
  expect(JSON.parse(stdout).rows).toBe(3);
  expect(await rowsOf(path("both.parquet"))).toEqual(JOINED);
});

it("joins nulls with --nulls-equal", async () => {
  await cli([...JOIN, "--nulls-equal", "--out", path("nulls.csv")]);
  expect(await rowsOf(path("nulls.csv"))).toEqual([...JOINED, "12||z|Nowhere|"].sort());
});

it.each([
  ["inner", JOINED],
  ["left", [...JOINED, "12||z||"]],
  ["right", [...JOINED, "|3||Lima|pe", "|||Nowhere|"]],
  ["full", [...JOINED, "12||z||", "|3||Lima|pe", "|||Nowhere|"]],
  ["semi", ["10|2|x", "11|1|y", "13|2|w"]],
  ["anti", ["12||z"]],
])("joins with --how %s, into every format", async (how, rows) => {
  for (const extension of ["csv", "parquet", "arrow"]) {
    const out = path(`${how}.${extension}`);
    const { status, stdout } = await cli([...JOIN, "--how", how, "--out", out]);
    const size = `${rows.length} row${rows.length > 1 ? "s" : ""} × ${rows[0].split("|").length} columns`;
    expect([status, stdout]).toEqual([0, `wrote ${size} to ${out}\n`]);
    expect(await rowsOf(out)).toEqual([...rows].sort());
  }
});

it("names the join kinds when asked for another", async () => {
  const { status, stderr } = await cli([...JOIN, "--how", "outer"]);
  expect(status).toBe(2);
  expect(stderr).toMatch(/no join kind "outer"\.\nhint: .*inner, left, right, full, semi, anti/);
});

it("shows the nulls of an outer join", async () => {
  const { stdout } = await cli([...JOIN, "--how", "left"]);
  expect(stdout.replace(/ +/g, "|")).toMatch(/12\|null\|z\|null\|null/);
});

it("joins on several columns, and files of different formats", async () => {
  writeFileSync(path("a.csv"), "k,day,v\n1,2024-01-01,a\n1,2024-01-02,b\n2,2024-01-01,c\n");
  writeFileSync(path("b.csv"), "day,id,w\n2024-01-02,1,x\n2024-01-01,2,y\n2024-01-01,7,z\n");
  await cli([
    "join",
    path("b.csv"),
    path("b.csv"),
    "--on",
    "id=id",
    "--device",
    "cpu",
    "--out",
    path("b.parquet"),
  ]);
  const on = ["--on", "k=id,day=day", "--device", "cpu", "--out", path("ab.arrow")];
  expect((await cli(["join", path("a.csv"), path("b.parquet"), ...on])).status).toBe(0);
  expect(await rowsOf(path("ab.arrow"))).toEqual([
    "1|2024-01-02|b|x|2024-01-02|x",
    "2|2024-01-01|c|y|2024-01-01|y",
  ]);
});

it("shows an empty result", async () => {
  writeFileSync(path("none.csv"), "id,x\n");
  const { status, stdout } = await cli([
    "join",
    path("none.csv"),
    path("cities.csv"),
    "--on",
    "id=id",
    "--device",
    "cpu",
  ]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^id +x +city +country\n.*\n─.*\n\n0 rows × 4 columns\n$/);
});

it("shows ten rows of many, and fits the terminal", async () => {
  const lines = Array.from({ length: 50 }, (_, i) => `${i},${"long text ".repeat(20)}${i},${i * 1_000_003}`);
  writeFileSync(path("long.csv"), `id,text,number\n${lines.join("\n")}\n`);
  const args = ["join", path("long.csv"), path("long.csv"), "--on", "id=id", "--device", "cpu"];
  const { stdout } = await cli(args, { columns: 60, env: { NO_COLOR: "1" } });
  const printed = stdout.split("\n");
  expect(stdout).toContain("50 rows × 5 columns; the first 10 are shown");
  expect(printed.length).toBe(3 + 10 + 1 + 1 + 1);
  for (const line of printed) expect(line.length).toBeLessThanOrEqual(60);
  expect(printed[3]).toContain("…");
});

it("shows progress bars on a terminal, and takes them away", async () => {
  const { stderr } = await cli(JOIN, { progress: true });
  for (const label of ["read left", "read right", "hash join"]) expect(stderr).toContain(label);
});

it("joins the real flights with the real airports", async () => {
  const data = resolve(createRequire(import.meta.url).resolve("vega-datasets"), "../../data");
  const files = [resolve(data, "flights-3m.parquet"), resolve(data, "airports.csv")];
  const { status, stdout } = await cli([
    "join",
    ...files,
    "--on",
    "origin=iata",
    "--device",
    "cpu",
    "--json",
  ]);
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ rows: 3_000_000, device: "cpu" });
});

it("stops when interrupted, and leaves no file", async () => {
  const out = path("interrupted.csv");
  const outcome = await cli([...JOIN, "--out", out], { signal: AbortSignal.abort() });
  expect(outcome).toEqual({ status: 130, stdout: "", stderr: "warpmap: interrupted\n" });
  expect(existsSync(out)).toBe(false);
});
