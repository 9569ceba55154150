/** The view Try: tables, an operation, and what comes out. The work itself is the worker's (../worker). */
import "./style.css";
import { bytesText, counted, download, h, msText, replace } from "../../dom.js";
import { type EngineChoice, type EngineFacts, engineSelect, engineText } from "../../engines.js";
import { WorkerClient } from "../../rpc/client.js";
import type { View } from "../../shell/views.js";
import { WorkBar } from "../../work.js";
import {
  type Cells,
  type Comparison,
  EXPORTS,
  type ExportFormat,
  type RunFacts,
  type RunRequest,
} from "../protocol.js";
import { comparisonPicture } from "./comparison.js";
import { OperationForm } from "./form.js";
import { ResultGrid } from "./grid.js";
import { planPicture } from "./plan-picture.js";
import { PRESETS, type Preset } from "./samples.js";
import { TablePair } from "./tables.js";

export function mount(panel: HTMLElement, parameters: URLSearchParams): View {
  new TryView(panel, parameters);
  return {};
}

class TryView {
  readonly #client = new WorkerClient("try-worker");
  readonly #work = new WorkBar((busy) => this.#setBusy(busy));
  readonly #tables: TablePair;
  readonly #form: OperationForm;
  readonly #engine: HTMLSelectElement;
  readonly #engineText = h("p", { class: "engine-text", role: "status" });
  readonly #run = h("button", { type: "button", class: "primary" }, "Run");
  readonly #compare = h("button", { type: "button" }, "Compare");
  readonly #presets: HTMLButtonElement[];
  readonly #output = h("div", { class: "output" });
  readonly #comparison = h("div", {});
  readonly #grid: ResultGrid;

  constructor(panel: HTMLElement, parameters: URLSearchParams) {
    this.#engine = engineSelect(parameters.get("engine"));
    this.#form = new OperationForm(
      (side) => this.#tables?.facts(side)?.columns ?? [],
      () => this.#kindChanged(),
    );
    this.#tables = new TablePair({
      client: this.#client,
      perform: (text, work) => this.#work.perform(text, work),
      changed: () => this.#form.refresh(),
    });
    this.#grid = new ResultGrid((request) => this.#client.call<Cells>("page", request));
    this.#presets = PRESETS.map((preset) =>
      h("button", { type: "button", onclick: () => void this.#runPreset(preset) }, preset.title),
    );
    this.#run.onclick = () => void this.#runOperation();
    this.#compare.onclick = () => void this.#runComparison();
    this.#engine.onchange = () => void this.#openEngine();
    panel.append(...this.#layout());
    void this.#openEngine();
  }

  #layout(): HTMLElement[] {
    return [
      h("h1", { id: "try-title", tabIndex: -1 }, "Try it on your own files"),
      h(
        "p",
        { class: "lead" },
        "Join, group or deduplicate csv, parquet and arrow files, here in your browser. Begin with a sample:",
      ),
      h("div", { class: "presets", role: "group", "aria-label": "Samples to begin with" }, ...this.#presets),
      h(
        "div",
        { class: "engine" },
        h("label", { class: "inline" }, "Engine ", this.#engine),
        this.#engineText,
      ),
      this.#tables.element,
      this.#form.element,
      h(
        "div",
        { class: "actions" },
        this.#run,
        this.#compare,
        h(
          "small",
          {},
          "with JavaScript's Map, Arquero and DuckDB-Wasm, which is 34 MB (8 compressed) and loaded then",
        ),
      ),
      this.#work.element,
      this.#output,
    ];
  }

  async #openEngine(): Promise<void> {
    this.#engineText.textContent = "Looking for a device …";
    try {
      const facts = await this.#client.call<EngineFacts>("open", this.#engine.value);
      this.#engineText.textContent = engineText(facts);
    } catch (error) {
      this.#engineText.textContent = (error as Error).message;
    }
  }

  async #runPreset(preset: Preset): Promise<void> {
    if (this.#work.busy) return;
    this.#form.set(preset.spec);
    this.#kindChanged();
    if (!(await this.#tables.loadSample("left", preset.left))) return;
    if (preset.right !== undefined && !(await this.#tables.loadSample("right", preset.right))) return;
    this.#form.set(preset.spec); // guesses gave way to columns that were not there yet
    if (await this.#runOperation()) this.#output.scrollIntoView({ block: "start" });
  }

  #runOperation(): Promise<boolean> {
    return this.#work.perform("Running", async (options) => {
      const request = this.#request();
      await this.#tables.restore(options);
      const facts = await this.#client.call<RunFacts>("run", request, options);
      this.#engineText.textContent = engineText(facts.engine);
      await this.#showResult(facts);
    });
  }

  async #runComparison(): Promise<void> {
    await this.#work.perform("Comparing", async (options) => {
      const request = this.#request();
      await this.#tables.restore(options);
      const comparison = await this.#client.call<Comparison>("compare", request, options);
      if (!this.#comparison.isConnected) this.#output.append(this.#comparison);
      replace(this.#comparison, comparisonPicture(comparison));
    });
  }

  /** @throws Error with what is missing */
  #request(): RunRequest {
    this.#tables.check(this.#form.kind);
    return { spec: this.#form.spec(), engine: this.#engine.value as EngineChoice };
  }

  async #showResult(facts: RunFacts): Promise<void> {
    await this.#grid.show(facts.rows, facts.columns);
    const { rows, columns, ms, engine } = facts;
    const name =
      engine.backend === "cpu"
        ? `the cpu engine, ${counted(engine.threads, "thread")}`
        : `webgpu, ${engine.name}`;
    const summary = `${counted(rows, "row")} × ${counted(columns.length, "column")} in ${msText(ms)} by ${name}`;
    replace(this.#comparison);
    replace(
      this.#output,
      h(
        "section",
        { class: "card", "aria-labelledby": "result-title" },
        h("h2", { id: "result-title" }, "Result"),
        h("p", { class: "summary", role: "status" }, summary),
        this.#grid.element,
        this.#exportRow(),
      ),
      h(
        "section",
        { class: "card", "aria-labelledby": "plan-title" },
        h("h2", { id: "plan-title" }, "Plan"),
        planPicture(facts),
      ),
      this.#comparison,
    );
  }

  #exportRow(): HTMLElement {
    const buttons = EXPORTS.map((format) =>
      h("button", { type: "button", onclick: () => void this.#export(format) }, format),
    );
    return h(
      "div",
      { class: "exports", role: "group", "aria-label": "Save the result" },
      "Save as",
      ...buttons,
    );
  }

  async #export(format: ExportFormat): Promise<void> {
    await this.#work.perform(`Writing ${format}`, async (options) => {
      const bytes = await this.#client.call<Uint8Array<ArrayBuffer>>("export", format, options);
      download(`result.${format}`, [bytes], "application/octet-stream");
      this.#work.say(`result.${format}, ${bytesText(bytes.length)}`);
    });
  }

  #kindChanged(): void {
    this.#tables.showRight(this.#form.kind === "join");
  }

  #setBusy(busy: boolean): void {
    for (const button of [this.#run, this.#compare, ...this.#presets]) button.disabled = busy;
    this.#engine.disabled = busy;
  }
}
