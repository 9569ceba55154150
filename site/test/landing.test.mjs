// The first screen: what warpmap is, figures with their machines in a picture, and what to do first. Also what pages say of themselves to
// those who list them: descriptions, Open Graph, the icon, the sitemap.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pageUrl, siteUrl } from "../address.mjs";
import { actionsOf, isReleased } from "../generate/home.mjs";
import { descriptionOf } from "../generate/markdown.mjs";
import { out } from "../paths.mjs";
import { htmlOf, openSite, pages } from "./built.mjs";

let site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

it("shows figures with their machine, a picture and the first button without scrolling", async () => {
  const page = await site.browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(site.address);
  for (const selector of [".landing h1", ".landing .tagline", ".landing .buttons", ".landing .figures"]) {
    const box = await page.locator(selector).boundingBox();
    expect(box.y + box.height, selector).toBeLessThan(700);
  }
  const figures = page.locator(".landing .figures");
  const text = await figures.textContent();
  for (const part of [
    "Million keys a second",
    "NVIDIA H100",
    "2 CPU cores",
    "cuCollections",
    "JavaScript Map",
  ])
    expect(text).toContain(part);
  // bars of one scale are as long as their figures say
  const widths = await figures
    .locator(".fill")
    .evaluateAll((fills) => fills.map((fill) => Number.parseFloat(fill.style.width)));
  const values = (await figures.locator(".bar b").allTextContents()).map((value) =>
    Number(value.replaceAll(",", "")),
  );
  expect(widths).toHaveLength(10);
  for (const [from, to] of [
    [0, 4],
    [4, 10],
  ]) {
    const most = Math.max(...values.slice(from, to));
    for (let i = from; i < to; i++) expect(widths[i]).toBeCloseTo((100 * values[i]) / most, 0);
  }
  const primary = page.locator(".landing .primary");
  await primary.click();
  await page.waitForURL(/\/playground\/#\/try/);
  await page.close();
});

it("leads to the reader's files first, and to the package once there is one", () => {
  const first = (isReleased, hasPlayground = true) => actionsOf({ hasPlayground, isReleased })[0].text;
  expect(first(false)).toBe("Try your files");
  expect(first(true)).toBe("Install");
  expect(first(false, false)).toBe("Install");
  expect(isReleased("# Changelog\n\n## 0.1.0 (unreleased)\n")).toBe(false);
  expect(isReleased("## 0.2.0 (unreleased)\n\n## 0.1.0 (2026-12-24)\n")).toBe(true);
});

describe("of itself", () => {
  const shown = pages.filter((page) => page !== "404.html");
  const contents = (html, attribute, name) =>
    Array.from(
      html.matchAll(new RegExp(`<meta ${attribute}="${name}" content="([^"]*)"`, "g")),
      ([, content]) => content,
    );

  it("each page has one description, and Open Graph's tags", () => {
    const base = siteUrl();
    const faults = shown.filter((page) => {
      const html = htmlOf(page);
      const [description, ...more] = contents(html, "name", "description");
      const tags = ["title", "type", "url", "description", "site_name"].map((name) =>
        contents(html, "property", `og:${name}`),
      );
      const isWhole =
        description?.length >= 20 && description.length <= 220 && !/[`*]|\]\(/.test(description);
      return (
        !isWhole ||
        more.length > 0 ||
        tags.some((tag) => tag.length !== 1) ||
        tags[2][0] !== pageUrl(page, base)
      );
    });
    expect(faults).toEqual([]);
  });

  it("each page has a picture of the size it says", () => {
    const picture = new URL("picture.png", siteUrl()).href;
    const faults = [...shown, "playground/index.html"].filter((page) => {
      const found = ["", ":width", ":height"].map((name) =>
        contents(htmlOf(page), "property", `og:image${name}`),
      );
      return JSON.stringify(found) !== JSON.stringify([[picture], ["1200"], ["630"]]);
    });
    expect(faults).toEqual([]);
    const png = readFileSync(join(out, "picture.png"));
    expect(png.toString("latin1", 1, 4)).toBe("PNG");
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1200, 630]);
  });

  it("most descriptions are a page's own", () => {
    const all = shown.map((page) => contents(htmlOf(page), "name", "description")[0]);
    expect(new Set(all).size).toBeGreaterThan(0.9 * all.length);
  });

  it("has an icon that is there", () => {
    const faults = shown.filter((page) => {
      const [, href] = /<link rel="icon"[^>]*href="([^"]*)"/.exec(htmlOf(page)) ?? [];
      return !href || !existsSync(join(out, page, "..", href));
    });
    expect(faults).toEqual([]);
  });

  it("lists every page in the sitemap", () => {
    const map = readFileSync(join(out, "sitemap.xml"), "utf8");
    const listed = Array.from(map.matchAll(/<loc>([^<]*)<\/loc>/g), ([, url]) => url);
    expect(listed.sort()).toEqual([...shown, "playground/index.html"].map((page) => pageUrl(page)).sort());
  });
});

describe("the site's address", () => {
  const manifest = (homepage) => ({ homepage });

  it.each([
    [{}, "https://github.com/a/b#readme", "https://a.github.io/b/"],
    [{}, "https://github.com/a/b.git", "https://a.github.io/b/"],
    [{}, "https://b.example/docs", "https://b.example/docs/"],
    [{ WARPMAP_SITE_URL: "https://c.example/x?y#z" }, "https://b.example/", "https://c.example/x/"],
  ])("%j, %s", (env, homepage, expected) => expect(siteUrl(env, manifest(homepage))).toBe(expected));

  it("is refused where it is none", () =>
    expect(() => siteUrl({ WARPMAP_SITE_URL: "warpmap" }, manifest(""))).toThrow("Invalid URL"));

  it("is a folder's for its index", () => {
    expect(pageUrl("index.html", "https://a.example/b/")).toBe("https://a.example/b/");
    expect(pageUrl("api/index.html", "https://a.example/b/")).toBe("https://a.example/b/api/");
    expect(pageUrl("why.html", "https://a.example/b/")).toBe("https://a.example/b/why.html");
  });
});

it("describes a page by its first prose, without marks", () => {
  expect(
    descriptionOf(
      "---\na: b\n---\n# T\n\n```js\ncode\n```\n\nAfter [this](x.md) `page` you *know* how it works, and why so.\n\nMore.",
    ),
  ).toBe("After this page you know how it works, and why so.");
  expect(descriptionOf("# `T`\n\nShort.")).toBe("T: Short.");
  expect(descriptionOf(`# T\n\n${"Word ".repeat(100)}`).length).toBeLessThan(210);
});
