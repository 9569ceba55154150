// What the view Try shows besides results: first rows of tables, why nothing matched, the program; and that readers see what they asked for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openView, playground } from "./helpers.mjs";

const SLOW = { timeout: 240_000 };
const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 780 },
];
const JOIN = "left=flights-200k.parquet&right=airports.csv&do=join&how=inner&on=origin&with=iata";

const site = playground();

async function openFile(page, side, name, text) {
  const file = { name, mimeType: "text/csv", buffer: Buffer.from(text) };
  await page.locator('input[type="file"]').nth(side).setInputFiles(file);
  await page.locator(".about", { hasText: name }).waitFor();
}

/** Whether all of an element, or of its top, is on the screen. */
async function isInSight(page, locator, { top = false } = {}) {
  const box = await locator.boundingBox();
  return box.y >= 0 && box.y + (top ? 40 : box.height) <= page.viewportSize().height;
}

for (const viewport of SIZES) {
  test(
    `Run is in sight, keeps the focus, and brings the result into sight: ${viewport.width} pixels`,
    SLOW,
    async () => {
      const { page } = await openView(site, `try?engine=cpu&${JOIN}`, { viewport });
      await page.locator(".about", { hasText: "airports.csv" }).waitFor();
      const run = page.getByRole("button", { name: "Run" });
      assert.ok(await isInSight(page, run));
      await run.focus();
      await page.keyboard.press("Enter");
      await page.locator(".summary").waitFor();
      const title = page.getByRole("heading", { name: "Result" });
      await page.waitForFunction(
        () => document.querySelector("#result-title").getBoundingClientRect().top < 300,
      );
      assert.ok(await isInSight(page, title));
      // below the bar, which stays in sight
      const [bar, heading] = [await page.locator(".bar").boundingBox(), await title.boundingBox()];
      assert.ok(heading.y >= bar.y + bar.height, `${heading.y}, ${bar.y} + ${bar.height}`);
      assert.ok(await isInSight(page, run));
      assert.equal(await run.evaluate((button) => button === document.activeElement), true);
      const compare = page.getByRole("button", { name: "Compare" });
      await compare.focus();
      await page.keyboard.press("Enter");
      await page.locator(".contests li").nth(3).waitFor({ timeout: 200_000 });
      const comparison = page.getByRole("heading", { name: "Comparison" });
      await page.waitForFunction(
        () => document.querySelector("#comparison-title").getBoundingClientRect().top < innerHeight - 40,
      );
      assert.ok(await isInSight(page, comparison));
      assert.equal(await compare.evaluate((button) => button === document.activeElement), true);
      await page.context().close();
    },
  );
}

test("shows the first rows of each table, with types and nulls", SLOW, async () => {
  const { page } = await openView(site, "try?engine=cpu");
  await openFile(page, 0, "own.csv", "id,name\n1,Ada\n2,\n3,<b>Cy</b>\n4,D\n5,E\n");
  const rows = page.getByRole("region", { name: "First rows of own.csv" });
  assert.deepEqual(await rows.locator("th").allTextContents(), ["idint32", "nameutf8"]);
  assert.deepEqual(await rows.locator("td").allTextContents(), [
    "1",
    "Ada",
    "2",
    "null",
    "3",
    "<b>Cy</b>",
    "4",
    "D",
  ]);
  assert.equal(await rows.locator("td .null").count(), 1);
  await page.context().close();
});

test("shows keys of both sides where no rows match, and what differs", SLOW, async () => {
  const { page, errors } = await openView(site, "try?engine=cpu");
  const shown = page.locator(".unmatched");
  const keys = () => shown.locator("code").allTextContents();
  const joined = async (left, right, column = "k") => {
    await openFile(page, 0, "left.csv", left);
    await openFile(page, 1, "right.csv", right);
    await page.getByLabel("Key 1, left column").selectOption(column);
    await page.getByLabel("Key 1, right column").selectOption(column);
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator(".summary, .unmatched").first().waitFor();
  };
  await joined("k,x\n Ada,1\nBO,2\n", "k,y\nada,1\nbo,2\n");
  assert.deepEqual(await keys(), ['" Ada"', '"BO"', '"ada"', '"bo"']);
  await shown
    .getByText("The keys differ in blanks, and upper and lower case: without that, 2 of 2 keys")
    .waitFor();
  // each kind that keeps rows without a partner
  for (const how of ["semi", "anti", "left", "right", "full"]) {
    await page.getByLabel("Join type").selectOption(how);
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator(".summary").waitFor();
    assert.equal(await shown.count(), 1, how);
  }
  // a file of which each row has a partner
  await openFile(page, 0, "left.csv", "k,x\nada,1\nbo,2\n");
  for (const how of ["left", "right", "anti"]) {
    await page.getByLabel("Join type").selectOption(how);
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator(".summary").waitFor();
    assert.equal(await shown.count(), 0, how);
  }
  // types that cannot be compared are refused, and shown
  await joined("k,x\n7,1\n8,2\n", "k,y\n7a,1\n8,2\n");
  await page.locator(".message.error", { hasText: "cannot be compared" }).waitFor();
  await shown.getByText("The types differ: int32 and utf8.").waitFor();
  await shown.getByText("As text, 1 of 2 keys of the left is on the right, too.").waitFor();
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("shows the program of a result, which copies, and runs in Code", SLOW, async () => {
  const { page, errors } = await openView(site, `try?engine=cpu&${JOIN}&run=1`, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await page.locator(".summary").waitFor();
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const program = await page.locator(".program").textContent();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), program);
  assert.match(program, /join\(left, right, \{ on: \[\["origin", "iata"\]\], how: "inner", device \}\)/);
  await page.getByRole("link", { name: "Open in Code" }).click();
  await page.locator(".cm-content", { hasText: "readTable" }).waitFor();
  await page.locator('[data-panel="code"]').getByRole("button", { name: "Run" }).click();
  await page.locator(".place", { hasText: /^Ended/ }).waitFor();
  assert.match(await page.locator(".output-text").textContent(), /^200000 \[/);

  // own files are read by their names, and run elsewhere
  await page.getByRole("link", { name: "Try", exact: true }).click();
  await openFile(page, 0, "own.csv", "origin;n\nLAX;1\n");
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".summary").waitFor();
  assert.match(await page.locator(".program").textContent(), /readTable\("own\.csv", \{ delimiter: ";" \}\)/);
  assert.equal(await page.getByRole("link", { name: "Open in Code" }).count(), 0);
  assert.deepEqual(errors, []);
  await page.context().close();
});
