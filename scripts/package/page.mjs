// A page that Vite serves and builds, in Chromium: both engines, threads, and a console without a warning.
import { join } from "node:path";
import { chromium } from "playwright";
import * as vite from "vite";
import { missingBrowserLibraries, softwareBrowser } from "../software-gpu.mjs";
import { quietVite } from "./bundlers.mjs";

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
  const missing = missingBrowserLibraries();
  if (missing.length > 0) throw new Error(`Chromium needs system libraries: ${missing.join(", ")}`);
  project.write("index.html", HTML);
  const browser = await chromium.launch(softwareBrowser());
  try {
    const warnings = [];
    const options = quietVite(project.folder, warnings);
    const dev = await vite.createServer({ ...options, server: { port: 0, host: "127.0.0.1", headers } });
    await dev.listen();
    await visit(browser, dev, "the development server's page").finally(() => dev.close());

    const built = { ...options, build: { outDir: join(project.folder, "out-page") } };
    await vite.build(built);
    const preview = await vite.preview({ ...built, preview: { port: 0, host: "127.0.0.1", headers } });
    await visit(browser, preview, "the built page").finally(() => preview.close());
    if (warnings.length > 0) throw new Error(warnings.join("\n"));
  } finally {
    await browser.close();
  }
}

async function visit(browser, server, name) {
  const page = await browser.newPage();
  const printed = [];
  page.on("console", (message) => {
    if (["warning", "error"].includes(message.type())) printed.push(message.text());
  });
  page.on("pageerror", (error) => printed.push(String(error)));
  await page.goto(server.resolvedUrls.local[0]);
  await page.waitForFunction(() => document.title !== "", undefined, { timeout: 30_000 });
  const title = await page.title();
  await page.close();
  if (title !== "cpu webgpu csv tsv parquet arrow, isolated")
    throw new Error(`${name} says: ${title}\n${printed.join("\n")}`);
  if (printed.length > 0) throw new Error(`${name} prints:\n${printed.join("\n")}`);
}
