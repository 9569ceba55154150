// The search's first hit is the page that helps, not a report of a benchmark or a page for contributors.
import { afterAll, beforeAll, expect, it } from "vitest";
import { openSite } from "./built.mjs";

let site;
let page;
beforeAll(async () => {
  site = await openSite();
  page = await site.browser.newPage();
  await page.goto(`${site.address}api/index.html`);
  await page.waitForFunction(() => document.querySelector("#app")?.__vue_app__ !== undefined);
  await page.locator("#local-search button").first().click();
});
afterAll(() => site.close());

// neighbours have different hits: what is shown stays until the next is found
it.each([
  ["left join", "join.html#left-join"],
  ["WebGPU not available", "errors.html#backend_unavailable--backendunavailableerror"],
  ["out of memory", "memory.html#out-of-memory"],
  ["how to install", "install.html#install"],
  ["vite", "install.html#bundlers"],
  ["skipLibCheck", "install.html#typescript"],
  ["threads", "recipes/page.html#threads-in-a-web-page"],
  ["service worker", "recipes/page.html#where-you-cannot-set-headers"],
  ["group by", "groups.html#group-and-aggregate"],
  ["duplicates", "recipes/tables.html#drop-duplicates"],
  ["grow", "recipes/tables.html#grow"],
  ["CAPACITY", "errors.html#capacity--capacityerror"],
  ["ValidationError", "errors.html#validation--validationerror"],
  ["CapacityError", "errors.html#capacity--capacityerror"],
  ["BACKEND_UNAVAILABLE", "errors.html#backend_unavailable--backendunavailableerror"],
  // what others call the same
  ["upsert", "maps.html#which-insert"],
  ["serialize", "maps.html#save-and-load"],
  ["count distinct", "groups.html#group-and-aggregate"],
  ["deduplicate", "groups.html#leave-out-duplicates"],
  // a page, or pages of a folder
  ["React", /^\/some\/path\/recipes\//],
])("%s", async (query, first) => {
  await page.locator("#localsearch-input").fill(query);
  const hits = page.locator(".results a");
  const firstHit = () => hits.first().getAttribute("href");
  const isExpected = async () => {
    const href = (await firstHit()) ?? "";
    return (typeof first === "string" ? href === `/some/path/${first}` : first.test(href)) || href;
  };
  await expect.poll(isExpected, { timeout: 5000 }).toBe(true);
});

it("leads to the section", async () => {
  await page.locator("#localsearch-input").fill("CAPACITY");
  await page.locator('.results a[href*="/errors.html#capacity"]').first().click();
  await page.waitForURL(/\/some\/path\/errors\.html#capacity--capacityerror$/);
});
