// Figures of stored reports as HTML: what bench/figures says a report shows, drawn by Observable Plot while the site is built.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../paths.mjs";
import { escaped } from "./document.mjs";
import { drawPanel, symbolMark } from "./panels.mjs";

/** As wide as the column of text, and as a phone. Panels of lines lie two in a row where there is room. */
const WIDTHS = { wide: 688, narrow: 340 };

const results = join(root, "bench/results");

/** Stored reports by name. */
export const reports = new Map(
  readdirSync(results)
    .filter((name) => name.endsWith(".json"))
    .map((name) => [name.slice(0, -".json".length), JSON.parse(readFileSync(join(results, name), "utf8"))]),
);

const { bundle } = await import("../../bench/bundle.mjs");
const { figureOf } = await bundle(
  "figures",
  `export { figureOf } from ${JSON.stringify(join(root, "bench/figures/index.ts"))};`,
);

export { figureOf };

/**
 * @param name of a stored report
 * @param panels how many of its panels are shown
 * @returns one line of HTML; undefined for a report that has no picture
 */
export function figureHtml(name, { panels = Number.POSITIVE_INFINITY } = {}) {
  const report = reports.get(name);
  const whole = report && figureOf(report);
  if (!whole) return undefined;
  const figure = { ...whole, panels: whole.panels.slice(0, panels) };
  const names = seriesNames(figure.panels);
  const numberOf = (series) => Math.max(0, names.indexOf(series));
  const caption = figure.footer.map((line) => `<p>${escaped(line)}</p>`).join("");
  const html = `<figure class="chart" v-pre>${legend(figure, numberOf)}<div class="panels">${panelsHtml(figure, numberOf)}</div><figcaption>${caption}</figcaption></figure>`;
  return html.replaceAll("\n", " ");
}

function panelsHtml({ panels }, numberOf) {
  return panels
    .map((panel) => {
      // the axis of bars is below the last of them
      const unit = panel.kind === "bars" ? ` <span>${escaped(panel.label)}</span>` : "";
      const title = `<p class="panel-title">${escaped(panel.title)}${unit}</p>`;
      const at = (width) => `<div class="${width}">${drawPanel(panel, WIDTHS[width], numberOf)}</div>`;
      if (panel.kind === "lines" && panels.length > 1)
        return `<div class="panel half">${title}${drawPanel(panel, WIDTHS.narrow, numberOf)}</div>`;
      return `<div class="panel">${title}${at("wide")}${at("narrow")}</div>`;
    })
    .join("");
}

/** Names in the order of their first use: a series has its colour by that. References have none. */
function seriesNames(panels) {
  const names = panels.flatMap((panel) =>
    panel.kind === "lines"
      ? panel.series.filter(({ origin }) => origin !== "reference").map(({ name }) => name)
      : panel.groups.flatMap(({ bars }) => bars.map(({ name, family }) => family ?? name)),
  );
  return [...new Set(names)];
}

/** One entry a series of line panels. Bars carry their names themselves. */
function legend({ panels }, numberOf) {
  const series = new Map(
    panels.flatMap((panel) => (panel.kind === "lines" ? panel.series.map((each) => [each.name, each]) : [])),
  );
  if (series.size === 0) return "";
  const entries = [...series.values()].map(({ name, origin }) => {
    const text = origin === "published" ? `${name} · not from this run` : name;
    return `<li>${symbolMark(origin, numberOf(name))}${escaped(text)}</li>`;
  });
  return `<ul class="legend">${entries.join("")}</ul>`;
}
