// Writes the pages that VitePress builds, and what its configuration has to know of them.
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pages as folder, site } from "../paths.mjs";
import { benchmarkPages } from "./benchmarks.mjs";
import { diagramHtml } from "./diagrams.mjs";
import { examplePages, withSources } from "./examples.mjs";
import { home } from "./home.mjs";
import { linked } from "./links.mjs";
import { withPowers } from "./markdown.mjs";
import { reference } from "./reference.mjs";
import { documentationSidebar } from "./sidebar.mjs";
import { sizes } from "./sizes.mjs";
import { sourcePages } from "./sources.mjs";

/** @param hasPlayground whether there will be one to link to */
export async function generate({ hasPlayground }) {
  rmSync(folder, { recursive: true, force: true });
  const pages = sourcePages();
  for (const page of pages) write(page.route, shown(page, pages));
  examplePages(write);
  write("index.md", home(pages, { hasPlayground }));
  write("sizes.md", sizes());
  const api = await reference(write);
  const benchmarks = benchmarkPages(write);
  const sidebar = { "/api/": api, "/benchmarks/": benchmarks, "/": documentationSidebar(pages) };
  copyFileSync(join(site, "icon.svg"), join(folder, "public/icon.svg"));
  write("site.json", JSON.stringify({ sidebar, hasPlayground }, null, 2));
}

/** Six columns and more: such a page gives up its outline for their width. */
const WIDE_TABLE = /^\|(?:---\|){6,}$/m;

/** A page's text as the site has it. */
function shown(page, pages) {
  const text = withPowers(linked(page, pages));
  const frontmatter = WIDE_TABLE.test(text) ? "---\naside: false\n---\n\n" : "";
  const withDiagrams = text.replace(
    /^```mermaid\n([\s\S]*?)^```$/gm,
    (block, source) => diagramHtml(source) ?? block,
  );
  return frontmatter + (page.source === "docs/examples.md" ? withSources(withDiagrams) : withDiagrams);
}

function write(route, text) {
  const path = join(folder, route);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
