/**
 * What a chart shows, before anything is placed: panels of lines or bars, with their axes, and who measured what. Figures are
 * made from reports (bench/figures) and drawn by draw.ts. Everything in here is plain data.
 */

/** One picture. */
export interface Figure {
  readonly title: string;
  /** One or two sentences under the title: what was measured, on what data. */
  readonly subtitle: string;
  readonly panels: readonly Panel[];
  /** Machine, driver, date, commit, sources: lines under the panels, wrapped where they are too long. */
  readonly footer: readonly string[];
}

export type Panel = LinePanel | BarPanel;

/**
 * Where a series comes from. `measured`: this report. `published`: somebody else's figure. `reference`: a bound or a theory,
 * drawn as a line without points.
 */
export type Origin = "measured" | "published" | "reference";

export type ScaleName = "linear" | "log2" | "log10";

export interface Axis {
  /** The quantity with its unit. */
  readonly label: string;
  readonly scale: ScaleName;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface LineSeries {
  readonly name: string;
  readonly origin: Origin;
  readonly points: readonly Point[];
}

/** Quantities over a quantity. Series of one name have one colour in all panels, and one entry in the legend. */
export interface LinePanel {
  readonly kind: "lines";
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly LineSeries[];
}

export interface Bar {
  /** Who or what: stands left of the bar. */
  readonly name: string;
  readonly origin: Exclude<Origin, "reference">;
  readonly value: number;
  /** Bars of one family have one colour. Default: the name. */
  readonly family?: string;
}

/** Bars that are compared with each other, under one heading. */
export interface BarGroup {
  readonly label: string;
  readonly bars: readonly Bar[];
}

/** One quantity, from zero on. */
export interface BarPanel {
  readonly kind: "bars";
  readonly title: string;
  /** The quantity with its unit. */
  readonly label: string;
  readonly groups: readonly BarGroup[];
}
