// The first page: what README.md says before its first section. Its first sentence and its table of figures, as bars, are the first screen;
// its first program and how to install it follow.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { escaped } from "../figures/document.mjs";
import { ANY_BASE, root } from "../paths.mjs";
import { linked } from "./links.mjs";
import { descriptionOf, plainText, sectionsOf, withPowers } from "./markdown.mjs";
import { readme, readmeIntroduction } from "./sources.mjs";

/** A row so many times smaller than the largest one above it has bars of a scale of its own. */
const OTHER_SCALE = 50;

export function home(pages, { hasPlayground }) {
  const first = pages.find(({ route }) => route === "first-map.md");
  const [program] = /^```js\n[\s\S]*?^```$/m.exec(first.text);
  const [purpose, table, rest] = introductionOf(readmeIntroduction());
  const [sentence, ...uses] = purpose.split("\n\n");
  const install = sectionsOf(readme()).find(({ heading }) => heading === "Install").text;
  const body = [...uses, program, install, rest].join("\n\n");
  const page = { route: "index.md", source: "README.md", text: body };
  const frontmatter = {
    layout: "home",
    title: "warpmap",
    titleTemplate: false,
    description: descriptionOf(sentence),
  };
  const actions = actionsOf({ hasPlayground, isReleased: isReleased() });
  return `---\n${JSON.stringify(frontmatter)}\n---\n\n${screen(sentence, actions, table)}\n\n${withPowers(linked(page, pages))}\n`;
}

/** What stands in README.md before its table of figures, the table's lines, and what follows. */
function introductionOf(text) {
  const [before, table, after] = text.replace(/^# .*\n/, "").split(/((?:^\|.*\n)+)/m);
  return [before.trim(), table.trim().split("\n"), after.trim()];
}

/** CHANGELOG.md says the day of a release; before the first one there is nothing to install by name. */
export function isReleased(changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8")) {
  return /^## \d.* \(\d{4}-\d\d-\d\d\)$/m.test(changelog);
}

/** The first is the primary one. */
export function actionsOf({ hasPlayground, isReleased }) {
  const files = { text: "Try your files", link: "playground/", isOutside: true };
  const install = { text: "Install", link: "install.html" };
  const map = { text: "A map in twenty lines", link: "first-map.html" };
  if (!hasPlayground) return [install, map];
  return isReleased ? [install, files, map] : [files, install, map];
}

function screen(sentence, actions, table) {
  const { name } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const buttons = actions.map(({ text, link, isOutside }, i) => {
    const target = isOutside ? ' target="_self"' : "";
    return `<a class="${i === 0 ? "primary" : "secondary"}" href="${ANY_BASE}${link}"${target}>${text}</a>`;
  });
  const text = `<h1>${name}</h1><p class="tagline">${escaped(plainText(sentence))}</p><p class="buttons">${buttons.join(" ")}</p>`;
  return `<div class="landing" v-pre><div class="purpose">${text}</div>${picture(table)}</div>`;
}

/** The table of figures as bars: each row has one for each of its columns, and rows of other magnitudes scales of their own. */
function picture([head, , ...lines]) {
  const [unit, ...operations] = cellsOf(head);
  const rows = lines.map((line) => {
    const [label, ...texts] = cellsOf(line);
    return { label, texts, values: texts.map((text) => Number(text.replaceAll(",", ""))) };
  });
  let most = 0;
  const items = rows.map(({ label, texts, values }) => {
    const isOther = most / Math.max(...values) > OTHER_SCALE;
    if (most === 0 || isOther) most = Math.max(...rowsOfScale(rows, values).flatMap((row) => row.values));
    const bars = values.map((value, i) => {
      const width = Math.max(0.4, (100 * value) / most).toFixed(1);
      return `<span class="bar bar-${i}"><span class="name">${escaped(operations[i])}</span><span class="track"><span class="fill" style="width:${width}%"></span></span><b>${escaped(texts[i])}</b></span>`;
    });
    const text = escaped(withPowers(plainText(label)));
    const kind = text.startsWith("warpmap") ? "own" : "others";
    return `<li class="${kind}${isOther ? " other-scale" : ""}"><span class="of">${text}</span>${bars.join("")}</li>`;
  });
  const title = `${unit[0].toUpperCase()}${unit.slice(1)}`;
  const all = `<a href="${ANY_BASE}measurements.html">All figures, with machines and commits</a>`;
  return `<figure class="figures"><figcaption><b>${escaped(title)}</b></figcaption><ul>${items.join("")}</ul><p>Two scales: GPU, and CPU cores. ${all}</p></figure>`;
}

/** Rows whose largest value is near enough to share a scale. */
function rowsOfScale(rows, values) {
  const largest = Math.max(...values);
  return rows.filter((row) => {
    const other = Math.max(...row.values);
    return Math.max(largest, other) / Math.min(largest, other) <= OTHER_SCALE;
  });
}

const cellsOf = (line) =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
