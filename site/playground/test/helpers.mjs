// The built playground, served as a plain host does (no headers for isolation), and the Chromium that npm brings.
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright";
import { softwareBrowser } from "../../../scripts/software-gpu.mjs";

export const here = dirname(fileURLToPath(import.meta.url));
export const root = resolve(here, "../../..");
/** Where test/run.mjs builds to. */
export const built = resolve(here, "../dist");

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/** Serves the built playground below a path of its own, as a site has it. */
export async function serve() {
  const requests = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://local");
    const path = decodeURIComponent(pathname).replace(/^\/site\/playground\//, "");
    const file = join(built, path === "" ? "index.html" : path);
    requests.push(path);
    if (!pathname.startsWith("/site/playground/") || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end("not there");
      return;
    }
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    createReadStream(file).pipe(response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  return {
    /** Paths that were asked for. */
    requests,
    url: `http://127.0.0.1:${port}/site/playground/`,
    close: () => new Promise((done) => server.close(done)),
  };
}

export function openBrowser() {
  return chromium.launch(softwareBrowser());
}

/**
 * A page of its own context that has loaded a view. Errors in the console are collected.
 * @returns { page, errors }
 */
export async function openView(browser, url, hash, options = {}) {
  const context = await browser.newContext({ acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(90_000);
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(`${url}#/${hash}`);
  // the service worker loads the page once more
  await page.waitForFunction(() => document.getElementById("isolation")?.textContent !== "");
  return { page, errors };
}
