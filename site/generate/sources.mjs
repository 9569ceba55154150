// Which files of the repository the site shows, and under which path each comes out. Nothing is written for the site alone:
// a page is a file of docs/, a part of README.md, a report, an example program or the API's documentation.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../paths.mjs";
import { anchorOf, sectionsOf } from "./markdown.mjs";

/** Sections of README.md that are pages. Where docs/ has a page on the subject, the section is only its summary. */
const README_SECTIONS = {
  Install: { shownBy: "docs/install.md" },
  "A map in twenty lines": { route: "first-map.md" },
  "A map that grows": { route: "first-map.md" },
  "A join": { shownBy: "docs/join.md" },
  Groups: { shownBy: "docs/groups.md" },
  Sketches: { shownBy: "docs/sketches.md" },
  "Your own kernels": { shownBy: "docs/own-kernels.md" },
  "The command line": { route: "command-line.md" },
  More: { shownBy: "docs/README.md" },
};

/** Files outside docs/, and pages of docs/ that come out elsewhere than under their name. */
const ROUTES = {
  "docs/README.md": "documentation.md",
  "docs/recipes/README.md": "recipes/index.md",
  "docs/examples.md": "examples/index.md",
  "bench/README.md": "benchmarks/index.md",
  "bench/peers/README.md": "benchmarks/peers.md",
  "FEATURES.md": "features.md",
  "ARCHITECTURE.md": "architecture.md",
  "CHANGELOG.md": "changelog.md",
  "CONTRIBUTING.md": "contributing.md",
};

const text = (path) => readFileSync(join(root, path), "utf8");

/**
 * A page: the path it comes out under, the file it is from, its Markdown. Links in it are still the file's.
 * @typedef {{ route: string, source: string, text: string }} Page
 */

/** @returns {Page[]} */
export function sourcePages() {
  const inDocs = readdirSync(join(root, "docs"), { recursive: true })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".md") && !path.startsWith("api"))
    .map((path) => `docs/${path}`);
  const files = new Set([...inDocs, ...Object.keys(ROUTES)]);
  const fromFiles = [...files].map((source) => ({
    route: ROUTES[source] ?? source.slice("docs/".length),
    source,
    text: text(source),
  }));
  return [...fromFiles, ...readmePages()];
}

/** @returns {Page[]} */
function readmePages() {
  const byRoute = new Map();
  for (const { heading, text } of sectionsOf(readme())) {
    const { route, title = heading } = sectionPlace(heading);
    if (route === undefined || heading === null) continue;
    const before = byRoute.get(route);
    if (before === undefined) byRoute.set(route, `# ${title}\n\n${text}\n`);
    else byRoute.set(route, `${before}\n## ${heading}\n\n${text}\n`);
  }
  return [...byRoute].map(([route, text]) => ({ route, source: "README.md", text }));
}

export const readme = () => text("README.md");

/** What stands in README.md before its first section. */
export const readmeIntroduction = () => sectionsOf(readme())[0].text;

/** A section that has no place here yet is a page of its own. */
function sectionPlace(heading) {
  if (heading === null) return { route: "index.md" };
  return README_SECTIONS[heading] ?? { route: `${anchorOf(heading)}.md` };
}

/**
 * Where a link to a file of the repository leads on the site.
 * @param {Page[]} pages
 * @param path from the root of the repository
 * @param anchor without "#"; may be undefined
 * @returns a route with its anchor; undefined for what the site does not show
 */
export function routeOf(pages, path, anchor) {
  if (path === "README.md") return readmeRoute(pages, anchor);
  const [, report] = /^bench\/results\/(.*)\.(?:json|svg)$/.exec(path) ?? [];
  if (report !== undefined && existsSync(join(root, `bench/results/${report}.json`)))
    return { route: `benchmarks/${report}.md` };
  const [, program] = /^examples\/([^/]*)\.mjs$/.exec(path) ?? [];
  if (program !== undefined) return { route: `examples/${program}.md` };
  const page = pages.find(({ source }) => source === path);
  if (page) return { route: page.route, anchor };
  if (path === "docs") return routeOf(pages, "docs/README.md", anchor);
  return undefined;
}

function readmeRoute(pages, anchor) {
  if (anchor === undefined) return { route: "index.md" };
  const headings = sectionsOf(readme()).map(({ heading }) => heading);
  const heading = headings.find((heading) => heading !== null && anchorOf(heading) === anchor);
  if (heading === undefined) return { route: "index.md", anchor };
  const { route, shownBy } = sectionPlace(heading);
  if (shownBy !== undefined) return routeOf(pages, shownBy);
  const first = headings.find((other) => other !== null && sectionPlace(other).route === route);
  return heading === first ? { route } : { route, anchor };
}
