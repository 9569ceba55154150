// API pages: what one calls first comes first, every parameter says what it is, and nothing says where the sources have it.
import { expect, it } from "vitest";
import { htmlOf, pages } from "./built.mjs";

const mainOf = (page) => /<main[\s\S]*<\/main>/.exec(htmlOf(page))?.[0] ?? "";
const api = pages.filter((page) => page.startsWith("api/"));
const titles = (html, level) =>
  Array.from(
    html.matchAll(new RegExp(`<h${level}[^>]*>([\\s\\S]*?)<a class="header-anchor"`, "g")),
    ([, title]) => title.replace(/<[^>]*>/g, "").trim(),
  );

it.each(["StaticMap", "StaticSet", "StaticMultimap", "StaticMultiset", "DynamicMap", "DynamicSet"])(
  "%s begins with create(), and has methods before getters",
  (name) => {
    const html = mainOf(`api/index/classes/${name}.html`);
    const sections = titles(html, 2);
    expect(sections[0]).toBe("Methods");
    expect(sections.indexOf("Methods")).toBeLessThan(sections.indexOf("Accessors"));
    const members = titles(html, 3);
    expect(members[0]).toBe("create()");
    const methods = members.filter((member) => member.endsWith("()"));
    const symbol = methods.findIndex((member) => member.startsWith("["));
    expect(methods.slice(symbol).every((member) => member.startsWith("["))).toBe(true);
  },
);

it("says of every parameter what it is", () => {
  const silent = api.flatMap((page) =>
    Array.from(htmlOf(page).matchAll(/<table[\s\S]*?<\/table>/g), ([table]) => table)
      .filter((table) => /<th[^>]*>Parameter</.test(table))
      .flatMap((table) => Array.from(table.matchAll(/<tr>([\s\S]*?)<\/tr>/g), ([, row]) => row).slice(1))
      .filter((row) => (row.match(/<td/g) ?? []).length < 3 || /<td[^>]*>\W*<\/td>\s*$/.test(row))
      .map((row) => `${page}: ${row.replace(/<[^>]*>/g, " ")}`),
  );
  expect(silent).toEqual([]);
});

it("names no file of the sources", () => {
  expect(api.filter((page) => /Defined in|src\/[\w/-]+\.ts/.test(mainOf(page)))).toEqual([]);
});
