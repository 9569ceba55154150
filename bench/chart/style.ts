/**
 * How charts look. A picture has its own opaque background, so it reads the same wherever it is put; it is light, or dark
 * where the reader's system asks for dark. Series differ by colour and by the shape of their points.
 */
import { element, rounded } from "./text.js";

/** Colours of series by number: light, dark. All have a contrast of at least 4.5 to their background. */
const COLOURS = [
  ["#0b62c4", "#6cb6ff"],
  ["#b84a00", "#f69d50"],
  ["#0a7048", "#57c99a"],
  ["#7a35e0", "#b794ff"],
  ["#b01e6d", "#f47bb5"],
  ["#6b5d00", "#d6c34a"],
  ["#00707f", "#4cc9dc"],
  ["#57606a", "#a6b0ba"],
] as const;

/** The class that gives a series its colour. */
export function colourClass(number: number): string {
  return `s${number % COLOURS.length}`;
}

export const FONT =
  "-apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', Helvetica, Arial, sans-serif";

interface Theme {
  readonly back: string;
  readonly ink: string;
  readonly soft: string;
  readonly line: string;
  readonly colours: readonly string[];
}

const LIGHT: Theme = {
  back: "#ffffff",
  ink: "#1f2328",
  soft: "#59636e",
  line: "#d8dee4",
  colours: COLOURS.map(([light]) => light),
};
const DARK: Theme = {
  back: "#0d1117",
  ink: "#e6edf3",
  soft: "#9198a1",
  line: "#30363d",
  colours: COLOURS.map(([, dark]) => dark),
};

/** The style sheet. Plain rules: not every program that shows SVG knows custom properties. */
export function styleSheet(): string {
  return [
    ".bold{font-weight:600}.line{fill:none;stroke-width:2;stroke-linejoin:round}.point{stroke-width:1.5}",
    ".outline{fill-opacity:.18;stroke-dasharray:4 3}",
    rules(LIGHT),
    `@media (prefers-color-scheme:dark){${rules(DARK)}}`,
  ].join("");
}

function rules({ back, ink, soft, line, colours }: Theme): string {
  return [
    `.back{fill:${back}}text{fill:${ink}}text.soft{fill:${soft}}.grid{stroke:${line}}.axis,.reference .line{stroke:${soft}}`,
    ...colours.map(
      (colour, i) =>
        `.s${i} .line{stroke:${colour}}.s${i} .point,.s${i} .bar{fill:${colour};stroke:${colour}}.s${i} .hollow{fill:${back}}`,
    ),
  ].join("");
}

/** The mark of a point: by the series' number one of eight shapes, hollow for figures that were not measured here. */
export function pointMark(number: number, x: number, y: number, hollow: boolean): string {
  const name = hollow ? "point hollow" : "point";
  const r = 3.6;
  const shape = number % 8;
  if (shape === 0) return element("circle", { class: name, cx: x, cy: y, r });
  const path = (corners: readonly (readonly [number, number])[]) =>
    element("path", {
      class: name,
      d: `M${corners.map(([dx, dy]) => `${rounded(x + dx * r)} ${rounded(y + dy * r)}`).join("L")}Z`,
    });
  if (shape === 1)
    return path([
      [-0.9, -0.9],
      [0.9, -0.9],
      [0.9, 0.9],
      [-0.9, 0.9],
    ]);
  if (shape === 2)
    return path([
      [0, -1.2],
      [1.1, 0.9],
      [-1.1, 0.9],
    ]);
  if (shape === 3)
    return path([
      [0, -1.3],
      [1.3, 0],
      [0, 1.3],
      [-1.3, 0],
    ]);
  if (shape === 4)
    return path([
      [0, 1.2],
      [1.1, -0.9],
      [-1.1, -0.9],
    ]);
  if (shape === 6)
    return path([
      [-1, -1.2],
      [1.2, 0],
      [-1, 1.2],
    ]);
  if (shape === 7)
    return path([
      [1, -1.2],
      [-1.2, 0],
      [1, 1.2],
    ]);
  return path([
    [-0.4, -1.2],
    [0.4, -1.2],
    [0.4, -0.4],
    [1.2, -0.4],
    [1.2, 0.4],
    [0.4, 0.4],
    [0.4, 1.2],
    [-0.4, 1.2],
    [-0.4, 0.4],
    [-1.2, 0.4],
    [-1.2, -0.4],
    [-0.4, -0.4],
  ]);
}
