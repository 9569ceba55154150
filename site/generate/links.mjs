// Links of pages: from files of the repository to pages of the site, and to the repository for files that are no page.
import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import { figureHtml } from "../figures/index.mjs";
import { REPOSITORY, root } from "../paths.mjs";
import { changeProse, titleOf } from "./markdown.mjs";
import { routeOf } from "./sources.mjs";

/** @param page {@link import("./sources.mjs").Page} @returns its text with links that work on the site */
export function linked(page, pages) {
  return changeProse(page.text, (prose) =>
    prose.replace(/(!?)\[((?:[^\][]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g, (whole, picture, label, url) => {
      if (picture !== "") return pictureHtml(url) ?? whole;
      return `[${labelOf(page, pages, label, url)}](${siteLink(page, pages, url)})`;
    }),
  );
}

/** A stored picture of a report is drawn anew, so that it follows the page's colours: its first panel, the report's page has all. */
function pictureHtml(url) {
  const [, name] = /results\/([^/]*)\.svg$/.exec(url) ?? [];
  return name && figureHtml(name, { panels: 1 });
}

/** A file's name means nothing to a reader of the site: the title of its page stands for it. */
function labelOf({ source }, pages, label, url) {
  if (!/^[\w/-]+\.md$/.test(label) || /^[a-z]+:/.test(url)) return label;
  const path = pathOf(source, url.split("#")[0], false);
  const target = pages.find((page) => page.source === path);
  return (target && titleOf(target.text)) ?? label;
}

/** @param url as it stands in the page's source @returns a path to another page, with .md, or an address */
export function siteLink(page, pages, url) {
  const local = url.startsWith(`${REPOSITORY}/`) ? url.slice(REPOSITORY.length + 1) : undefined;
  if (local === undefined && /^[a-z]+:/.test(url)) return url;
  const [file, anchor] = (local ?? url).split("#", 2);
  const path = pathOf(page.source, file, local !== undefined);
  const target = routeOf(pages, path, anchor);
  if (target !== undefined) return relativeRoute(page.route, target.route, target.anchor);
  if (!existsSync(join(root, path))) throw new Error(`${page.source}: there is no ${path} to link to`);
  return `${REPOSITORY}/${path}${anchor === undefined ? "" : `#${anchor}`}`;
}

function pathOf(source, file, fromRoot) {
  if (file === "") return source;
  return posix.normalize(fromRoot ? file : posix.join(posix.dirname(source), file)).replace(/\/$/, "");
}

function relativeRoute(from, to, anchor) {
  const hash = anchor === undefined ? "" : `#${anchor}`;
  if (from === to && hash !== "") return hash;
  const path = posix.relative(posix.dirname(from), to);
  return `${path.startsWith(".") ? path : `./${path}`}${hash}`;
}
