// The recipe of threads in a page: its configuration and its page, served by Vite, in Chromium.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { chromium } from "playwright";
import { createServer } from "vite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sourceTexts } from "../../scripts/build-plugins.mjs";
import { softwareBrowser } from "../../scripts/software-gpu.mjs";

const root = resolve(import.meta.dirname, "../..");
const cache = join(root, "node_modules/.cache/warpmap");
const text = readFileSync(join(root, "docs/recipes/page.md"), "utf8");
let folder: string;

/** The page's only block in a language. */
function block(language: string): string {
  const blocks = [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].filter(([, name]) => name === language);
  expect(blocks.length, language).toBe(1);
  return blocks[0][2];
}

beforeAll(() => {
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, "page-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * @param config text of vite.config.js
 * @param html what the page begins with
 * @returns the title that the page gives itself
 */
async function titleOf(name: string, config: string, html = ""): Promise<string> {
  const configFile = join(folder, `${name}.config.mjs`);
  writeFileSync(configFile, config);
  writeFileSync(join(folder, "index.html"), html + block("html"));
  mkdirSync(join(folder, "public"), { recursive: true });
  writeFileSync(join(folder, "public/isolate.js"), block("js service worker"));
  const server = await createServer({
    root: folder,
    configFile,
    logLevel: "silent",
    plugins: [sourceTexts()],
    resolve: { alias: { warpmap: join(root, "src/index.ts") } },
    server: { port: 0, host: "127.0.0.1", fs: { allow: [root] } },
  });
  const browser = await chromium.launch(softwareBrowser());
  try {
    await server.listen();
    const page = await browser.newPage();
    await page.goto(server.resolvedUrls?.local[0] ?? "");
    // a page that starts a worker is loaded once more
    const isDone = (reloads: boolean) => document.title !== "" && (crossOriginIsolated || !reloads);
    await page.waitForFunction(isDone, html !== "", { timeout: 60_000 });
    return await page.title();
  } finally {
    await browser.close();
    await server.close();
  }
}

it("gives a page threads", async () => {
  expect(await titleOf("recipe", block("js vite"))).toBe(block("text").trim());
});

it("gives a page threads by a service worker", async () => {
  expect(await titleOf("worker", "export default {};", block("html before"))).toBe(block("text").trim());
});

it("does so by its headers", async () => {
  expect(await titleOf("bare", "export default {};")).toBe("1 threads, not isolated");
});
