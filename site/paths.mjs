// Where things are.
import { resolve } from "node:path";

export const root = resolve(import.meta.dirname, "..");
/** The site's own folder. */
export const site = resolve(root, "site");
/** Markdown pages as VitePress takes them: written anew by each build from docs/, README.md, bench/ and src/. */
export const pages = resolve(site, "pages");
/** Where the site comes out. */
export const out = resolve(site, "dist");
/** What the API reference is made from; it takes longest, and is kept while src/ stays as it is. */
export const cache = resolve(root, "node_modules/.cache/warpmap/site");

/** The address of a file of the repository that the site does not show. */
export const REPOSITORY = "https://github.com/warpmap/warpmap/blob/main";
/** A base that stands for "wherever the site is": relocate.mjs replaces it. */
export const ANY_BASE = "/~warpmap-site~/";
