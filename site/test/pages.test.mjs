// Each page in Chromium, below some path of its host: it loads without a word on the console, and is the page it says it is.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { complaints, openSite, pages } from "./built.mjs";

let site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

/** Pages in one tab, one after the other. */
async function visit(each) {
  const page = await site.browser.newPage();
  const said = complaints(page);
  const faults = [];
  for (const path of each) {
    await page.goto(site.address + path);
    // set by Vue when it has taken the page over
    await page.waitForFunction(() => document.querySelector("#app")?.__vue_app__ !== undefined);
    const headings = await page.locator("h1").count();
    if (headings !== 1) said.push(`${headings} headings of the first level`);
    if (said.length > 0) faults.push({ path, said: said.splice(0) });
  }
  await page.close();
  return faults;
}

const apart = pages.filter((path) => path !== "404.html");
const parts = Map.groupBy?.(apart, (path) => path.split("/")[0]) ?? new Map([["all", apart]]);

it.each([...parts])("%s", { timeout: 600_000 }, async (_part, each) => expect(await visit(each)).toEqual([]));

describe("reading on", () => {
  it("goes from page to page without loading anew, by links of the sidebar and of the text", async () => {
    const page = await site.browser.newPage();
    const said = complaints(page);
    await page.goto(`${site.address}recipes/tables.html`);
    await page.waitForFunction(() => document.querySelector("#app")?.__vue_app__ !== undefined);
    await page.evaluate(() => {
      globalThis.isSamePage = true;
    });
    await page.locator(".VPSidebar a", { hasText: "Errors" }).first().click();
    await page.waitForURL(`${site.address}errors.html`);
    await page.locator("main a", { hasText: "grow" }).first().click();
    await page.waitForURL(`${site.address}recipes/tables.html#grow`);
    await page.locator(".VPSidebar a", { hasText: "Sketches" }).first().click();
    await page.waitForURL(`${site.address}sketches.html`);
    await page.getByRole("heading", { level: 1, name: "Sketches" }).waitFor();
    expect(await page.evaluate(() => globalThis.isSamePage)).toBe(true);
    expect(said).toEqual([]);
    await page.close();
  });

  it.each(["nothing.html", "a/b/nothing"])("says so where there is no page: %s", async (path) => {
    const page = await site.browser.newPage();
    await page.goto(site.address + path);
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    await page.locator("#home[data-state=found]").click();
    await page.waitForURL(site.address);
    await page.close();
  });
});
