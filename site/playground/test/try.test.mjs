// The view Try: samples on both engines with DuckDB's counts, comparison, export, damaged files, Stop.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { built, openView, playground } from "./helpers.mjs";

const SLOW = { timeout: 240_000 };
const flights = join(built, "samples/flights-200k.parquet");
const millions = join(built, "samples/flights-3m.parquet");
const airports = join(built, "samples/airports.csv");

const site = playground();
let duckdb;
let folder;

before(async () => {
  duckdb = await (await DuckDBInstance.create(":memory:")).connect();
  folder = mkdtempSync(join(tmpdir(), "warpmap-playground-"));
});
after(async () => {
  duckdb.closeSync();
  rmSync(folder, { recursive: true });
});

async function counted(sql) {
  const [[count]] = (await duckdb.runAndReadAll(`SELECT count(*) FROM (${sql})`)).getRows();
  return Number(count);
}

const JOINED = `SELECT * FROM '${flights}' f JOIN '${airports}' a ON f.origin = a.iata`;
/** Addresses with what they do on the small sample. */
const JOIN = "left=flights-200k.parquet&right=airports.csv&do=join&how=inner&on=origin&with=iata&run=1";
const GROUP = "left=flights-200k.parquet&do=group&by=origin&compute=mean&of=delay&as=mean+delay&run=1";

/** Opens a file of this text on a side, 0 or 1, and waits until it is read. */
async function openFile(page, side, name, text) {
  const file = { name, mimeType: "text/csv", buffer: Buffer.from(text) };
  await page.locator('input[type="file"]').nth(side).setInputFiles(file);
  await page.locator(".about", { hasText: name }).waitFor();
}

/** What the page says of the result, once it is there. */
async function summaryOf(page) {
  const told = page.locator(".summary, .message.error").first();
  await told.waitFor();
  return told.textContent();
}

for (const [engine, says] of [
  ["cpu", /by the cpu engine, \d+ threads?$/],
  ["software", /by webgpu, .*swiftshader/i],
]) {
  test(`joins the sample on ${engine}, with DuckDB's count`, SLOW, async () => {
    const { page, errors } = await openView(site, `try?engine=${engine}&${JOIN}`);
    const summary = await summaryOf(page);
    assert.equal(Number(/^([\d,]+) rows/.exec(summary)?.[1].replaceAll(",", "")), await counted(JOINED));
    assert.match(summary, says);
    assert.match(
      await page.locator(".engine-text").textContent(),
      engine === "cpu" ? /asked for/ : /software GPU/,
    );
    // rows come in any order: the first that is shown is one of DuckDB's, with all its values
    const [, date, delay, , origin, destination, name, city] = await page
      .locator(".result-grid tbody tr")
      .first()
      .locator("td")
      .allTextContents();
    const text = (value) => `'${value.replaceAll("'", "''")}'`;
    const row = `f.date = ${text(date)} AND delay = ${delay} AND origin = ${text(origin)} AND destination = ${text(destination)} AND a.name = ${text(name)} AND city = ${text(city)}`;
    assert.ok((await counted(`${JOINED} WHERE ${row}`)) > 0, row);
    assert.deepEqual(errors, []);
    await page.context().close();
  });
}

test("joins, groups and keeps distinct rows of 3 million flights, with DuckDB's counts", SLOW, async () => {
  const { page, errors } = await openView(site, "try?engine=cpu");
  for (const [button, sql] of [
    ["Join flights with their airports", JOINED.replace(flights, millions)],
    ["Mean delay by airport", `SELECT origin FROM '${millions}' GROUP BY origin`],
    ["Distinct routes", `SELECT DISTINCT origin, destination FROM '${millions}'`],
  ]) {
    await page.getByRole("button", { name: button }).click();
    const count = (await counted(sql)).toLocaleString("en-US");
    await page.locator(".summary", { hasText: `${count} rows` }).waitFor();
  }
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("compares with Map, Arquero and DuckDB-Wasm, which is loaded only then", SLOW, async () => {
  const loaded = () => site.requests.filter((path) => path.startsWith("duckdb/"));
  const earlier = loaded().length;
  const { page, errors } = await openView(site, `try?engine=cpu&${GROUP}`);
  await summaryOf(page);
  assert.equal(loaded().length, earlier);
  await page.getByRole("button", { name: "Compare" }).click();
  await page.locator(".contests li").first().waitFor({ timeout: 200_000 });
  assert.ok(loaded().length > earlier);
  const contests = await page.locator(".contests li").allTextContents();
  assert.equal(contests.length, 4);
  for (const contest of contests.slice(1)) assert.match(contest, /same answer, 228 rows/);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("says where an answer differs, and does not time it", SLOW, async () => {
  const { page } = await openView(site, "try?engine=cpu");
  // Arquero counts a null as a value
  await openFile(page, 0, "nulls.csv", "k,x\na,1\na,\nb,2\n");
  await page.getByRole("radio", { name: "Group" }).check();
  await page.getByRole("checkbox", { name: "k" }).check();
  await page.getByLabel("Aggregate 1, function").selectOption("countDistinct");
  await page.getByLabel("Aggregate 1, column").selectOption("x");
  await page.getByRole("button", { name: "Compare" }).click();
  const arquero = page.locator(".contests li", { hasText: "Arquero" });
  await arquero.waitFor({ timeout: 200_000 });
  assert.match(await arquero.textContent(), /not timed.*of a group: 2 in place of 1/);
  assert.match(
    await page.locator(".contests li", { hasText: "DuckDB" }).textContent(),
    /same answer, 2 rows/,
  );
  await page.context().close();
});

test("has the same answers as the others where keys repeat and are null", SLOW, async () => {
  const { page } = await openView(site, "try?engine=cpu");
  // deviations of 0, which sums in another order do not hit
  const even = Array.from({ length: 300 }, (_, i) => `${i % 3},${[0.1, 1000.3, 7777.77][i % 3]}\n`);
  await openFile(page, 0, "even.csv", `g,v\n${even.join("")}`);
  await page.getByRole("radio", { name: "Group" }).check();
  await page.getByRole("checkbox", { name: "g" }).check();
  await page.getByLabel("Aggregate 1, function").selectOption("std");
  await page.getByLabel("Aggregate 1, column").selectOption("v");
  await page.getByRole("button", { name: "Compare" }).click();
  await page.locator(".contests li").nth(3).waitFor({ timeout: 200_000 });
  const evenly = await page.locator(".contests .verdict").allTextContents();
  assert.deepEqual(evenly, ["3 rows", ...Array(3).fill("same answer, 3 rows")]);
  await page.getByLabel("Aggregate 1, function").selectOption("count");
  await page.getByLabel("Aggregate 1, column").selectOption("");
  await page.getByRole("radio", { name: "Join" }).check();
  await openFile(page, 0, "left.csv", "k,x,s\n1,1.5,a\n2,,b\n,3,\n2,4,d\n7,5,a\n");
  await openFile(page, 1, "right.csv", "k,y,s\n2,10,A\n2,11,\n,12,B\n3,13,C\n1,14,D\n");
  const compareTo = async (rows, others) => {
    await page.getByRole("button", { name: "Compare" }).click();
    await page.locator(".running").waitFor({ state: "visible" });
    await page.locator(".running").waitFor({ state: "hidden", timeout: 200_000 });
    const verdicts = await page.locator(".contests .verdict").allTextContents();
    assert.deepEqual(verdicts, [
      `${rows} rows`,
      ...others.map((name) => name ?? `same answer, ${rows} rows`),
    ]);
  };
  const all = [undefined, undefined, undefined];
  for (const [how, rows] of [
    ["right", 7],
    ["full", 9],
    ["anti", 2],
  ]) {
    await page.getByLabel("Join type").selectOption(how);
    await compareTo(rows, all);
  }
  await page.getByRole("radio", { name: "Group" }).check();
  await page.getByRole("checkbox", { name: "s" }).check();
  const functions = ["count", "sum", "mean", "min", "max", "median", "std", "variance", "first"];
  for (const [i, fn] of functions.entries()) {
    if (i > 0) await page.getByRole("button", { name: "Add an aggregate" }).click();
    await page.getByLabel(`Aggregate ${i + 1}, function`).selectOption(fn);
    await page.getByLabel(`Aggregate ${i + 1}, column`).selectOption("x");
  }
  await compareTo(4, [undefined, undefined, "has no aggregate like first"]);
  await page.getByRole("button", { name: "Remove aggregate 9" }).click();
  await compareTo(4, all);
  await page.context().close();
});

test("reads own files, shows nulls and types, and saves what DuckDB reads", SLOW, async () => {
  const { page } = await openView(site, "try?engine=cpu");
  await openFile(page, 0, "orders.csv", "id,amount\n1,2.5\n2,\n3,7\n3,8\n");
  await openFile(page, 1, "names.csv", "id,name\n1,Ada\n3,<b>Grace</b>\n");
  await page.getByLabel("Join type").selectOption("left");
  await page.getByRole("button", { name: "Run" }).click();
  assert.match(await summaryOf(page), /^4 rows × 3 columns/);
  assert.equal(await page.locator(".result-grid td .null").count(), 2);
  assert.match(await page.locator(".result-grid thead").textContent(), /amountfloat64/);
  // what a file holds is text, and never a part of the page
  assert.equal(await page.locator("td b").count(), 0);
  for (const format of ["csv", "parquet"]) {
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: format, exact: true }).click();
    const saved = join(folder, `result.${format}`);
    await (await downloading).saveAs(saved);
    const rows = (
      await duckdb.runAndReadAll(`SELECT sum(id), sum(amount), count(name) FROM '${saved}'`)
    ).getRows();
    assert.deepEqual(rows[0].map(Number), [9, 17.5, 3]);
  }
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "arrow", exact: true }).click();
  const saved = join(folder, "result.arrow");
  await (await downloading).saveAs(saved);
  assert.equal(readFileSync(saved).subarray(0, 6).toString(), "ARROW1");
  await page.context().close();
});

test("a damaged file shows its one line, and takes the place of table and result", SLOW, async () => {
  const { page } = await openView(site, `try?engine=cpu&${GROUP}`);
  await summaryOf(page);
  const damaged = join(folder, "damaged.parquet");
  const bytes = readFileSync(flights);
  bytes.fill(0xff, bytes.length - 40, bytes.length - 8);
  writeFileSync(damaged, bytes);
  await page.locator('input[type="file"]').first().setInputFiles(damaged);
  const line = page.locator(".message.error");
  await line.waitFor();
  const text = await line.textContent();
  assert.match(text, /^damaged\.parquet: .*\.$/);
  assert.ok(!text.includes("\n"));
  assert.equal(await page.locator(".summary").count(), 0);
  assert.equal(await page.getByRole("button", { name: "parquet", exact: true }).count(), 0);
  assert.equal(await page.locator(".about").first().textContent(), "No table: damaged.parquet was not read.");
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".message.error", { hasText: "There is no table yet." }).waitFor();
  const other = join(folder, "notes.txt");
  writeFileSync(other, "words");
  await page.locator('input[type="file"]').first().setInputFiles(other);
  await page.locator(".message.error", { hasText: "notes.txt" }).waitFor();
  await page.context().close();
});

test("takes a result away when what it is of has changed", SLOW, async () => {
  const { page } = await openView(site, `try?engine=cpu&${JOIN}`);
  const run = page.getByRole("button", { name: "Run" });
  const stale = page.getByText("The tables or options have changed. Press Run for a new result.");
  for (const change of [
    () => page.getByLabel("Join type").selectOption("semi"),
    () => page.getByLabel("Key 1, left column").selectOption("destination"),
    () => page.getByRole("button", { name: "Add a key" }).click(),
    () => openFile(page, 1, "own.csv", "iata\nLAX\n"),
  ]) {
    await page.locator(".summary").waitFor();
    await change();
    await stale.waitFor();
    assert.equal(await page.locator(".summary, .exports").count(), 0);
    const remove = page.getByRole("button", { name: "Remove key 2" });
    if ((await remove.count()) > 0) await remove.click();
    await run.click();
  }
  await page.locator(".summary").waitFor();
  await page.context().close();
});

test("samples and choices are in the address; own files are asked about", SLOW, async () => {
  const { page, errors } = await openView(site, `try?engine=cpu&${GROUP}`);
  const summary = /^[\d,]+ rows × 2 columns/;
  assert.match(await summaryOf(page), summary);
  await page.waitForFunction(() => location.hash.includes("run=1"));
  await page.reload();
  assert.match(await summaryOf(page), summary);
  assert.match(await page.locator(".result-grid thead").textContent(), /mean delay/);
  // a view that was left and comes again
  const link = page.url();
  await page.getByRole("link", { name: "Code", exact: true }).click();
  await page.locator(".cm-content").waitFor();
  await page.getByRole("link", { name: "Try" }).click();
  await page.waitForFunction((link) => location.href === link, link);
  await page.locator(".summary").waitFor();

  await openFile(page, 0, "own.csv", "id\n1\n");
  assert.match(page.url(), /#\/try\?engine=cpu$/);
  await page.goto(link);
  await page.locator(".message", { hasText: "your files stay" }).waitFor();
  const asked = page.waitForEvent("dialog");
  const leaving = page.evaluate(() => location.reload()).catch(() => null);
  const dialog = await asked;
  assert.equal(dialog.type(), "beforeunload");
  await dialog.dismiss();
  await leaving;
  await page.locator(".about", { hasText: "own.csv" }).waitFor();
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("reads fields between semicolons, and proposes keys that can be compared", SLOW, async () => {
  const { page } = await openView(site, "try?engine=cpu");
  await openFile(page, 0, "orders.csv", "order_id;customer_id\n1;ada\n2;bo,b\n");
  await page.locator(".note", { hasText: "semicolons" }).waitFor();
  await openFile(page, 1, "customers.csv", "customer,n\nada,1\n");
  assert.equal(await page.getByLabel("Key 1, left column").inputValue(), "order_id");
  assert.equal(await page.getByLabel("Key 1, right column").inputValue(), "n");
  await page.getByRole("button", { name: "Add a key" }).click();
  assert.equal(await page.getByLabel("Key 2, left column").inputValue(), "customer_id");
  assert.equal(await page.getByLabel("Key 2, right column").inputValue(), "customer");
  assert.equal(await page.getByRole("button", { name: "Add a key" }).isDisabled(), true);
  await page.getByRole("button", { name: "Run" }).click();
  assert.match(await summaryOf(page), /^1 row × 2 columns/);
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "csv", exact: true }).click();
  assert.equal((await downloading).suggestedFilename(), "orders-inner-join-customers.csv");
  await page.context().close();
});

test("says in one line what is missing", SLOW, async () => {
  const { page, errors } = await openView(site, "try?engine=cpu");
  const run = page.getByRole("button", { name: "Run" });
  const saysOf = async (text) => {
    await page.locator(".message.error", { hasText: text }).waitFor();
    assert.equal(await page.locator(".message").count(), 1);
  };
  await run.click();
  await saysOf("There is no table yet. Open a file, or choose a sample.");
  const empty = { name: "empty.csv", mimeType: "text/csv", buffer: Buffer.alloc(0) };
  await page.locator('input[type="file"]').first().setInputFiles(empty);
  await saysOf("empty.csv: is empty. A CSV file starts with a line of column names.");
  await openFile(page, 0, "numbers.csv", "n\n1\n2\n");
  await run.click();
  await saysOf("A join needs a second table. Open a file, or choose a sample.");
  await openFile(page, 1, "words.csv", "w\none\n");
  await run.click();
  await saysOf('Key columns "n" (int32) and "w" (utf8) cannot be compared.');
  await openFile(page, 1, "heads.csv", "n,m\n");
  await page.locator("summary", { hasText: "Columns of the result" }).click();
  await page.getByRole("checkbox", { name: "n", exact: true }).uncheck();
  await page.getByRole("checkbox", { name: "m", exact: true }).uncheck();
  await run.click();
  await saysOf("Choose at least one column of the result.");
  await page.getByRole("checkbox", { name: "n", exact: true }).check();
  await run.click();
  await page.locator(".summary", { hasText: "0 rows × 1 column" }).waitFor();
  assert.equal(await page.locator(".message.error").count(), 0);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("reads what is dropped meanwhile, and runs once for two clicks", SLOW, async () => {
  const { page, errors } = await openView(site, "try?engine=cpu");
  await page.evaluate(() => {
    for (const card of document.querySelectorAll(".card.drop")) {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["id\n1\n2\n3\n"], "same.csv"));
      card.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    }
  });
  await page.locator(".about", { hasText: "same.csv" }).nth(1).waitFor();
  await page.getByRole("button", { name: "Run" }).dblclick();
  assert.match(await summaryOf(page), /^3 rows × 1 column /);
  assert.equal(await page.locator(".message").textContent(), "");
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("reads what is dropped beside the cards, and two files at once", SLOW, async () => {
  const { page, errors } = await openView(site, "try?engine=cpu");
  const drop = (selector, ...names) =>
    page.evaluate(
      ([selector, names]) => {
        const dataTransfer = new DataTransfer();
        for (const name of names) dataTransfer.items.add(new File(["id\n1\n2\n"], name));
        const target = document.querySelector(selector);
        const events = ["dragover", "drop"].map(
          (type) => new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }),
        );
        for (const event of events) target.dispatchEvent(event);
        // else a browser opens the file in place of the page
        return events.every((event) => event.defaultPrevented);
      },
      [selector, names],
    );
  const about = page.locator(".about");
  assert.equal(await drop("body", "one.csv"), true);
  await about.first().filter({ hasText: "one.csv" }).waitFor();
  assert.equal(await drop("footer, header", "two.csv"), true);
  await about.nth(1).filter({ hasText: "two.csv" }).waitFor();
  assert.equal(await drop("body", "left.csv", "right.csv"), true);
  await about.first().filter({ hasText: "left.csv" }).waitFor();
  await about.nth(1).filter({ hasText: "right.csv" }).waitFor();
  assert.equal(await page.locator(".card.over").count(), 0);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("forgets columns and samples that another file took the place of", SLOW, async () => {
  const { page } = await openView(site, `try?engine=cpu&${GROUP}`);
  await summaryOf(page);
  await openFile(page, 0, "airports.csv", "town,people\nA,1\nA,2\nB,3\n");
  await page.getByRole("checkbox", { name: "town" }).check();
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".summary", { hasText: "2 rows × 2 columns" }).waitFor();
  await page.getByLabel("or choose a sample").first().selectOption("airports.csv");
  await page.locator(".about", { hasText: "3,376 rows" }).waitFor();
  await page.context().close();
});

test("says so where the worker that had the rows is gone", SLOW, async () => {
  const { page } = await openView(site, `try?engine=cpu&${JOIN}`);
  // until the result is there, the address has no run
  await summaryOf(page);
  await page.addInitScript(() => {
    globalThis.started = [];
    globalThis.Worker = class extends Worker {
      constructor(...args) {
        super(...args);
        globalThis.started.push(this);
      }
    };
  });
  await page.reload();
  await summaryOf(page);
  await page.evaluate(() => globalThis.started[0].dispatchEvent(new ErrorEvent("error")));
  await page.getByRole("button", { name: "Next rows" }).click();
  await page.locator(".place", { hasText: "There is no result yet. Run the operation first." }).waitFor();
  await page.context().close();
});

test("Stop stops, and the page goes on", SLOW, async () => {
  const { page, errors } = await openView(site, `try?engine=software&${JOIN}`);
  const stop = page.getByRole("button", { name: "Stop" });
  // while the join runs, which takes seconds on a GPU that the CPU emulates
  await page.locator(".work-text", { hasText: "Running" }).waitFor();
  await stop.click();
  await page.locator(".message", { hasText: "Stopped." }).waitFor({ timeout: 15_000 });
  assert.equal(await stop.isVisible(), false);
  // a worker that was ended is started anew, with its tables
  await page.getByLabel("Engine").selectOption("cpu");
  await page.getByRole("button", { name: "Run" }).click();
  assert.match(await summaryOf(page), /^200,000 rows/);
  assert.deepEqual(errors, []);
  await page.context().close();
});
