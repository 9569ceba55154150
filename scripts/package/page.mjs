// Pages in Chromium: one that Vite serves and builds, with both engines, threads, and a console without a warning; and the one without a
// bundler that docs/install.md has.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright";
import * as vite from "vite";
import { serve } from "../../site/serve.mjs";
import { missingBrowserLibraries, softwareBrowser } from "../software-gpu.mjs";
import { quietVite } from "./bundlers.mjs";
import { root } from "./project.mjs";

/** With these a page has SharedArrayBuffer, and so the CPU engine its threads. */
const headers = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** An icon of its own: browsers ask for one, and print an error where there is none. */
const HTML = `<!doctype html>
<link rel="icon" href="data:,">
<script type="module" src="/src/page.js"></script>`;

/** @param project with the package `webgpu`, and fixtures/ as src/ */
export async function checkPage(project) {
  project.write("index.html", HTML);
  const browser = await openBrowser();
  try {
    const warnings = [];
    const options = quietVite(project.folder, warnings);
    const dev = await vite.createServer({ ...options, server: { port: 0, host: "127.0.0.1", headers } });
    await dev.listen();
    const expected = "cpu webgpu csv tsv parquet arrow, isolated";
    const addressOf = (server) => server.resolvedUrls.local[0];
    await visit(browser, addressOf(dev), expected).finally(() => dev.close());

    const built = { ...options, build: { outDir: join(project.folder, "out-page") } };
    await vite.build(built);
    const preview = await vite.preview({ ...built, preview: { port: 0, host: "127.0.0.1", headers } });
    await visit(browser, addressOf(preview), expected).finally(() => preview.close());
    if (warnings.length > 0) throw new Error(warnings.join("\n"));
  } finally {
    await browser.close();
  }
}

/** The pages of docs/install.md, as a server of plain files gives them. */
export async function checkPageWithoutBundler(project) {
  const text = readFileSync(join(root, "docs/install.md"), "utf8");
  const pages = [...text.matchAll(/^```html\n([\s\S]*?)^```$[\s\S]*?^```text\n([\s\S]*?)^```$/gm)];
  if (pages.length === 0) throw new Error("docs/install.md has no page");
  for (const [i, [, html]] of pages.entries()) project.write(`plain-${i}.html`, html);
  const server = await serve({ folder: project.folder });
  const browser = await openBrowser();
  try {
    for (const [i, [, , expected]] of pages.entries())
      await visit(browser, `http://localhost:${server.address().port}/plain-${i}.html`, expected.trim());
  } finally {
    await browser.close();
    server.close();
  }
}

async function openBrowser() {
  const missing = missingBrowserLibraries();
  if (missing.length > 0) throw new Error(`Chromium needs system libraries: ${missing.join(", ")}`);
  return chromium.launch(softwareBrowser());
}

/** @param expected the title that the page gives itself */
async function visit(browser, address, expected) {
  const page = await browser.newPage();
  const printed = [];
  page.on("console", (message) => {
    if (["warning", "error"].includes(message.type())) printed.push(message.text());
  });
  page.on("pageerror", (error) => printed.push(String(error)));
  await page.goto(address);
  await page.waitForFunction(() => document.title !== "", undefined, { timeout: 30_000 });
  const title = await page.title();
  await page.close();
  if (title !== expected) throw new Error(`${address} says: ${title}\n${printed.join("\n")}`);
  if (printed.length > 0) throw new Error(`${address} prints:\n${printed.join("\n")}`);
}
