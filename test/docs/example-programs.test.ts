// The programs in examples/: each is in docs/examples.md, and prints what the page says. Those for a GPU alone: test/wgsl/wgsl-examples.test.ts
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { examplesOfDocs, outputOf } from "../helpers/example-programs.js";

const programs = readdirSync(resolve(import.meta.dirname, "../../examples"))
  .filter((name) => name.endsWith(".mjs"))
  .map((name) => `examples/${name}`);
const examples = examplesOfDocs();

it("docs/examples.md has every program", () => {
  expect(new Set(examples.map(({ file }) => file))).toEqual(new Set(programs));
});

it("says what they print, unless they need a GPU", () => {
  const silent = examples.filter(({ prints }) => prints === undefined).map(({ file }) => file);
  expect(silent.sort()).toEqual(programs.filter((file) => file.startsWith("examples/wgsl-")));
});

it.each(examples.filter(({ prints }) => prints !== undefined))("$command", async (example) => {
  expect(await outputOf(example, ["--backend", "cpu"])).toBe(example.prints);
});
