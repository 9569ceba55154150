/** A benchmark's numbers beside the H100's, by Observable Plot; scales are logarithmic, since a page's machine may be far from it. */
import * as Plot from "@observablehq/plot";
import { isDark } from "../../shell/theme.js";
import { type Point, SHAPES } from "./points.js";
import { REFERENCE } from "./reference.js";

/** The H100's colour, and those of the reader's own series by name. */
const LIGHT = { reference: "#18794e", own: ["#3451b2", "#b45309", "#9d174d", "#0e7490", "#6b7280"] };
const DARK = { reference: "#5fc992", own: ["#a8b1ff", "#f0a35e", "#f08bb4", "#5cc8dd", "#a9a9b5"] };

const PANEL_HEIGHT = 220;
const byNumber = new Intl.Collator("en", { numeric: true });

export interface FigureOptions {
  readonly width: number;
  /** What it shows, for those who do not see it. */
  readonly label: string;
}

export function drawFigure(id: string, points: readonly Point[], options: FigureOptions): Element {
  // one order in all figures, so that a series has one colour; the reference last
  const names = [...new Set(points.map((point) => point.series))].sort(byNumber.compare);
  const series = [
    ...names.filter((name) => name !== REFERENCE),
    ...names.filter((name) => name === REFERENCE),
  ];
  const { reference, own } = isDark() ? DARK : LIGHT;
  const range = series.map((name, i) => (name === REFERENCE ? reference : own[i % own.length]));
  const color = { domain: series, range, legend: true };
  const figure = SHAPES[id].x ? lines(id, points, options, color) : bars(id, points, options, color);
  for (const svg of figure.querySelectorAll("svg[viewBox]")) svg.setAttribute("role", "img");
  // labels of groups, which have no role, are for nobody
  for (const group of figure.querySelectorAll("g[aria-label]")) group.removeAttribute("aria-label");
  return figure;
}

type Colors = NonNullable<Plot.PlotOptions["color"]>;

/** A panel for each operation, one below the other. */
function lines(
  id: string,
  points: readonly Point[],
  { width, label }: FigureOptions,
  color: Colors,
): Element {
  const { x, y } = SHAPES[id];
  const operations = [...new Set(points.map(({ operation }) => operation))];
  const sizes = (value: number) =>
    value >= 1024 ? `2^${Number(Math.log2(value).toFixed(1))}` : String(value);
  return Plot.plot({
    width,
    height: 70 + PANEL_HEIGHT * operations.length,
    marginLeft: 60,
    marginRight: 20,
    marginBottom: 40,
    ariaLabel: label,
    style: STYLE,
    x: {
      type: x?.log ? "log" : "linear",
      base: 2,
      label: x?.label,
      ...(x?.log && { tickFormat: sizes, ticks: width / 90 }),
      grid: true,
    },
    y: { type: "log", label: y.label, grid: true, ticks: 5, tickFormat: "~g" },
    fy: { domain: operations, label: null, axis: null, padding: 0.16 },
    marginTop: 30,
    color,
    marks: [
      Plot.frame({ stroke: "currentColor", strokeOpacity: 0.3 }),
      titles(operations),
      Plot.line(points, { x: "x", y: "y", fy: "operation", stroke: "series", strokeWidth: 2, sort: "x" }),
      Plot.dot(points, {
        x: "x",
        y: "y",
        fy: "operation",
        fill: "series",
        r: 3,
        tip: true,
        channels: { operation: "operation" },
      }),
    ],
  });
}

/** A row for each operation and, within it, one for each series. */
function bars(id: string, points: readonly Point[], { width, label }: FigureOptions, color: Colors): Element {
  const { y } = SHAPES[id];
  const operations = [...new Set(points.map(({ operation }) => operation))];
  const rows = [...new Set(points.map(({ series }) => series))];
  const least = Math.min(...points.map((point) => point.y));
  // bars of a logarithmic scale have no natural beginning: dots on lines, from below the least
  const from = 10 ** Math.floor(Math.log10(least) - 0.2);
  return Plot.plot({
    width,
    height: 66 + operations.length * (26 + rows.length * 18),
    marginLeft: 12,
    marginRight: 48,
    marginTop: 26,
    marginBottom: 40,
    ariaLabel: label,
    style: STYLE,
    x: {
      type: "log",
      label: y.label,
      grid: true,
      tickFormat: "~g",
      ticks: width / 130,
      domain: [from, Math.max(...points.map((p) => p.y)) * 1.6],
    },
    y: { domain: rows, axis: null },
    fy: { domain: operations, label: null, axis: null },
    color,
    marks: [
      titles(operations),
      Plot.ruleY(points, {
        x1: from,
        x2: "y",
        y: "series",
        fy: "operation",
        stroke: "series",
        strokeWidth: 4,
      }),
      Plot.dot(points, { x: "y", y: "series", fy: "operation", fill: "series", r: 5 }),
      Plot.text(points, {
        x: "y",
        y: "series",
        fy: "operation",
        text: (point: Point) => String(Number(point.y.toPrecision(3))),
        textAnchor: "start",
        dx: 9,
        fill: "currentColor",
      }),
    ],
  });
}

/** Each operation above its panel, or its rows. */
function titles(operations: readonly string[]): Plot.Text {
  return Plot.text(operations, {
    fy: (name: string) => name,
    text: (name: string) => name,
    frameAnchor: "top-left",
    dy: -12,
    fontWeight: 600,
    fill: "currentColor",
  });
}

const STYLE = { background: "transparent", fontSize: "12px", overflow: "visible", fontFamily: "inherit" };
