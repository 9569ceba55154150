// The examples of the README and of the documentation comments, run as they stand.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type ProgramResult, runProgram, runPrograms } from "../helpers/run-program.js";

const root = resolve(import.meta.dirname, "../..");
const text = (path: string) => readFileSync(join(root, path), "utf8");
const flat = (output: string) => output.replace(/\s+/g, " ").trim();

describe("README", () => {
  const blocks = [...text("README.md").matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code);
  /** What each block prints, in part, with spaces and line ends taken as one. */
  const prints = [
    [
      "{ inserted: 1000000, existing: 0 }",
      "Uint32Array(3) [ 4, 0, 7 ] Uint8Array(3) [ 1, 0, 1 ]",
      "500000 1000000 2000000",
    ],
    ["3 [ 'San Francisco', 'Los Angeles', 'San Francisco' ]"],
    [
      "{ origin: 'SFO', flights: 2, delay: 33 }",
      "{ origin: null, flights: 1, delay: 0 }",
      "3 [ 'origin', 'delay' ]",
    ],
  ];

  it("has the blocks that are checked here", () => expect(blocks.length).toBe(prints.length));

  it.each(blocks.map((code, i) => ({ code, expected: prints[i], number: i + 1 })))(
    "block $number prints what it says",
    async ({ code, expected }) => {
      const { status, stdout, stderr } = await runProgram(code);
      expect(stderr).toBe("");
      expect(status).toBe(0);
      for (const part of expected) expect(flat(stdout)).toContain(part);
    },
  );
});

describe("documentation comments", () => {
  /** What the examples take for granted. */
  const prelude = `
    import { DynamicMap, DynamicSet, openDevice, StaticMap, StaticMultimap, StaticMultiset, StaticSet } from "warpmap";
    import { readTable, tableToBytes, writeTable } from "warpmap/io";
    import * as relational from "warpmap/relational";
    const { count, distinct, dropDuplicates, GroupBy, groupBy, isIn, JoinIndex, join, mean, median, shareTable, valueCounts } =
      relational;
    import { BloomFilter, HyperLogLog } from "warpmap/sketches";
    import { tableFromArrays } from "@uwdata/flechette";`;

  // warpmap/wgsl has programs of its own: test/wgsl/wgsl-examples.test.ts
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.startsWith("wgsl"))
    .map((path) => `src/${path}`);
  const examples = files.flatMap((path) =>
    [...text(path).matchAll(/^( *)\* @example\n((?:^ *\*(?!\/).*\n)*)/gm)].map(([, , lines]) => ({
      path,
      code: lines.replace(/^ *\* ?/gm, ""),
    })),
  );

  it("has examples", () => expect(examples.length).toBeGreaterThanOrEqual(4));

  const opens = `const device = await openDevice({ backend: "cpu" });`;
  let results: ProgramResult[] = [];
  beforeAll(async () => {
    const programs = examples.map(({ code }) => `${code.includes("openDevice(") ? "" : opens}\n${code}`);
    results = await runPrograms(programs.map((code) => `${prelude}\n${code}`));
  });

  it.each(examples.map(({ path }, i) => ({ path, i })))("$path", ({ i }) => {
    const { status, stderr } = results[i];
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });
});

it("examples/word-count.mjs counts a text as often as it is told", async () => {
  const readme = text("README.md");
  const { status, stdout, stderr } = await runProgram(text("examples/word-count.mjs"), [
    join(root, "README.md"),
    "3",
  ]);
  expect(status, stderr).toBe(0);
  const words = readme.toLowerCase().match(/\p{Letter}+(?:['’]\p{Letter}+)*/gu) ?? [];
  const the = words.filter((word) => word === "the").length;
  expect(stdout).toContain(`${3 * the} the\n`);
  expect(stdout).toContain(`${3 * words.length} words, ${new Set(words).size} different ones`);
});
