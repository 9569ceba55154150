/** The examples of warpmap/wgsl, run as they stand, and one of the others on this engine. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { onSoftwareGpu } from "../conformance/helpers/device.js";
import { type Example, examplesOfDocs, outputOf } from "../helpers/example-programs.js";
import { runProgram } from "../helpers/run-program.js";

const root = resolve(import.meta.dirname, "../..");
/** Of a program: far more than it takes where the processor is not shared. */
const LIMIT_MS = 100_000;
const text = (path: string) => readFileSync(resolve(root, path), "utf8");

it("examples/wgsl-find.mjs finds what every order costs", async () => {
  const { status, stdout, stderr } = await runProgram(
    text("examples/wgsl-find.mjs"),
    onSoftwareGpu ? ["--software"] : [],
    LIMIT_MS,
  );
  expect(status, stderr).toBe(0);
  expect(stdout).toMatch(/1000000 orders cost [\d.]+; 10000 are for articles that do not exist/);
});

it("examples/wgsl-insert.mjs counts the points of each voxel", async () => {
  const { status, stdout, stderr } = await runProgram(
    text("examples/wgsl-insert.mjs"),
    onSoftwareGpu ? ["--software"] : [],
    LIMIT_MS,
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

it("examples/wgsl-typegpu.mjs adds up the sales of each article", async () => {
  const { status, stdout, stderr } = await runProgram(
    text("examples/wgsl-typegpu.mjs"),
    onSoftwareGpu ? ["--software"] : [],
    LIMIT_MS,
  );
  expect(status, stderr).toBe(0);
  // a hundred sales of each article, of 5.125 in the mean
  expect(stdout).toMatch(/100000 sales of 1000 articles brought 512500\n/);
});

it("examples/wgsl-three.mjs counts the particles of each voxel, in buffers of three.js", async () => {
  const { status, stdout, stderr } = await runProgram(
    text("examples/wgsl-three.mjs"),
    onSoftwareGpu ? ["--software"] : [],
    LIMIT_MS,
  );
  expect(status, stderr).toBe(0);
  expect(stdout).toMatch(/10000 particles lie in \d{4} voxels; the fullest has \d+\n/);
});

it("the example of tableModule's documentation prints what it says", async () => {
  const example = exampleOf("tableModule");
  const asked = onSoftwareGpu
    ? example.replace('backend: "webgpu"', 'backend: "webgpu", software: true')
    : example;
  const { status, stdout, stderr } = await runProgram(asked, [], LIMIT_MS);
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
