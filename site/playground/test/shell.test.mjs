// The shell: threads by the service worker, appearance, what the first load weighs, and what axe finds.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { built, here, openView, playground } from "./helpers.mjs";

const { AxeBuilder } = createRequire(join(here, "../../package.json"))("@axe-core/playwright");
const VIEWS = ["try", "bench", "code"];

const site = playground();

test("a host that sends no headers gives threads all the same", async () => {
  const { page, errors } = await openView(site, "try");
  assert.equal(await page.evaluate(() => crossOriginIsolated), true);
  assert.match(await page.textContent("#isolation"), /^The cpu engine may use \d+ threads/);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("without service workers it says that threads are off", async () => {
  const { page } = await openView(site, "try?engine=cpu", { serviceWorkers: "block" });
  assert.match(await page.textContent("#isolation"), /^The cpu engine has one thread/);
  await page.locator(".engine-text", { hasText: "cpu, 1 thread." }).waitFor();
  await page.context().close();
});

test("the first load", async () => {
  const { page } = await openView(site, "try", { serviceWorkers: "block" });
  await page.locator('[data-panel="try"] h1').waitFor();
  const paths = (await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name)))
    .filter((name) => name.startsWith(site.url) && !name.includes("/lib/"))
    .map((name) => name.slice(site.url.length));
  const bytes = ["index.html", ...new Set(paths)].map(
    (path) => gzipSync(readFileSync(join(built, path.split("?")[0]))).length,
  );
  const total = bytes.reduce((sum, size) => sum + size, 0);
  console.log(
    `first load of the shell with the view Try: ${(total / 1000).toFixed(1)} KB gzip, ${bytes.length} files`,
  );
  assert.ok(bytes.length > 3, "a page, a style sheet, the shell and a view");
  assert.ok(total < 20_000, `${total} bytes`);
  await page.context().close();
});

test("follows the system, the button and VitePress's key", async () => {
  const { page } = await openView(site, "try", { colorScheme: "dark" });
  const isDark = () => page.evaluate(() => document.documentElement.classList.contains("dark"));
  assert.equal(await isDark(), true);
  await page.getByRole("button", { name: "Use light colours" }).click();
  assert.equal(await isDark(), false);
  assert.equal(await page.evaluate(() => localStorage.getItem("vitepress-theme-appearance")), "light");
  await page.reload();
  assert.equal(await isDark(), false);
  await page.getByRole("button", { name: "Use dark colours" }).click();
  assert.equal(await page.evaluate(() => localStorage.getItem("vitepress-theme-appearance")), "auto");
  await page.context().close();
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing, ${colorScheme}`, { timeout: 180_000 }, async () => {
    const { page } = await openView(site, "try?engine=cpu", { colorScheme });
    await page.getByRole("button", { name: "Join flights with their airports" }).click();
    await page.locator(".summary").waitFor();
    for (const view of VIEWS) {
      if (view !== "try") {
        await page.goto(`${site.url}#/${view}`);
        await page.locator(`[data-panel="${view}"] h1`).waitFor();
      }
      const { violations } = await new AxeBuilder({ page }).analyze();
      const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
      assert.deepEqual(told, [], view);
    }
    await page.context().close();
  });
}
