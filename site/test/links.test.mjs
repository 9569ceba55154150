// No dead links: what a page refers to on the site is there, and has the anchor. Addresses of other hosts are not asked.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, it } from "vitest";
import { anchorsOf } from "../generate/markdown.mjs";
import { ANY_BASE, out, REPOSITORY, root } from "../paths.mjs";
import { htmlOf, pages } from "./built.mjs";

const unescaped = (text) => text.replaceAll("&amp;", "&").replaceAll("&quot;", '"').replaceAll("&#39;", "'");
const referencesOf = (html) =>
  Array.from(html.matchAll(/ (?:href|src)="([^"]*)"/g), ([, url]) => unescaped(url));
const ids = new Map();

function idsOf(page) {
  if (!ids.has(page))
    ids.set(
      page,
      new Set(Array.from(htmlOf(page).matchAll(/ (?:id|name)="([^"]*)"/g), ([, id]) => unescaped(id))),
    );
  return ids.get(page);
}

/** Undefined for a reference that leads somewhere. */
function fault(page, reference) {
  if (reference.startsWith(`${REPOSITORY}/`)) return faultOfSource(reference.slice(REPOSITORY.length + 1));
  if (/^[a-z]+:/.test(reference)) return undefined;
  const [path, anchor] = reference.split("#", 2);
  let target = path === "" ? page : posix.join(posix.dirname(page), decodeURIComponent(path));
  if (target.startsWith("..")) return "leads out of the site";
  const file = join(out, target);
  if (!existsSync(file)) return "is not there";
  if (statSync(file).isDirectory()) target = posix.join(target, "index.html");
  if (!existsSync(join(out, target))) return "is a folder without a page";
  // "#/code" is a view of the playground
  const isAnchored = !/^(?:|\/.*)$/.test(anchor ?? "") && target.endsWith(".html");
  if (isAnchored && !idsOf(target).has(decodeURIComponent(anchor))) return "has no such anchor";
}

/** Files of the repository that pages lead to. */
function faultOfSource(path) {
  const [file, anchor] = path.split("#", 2);
  if (!existsSync(join(root, file))) return "is not in the repository";
  if (anchor === undefined || /^L\d+$/.test(anchor)) return undefined;
  return anchorsOf(readFileSync(join(root, file), "utf8")).includes(anchor)
    ? undefined
    : "has no such heading";
}

it("has pages", () => expect(pages.length).toBeGreaterThan(100));

it.each(pages)("%s", (page) => {
  const references = [...new Set(referencesOf(htmlOf(page)))];
  const faults = references
    .map((reference) => [reference, fault(page, reference)])
    .filter(([, said]) => said);
  expect(faults).toEqual([]);
});

it("names no absolute path", () => {
  const absolute = pages.filter((page) => referencesOf(htmlOf(page)).some((url) => url.startsWith("/")));
  expect(absolute).toEqual([]);
  expect(pages.filter((page) => htmlOf(page).includes(`href="${ANY_BASE}`))).toEqual([]);
});

it("says of the API only what is warpmap's", () => {
  const others = /node(?:\\)?_modules|toStringTag/;
  expect(pages.filter((page) => page.startsWith("api/") && others.test(htmlOf(page)))).toEqual([]);
});
