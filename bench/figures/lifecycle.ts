/** Fresh tables by size, phase by phase, and the largest of them beside figures of others. */
import type { Bar, BarGroup, BarPanel, Figure, LineSeries } from "../chart/figure.js";
import type { BenchRow, StoredReport } from "../report.js";
import {
  contender,
  distinct,
  footerOf,
  groupBy,
  linesBy,
  numberIn,
  pointsOf,
  sizeText,
  textIn,
} from "./parts.js";

const PHASES = ["create", "insert", "find", "destroy", "total"] as const;
const nameOf = (phase: string) => (phase === "total" ? "together" : phase);

export function lifecycleFigure(report: StoredReport): Figure {
  const fresh = report.rows.filter((row) => row.state === "fresh table");
  const own = distinct(fresh, "on")[0];
  const ownRows = fresh.filter((row) => row.on === own);
  const largest = Math.max(...ownRows.map((row) => numberIn(row, "size")));
  const at = (state: string, size: number) =>
    report.rows.filter((row) => row.state === state && row.size === size);
  const byPhase = PHASES.map(
    (phase): LineSeries => ({
      name: nameOf(phase),
      origin: "measured",
      points: positive(pointsOf(ownRows, "size", `${phase} ms`)),
    }),
  );
  const x = { label: "keys", scale: "log2" } as const;
  const y = { label: "milliseconds", scale: "log10" } as const;
  return {
    title: "A table that is made, used once and dropped",
    subtitle:
      "u32 to u32 at load 0.5, unique random keys, inputs and results in the device's memory: create, insert of all keys, find of all keys, destroy.",
    panels: [
      { kind: "lines", title: `Fresh tables: ${contender(own)}`, x, y, series: byPhase },
      {
        kind: "lines",
        title: "The phases together",
        x,
        y,
        series: linesBy(fresh, "on", "size", "total ms", contender),
      },
      ...barsOf(`${sizeText(largest)} pairs, a fresh table`, [
        ...at("fresh table", largest).map(groupOf),
        ...othersAt(report, largest),
      ]),
      // far longer, so with a scale of its own
      ...barsOf(`${sizeText(largest)} pairs, the first table`, at("first table", largest).map(groupOf)),
    ],
    footer: footerOf(report),
  };
}

/** A panel, unless there is nothing to show. */
function barsOf(title: string, groups: BarGroup[]): BarPanel[] {
  return groups.length > 0 ? [{ kind: "bars", title, label: "milliseconds", groups }] : [];
}

function positive(points: LineSeries["points"]): LineSeries["points"] {
  return points.filter(({ y }) => y > 0);
}

/** A bar for each phase that a row has. */
function groupOf(row: BenchRow): BarGroup {
  const bars = PHASES.flatMap((phase): Bar[] => {
    const value = row[`${phase} ms`];
    return typeof value === "number" ? [{ name: nameOf(phase), origin: "measured", value }] : [];
  });
  return { label: contender(textIn(row, "on")), bars };
}

/** Figures of others that are of this size. */
function othersAt(report: StoredReport, size: number): BarGroup[] {
  const figures = (report.published ?? []).filter((figure) => figure.size === size);
  return [...groupBy(figures, ({ of }) => of)].map(([label, phases]) => ({
    label,
    bars: phases.map(({ operation, value }) => ({ name: nameOf(operation), origin: "published", value })),
  }));
}
