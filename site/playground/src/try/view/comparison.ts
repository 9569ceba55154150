/** How warpmap, Map, Arquero and DuckDB-Wasm did the same work: whether the answers are the same, and the times. */
import { counted, h, msText } from "../../dom.js";
import type { Comparison, Contest, Stage } from "../protocol.js";
import { verdictOf } from "./verdict.js";

export function comparisonPicture(comparison: Comparison): HTMLElement {
  const { contests, compared } = comparison;
  const slowest = Math.max(...contests.map(({ ms }) => ms ?? 0), Number.MIN_VALUE);
  return h(
    "section",
    { class: "card", "aria-labelledby": "comparison-title" },
    h("h2", { id: "comparison-title" }, "Comparison"),
    ...verdictOf(comparison).map((text, i) => h("p", { class: i === 0 ? "verdict-text" : "" }, text)),
    h("ul", { class: "contests" }, ...contests.map((contest) => contestItem(contest, slowest))),
    h("p", { class: "quiet" }, compared),
  );
}

function contestItem(
  { name, how, loadMs, rows, same, ms, runs, stages }: Contest,
  slowest: number,
): HTMLElement {
  const track = h("span", { class: "track", "aria-hidden": "true" });
  const parts = partsOf(stages, ms);
  for (const { name, ms, kind } of parts) {
    const fill = h("span", { class: `fill ${kind}`, title: name });
    fill.style.width = `${((100 * ms) / slowest).toFixed(2)}%`;
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
    loadMs === null ? "" : `before that ${msText(loadMs)} to load it and convert the tables`,
    runs > 0 ? `median of ${counted(runs, "run")}` : "",
  ].filter((text) => text !== "");
  return h(
    "li",
    {},
    h("span", { class: "bar-name" }, name),
    track,
    h("span", { class: "bar-time" }, ms === null ? "not timed" : msText(ms)),
    h("span", { class: same === true || same === null ? "verdict" : "verdict differs" }, verdict),
    parts.length > 1 ? legend(parts) : null,
    h("small", {}, details.join("; ")),
  );
}

interface Part extends Stage {
  /** Class of its colour. */
  readonly kind: string;
}

/** The stages that a contender tells, and what they leave of the whole. */
function partsOf(stages: readonly Stage[], ms: number | null): Part[] {
  if (ms === null) return [];
  if (stages.length === 0) return [{ name: "", ms, kind: "part-0" }];
  const rest = stages.reduce((left, stage) => left - stage.ms, ms);
  return [
    ...stages.map((stage, i) => ({ ...stage, kind: `part-${i % 4}` })),
    { name: "rest", ms: Math.max(0, rest), kind: "part-rest" },
  ];
}

/** The parts of a bar by their colours. */
function legend(parts: readonly Part[]): HTMLElement {
  const swatches = parts.map(({ name, ms, kind }) =>
    h("span", {}, h("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), `${name} ${msText(ms)}`),
  );
  return h("small", { class: "legend" }, ...swatches);
}
