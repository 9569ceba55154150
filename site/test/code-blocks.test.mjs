// Every block of code that stands alone has "Run", which opens it in the playground's view Code. Whether it runs there is tested with the
// playground (playground/test/code.test.mjs).
import { afterAll, beforeAll, expect, it } from "vitest";
import { documentedPrograms, examplePrograms, programOf } from "../programs.mjs";
import { htmlOf, openSite, pages } from "./built.mjs";

let site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

const linked = (page) =>
  Array.from(
    htmlOf(page).matchAll(/<a class="run" href="[^"]*playground\/#\/code\?program=([^"]*)"/g),
    ([, name]) => name,
  );

it("there is one beside every program of the documentation and the examples", () => {
  const all = new Set(pages.flatMap(linked));
  const programs = [...documentedPrograms(), ...examplePrograms()].map(({ name }) => name);
  expect(programs.length).toBeGreaterThan(40);
  // of README.md some sections are summaries of pages
  expect(programs.filter((name) => !all.has(name) && !name.startsWith("readme-"))).toEqual([]);
  expect([...all].filter((name) => !programs.includes(name))).toEqual([]);
});

it("is not beside what needs Node's files or processes", () => {
  expect(
    programOf('import { writeTable } from "warpmap/io";\n\nawait writeTable("x.csv", {});\n'),
  ).toBeUndefined();
  expect(linked("install.html")).toEqual([]);
});

it("opens the program, from a page of any depth", async () => {
  for (const [path, heading] of [
    ["join.html", "tableFromArrays"],
    ["recipes/tables.html", "import"],
  ]) {
    const page = await site.browser.newPage();
    await page.goto(site.address + path);
    const run = page.getByRole("link", { name: "Run this program in the playground" }).first();
    await run.click();
    await page.waitForURL(/\/playground\/#\/code\?program=/);
    await page.locator(".cm-content", { hasText: heading }).waitFor();
    await page.close();
  }
});
