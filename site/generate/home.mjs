// The first page: what README.md says before its first section, with its first program and how to install it after what it is for.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../paths.mjs";
import { linked } from "./links.mjs";
import { sectionsOf, withPowers } from "./markdown.mjs";
import { readme, readmeIntroduction } from "./sources.mjs";

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
  const [purpose, ...figures] = readmeIntroduction()
    .replace(/^# .*\n/, "")
    .split(/^(?=\|)/m);
  const install = sectionsOf(readme()).find(({ heading }) => heading === "Install").text;
  const body = [purpose, program, install, figures.join("")].join("\n\n");
  const page = { route: "index.md", source: "README.md", text: body };
  return `---\n${JSON.stringify(frontmatter)}\n---\n\n${withPowers(linked(page, pages))}\n`;
}
