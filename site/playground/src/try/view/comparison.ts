/** How warpmap, Map, Arquero and DuckDB-Wasm did the same work: whether the answers are the same, and the times. */
import { counted, h, msText } from "../../dom.js";
import type { Comparison, Contest, Stage } from "../protocol.js";

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
    loadMs === null ? "" : `loaded, with the tables in its form, in ${msText(loadMs)}`,
    runs > 0 ? `median of ${counted(runs, "run")}` : "",
  ].filter((text) => text !== "");
  return h(
    "li",
    {},
    h("span", { class: "bar-name" }, name),
    track,
    h("span", { class: "bar-time" }, ms === null ? "not timed" : msText(ms)),
    h("span", { class: same === true || same === null ? "verdict" : "verdict differs" }, verdict),
    stages.length > 0 && ms !== null ? legend(stages) : null,
    h("small", {}, details.join("; ")),
  );
}

/** The parts of a bar by their colours. */
function legend(stages: readonly Stage[]): HTMLElement {
  const parts = stages.map(({ name, ms }, i) =>
    h(
      "span",
      {},
      h("span", { class: `swatch part-${i % 4}`, "aria-hidden": "true" }),
      `${name} ${msText(ms)}`,
    ),
  );
  return h("small", { class: "legend" }, ...parts);
}
