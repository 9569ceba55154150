// axe finds nothing on the main pages: light and dark, wide and narrow.
import { AxeBuilder } from "@axe-core/playwright";
import { afterAll, beforeAll, expect, it } from "vitest";
import { MAIN_PAGES, openSite } from "./built.mjs";

let site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

/** axe takes seconds a page. What a narrow page changes shows on a few of them. */
const views = ["light", "dark"].flatMap((colorScheme) => [
  { colorScheme, width: 1280, paths: MAIN_PAGES },
  { colorScheme, width: 390, paths: ["index.html", "comparison.html", "benchmarks/join-h100.html"] },
]);

it.each(views)("$colorScheme, $width pixels", { timeout: 600_000 }, async ({ colorScheme, width, paths }) => {
  const context = await site.browser.newContext({ colorScheme, viewport: { width, height: 900 } });
  const page = await context.newPage();
  const found = [];
  for (const path of paths) {
    await page.goto(site.address + path);
    await page.waitForFunction(() => document.querySelector("#app")?.__vue_app__ !== undefined);
    const { violations } = await new AxeBuilder({ page }).options({ resultTypes: ["violations"] }).analyze();
    for (const { id, nodes } of violations)
      found.push({
        path,
        id,
        nodes: nodes.length,
        first: nodes[0].html.slice(0, 300),
        why: nodes[0].failureSummary,
      });
  }
  await context.close();
  expect(found).toEqual([]);
});
