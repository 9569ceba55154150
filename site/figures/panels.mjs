// Panels of a figure (bench/chart/figure.ts) drawn by Observable Plot. Colours are classes of the page's style sheet, light and dark.
import * as Plot from "@observablehq/plot";
import { document } from "./document.mjs";

/** Symbols by the number of a series: they differ also where colours do not. */
const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross", "hexagon", "wye"];
const COLOURS = 8;
const FONT = 12;
/** Mean width of a character, as part of the font's size. */
const CHARACTER = 0.56;

const colourOf = (number) => `var(--series-${number % COLOURS})`;
const symbolOf = (number) => SYMBOLS[number % SYMBOLS.length];

const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const superscript = (exponent) =>
  String(exponent).replace(/./g, (digit) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(digit)]);
const powerOfTwo = (value) => `2${superscript(Math.round(Math.log2(value)))}`;

/** @param numberOf the number of a series by its name @returns SVG text */
export function drawPanel(panel, width, numberOf) {
  return panel.kind === "lines" ? drawLines(panel, width, numberOf) : drawBars(panel, width, numberOf);
}

/** What stands for a series in a legend. */
export function symbolMark(origin, number) {
  const at = [{ x: 0 }];
  const colour = colourOf(number);
  const ends = [{ x: -1 }, { x: 1 }];
  const line = {
    measured: { stroke: colour },
    published: { stroke: colour, strokeDasharray: "5 4" },
    reference: { stroke: "var(--reference)", strokeDasharray: "1 4", strokeLinecap: "round" },
  }[origin];
  const fill =
    origin === "published" ? { fill: "var(--vp-c-bg)", stroke: colour, strokeWidth: 1.5 } : { fill: colour };
  const svg = Plot.plot({
    document,
    className: "mark",
    width: 32,
    height: 14,
    margin: 2,
    axis: null,
    x: { domain: [-1, 1] },
    symbol: { type: "identity" },
    marks: [
      Plot.line(ends, { x: "x", y: () => 0, strokeWidth: 2, ...line }),
      origin === "reference"
        ? null
        : Plot.dot(at, { x: "x", y: () => 0, r: 3.5, symbol: symbolOf(number), ...fill }),
    ],
  });
  svg.setAttribute("aria-hidden", "true");
  return svg.outerHTML.replace(/<g aria-label="[^"]*"/g, "<g");
}

function plot(panel, options) {
  const svg = Plot.plot({ document, style: { fontSize: `${FONT}px` }, className: "plot", ...options });
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", panel.title);
  // Plot names its groups for people who look at the source; the picture as a whole has a label
  return svg.outerHTML.replace(/<g aria-label="[^"]*"/g, "<g");
}

function drawLines(panel, width, numberOf) {
  const points = panel.series.flatMap(({ name, origin, points }) =>
    points.map((point) => ({ ...point, name, origin })),
  );
  const of = (...origins) => points.filter(({ origin }) => origins.includes(origin));
  const line = { x: "x", y: "y", z: "name", stroke: ({ name }) => colourOf(numberOf(name)), strokeWidth: 2 };
  const dot = { x: "x", y: "y", symbol: ({ name }) => symbolOf(numberOf(name)), r: 3.5 };
  const colour = ({ name }) => colourOf(numberOf(name));
  const log = (axis) => axis.scale !== "linear";
  return plot(panel, {
    width,
    height: 290,
    marginLeft: 52,
    marginBottom: 42,
    x: {
      ...axisOf(
        panel.x,
        width / 60,
        points.map(({ x }) => x),
      ),
      labelArrow: "none",
      labelAnchor: "center",
    },
    y: {
      ...axisOf(
        panel.y,
        6,
        points.map(({ y }) => y),
      ),
      labelArrow: "none",
      grid: true,
      zero: !log(panel.y),
      nice: true,
    },
    symbol: { type: "identity" },
    marks: [
      Plot.line(of("measured"), line),
      Plot.line(of("published"), { ...line, strokeDasharray: "5 4" }),
      Plot.line(of("reference"), {
        ...line,
        stroke: "var(--reference)",
        strokeDasharray: "1 4",
        strokeLinecap: "round",
      }),
      Plot.dot(of("measured"), { ...dot, fill: colour }),
      Plot.dot(of("published"), { ...dot, stroke: colour, fill: "var(--vp-c-bg)", strokeWidth: 1.5 }),
    ],
  });
}

function axisOf({ label, scale }, ticks, values) {
  if (scale === "linear") return { label, ticks, tickFormat: (value) => compact.format(value) };
  const base = scale === "log2" ? 2 : 10;
  const exponents = values.filter((value) => value > 0).map((value) => Math.log(value) / Math.log(base));
  const [low, high] = [Math.floor(Math.min(...exponents) + 1e-9), Math.ceil(Math.max(...exponents) - 1e-9)];
  const step = Math.max(1, Math.ceil((high - low) / Math.max(2, ticks)));
  const marks = Array.from(
    { length: Math.floor((high - low) / step) + 1 },
    (_, i) => base ** (low + i * step),
  );
  const format = scale === "log2" ? powerOfTwo : (value) => compact.format(value);
  return {
    label,
    type: "log",
    base,
    domain: [base ** low, base ** Math.max(high, low + 1)],
    ticks: marks,
    tickFormat: format,
  };
}

/** Each bar has its name above it, so that long names fit on a phone. */
function drawBars(panel, width, numberOf) {
  const bars = panel.groups.flatMap((group) =>
    group.bars.map((bar, i) => ({ ...bar, group: group.label, row: `${i}` })),
  );
  const nameOf = ({ name, origin }) => (origin === "published" ? `${name} · not from this run` : name);
  const most = Math.max(...bars.map(({ value }) => value));
  const room = Math.max(...bars.map(({ value }) => number.format(value).length)) * FONT * CHARACTER + 10;
  const colour = (bar) => colourOf(numberOf(bar.family ?? bar.name));
  return panel.groups.map((group) => barsOf(group)).join("");

  function barsOf(group) {
    const of = bars.filter((bar) => bar.group === group.label);
    const measured = of.filter(({ origin }) => origin === "measured");
    const published = of.filter(({ origin }) => origin === "published");
    const last = group === panel.groups.at(-1);
    const place = { x: "value", y: "row", insetTop: 17, insetBottom: 3 };
    return plot(
      { title: `${panel.title}: ${group.label}` },
      {
        width,
        height: group.bars.length * 36 + 30 + (last ? 36 : 6),
        marginLeft: 1,
        marginRight: room,
        marginTop: 30,
        marginBottom: last ? 36 : 6,
        x: {
          domain: [0, most],
          label: last ? panel.label : null,
          axis: last ? "bottom" : null,
          ticks: width / 90,
          labelArrow: "none",
          labelAnchor: "center",
          tickFormat: (value) => compact.format(value),
          nice: true,
          grid: true,
        },
        y: { axis: null, domain: of.map(({ row }) => row) },
        marks: [
          Plot.text([group.label], {
            frameAnchor: "top-left",
            dy: -22,
            fontWeight: 600,
            text: (label) => label,
          }),
          Plot.barX(measured, { ...place, fill: colour }),
          Plot.barX(published, {
            ...place,
            fill: colour,
            fillOpacity: 0.18,
            stroke: colour,
            strokeDasharray: "4 3",
          }),
          Plot.text(of, {
            x: 0,
            y: "row",
            text: nameOf,
            textAnchor: "start",
            lineAnchor: "top",
            dy: -15,
            lineWidth: width / (FONT - 1),
            textOverflow: "ellipsis",
            fontSize: FONT - 1,
          }),
          Plot.text(of, {
            x: "value",
            y: "row",
            text: ({ value }) => number.format(value),
            textAnchor: "start",
            dx: 5,
            dy: 7,
          }),
        ],
      },
    );
  }
}
