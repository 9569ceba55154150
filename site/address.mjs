// Where the site is published. Its pages work from any path, and only what others read has to name the place: the sitemap, and the
// addresses of Open Graph.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./paths.mjs";

/** The site's pages on GitHub's host of pages, for a repository there. */
const GITHUB = /^https:\/\/github\.com\/([^/]+)\/([^/#]+?)(?:\.git)?(?:#.*)?$/;

/**
 * The address of the site's root, "/" at its end: the variable WARPMAP_SITE_URL, which `npm run site -- --url URL` sets, or package.json's
 * `homepage`; a homepage that is the repository on GitHub stands for its GitHub Pages.
 * @throws TypeError for what is no address
 */
export function siteUrl(
  env = process.env,
  manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")),
) {
  const url = new URL(env.WARPMAP_SITE_URL || manifest.homepage.replace(GITHUB, "https://$1.github.io/$2/"));
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  url.hash = url.search = "";
  return url.href;
}

/** The address of a page, by its file in the site. */
export const pageUrl = (file, base = siteUrl()) =>
  new URL(file.replace(/(^|\/)index\.html$/, "$1"), base).href;

/** Writes sitemap.xml: all pages but the one for addresses that lead nowhere. */
export function writeSitemap(folder) {
  const base = siteUrl();
  const files = readdirSync(folder, { recursive: true })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".html") && path !== "404.html")
    .sort();
  const urls = files.map(
    (file) => `  <url><loc>${pageUrl(file, base).replaceAll("&", "&amp;")}</loc></url>\n`,
  );
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join("")}</urlset>\n`;
  writeFileSync(join(folder, "sitemap.xml"), text);
}
