// VitePress's configuration. Pages and sidebars are written by ../generate before VitePress starts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { anchorOf, descriptionOf } from "../generate/markdown.mjs";
import { ANY_BASE, out, pages, root } from "../paths.mjs";
import { programOf } from "../programs.mjs";
import { searchOptions } from "./search.mjs";

const { name, description, version, repository } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);
const { sidebar, hasPlayground } = JSON.parse(readFileSync(join(pages, "site.json"), "utf8"));
const repositoryUrl = repository.url.replace(/^git\+|\.git$/g, "");

export default {
  title: name,
  description,
  lang: "en",
  srcDir: pages,
  outDir: out,
  base: ANY_BASE,
  // what all pages share: each would have it in its HTML
  metaChunk: true,
  head: [["link", { rel: "icon", type: "image/svg+xml", href: `${ANY_BASE}icon.svg` }]],
  transformPageData: (page) => {
    page.description ||= descriptionOf(readFileSync(join(pages, page.relativePath), "utf8"), page.title);
  },
  transformHead: ({ page, title, description }) =>
    page === "404.md" ? [] : openGraph({ title, description }),
  transformHtml: (html) => html.replace('class="VPContent is-home"', 'class="VPContent is-home" role="main"'),
  // the search index, which is loaded when a reader searches
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  markdown: {
    config(md) {
      withoutEmptyHeaders(md);
      if (hasPlayground) withRun(md);
    },
    anchor: { slugify: anchorOf },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  themeConfig: {
    nav: [
      { text: "Documentation", link: "/why.html", activeMatch: "^/(?!api/|benchmarks/|playground/)." },
      { text: "Benchmarks", link: "/benchmarks/", activeMatch: "^/benchmarks/" },
      { text: "API", link: "/api/", activeMatch: "^/api/" },
      ...(hasPlayground ? [{ text: "Playground", link: "/playground/", target: "_self" }] : []),
      { text: version, items: [{ text: "Changelog", link: "/changelog.html" }] },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: "local", options: searchOptions },
    socialLinks: [{ icon: "github", link: repositoryUrl }],
  },
};

/** A cell without text is no header of its column. */
function withoutEmptyHeaders(md) {
  for (const rule of ["th_open", "th_close"]) {
    md.renderer.rules[rule] = (tokens, i, options, _env, self) => {
      const text = tokens[rule === "th_open" ? i + 1 : i - 1];
      if (text.type === "inline" && text.content === "") tokens[i].tag = "td";
      return self.renderToken(tokens, i, options);
    };
  }
}

/** What chats and networks show of a link, but for the addresses (../picture.mjs). */
function openGraph({ title, description }) {
  const tags = { type: "website", site_name: name, title, description };
  return Object.entries(tags).map(([key, content]) => ["meta", { property: `og:${key}`, content }]);
}

/** Blocks of code that run in a page have a link which opens them in the playground. */
function withRun(md) {
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, i, ...rest) => {
    const html = fence(tokens, i, ...rest);
    const program = tokens[i].info.trim() === "js" ? programOf(tokens[i].content) : undefined;
    if (program === undefined) return html;
    const link = `<a class="run" href="${ANY_BASE}playground/#/code?program=${program}" target="_self" aria-label="Run this program in the playground">Run</a>`;
    return html.replace('<span class="lang">', `${link}<span class="lang">`);
  };
}
