/** How warpmap, Map, Arquero and DuckDB-Wasm did the same work: whether the answers are the same, and the times. */
import { counted, h, msText } from "../../dom.js";
import type { Comparison, Contest } from "../protocol.js";

export function comparisonPicture({ contests, compared }: Comparison): HTMLElement {
  const slowest = Math.max(...contests.map(({ ms }) => ms ?? 0), Number.MIN_VALUE);
  return h(
    "section",
    { class: "card", "aria-labelledby": "comparison-title" },
    h("h2", { id: "comparison-title" }, "The same work by others"),
    h("p", {}, compared),
    h("ul", { class: "contests" }, ...contests.map((contest) => contestItem(contest, slowest))),
  );
}

function contestItem(
  { name, how, loadMs, rows, same, ms, runs, stages }: Contest,
  slowest: number,
): HTMLElement {
  const track = h("span", { class: "track", "aria-hidden": "true" });
  const known = stages.reduce((sum, stage) => sum + stage.ms, 0);
  const parts =
    ms === null
      ? []
      : stages.length > 0
        ? [...stages, { name: "rest", ms: Math.max(0, ms - known) }]
        : [{ name: "", ms }];
  for (const [i, part] of parts.entries()) {
    const fill = h("span", { class: `fill part-${i % 4}`, title: part.name });
    fill.style.width = `${((100 * part.ms) / slowest).toFixed(2)}%`;
    track.append(fill);
  }
  const verdict =
    same === null
      ? rows === null
        ? ""
        : counted(rows, "row")
      : same === true
        ? `same answer, ${counted(rows ?? 0, "row")}`
        : same;
  const details = [
    how,
    loadMs === null ? "" : `tables brought into its form in ${msText(loadMs)}`,
    stages.map((stage) => `${stage.name} ${msText(stage.ms)}`).join(", "),
    runs > 0 ? `median of ${counted(runs, "run")}` : "",
  ].filter((text) => text !== "");
  return h(
    "li",
    {},
    h("span", { class: "bar-name" }, name),
    track,
    h("span", { class: "bar-time" }, ms === null ? "not timed" : msText(ms)),
    h("span", { class: same === true || same === null ? "verdict" : "verdict differs" }, verdict),
    h("small", {}, details.join("; ")),
  );
}
