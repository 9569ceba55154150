// The built site: its pages, and a browser that looks at them as a host of static files below some path would serve them.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright";
import { softwareBrowser } from "../../scripts/software-gpu.mjs";
import { out } from "../paths.mjs";
import { serve } from "../serve.mjs";

/** Paths of the documentation's pages. The playground has tests of its own. */
export const pages = readdirSync(out, { recursive: true })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".html") && !path.startsWith("playground/"))
  .sort();

export const htmlOf = (page) => readFileSync(join(out, page), "utf8");

/** Pages of each kind there is. */
export const MAIN_PAGES = [
  "index.html",
  "why.html",
  "install.html",
  "first-map.html",
  "comparison.html",
  "maps.html",
  "strategies.html",
  "examples/index.html",
  "benchmarks/index.html",
  "benchmarks/static-map-by-load-h100.html",
  "api/index.html",
  "api/relational/classes/JoinIndex.html",
];

/** @param base where the site lies on its host */
export async function openSite(base = "/some/path/") {
  const server = await serve({ base });
  const browser = await chromium.launch(softwareBrowser());
  return {
    address: `http://localhost:${server.address().port}${base}`,
    browser,
    async close() {
      await browser.close();
      server.close();
    },
  };
}

/** Everything that a page complains of. */
export function complaints(page) {
  const said = [];
  page.on("console", (message) => {
    if (["warning", "error"].includes(message.type()))
      said.push(`${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("response", (response) => {
    if (response.status() >= 400) said.push(`${response.status()} ${response.url()}`);
  });
  return said;
}
