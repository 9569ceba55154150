// The sidebar is the index of docs/README.md: its headings, and below each the pages of its table. Titles are the pages' own.
import { posix } from "node:path";
import { programs } from "./examples.mjs";
import { sectionsOf, titleOf } from "./markdown.mjs";
import { routeOf } from "./sources.mjs";

/** @param {import("./sources.mjs").Page[]} pages @returns VitePress's sidebar of all pages but benchmarks and the API */
export function documentationSidebar(pages) {
  const index = pages.find(({ source }) => source === "docs/README.md");
  const groups = sectionsOf(index.text)
    .filter(({ heading }) => heading !== null)
    .map(({ heading, text }) => ({ text: heading, items: itemsOf(text, pages) }))
    .filter(({ items }) => items.length > 0);
  const listed = new Set(groups.flatMap(({ items }) => items.map(({ link }) => link)));
  const others = pages
    .filter(
      ({ source, route }) =>
        source.startsWith("docs/") && source !== index.source && !listed.has(linkTo(route)),
    )
    .filter(({ route }) => !route.includes("/"))
    .map(({ route, text }) => ({ text: titleOf(text), link: linkTo(route) }));
  groups.at(-1).items.push(...others);
  const reference = groups.find(({ text }) => text === "Reference");
  reference.items.push({ text: "Sizes", link: linkTo("sizes.md") });
  return groups;
}

/** Links in the first cells of a section's table; those to another host are left out. */
function itemsOf(text, pages) {
  const links = Array.from(text.matchAll(/^\| \[([^\]]*)\]\(([^)]*)\)/gm), ([, label, url]) => ({
    label,
    url,
  }));
  return links.flatMap(({ label, url }) => {
    const [file, anchor] = url.split("#", 2);
    const target = routeOf(pages, posix.normalize(posix.join("docs", file)), anchor);
    if (target === undefined) return [];
    const page = pages.find(({ route }) => route === target.route);
    const item = { text: (page && titleOf(page.text)) ?? label, link: linkTo(target.route) };
    return [{ ...item, ...children(target.route, pages) }];
  });
}

/** Pages of a folder, below the folder's own page. */
function children(route, pages) {
  if (!route.endsWith("/index.md")) return {};
  const folder = route.slice(0, -"index.md".length);
  const inFolder = pages.filter((page) => page.route.startsWith(folder) && page.route !== route);
  const items =
    folder === "examples/"
      ? programs.map((name) => ({ text: name, link: linkTo(`${folder}${name.replace(/\.mjs$/, ".md")}`) }))
      : inFolder.map((page) => ({ text: titleOf(page.text), link: linkTo(page.route) }));
  return { items, collapsed: true };
}

/** How VitePress's configuration names a page. */
export function linkTo(route) {
  return `/${route.replace(/(^|\/)index\.md$/, "$1").replace(/\.md$/, ".html")}`;
}
