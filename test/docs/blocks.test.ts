// Every block of code of the pages is run by some test, or says that it is a fragment.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const inDocs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".md") && !path.startsWith("api"))
  .map((path) => `docs/${path}`);
const inRoot = readdirSync(root).filter((path) => path.endsWith(".md"));
const pages = [...inRoot, ...inDocs, "bench/README.md", "bench/peers/README.md"];

/** What is run, by the words behind the three marks: in all pages, or in those that are named. */
const RUN: Readonly<Record<string, true | readonly string[]>> = {
  js: ["README.md", ...inDocs], // recipes.test.ts, and examples.test.ts
  "js vite": ["docs/recipes/page.md"], // page-recipe.test.ts
  "js service worker": ["docs/recipes/page.md"],
  "html before": ["docs/recipes/page.md"],
  // browser-recipes.test.ts
  "js worker": ["docs/recipes/browser.md"],
  "jsx react": ["docs/recipes/browser.md"],
  "js opfs": ["docs/recipes/browser.md"],
  "js indexeddb": ["docs/recipes/browser.md"],
  "text strict": ["docs/recipes/browser.md"],
  "text fast": ["docs/recipes/browser.md"],
  // server-recipe.test.ts
  "js server worker": ["docs/recipes/server.md"],
  "js server": ["docs/recipes/server.md"],
  "js server client": ["docs/recipes/server.md"],
  html: ["docs/recipes/page.md", "docs/install.md"], // page-recipe.test.ts, and scripts/package/page.mjs
  sh: ["docs/examples.md"], // example-programs.test.ts
  text: true, // what a program prints
  mermaid: true,
  "": true, // drawings
};

it.each(pages)("%s", (page) => {
  const text = readFileSync(join(root, page), "utf8");
  const marks = Array.from(text.matchAll(/^```(.*)\n[\s\S]*?^```$/gm), ([, words]) => words);
  const neither = marks.filter((words) => {
    const where = RUN[words];
    return !words.endsWith(" fragment") && where !== true && !where?.includes(page);
  });
  expect(neither).toEqual([]);
});
