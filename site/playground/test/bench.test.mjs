// The view Bench: it measures, shows the H100 beside, carries its numbers in a link, and stops.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { openView, playground } from "./helpers.mjs";

const SLOW = { timeout: 300_000 };

const site = playground();

/** Opens the view with these benchmarks checked, and a small largest number of keys. */
async function openBench(engine, titles) {
  const opened = await openView(site, `bench?engine=${engine}`);
  const { page } = opened;
  await page.locator(".engine-text", { hasText: "Runs on" }).waitFor();
  for (const box of await page.getByRole("checkbox").all()) await box.uncheck();
  for (const title of titles) await page.getByRole("checkbox", { name: title }).check();
  await page.getByRole("combobox", { name: "Largest number of keys" }).selectOption(String(2 ** 12));
  return opened;
}

async function runToEnd(page) {
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByRole("button", { name: "Permalink with the numbers" }).waitFor({ timeout: 240_000 });
  await page.waitForFunction(
    () => !document.querySelector('[data-panel="bench"] .primary').disabled,
    undefined,
    {
      timeout: 240_000,
    },
  );
  assert.equal(await page.locator(".message.error").count(), 0);
}

/** The numbers below each figure, as text. */
async function tablesOf(page) {
  return page.locator("details table").allTextContents();
}

test("measures on cpu, and the permalink shows the numbers again", SLOW, async () => {
  const { page, errors } = await openBench("cpu", ["Random reads", "By size"]);
  await runToEnd(page);
  const tables = await tablesOf(page);
  assert.equal(tables.length, 2);
  assert.match(tables[0], /random 8-byte reads/);
  assert.match(tables[1], /find present/);
  const legend = await page.locator('[class*="swatches"]').allTextContents();
  for (const text of legend) assert.match(text, /cpu, \d threads?.*NVIDIA H100/s);

  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as JSON" }).click();
  const reports = JSON.parse(readFileSync(await (await downloading).path(), "utf8"));
  assert.deepEqual(
    reports.map(({ bench }) => bench),
    ["gups", "static-map"],
  );

  await page.getByRole("button", { name: "Permalink with the numbers" }).click();
  await page.waitForFunction(() => location.hash.includes("r="));
  const link = page.url();
  console.log(`a link with two reports has ${link.length} characters`);
  const other = await openView(site, link.slice(link.indexOf("#") + 2));
  await other.page.getByText("These numbers came with the link").waitFor();
  assert.deepEqual(await tablesOf(other.page), tables);
  assert.deepEqual([...errors, ...other.errors], []);
  await other.page.context().close();
  await page.context().close();
});

test("measures random reads on a software GPU", SLOW, async () => {
  const { page, errors } = await openBench("software", ["Random reads"]);
  await runToEnd(page);
  const [table] = await tablesOf(page);
  assert.match(table, /random 8-byte reads/);
  assert.match(await page.locator('[class*="swatches"]').textContent(), /swiftshader/);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("Stop stops, and keeps what was measured", SLOW, async () => {
  const { page } = await openBench("cpu", ["Random reads", "A table's life"]);
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".work-text", { hasText: "A table's life" }).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator(".message", { hasText: "Stopped." }).waitFor();
  assert.equal((await tablesOf(page)).length, 1);
  await page.context().close();
});

test("a link that holds no numbers says so", SLOW, async () => {
  const { page, errors } = await openView(site, "bench?r=AAAA");
  await page.locator(".message.error", { hasText: "cannot be read" }).waitFor();
  assert.deepEqual(errors, []);
  await page.context().close();
});
