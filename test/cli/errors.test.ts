/** Everything that can be wrong: its exit status, its line and its hint on stderr, and nothing on stdout. */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../io/temporary.js";
import { cli } from "./run-cli.js";

const path = temporaryFolder();
const flights = resolve(
  createRequire(import.meta.url).resolve("vega-datasets"),
  "../../data/flights-3m.parquet",
);
writeFileSync(path("a.csv"), "id,name,when\n1,x,2024-01-01\n");
writeFileSync(path("cut.csv"), "id,name\n1,x\n2\n");
writeFileSync(path("open.csv"), 'id,name\n1,"x\n2,y\n');
writeFileSync(path("text.parquet"), "id,name\n1,x\n");
writeFileSync(path("cut.parquet"), readFileSync(flights).subarray(0, 1_000_000));
writeFileSync(path("text.arrow"), "id,name\n1,x\n");
writeFileSync(path("data.json"), "{}");

const A = path("a.csv");
const OK = ["--on", "id=id", "--device", "cpu"];

async function failure(args: readonly string[]) {
  const { status, stdout, stderr } = await cli(args);
  expect(stdout).toBe("");
  const lines = stderr.trimEnd().split("\n");
  expect(lines.length).toBe(2);
  return { status, line: lines[0], hint: lines[1] };
}

describe("1: an error in the data or the run", () => {
  it.each<[string, string[], RegExp, RegExp]>([
    ["a missing file", ["join", A, path("b.csv"), ...OK], /b\.csv: no such file/, /Check the path/],
    [
      "not a parquet file",
      ["join", path("text.parquet"), A, ...OK],
      /text\.parquet: is not a Parquet file/,
      /extension/,
    ],
    [
      "a truncated parquet file",
      ["join", path("cut.parquet"), A, ...OK],
      /cut\.parquet: is cut off/,
      /again/,
    ],
    [
      "not an arrow file",
      ["join", path("text.arrow"), A, ...OK],
      /text\.arrow: is not an Arrow file/,
      /extension/,
    ],
    [
      "a truncated csv",
      ["join", path("cut.csv"), A, ...OK],
      /cut\.csv: line 3: 1 fields where the header names 2/,
      /cut off/,
    ],
    [
      "an open quote",
      ["join", path("open.csv"), A, ...OK],
      /open\.csv: line \d: the file ends inside a quoted/,
      /cut off/,
    ],
    [
      "an unknown column on the left",
      ["join", A, A, "--on", "ID=id"],
      /a\.csv has no column "ID"/,
      /id, name, when/,
    ],
    [
      "an unknown column on the right",
      ["join", A, A, "--on", "id=nope"],
      /a\.csv has no column "nope"/,
      /id, name, when/,
    ],
    [
      "types that cannot be compared",
      ["join", A, A, "--on", "id=name"],
      /"id" \(int32\) and "name" \(utf8\)/,
      /./,
    ],
    [
      "a type for a column that is not there",
      ["join", A, A, ...OK, "--type", "code=utf8"],
      /--type names a column "code" that neither file has/,
      /csv/,
    ],
    [
      "a value that is not of the type",
      ["join", A, A, ...OK, "--type", "when=bool"],
      /a\.csv: "2024-01-01" in row 1 of column "when" is not bool/,
      /another type/,
    ],
    [
      "no folder for the output",
      ["join", A, A, ...OK, "--out", path("no/out.csv")],
      /no\/out\.csv: no such/,
      /path/,
    ],
  ])("%s", async (_, args, line, hint) => {
    expect(await failure(args)).toEqual({
      status: 1,
      line: expect.stringMatching(new RegExp(`^warpmap: .*${line.source}`)),
      hint: expect.stringMatching(new RegExp(`^hint: .*${hint.source}`)),
    });
  });
});

describe("2: a wrong call", () => {
  it.each<[string, string[], RegExp]>([
    ["an unknown command", ["jion"], /unknown command 'jion'/],
    ["an unknown option", ["join", A, A, ...OK, "--svg", "x"], /unknown option '--svg'/],
    ["an unknown option of devices", ["devices", "--fast"], /unknown option '--fast'/],
    ["an unknown device", ["join", A, A, "--on", "id=id", "--device", "tpu"], /There is no backend "tpu"/],
    ["a missing argument", ["join", A, "--on", "id=id"], /missing required argument 'right'/],
    ["a missing --on", ["join", A, A], /'--on <pairs>' not specified/],
    ["an argument too many", ["join", A, A, A, ...OK], /too many arguments/],
    ["--type without a type", ["join", A, A, ...OK, "--type", "id"], /"id" in --type does not give/],
    ["a type that is not there", ["join", A, A, ...OK, "--type", "id=u8"], /"id=u8" in --type does not give/],
    ["--type without a column", ["join", A, A, ...OK, "--type", "=utf8"], /"=utf8" in --type does not give/],
    ["--on with half a pair", ["join", A, A, "--on", "id=id,name="], /"name=" in --on is not a pair/],
    ["--on with nothing", ["join", A, A, "--on", ""], /"" in --on is not a pair/],
    ["--on with two =", ["join", A, A, "--on", "a=b=c"], /"a=b=c" in --on/],
    ["an unknown join kind", ["join", A, A, ...OK, "--how", "odd"], /no join kind "odd"/],
    ["an input of no known format", ["join", path("data.json"), A, ...OK], /extension of .*data\.json/],
    ["an output of no known format", ["join", A, A, ...OK, "--out", "x.xlsx"], /extension of x\.xlsx/],
    ["a benchmark that is not there", ["bench", "speed"], /no benchmark "speed"/],
    ["a size that is no number", ["bench", "gups", "--size", "big"], /--size "big"/],
    ["a size of nothing", ["bench", "gups", "--size", "0"], /--size "0"/],
    ["no thread at all", ["join", A, A, ...OK, "--threads", "0"], /--threads 0 is not a number of threads/],
    ["threads that are no number", ["bench", "gups", "--threads", "two"], /--threads two is not a number/],
    [
      "threads of a GPU",
      ["bench", "gups", "--threads", "2", "--device", "webgpu"],
      /--threads is for the cpu engine/,
    ],
    [
      "one file for numbers and picture",
      ["bench", "gups", "--json", path("x"), "--svg", path("x")],
      /--json and --svg name one file/,
    ],
    ["an unknown option of bench", ["bench", "gups", "--png", "x.png"], /unknown option '--png'/],
    ["a sweep that is not there", ["bench", "static-map", "--sweep", "hash"], /no sweep over "hash"/],
  ])("%s", async (_, args, line) => {
    expect(await failure(args)).toEqual({
      status: 2,
      line: expect.stringMatching(new RegExp(`^warpmap: .*${line.source}`)),
      hint: expect.stringMatching(/^hint: ./),
    });
  });

  it("suggests what was meant", async () => {
    expect((await failure(["jion"])).hint).toBe("hint: Did you mean join?");
    expect((await failure(["join", A, A, ...OK, "--jsn"])).hint).toBe("hint: Did you mean --json?");
    expect((await failure(["join", A])).hint).toBe('hint: See "warpmap join --help".');
  });
});

it("shows where an error came from with WARPMAP_DEBUG", async () => {
  const { stderr } = await cli(["join", A, path("b.csv"), ...OK], { env: { WARPMAP_DEBUG: "1" } });
  expect(stderr).toMatch(/\n {4}at /);
});

it("prints no control characters of names, values or paths", async () => {
  const odd = "\u001b[2J\u001b]0;x\u0007\u009bname";
  writeFileSync(path("odd.csv"), `id,${odd},"two\nlines"\n1,a,b\n`);
  for (const args of [
    ["join", path("odd.csv"), A, "--on", "id", "--device", "cpu"],
    ["join", path("odd.csv"), A, "--on", "nope=id"],
    ["join", path(`${odd}.csv`), A, "--on", "id"],
    ["join", path("odd.csv"), A, "--on", `${odd}=id`, "--json", "--device", "cpu", "--type", `${odd}=int32`],
    ["join", A, A, ...OK, "--out", path(`${odd}.csv`)],
    ["join", A, A, ...OK, "--json", "--out", path(`no/${odd}.csv`)],
    ["join", path("odd.csv"), A, ...OK, "--json"],
    ["bench", odd],
    [odd],
  ]) {
    const { stdout, stderr } = await cli(args, { env: { WARPMAP_DEBUG: "1" } });
    expect((stdout + stderr).replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  }
});
