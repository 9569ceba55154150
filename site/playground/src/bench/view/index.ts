/** The view Bench: the repository's own benchmarks in the reader's browser, drawn beside the figures of an H100. */
import "./style.css";
import type { BenchRow } from "../../../../../bench/report.js";
import { choice, download, h, replace, select } from "../../dom.js";
import { type EngineChoice, type EngineFacts, engineSelect, engineText } from "../../engines.js";
import { WorkerClient } from "../../rpc/client.js";
import type { View } from "../../shell/views.js";
import { WorkBar } from "../../work.js";
import { linkOf, reportsOf } from "../permalink.js";
import { BENCHMARKS, type Benchmark, type BenchRequest, type PageReport } from "../protocol.js";
import { drawFigure } from "./figure.js";
import { pointsOf } from "./points.js";
import { referencePoints } from "./reference.js";

/** Exponents of the largest number of keys, and those to begin with by what the device is. */
const EXPONENTS = [12, 14, 16, 18, 20, 22, 24, 26, 27];
const FIRST_EXPONENT: Readonly<Record<string, number>> = { gpu: 22, cpu: 20, software: 14 };

export function mount(panel: HTMLElement, parameters: URLSearchParams): View {
  const view = new BenchView(panel, parameters);
  return { show: (parameters) => view.showLink(parameters) };
}

class BenchView {
  readonly #client = new WorkerClient("bench-worker");
  readonly #work = new WorkBar((busy) => this.#setBusy(busy));
  readonly #engine: HTMLSelectElement;
  readonly #engineText = h("p", { class: "engine-text", role: "status" });
  readonly #size = select(EXPONENTS.map((exponent) => [String(2 ** exponent), `2^${exponent}`] as const));
  readonly #boxes = new Map<string, HTMLInputElement>();
  readonly #run = h("button", { type: "button", class: "primary" }, "Run");
  readonly #share = h("div", { class: "exports", hidden: true });
  readonly #source = h("p", { role: "status" });
  readonly #figures = h("div", {});
  #reports: PageReport[] = [];
  /** The link whose numbers are shown, so that making a link does not read it again. */
  #shown: string | null = null;
  #width = 0;

  constructor(panel: HTMLElement, parameters: URLSearchParams) {
    this.#engine = engineSelect(parameters.get("engine"));
    this.#run.onclick = () => void this.#runAll();
    this.#engine.onchange = () => void this.#openEngine();
    panel.append(...this.#layout());
    document.addEventListener("themechange", () => this.#draw());
    new ResizeObserver(() => {
      if (Math.abs(this.#figures.clientWidth - this.#width) > 8) this.#draw();
    }).observe(this.#figures);
    void this.#openEngine();
    void this.showLink(parameters);
  }

  /** Shows the numbers that a link brings. */
  async showLink(parameters: URLSearchParams): Promise<void> {
    const packed = parameters.get("r");
    if (packed === null || packed === this.#shown || this.#work.busy) return;
    this.#shown = packed;
    try {
      this.#reports = await reportsOf(packed);
    } catch (error) {
      this.#work.say((error as Error).message, true);
      return;
    }
    const { device, node, date } = this.#reports[0]?.report ?? {};
    this.#source.textContent = `These numbers came with the link: ${device}, ${node}, ${date?.slice(0, 10)}.`;
    this.#draw();
  }

  #layout(): HTMLElement[] {
    const boxes = BENCHMARKS.map(({ id, title, says, first }) => {
      const box = h("input", { type: "checkbox", checked: first });
      this.#boxes.set(id, box);
      return h("li", {}, choice(title, box), h("small", {}, says));
    });
    this.#share.append(
      h("button", { type: "button", onclick: () => void this.#makeLink() }, "Permalink with the numbers"),
      h("button", { type: "button", onclick: () => this.#save() }, "Save as JSON"),
    );
    return [
      h("h1", { id: "bench-title", tabIndex: -1 }, "Bench your GPU"),
      h(
        "p",
        { class: "lead" },
        "Runs the repository's benchmarks in your browser. Every table is checked key by key before it is timed.",
      ),
      h(
        "div",
        { class: "engine" },
        h("label", { class: "inline" }, "Engine ", this.#engine),
        this.#engineText,
      ),
      h(
        "section",
        { class: "card" },
        h(
          "fieldset",
          {},
          h("legend", {}, h("h2", {}, "What to measure")),
          h("ul", { class: "choices" }, ...boxes),
        ),
        h("label", { class: "inline" }, "Largest number of keys ", this.#size),
      ),
      h("div", { class: "actions" }, this.#run),
      this.#work.element,
      this.#source,
      this.#share,
      this.#figures,
    ];
  }

  async #openEngine(): Promise<void> {
    this.#engineText.textContent = "Looking for a device …";
    try {
      const opened = await this.#client.call<{ facts: EngineFacts; kind: string }>(
        "open",
        this.#engine.value,
      );
      this.#engineText.textContent = engineText(opened.facts);
      this.#size.value = String(2 ** FIRST_EXPONENT[opened.kind]);
    } catch (error) {
      this.#engineText.textContent = (error as Error).message;
    }
  }

  async #runAll(): Promise<void> {
    const chosen = BENCHMARKS.filter(({ id }) => this.#boxes.get(id)?.checked);
    const engine = this.#engine.value as EngineChoice;
    await this.#work.perform("Starting", async ({ signal, onProgress }) => {
      if (chosen.length === 0) throw new Error("Choose at least one benchmark.");
      this.#reports = [];
      this.#source.textContent = "";
      this.#draw();
      for (const [i, { id, title }] of chosen.entries()) {
        const request: BenchRequest = { id, engine, size: Number(this.#size.value) };
        const tell = ({ text }: { text: string }) =>
          onProgress({ text: `${title}: ${text}`, part: i / chosen.length });
        tell({ text: "starting" });
        const report = await this.#client.call<PageReport["report"]>("run", request, {
          signal,
          onProgress: tell,
        });
        this.#reports.push({ id, report });
        this.#draw();
      }
    });
  }

  /** Figures of all reports; without any, those of the H100 alone. */
  #draw(): void {
    this.#width = this.#figures.clientWidth;
    this.#share.hidden = this.#reports.length === 0;
    const shown: readonly Benchmark[] =
      this.#reports.length === 0
        ? BENCHMARKS.filter(({ first }) => first)
        : BENCHMARKS.filter(({ id }) => this.#reports.some((own) => own.id === id));
    replace(this.#figures, ...shown.map((benchmark) => this.#figure(benchmark)));
  }

  #figure({ id, title, says }: Benchmark): HTMLElement {
    const own = this.#reports.find((report) => report.id === id)?.report;
    const ownPoints = own ? pointsOf(id, { rows: own.rows, device: own.device || "your GPU" }) : [];
    const points = [
      ...ownPoints,
      ...referencePoints(id, new Set(ownPoints.map(({ operation }) => operation))),
    ];
    const titleId = `figure-${id}`;
    const label = `${title}: ${says}`;
    const section = h(
      "section",
      { class: "card", "aria-labelledby": titleId },
      h("h2", { id: titleId }, title),
      h(
        "p",
        { class: "quiet" },
        own
          ? `${says}. ${own.device}, ${own.node}.`
          : `${says}. The figure shows an NVIDIA H100; your numbers come beside it.`,
      ),
    );
    const width = Math.max(280, this.#width - 34);
    section.append(drawFigure(id, points, { width, label }));
    if (own) section.append(rowsTable(title, own.rows));
    for (const note of own?.notes ?? []) section.append(h("p", { class: "origin" }, note));
    return section;
  }

  async #makeLink(): Promise<void> {
    const link = await linkOf(this.#reports);
    this.#shown = new URLSearchParams(link.slice(link.indexOf("?"))).get("r");
    history.replaceState(null, "", link);
    let copied = "The address of this page now carries the numbers";
    try {
      await navigator.clipboard.writeText(location.href);
      copied += ", and is in the clipboard";
    } catch {
      // no permission: the address bar has it
    }
    this.#work.say(`${copied}.`);
  }

  #save(): void {
    const reports = this.#reports.map(({ report }) => report);
    download("warpmap-bench.json", [`${JSON.stringify(reports, null, 2)}\n`], "application/json");
  }

  #setBusy(busy: boolean): void {
    this.#run.disabled = busy;
    this.#engine.disabled = busy;
    this.#size.disabled = busy;
  }
}

/** The rows as they are, for those who want the numbers. */
function rowsTable(title: string, rows: readonly BenchRow[]): HTMLElement {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cell = (value: BenchRow[string] | undefined) =>
    typeof value === "number" ? String(Number(value.toPrecision(4))) : String(value ?? "");
  return h(
    "details",
    {},
    h("summary", {}, "All numbers"),
    h(
      "div",
      { class: "scroll", tabIndex: 0, role: "region", "aria-label": `Numbers of ${title}` },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...names.map((name) => h("th", { scope: "col" }, name)))),
        h(
          "tbody",
          {},
          ...rows.map((row) => h("tr", {}, ...names.map((name) => h("td", {}, cell(row[name]))))),
        ),
      ),
    ),
  );
}
