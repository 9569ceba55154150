/** A panel of horizontal bars in groups. Names stand left of the bars and values right of them: no legend, and room for both. */
import type { Bar, BarPanel } from "./figure.js";
import type { Box } from "./lines.js";
import { scaleFor, valueText } from "./scale.js";
import { colourClass } from "./style.js";
import { element, textAt, widthOf, wrap } from "./text.js";

const SMALL = 11;
const BAR = 15;
const STEP = 20;
const HEADING = 24;
const ABOVE = 22;
const BELOW = 42;
/** Names are given at most this part of the width; longer ones go over two lines. */
const MOST_NAME = 0.42;
const LINE = 13;
/** Bold text is wider by this. */
const BOLD = 1.1;

/** What a bar has its colour by. */
export function familyOf({ name, family = name }: Bar): string {
  return family;
}

/** The height that a panel needs at a width. */
export function barsHeight(panel: BarPanel, width: number): number {
  const rows = panel.groups.flatMap((group) => group.bars.map((bar) => rowHeight(bar, width)));
  return ABOVE + BELOW + panel.groups.length * HEADING + rows.reduce((sum, height) => sum + height, 0);
}

function namedLines(bar: Bar, width: number): string[] {
  const name = bar.origin === "published" ? `${bar.name} · not from this run` : bar.name;
  return wrap(name, width * MOST_NAME, SMALL);
}

function rowHeight(bar: Bar, width: number): number {
  return STEP + LINE * (namedLines(bar, width).length - 1);
}

/** Draws a panel into a box as high as `barsHeight` says. */
export function drawBars(panel: BarPanel, box: Box, numberOf: (name: string) => number): string {
  const bars = panel.groups.flatMap((group) => group.bars);
  const lines = new Map(bars.map((bar) => [bar, namedLines(bar, box.width)]));
  const names = Math.max(...[...lines.values()].flat().map((line) => widthOf(line, SMALL)));
  const values = Math.max(...bars.map((bar) => widthOf(valueText(bar.value), SMALL)));
  const plot = {
    x: box.x + names + 10,
    y: box.y + ABOVE,
    width: box.width - names - values - 20,
    height: box.height - ABOVE - BELOW,
  };
  const scale = scaleFor(
    "linear",
    bars.map((bar) => bar.value),
    6,
  );
  const bottom = plot.y + plot.height;
  const parts = [textAt(box.x, box.y + 13, panel.title, { size: 13, class: "bold" })];
  for (const { value, text } of scale.ticks) {
    const x = plot.x + scale.at(value) * plot.width;
    parts.push(element("line", { class: "grid", x1: x, x2: x, y1: plot.y, y2: bottom }));
    parts.push(textAt(x, bottom + 15, text, { size: SMALL, anchor: "middle", class: "soft" }));
  }
  let y = plot.y;
  for (const group of panel.groups) {
    parts.push(ground(plot.x - 1, y + 3, box.x + widthOf(group.label, 12) * BOLD - plot.x, BAR + 2));
    parts.push(textAt(box.x, y + 16, group.label, { class: "bold" }));
    y += HEADING;
    for (const bar of group.bars) {
      const length = Math.max(1, scale.at(bar.value) * plot.width);
      parts.push(drawBar(bar, lines.get(bar) ?? [], { x: plot.x, y, width: length, height: BAR }, numberOf));
      y += rowHeight(bar, box.width);
    }
  }
  parts.push(textAt(plot.x + plot.width / 2, bottom + 34, panel.label, { anchor: "middle" }));
  return parts.join("\n");
}

/** Hides the grid behind text. */
function ground(x: number, y: number, width: number, height: number): string {
  return width > 0 ? element("rect", { class: "back", x, y, width, height }) : "";
}

function drawBar(bar: Bar, names: readonly string[], box: Box, numberOf: (name: string) => number): string {
  const middle = box.y + (BAR + LINE * (names.length - 1)) / 2;
  const top = middle - BAR / 2;
  const attributes = {
    class: colourClass(numberOf(familyOf(bar))),
    "data-series": bar.name,
    "data-points": "1",
  };
  const shape = element("rect", {
    class: bar.origin === "published" ? "bar outline" : "bar",
    x: box.x,
    y: top,
    width: box.width,
    height: BAR,
  });
  const value = valueText(bar.value);
  const right = box.x + box.width;
  const first = middle + 4 - ((names.length - 1) * LINE) / 2;
  return element(
    "g",
    attributes,
    [
      ...names.map((line, i) => textAt(box.x - 7, first + i * LINE, line, { size: SMALL, anchor: "end" })),
      shape,
      ground(right + 3, top, widthOf(value, SMALL) + 3, BAR),
      textAt(right + 5, middle + 4, value, { size: SMALL }),
    ].join(""),
  );
}
