// The first page: README.md's first program, and what it says before its first section.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../paths.mjs";
import { linked } from "./links.mjs";
import { withPowers } from "./markdown.mjs";
import { readmeIntroduction } from "./sources.mjs";

export function home(pages, { hasPlayground }) {
  const { name, description } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const actions = [
    { theme: "brand", text: "Install", link: "/install.html" },
    { theme: "alt", text: "A map in twenty lines", link: "/first-map.html" },
    ...(hasPlayground ? [{ theme: "alt", text: "Playground", link: "/playground/", target: "_self" }] : []),
  ];
  const frontmatter = { layout: "home", hero: { name, tagline: description, actions } };
  const first = pages.find(({ route }) => route === "first-map.md");
  const [program] = /^```js\n[\s\S]*?^```$/m.exec(first.text);
  const body = `${program}\n\n${readmeIntroduction().replace(/^# .*\n/, "")}`;
  const page = { route: "index.md", source: "README.md", text: body };
  return `---\n${JSON.stringify(frontmatter)}\n---\n\n${withPowers(linked(page, pages))}\n`;
}
