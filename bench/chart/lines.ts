/** A panel of lines: axes with marks and units, a grid, and the series. */
import type { LinePanel, LineSeries } from "./figure.js";
import { type Scale, scaleFor } from "./scale.js";
import { colourClass, pointMark } from "./style.js";
import { element, rounded, textAt, widthOf } from "./text.js";

/** Where a panel lies in the picture. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const SMALL = 11;
const ABOVE = 26;
const BELOW = 44;
const RIGHT = 14;

/** Draws a panel into a box. `numberOf` answers the number of a series' colour and shape. */
export function drawLines(panel: LinePanel, box: Box, numberOf: (name: string) => number): string {
  const points = panel.series.flatMap((series) => series.points);
  const x = scaleFor(
    panel.x.scale,
    points.map((point) => point.x),
    8,
  );
  const y = scaleFor(
    panel.y.scale,
    points.map((point) => point.y),
    6,
  );
  const left = 30 + Math.max(...y.ticks.map(({ text }) => widthOf(text, SMALL)));
  const plot = {
    x: box.x + left,
    y: box.y + ABOVE,
    width: box.width - left - RIGHT,
    height: box.height - ABOVE - BELOW,
  };
  const at = {
    x: (value: number) => plot.x + x.at(value) * plot.width,
    y: (value: number) => plot.y + plot.height - y.at(value) * plot.height,
  };
  return [
    textAt(box.x + left, box.y + 14, panel.title, { size: 13, class: "bold" }),
    ...horizontalGrid(y, plot, at.y),
    ...verticalMarks(x, plot, at.x),
    textAt(plot.x + plot.width / 2, box.y + box.height - 6, panel.x.label, { anchor: "middle" }),
    sideways(box.x + 13, plot.y + plot.height / 2, panel.y.label),
    ...panel.series.map((series) => drawSeries(series, numberOf(series.name), at)),
  ].join("\n");
}

function sideways(x: number, y: number, text: string): string {
  return textAt(x, y, text, { anchor: "middle", transform: `rotate(-90 ${rounded(x)} ${rounded(y)})` });
}

function horizontalGrid(scale: Scale, plot: Box, at: (value: number) => number): string[] {
  return scale.ticks.flatMap(({ value, text }) => {
    const y = at(value);
    return [
      element("line", { class: "grid", x1: plot.x, x2: plot.x + plot.width, y1: y, y2: y }),
      textAt(plot.x - 6, y + 4, text, { size: SMALL, anchor: "end", class: "soft" }),
    ];
  });
}

/** Marks whose text would touch the one before are left without text. */
function verticalMarks(scale: Scale, plot: Box, at: (value: number) => number): string[] {
  const bottom = plot.y + plot.height;
  let free = Number.NEGATIVE_INFINITY;
  return [
    element("line", { class: "axis", x1: plot.x, x2: plot.x + plot.width, y1: bottom, y2: bottom }),
    ...scale.ticks.flatMap(({ value, text }) => {
      const x = at(value);
      const half = widthOf(text, SMALL) / 2;
      const mark = element("line", { class: "axis", x1: x, x2: x, y1: bottom, y2: bottom + 4 });
      if (x - half < free) return [mark];
      free = x + half + 4;
      return [mark, textAt(x, bottom + 17, text, { size: SMALL, anchor: "middle", class: "soft" })];
    }),
  ];
}

function drawSeries(
  series: LineSeries,
  number: number,
  at: { x: (value: number) => number; y: (value: number) => number },
): string {
  const places = series.points.map((point) => [at.x(point.x), at.y(point.y)] as const);
  const line = element("path", {
    class: "line",
    "stroke-dasharray": dashes(series.origin),
    d: `M${places.map(([x, y]) => `${rounded(x)} ${rounded(y)}`).join("L")}`,
  });
  const marks =
    series.origin === "reference"
      ? []
      : places.map(([x, y]) => pointMark(number, x, y, series.origin === "published"));
  const attributes = {
    class: seriesClass(series.origin, number),
    "data-series": series.name,
    "data-points": String(series.points.length),
  };
  return element("g", attributes, [line, ...marks].join(""));
}

/** The class that gives a series its colour; references are as grey as axes. */
export function seriesClass(origin: LineSeries["origin"], number: number): string {
  return origin === "reference" ? "reference" : colourClass(number);
}

/** Lines of figures that were not measured here are broken. */
export function dashes(origin: LineSeries["origin"]): string | undefined {
  if (origin === "measured") return undefined;
  return origin === "published" ? "6 4" : "2 3";
}
