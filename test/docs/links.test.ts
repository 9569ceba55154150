// Relative links of the pages lead somewhere: the file is there, and has the heading.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, it } from "vitest";
import { anchorsOf } from "../../site/generate/markdown.mjs";

const root = resolve(import.meta.dirname, "../..");
const inDocs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".md") && !path.startsWith("api"))
  .map((path) => `docs/${path}`);
const inRoot = readdirSync(root).filter((path) => path.endsWith(".md"));
const pages = [...inRoot, ...inDocs, "bench/README.md"];

const text = (path: string) => readFileSync(path, "utf8");
/** A page without its blocks of code. */
const proseOf = (path: string) => text(path).replace(/^```[\s\S]*?^```$/gm, "");

it.each(pages)("%s", (page) => {
  const links = Array.from(proseOf(join(root, page)).matchAll(/\]\(([^)\s]+)\)/g), ([, link]) => link);
  const broken = links
    .map((link) => link.replace("https://github.com/warpmap/warpmap/blob/main", root))
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [path, anchor] = link.split("#", 2);
      const file = path === "" ? join(root, page) : resolve(dirname(join(root, page)), path);
      return !existsSync(file) || (anchor !== undefined && !anchorsOf(text(file)).includes(anchor));
    });
  expect(broken).toEqual([]);
});
