// npm run site [-- --url URL]: the documentation site and the playground, to site/dist. Static files with relative links: they work from any
// path. URL is where the site will be published (address.mjs), for its sitemap.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { siteUrl, writeSitemap } from "./address.mjs";
import { installed } from "./install.mjs";
import { out, root, site } from "./paths.mjs";

const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const started = performance.now();
const { url } = parseArgs({ options: { url: { type: "string" } } }).values;
if (url !== undefined) process.env.WARPMAP_SITE_URL = url;
siteUrl(); // what is no address ends the build now
installed();

const playground = join(site, "playground/build.mjs");
const hasPlayground = existsSync(playground);

// the playground holds the library, and a page says how large it is
const library = [join(root, "scripts/build.mjs"), "--if-changed"];
if (spawnSync(process.execPath, library, { stdio: "inherit" }).status !== 0) process.exit(1);
const { generate } = await import("./generate/index.mjs");
await step("pages", () => generate({ hasPlayground }));
await step("VitePress", buildPages);
if (hasPlayground) await step("playground", buildPlayground);
const { addOpenGraph } = await import("./picture.mjs");
await step("picture", () => addOpenGraph(out));
writeSitemap(out);
console.log(`\n${out}, in ${seconds(started)}. See it: npm run site:serve`);

async function step(title, work) {
  const start = performance.now();
  await work();
  console.log(`${title}: ${seconds(start)}`);
}

async function buildPages() {
  const { build } = await import("vitepress");
  await build(site);
  const { relocate } = await import("./relocate.mjs");
  relocate(out);
  // VitePress's own is without style at addresses of folders below
  copyFileSync(join(site, "not-found.html"), join(out, "404.html"));
}

async function buildPlayground() {
  const { build } = await import(pathToFileURL(playground).href);
  await build(join(out, "playground"));
}
