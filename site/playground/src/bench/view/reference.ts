/** The README's figures: the reports of an H100 in bench/results, by the page's benchmarks. */
import gups from "../../../../../bench/results/gups-h100.json";
import lifecycle from "../../../../../bench/results/lifecycle-h100.json";
import byLoad from "../../../../../bench/results/static-map-by-load-h100.json";
import bySize from "../../../../../bench/results/static-map-by-size-h100.json";
import map from "../../../../../bench/results/static-map-h100.json";
import { type Point, pointsOf, type Rows } from "./points.js";

/** What its series is called. */
export const REFERENCE = "NVIDIA H100";

const REPORTS: Readonly<Record<string, { readonly device: string; readonly rows: unknown }>> = {
  gups,
  map,
  "map-by-size": bySize,
  "map-by-load": byLoad,
  lifecycle,
};

/** What the H100 did in a benchmark; what the report has of the CPU beside it stays out. @param operations only of these, unless none are told */
export function referencePoints(id: string, operations: ReadonlySet<string>): Point[] {
  const rows = (REPORTS[id]?.rows ?? []) as Rows;
  const points = pointsOf(id, {
    rows: rows.filter(({ on = "webgpu" }) => on === "webgpu"),
    device: REFERENCE,
  });
  return operations.size === 0 ? points : points.filter(({ operation }) => operations.has(operation));
}
