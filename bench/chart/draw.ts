/**
 * Draws a figure as SVG. A writer of its own and not a chart library: those that run without a DOM are larger than this
 * package. The same figure gives the same text, so a picture can be made again from a stored report.
 */
import { barsHeight, drawBars, familyOf } from "./bars.js";
import type { Figure, LineSeries, Panel } from "./figure.js";
import { type Box, dashes, drawLines, seriesClass } from "./lines.js";
import { FONT, pointMark, styleSheet } from "./style.js";
import { element, escaped, textAt, widthOf, wrap } from "./text.js";

const WIDTH = 900;
const MARGIN = 24;
const INNER = WIDTH - 2 * MARGIN;
const GAP = 22;
const LINES_HEIGHT = 330;
const LEGEND = 12;

/** An SVG document. */
export function draw(figure: Figure): string {
  const names = seriesNames(figure.panels);
  const numberOf = (name: string) => Math.max(0, names.indexOf(name));
  const parts: string[] = [textAt(MARGIN, 34, figure.title, { size: 18, class: "bold" })];
  let y = 40;
  for (const line of wrap(figure.subtitle, INNER, 12)) {
    y += 17;
    parts.push(textAt(MARGIN, y, line, { class: "soft" }));
  }
  y += 14;
  const legend = drawLegend(figure.panels, y, numberOf);
  parts.push(...legend.parts);
  y += legend.height;
  for (const { panel, box } of layOut(figure.panels, y)) {
    parts.push(panel.kind === "lines" ? drawLines(panel, box, numberOf) : drawBars(panel, box, numberOf));
    y = Math.max(y, box.y + box.height);
  }
  y += 8;
  for (const line of figure.footer.flatMap((text) => wrap(text, INNER, 11))) {
    y += 15;
    parts.push(textAt(MARGIN, y, line, { size: 11, class: "soft" }));
  }
  return document(figure, Math.ceil(y + 18), parts);
}

function document(figure: Figure, height: number, parts: readonly string[]): string {
  return `${element(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width: WIDTH,
      height,
      viewBox: `0 0 ${WIDTH} ${height}`,
      role: "img",
      "font-family": FONT,
    },
    [
      "",
      element("title", {}, escaped(figure.title)),
      element("desc", {}, escaped(figure.subtitle)),
      element("style", {}, styleSheet()),
      element("rect", { class: "back", width: WIDTH, height, rx: 6 }),
      ...parts,
      "",
    ].join("\n"),
  )}\n`;
}

/** Names in the order of their first use: a series has its colour by that. References have none. */
function seriesNames(panels: readonly Panel[]): string[] {
  const names = panels.flatMap((panel) =>
    panel.kind === "lines"
      ? panel.series.filter(({ origin }) => origin !== "reference").map(({ name }) => name)
      : panel.groups.flatMap(({ bars }) => bars.map(familyOf)),
  );
  return [...new Set(names)];
}

/** Panels of lines lie two in a row, bars have a row of their own; one panel alone has all the width. */
function layOut(panels: readonly Panel[], top: number): { panel: Panel; box: Box }[] {
  const placed: { panel: Panel; box: Box }[] = [];
  let y = top;
  for (let i = 0; i < panels.length; ) {
    const [panel, next] = [panels[i], panels[i + 1]];
    if (panel.kind === "lines" && next?.kind === "lines") {
      const width = (INNER - GAP) / 2;
      placed.push({ panel, box: { x: MARGIN, y, width, height: LINES_HEIGHT } });
      placed.push({ panel: next, box: { x: MARGIN + width + GAP, y, width, height: LINES_HEIGHT } });
      y += LINES_HEIGHT + GAP;
      i += 2;
    } else {
      const height = panel.kind === "lines" ? LINES_HEIGHT : barsHeight(panel, INNER);
      placed.push({ panel, box: { x: MARGIN, y, width: INNER, height } });
      y += height + GAP;
      i++;
    }
  }
  return placed;
}

/** One entry a series of line panels, flowing over as many rows as they need. Bars carry their names themselves. */
function drawLegend(
  panels: readonly Panel[],
  top: number,
  numberOf: (name: string) => number,
): { parts: string[]; height: number } {
  const series = new Map<string, LineSeries>();
  for (const panel of panels) {
    if (panel.kind !== "lines") continue;
    for (const each of panel.series) if (!series.has(each.name)) series.set(each.name, each);
  }
  if (series.size === 0) return { parts: [], height: 4 };
  const parts: string[] = [];
  let [x, y] = [MARGIN, top + 10];
  for (const { name, origin } of series.values()) {
    const text = origin === "published" ? `${name} · not from this run` : name;
    const width = 36 + widthOf(text, LEGEND) + 18;
    if (x > MARGIN && x + width > WIDTH - MARGIN) [x, y] = [MARGIN, y + 19];
    parts.push(legendEntry(text, origin, numberOf(name), x, y));
    x += width;
  }
  return { parts, height: y - top + 18 };
}

function legendEntry(
  text: string,
  origin: LineSeries["origin"],
  number: number,
  x: number,
  y: number,
): string {
  const line = element("path", {
    class: "line",
    "stroke-dasharray": dashes(origin),
    d: `M${x} ${y}H${x + 28}`,
  });
  const mark = origin === "reference" ? "" : pointMark(number, x + 14, y, origin === "published");
  const label = textAt(x + 34, y + 4, text, { size: LEGEND });
  return element("g", { class: seriesClass(origin, number) }, `${line}${mark}${label}`);
}
