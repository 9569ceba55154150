// The pages of docs/ that have programs: each block of code is run as it stands, and prints what the block below it says.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { softwareGpuEnv } from "../../scripts/software-gpu.mjs";
import { type ProgramResult, runPrograms } from "../helpers/run-program.js";

const docs = resolve(import.meta.dirname, "../../docs");
const flat = (output: string) => output.replace(/\s+/g, " ").trim();
const pages = readdirSync(docs, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".md") && !path.startsWith("api"))
  .map((path) => ({ path, text: readFileSync(join(docs, path), "utf8") }));

interface Recipe {
  path: string;
  title: string;
  code: string;
  /** What it prints; undefined where the page does not say. */
  prints: string | undefined;
}

/** Every program of a page: the next block after it, of text, is what it prints. */
function recipesOf({ path, text }: { path: string; text: string }): Recipe[] {
  const blocks = [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, language, code], i) => {
    if (language !== "js") return [];
    const [, next, prints] = blocks[i + 1] ?? [];
    const title = [...text.slice(0, blocks[i].index).matchAll(/^#+ (.*)$/gm)].at(-1)?.[1] ?? "";
    return [{ path, title, code, prints: next === "text" ? prints : undefined }];
  });
}

const recipes = pages.flatMap(recipesOf);

/** WebGPU's only adapter is SwiftShader where these tests run, unless the platform has no archive of it. */
const software = Object.keys(softwareGpuEnv()).length > 0;
const onTestGpu = (code: string) =>
  software ? code.replace('backend: "webgpu"', 'backend: "webgpu", software: true') : code;

describe("recipes", () => {
  it("are all found", () => expect(recipes.length).toBeGreaterThanOrEqual(15));

  let results: ProgramResult[] = [];
  beforeAll(async () => {
    results = await runPrograms(recipes.map(({ code }) => onTestGpu(code)));
  });

  it.each(recipes.map((recipe, i) => ({ ...recipe, i })))("$path: $title", ({ i, prints }) => {
    const { status, stdout, stderr } = results[i];
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(prints, "no block of text says what it prints").toBeDefined();
    expect(flat(stdout)).toBe(flat(prints as string));
  });
});
