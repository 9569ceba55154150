// The built playground, served as a plain host does (no headers for isolation), and the Chromium that npm brings.
import { dirname, resolve } from "node:path";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright";
import { softwareBrowser } from "../../../scripts/software-gpu.mjs";
import { serve } from "../../serve.mjs";

export const here = dirname(fileURLToPath(import.meta.url));
export const root = resolve(here, "../../..");
/** Where test/run.mjs builds to. */
export const built = resolve(here, "../dist");

/** Below a path of its own, as a site has it. */
const BASE = "/site/playground/";

/**
 * For the tests of a file: the playground's address, the paths that were asked for, and a browser.
 * @returns { url, requests, browser }, the first and the last once tests run
 */
export function playground() {
  const shared = { url: "", requests: [], browser: null };
  let server;
  before(async () => {
    server = await serve({ folder: built, base: BASE });
    server.on("request", ({ url }) => shared.requests.push(url.slice(BASE.length)));
    shared.url = `http://127.0.0.1:${server.address().port}${BASE}`;
    shared.browser = await chromium.launch(softwareBrowser());
  });
  after(async () => {
    await shared.browser.close();
    await new Promise((done) => server.close(done));
  });
  return shared;
}

/**
 * A page of its own context that has loaded a view. Errors in the console are collected.
 * @returns { page, errors }
 */
export async function openView({ browser, url }, hash, options = {}) {
  const context = await browser.newContext({ acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(90_000);
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(`${url}#/${hash}`);
  // the service worker loads the page once more
  await page.waitForFunction(
    () =>
      document.getElementById("isolation")?.textContent !== "" &&
      document.querySelector("[data-panel]:not([hidden]) h1") !== null,
  );
  return { page, errors };
}
