import { existsSync, readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { afterAll, expect, it, vi } from "vitest";
import { run } from "../../src/cli/program.js";
import { elementsOf } from "../bench/xml.js";
import { temporaryFolder } from "../io/temporary.js";
import { cli } from "./run-cli.js";

// files of one process share modules: this one is to find none that another has loaded, and to leave none that hold its mocks
vi.hoisted(() => vi.resetModules());
afterAll(() => vi.resetModules());
// the random reads that benchmarks state ratios to: of a small table here
vi.mock("../../bench/gups.js", async (original) => ({
  sweeps: undefined, // a mock has what it names
  takesMultiplicity: undefined,
  ...(await (await import("../bench/in-small.js")).smallGups(original)),
}));

// lifecycle lets the device rest for seconds
vi.mock("../../bench/timing.js", async (original) => ({
  ...(await (await import("../bench/in-small.js")).withoutWarmUp(original)),
  rest: async () => {},
}));

const path = temporaryFolder();

it.each([
  ["gups", "2^12"],
  ["stream", "1000"],
])("runs %s, prints its table and keeps its numbers and picture", async (name, size) => {
  const [json, svg] = [path(`${name}.json`), path(`${name}.svg`)];
  const args = ["bench", name, "--size", size, "--device", "cpu", "--json", json, "--svg", svg];
  const { status, stdout, stderr } = await cli(args);
  expect(status).toBe(0);
  const [, rule, ...rows] = stdout.trimEnd().split("\n");
  expect(rule).toMatch(/^[─ ]+$/);
  const report = JSON.parse(readFileSync(json, "utf8"));
  expect(report).toMatchObject({ bench: name, node: process.version, rows: expect.any(Array) });
  expect(report.rows.length).toBe(rows.length);
  expect(stderr).toContain(`; state: ${report.state}`);
  expect(report.state).toBe("warm loop");
  expect(Date.parse(report.date)).toBeGreaterThan(0);
  for (const { of, source } of report.published ?? []) {
    expect(stderr).toContain(source);
    expect(stderr).toContain(of.slice(0, 30));
  }
  const elements = elementsOf(readFileSync(svg, "utf8"));
  expect(elements.some(({ attributes }) => "data-series" in attributes)).toBe(true);
});

it("runs lifecycle, with a cold process of what was built, and prints a table for each state", async () => {
  const json = path("lifecycle.json");
  const args = ["bench", "lifecycle", "--size", "100", "--device", "cpu", "--json", json];
  const { status, stdout, stderr } = await cli(args);
  expect(status).toBe(0);
  expect(stderr).toContain("; state: by row");
  const tables = stdout.split("\n\n").map((table) => table.trim().split("\n"));
  expect(tables.map(([, , first]) => first.split(/ {2,}/)[0])).toEqual([
    "cold process",
    "first table",
    "fresh table",
    "warm loop",
    "after rest",
    "warm loop",
  ]);
  const { rows } = JSON.parse(readFileSync(json, "utf8"));
  expect(tables.flatMap((table) => table.slice(2)).length).toBe(rows.length);
  expect(rows[0]["import ms"]).toBeGreaterThan(0);
});

it.each(["static-map", "gups", "stream", "lifecycle", "join", "group"])(
  "hands --size to %s, which says what it takes",
  async (name) => {
    const { status, stderr } = await cli(["bench", name, "--size", "2^40", "--device", "cpu"]);
    expect(status).toBe(2);
    expect(stderr).toMatch(new RegExp(`^warpmap: ${name} does not measure .*\\.\nhint: Give `));
  },
);

it("sweeps over what is asked for", async () => {
  const args = ["bench", "static-map", "--sweep", "load", "--size", "1000", "--device", "cpu"];
  const { status, stdout } = await cli(args);
  expect(status).toBe(0);
  expect(stdout).toMatch(/0\.97/);
});

it.each([
  [["static-map", "--sweep", "colour"], /no sweep over "colour"/, /size, load/],
  [["gups", "--sweep", "size"], /no sweep over "size"/, /Leave out --sweep/],
  [["gups", "--runs", "few"], /--runs "few" is not a number/, /whole number/],
  [
    ["crossovers"],
    /^warpmap: The package has no benchmark "crossovers"\.$/m,
    /^hint: Use one of: static-map, gups, .*\. All others run in a clone of the repository: npm run bench -- NAME\.$/m,
  ],
])("refuses a wrong call: %j", async (args, problem, hint) => {
  const { status, stderr, stdout } = await cli(["bench", ...args, "--device", "cpu"]);
  expect(status).toBe(2);
  expect(stdout).toBe("");
  expect(stderr).toMatch(problem);
  expect(stderr).toMatch(hint);
});

it("keeps its numbers before it prints: who reads may stop, which ends the process", async () => {
  const json = path("before.json");
  const kept: unknown[] = [];
  const output = { write: () => kept.push(JSON.parse(readFileSync(json, "utf8")).bench) } as never;
  const host = {
    stdin: output,
    stdout: output,
    stderr: output,
    env: {},
    signal: new AbortController().signal,
  };
  expect(await run(["bench", "gups", "--size", "2^10", "--device", "cpu", "--json", json], host)).toBe(0);
  expect(new Set(kept)).toEqual(new Set(["gups"]));
});

it.each(["--json", "--svg"])("says that it cannot write %s before it measures", async (option) => {
  const args = ["bench", "gups", "--device", "cpu", option, path("no/folder.out")];
  const { status, stderr } = await cli(args);
  expect(status).toBe(1);
  expect(stderr).toMatch(/folder\.out: no such file or directory/);
});

it("prints its numbers in place of the table with --json -", async () => {
  const { status, stdout } = await cli(["bench", "gups", "--size", "2^12", "--device", "cpu", "--json", "-"]);
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ bench: "gups" });
  expect(existsSync("-")).toBe(false);
});

it("fits a terminal of 80 columns without leaving columns out", async () => {
  const args = ["bench", "gups", "--size", "2^12", "--device", "cpu"];
  const wide = (await cli(args)).stdout.split("\n")[0].trim().split(/ {2,}/);
  const narrow = (await cli(args, { columns: 40 })).stdout.split("\n");
  for (const line of narrow) expect(stripVTControlCharacters(line).length).toBeLessThanOrEqual(40);
  const shown = stripVTControlCharacters(narrow.join("\n"));
  for (const name of wide) expect(shown).toContain(name.slice(0, 7));
});
