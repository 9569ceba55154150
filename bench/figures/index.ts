/** The picture of a report, by the name of its benchmark. A stored report is drawn again by the same functions. */
import { draw } from "../chart/draw.js";
import type { Figure } from "../chart/figure.js";
import type { StoredReport } from "../report.js";
import {
  filesFigure,
  groupFigure,
  idsFigure,
  joinFigure,
  joinVsDuckdbFigure,
  largeTableFigure,
  peersFigure,
  sketchesFigure,
  wordsFigure,
} from "./comparisons.js";
import { growthFigure, multimapFigure, wideFigure } from "./containers.js";
import { batchFigure, retrieveAllFigure, skewFigure, streamFigure } from "./flows.js";
import { gupsFigure } from "./gups.js";
import { lifecycleFigure } from "./lifecycle.js";
import { staticMapFigure } from "./static-map.js";
import { crossoversFigure, groupSizeFigure, loadFactorFigure, probeDepthFigure } from "./tables.js";

const FIGURES: Readonly<Record<string, (report: StoredReport) => Figure>> = {
  gups: gupsFigure,
  "static-map": staticMapFigure,
  "group-size": groupSizeFigure,
  "load-factor": loadFactorFigure,
  "probe-depth": probeDepthFigure,
  "retrieve-all": retrieveAllFigure,
  stream: streamFigure,
  skew: skewFigure,
  batch: batchFigure,
  crossovers: crossoversFigure,
  lifecycle: lifecycleFigure,
  multimap: multimapFigure,
  files: filesFigure,
  group: groupFigure,
  growth: growthFigure,
  wide: wideFigure,
  ids: idsFigure,
  join: joinFigure,
  "join-vs-duckdb": joinVsDuckdbFigure,
  "large-table": largeTableFigure,
  peers: peersFigure,
  sketches: sketchesFigure,
  words: wordsFigure,
};

/** What a report's picture shows; null for a benchmark that has none. */
export function figureOf(report: StoredReport): Figure | null {
  return Object.hasOwn(FIGURES, report.bench) ? FIGURES[report.bench](report) : null;
}

/** A report as SVG; null for a benchmark that has no picture. */
export function svgOf(report: StoredReport): string | null {
  const figure = figureOf(report);
  return figure && draw(figure);
}
