// The pages' words: names of source files that are there, and none of the phrases that CONTRIBUTING.md's style leaves out.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const inDocs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".md") && !path.startsWith("api"))
  .map((path) => `docs/${path}`);
const inRoot = readdirSync(root).filter((path) => path.endsWith(".md"));
const pages = [...inRoot, ...inDocs, "bench/README.md", "bench/peers/README.md"];

const text = (path: string) => readFileSync(join(root, path), "utf8");
const proseOf = (path: string) => text(path).replace(/^```[\s\S]*?^```$/gm, "");

/** Sentences without a subject, and words of our own where the field has one (worker pool, warm-up, architecture). */
const LEFT_OUT = [
  /\bwhoever\b/i,
  /\b(?:no|some)body\b/i,
  /\bcrews?\b/i,
  /\brehears\w*/i,
  /\bthe house\b/i,
  /^What (?!to do)/m,
  /(?:\. |\| )What (?!to do)/,
];

/** Names in code spans that look like a file or a folder of the sources. */
function sourceNames(prose: string): string[] {
  const spans = Array.from(prose.matchAll(/`([^`\n]+)`/g), ([, span]) => span);
  return spans.filter((span) =>
    /^(?:(?:src|test|scripts|bench|examples)\/[\w./-]*|(?:[\w-]+\/)*[\w-]+(?:\.[\w-]+)*\.(?:ts|wgsl))$/.test(
      span,
    ),
  );
}

/** What the pages name that is no file of the repository: a page of the reader's own, and what is built. */
const OTHERS = new Set(["src/main.ts", "program.ts"]);

const files = ["src", "test", "scripts", "bench"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map(
    (path) => `${folder}/${path.replaceAll("\\", "/")}`,
  ),
);
const isThere = (name: string) =>
  existsSync(join(root, name)) || files.some((file) => file.endsWith(`/${name}`));

describe.each(pages)("%s", (page) => {
  it("names source files that are there", () =>
    expect(sourceNames(proseOf(page)).filter((name) => !OTHERS.has(name) && !isThere(name))).toEqual([]));

  it("uses standard words, and sentences with a subject", () => {
    const prose = proseOf(page);
    expect(LEFT_OUT.flatMap((phrase) => phrase.exec(prose)?.[0] ?? [])).toEqual([]);
  });
});

it("knows a file that is not there", () => {
  const prose = "See `table/probe.wgsl`, `direct/nothing.ts`, `src/nowhere/` and `x.js`.";
  expect(sourceNames(prose).filter((name) => !isThere(name))).toEqual(["direct/nothing.ts", "src/nowhere/"]);
});

it("CHANGELOG.md takes fewer than 40 lines a version", () => {
  const versions = text("CHANGELOG.md").split(/^## /m).slice(1);
  expect(versions.filter((version) => version.split("\n").length > 40)).toEqual([]);
});
