/** The examples of warpmap/wgsl, run as they stand, and one of the others on this engine. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { onSoftwareGpu } from "../conformance/helpers/device.js";
import { type Example, examplesOfDocs, outputOf } from "../helpers/example-programs.js";
import { runProgram } from "../helpers/run-program.js";

const root = resolve(import.meta.dirname, "../..");
const text = (path: string) => readFileSync(resolve(root, path), "utf8");

it("examples/wgsl-find.mjs finds what every order costs", async () => {
  const { status, stdout, stderr } = await runProgram(
    text("examples/wgsl-find.mjs"),
    onSoftwareGpu ? ["--software"] : [],
  );
  expect(status, stderr).toBe(0);
  expect(stdout).toMatch(/1000000 orders cost [\d.]+; 10000 are for articles that do not exist/);
});

it("examples/wgsl-insert.mjs counts the points of each voxel", async () => {
  const { status, stdout, stderr } = await runProgram(
    text("examples/wgsl-insert.mjs"),
    onSoftwareGpu ? ["--software"] : [],
  );
  expect(status, stderr).toBe(0);
  expect(stdout).toMatch(/200000 points lie in \d{4,} voxels; the fullest has \d+/);
});

it("examples/recommender.mjs prints the same as on cpu", async () => {
  const example = examplesOfDocs().find(({ file }) => file === "examples/recommender.mjs");
  const options = ["--backend", "webgpu", ...(onSoftwareGpu ? ["--software"] : [])];
  const printed = await outputOf(example as Example, options);
  expect(printed.replace("on webgpu", "on cpu")).toBe(example?.prints);
});

it("the example of tableModule's documentation prints what it says", async () => {
  const example = exampleOf("tableModule");
  const asked = onSoftwareGpu
    ? example.replace('backend: "webgpu"', 'backend: "webgpu", software: true')
    : example;
  const { status, stdout, stderr } = await runProgram(asked);
  expect(status, stderr).toBe(0);
  expect(stdout.trim().replace(/\s+/g, " ")).toBe("Float32Array(4) [ 0.25, 1.5, -1, 20 ]");
});

/** The code of the @example in front of a function. */
function exampleOf(name: string): string {
  const source = text("src/wgsl/index.ts");
  const end = source.indexOf(`export function ${name}<`);
  const comment = source.slice(source.lastIndexOf("/**", end), end);
  const lines = comment.slice(comment.indexOf("@example")).split("\n").slice(1, -2);
  const code = lines.map((line) => line.replace(/^ \* ?/, ""));
  return code.filter((line) => !line.startsWith("```")).join("\n");
}
