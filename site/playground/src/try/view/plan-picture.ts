/** The plan as a picture: from the tables through the stages to the result, and when each stage began and ended. */
import { counted, h, msText } from "../../dom.js";
import type { RunFacts, Stage } from "../protocol.js";

export function planPicture({ inputRows, stages, rows, ms, plan, engine }: RunFacts): HTMLElement {
  const inputs = inputRows.map((count, i) => {
    const name = inputRows.length === 1 ? "table" : i === 0 ? "left" : "right";
    return h("span", { class: "node data" }, h("b", {}, name), counted(count, "row"));
  });
  const steps = stages.map(({ name, ms }) =>
    h("span", { class: "node stage" }, h("b", {}, name), msText(ms)),
  );
  const output = h("span", { class: "node data" }, h("b", {}, "result"), counted(rows, "row"));
  const flow = [h("span", { class: "inputs" }, ...inputs), ...steps, output].flatMap((node, i) =>
    i === 0 ? [node] : [h("span", { class: "arrow", "aria-hidden": "true" }, "→"), node],
  );
  return h(
    "div",
    { class: "plan" },
    h("div", { class: "flow" }, ...flow),
    timeline(stages, ms),
    stages.reduce((rest, stage) => rest - stage.ms, ms) > ms / 10
      ? h(
          "p",
          { class: "quiet" },
          "The rest of the time went mostly into loading code and starting threads. Run it again to see it without them.",
        )
      : null,
    plan ? phases(plan, engine.backend) : null,
  );
}

/** A bar for each stage, from where it began to where it ended. What lies between them is the rest of the call. */
function timeline(stages: readonly Stage[], total: number): HTMLElement {
  let begin = 0;
  const rows = stages.map(({ name, ms }) => {
    const row = barRow(name, ms, begin / total, ms / total);
    begin += ms;
    return row;
  });
  return h(
    "ul",
    { class: "bars", "aria-label": "Time of each stage" },
    ...rows,
    barRow("total", total, 0, 1, "total"),
  );
}

function phases(plan: NonNullable<RunFacts["plan"]>, backend: string): HTMLElement {
  const most = Math.max(...plan.phases.map(({ ms }) => ms), Number.MIN_VALUE);
  const clock = plan.clock === "gpu" ? "GPU timestamps" : "the host's clock";
  return h(
    "div",
    {},
    h("p", {}, `The ${backend} engine used the strategy “${plan.strategy}”: ${plan.reason}.`),
    plan.phases.length > 0
      ? h(
          "details",
          {},
          h("summary", {}, `Phases within the engine, by ${clock}`),
          h("ul", { class: "bars" }, ...plan.phases.map(({ name, ms }) => barRow(name, ms, 0, ms / most))),
        )
      : null,
  );
}

/** A name, a bar and a time. Parts are of the width. */
export function barRow(name: string, ms: number, from: number, part: number, kind = ""): HTMLElement {
  const percent = (share: number) => `${Math.min(100, Math.max(0, share * 100)).toFixed(2)}%`;
  const fill = h("span", { class: `fill ${kind}` });
  fill.style.marginLeft = percent(from);
  fill.style.width = `max(2px, ${percent(part)})`;
  return h(
    "li",
    {},
    h("span", { class: "bar-name" }, name),
    h("span", { class: "track", "aria-hidden": "true" }, fill),
    h("span", { class: "bar-time" }, msText(ms)),
  );
}
