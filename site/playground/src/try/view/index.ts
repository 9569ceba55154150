/** The view Try: tables, an operation, and what comes out. The work itself is the worker's (../worker). */
import "./style.css";
import { bytesText, counted, download, h, msText, replace } from "../../dom.js";
import { type EngineChoice, type EngineFacts, engineSelect, engineText } from "../../engines.js";
import { WorkerClient } from "../../rpc/client.js";
import { noteParameters } from "../../shell/route.js";
import type { View } from "../../shell/views.js";
import { WorkBar } from "../../work.js";
import {
  type Cells,
  type Comparison,
  EXPORTS,
  type ExportFormat,
  type KeyPair,
  type RunFacts,
  type RunRequest,
  type Side,
  type Spec,
} from "../protocol.js";
import { areComparable } from "./comparable.js";
import { comparisonPicture } from "./comparison.js";
import { OperationForm } from "./form.js";
import { ResultGrid } from "./grid.js";
import { type Linked, linkedOf, parametersOf } from "./link.js";
import { planPicture } from "./plan-picture.js";
import { programOf } from "./program.js";
import { programCard } from "./program-card.js";
import { resultName } from "./result-name.js";
import { PRESETS, type Preset } from "./samples.js";
import { TablePair } from "./tables.js";
import { unmatchedPicture } from "./unmatched.js";

export function mount(panel: HTMLElement, parameters: URLSearchParams): View {
  const view = new TryView(panel, parameters);
  return { show: (parameters) => view.show(parameters) };
}

class TryView {
  readonly #client = new WorkerClient("try-worker");
  readonly #work = new WorkBar((busy) => {
    this.#engine.disabled = busy;
  });
  readonly #tables: TablePair;
  readonly #form: OperationForm;
  readonly #engine: HTMLSelectElement;
  readonly #engineText = h("p", { class: "engine-text", role: "status" });
  readonly #run = h("button", { type: "button", class: "primary" }, "Run");
  readonly #compare = h("button", { type: "button" }, "Compare");
  readonly #presets: HTMLButtonElement[];
  readonly #output = h("div", { class: "output" });
  readonly #comparison = h("div", { class: "comparison" });
  readonly #grid: ResultGrid;
  /** Name of the files that the result which is shown would be saved as; null when none is shown. */
  #result: string | null = null;
  /** How often tables and choices have changed: what was begun before is not shown. */
  #revision = 0;
  /** Whether a button's work is under way. */
  #isAsked = false;

  constructor(panel: HTMLElement, parameters: URLSearchParams) {
    this.#engine = engineSelect(parameters.get("engine"));
    this.#form = new OperationForm({
      columns: (side) => this.#tables?.facts(side)?.columns ?? [],
      changed: () => this.#changed(),
    });
    this.#tables = new TablePair({
      client: this.#client,
      perform: (text, work) => this.#work.perform(text, work),
      changed: () => {
        this.#form.refresh();
        this.#changed();
      },
    });
    this.#grid = new ResultGrid((request) => this.#client.call<Cells>("page", request));
    this.#presets = PRESETS.map((preset) =>
      h("button", { type: "button", onclick: () => void this.#runPreset(preset) }, preset.title),
    );
    this.#run.onclick = () => void this.#asked(this.#output, () => this.#runOperation());
    this.#compare.onclick = () => void this.#asked(this.#comparison, () => this.#runComparison());
    this.#engine.onchange = () => {
      void this.#openEngine();
      this.#note();
    };
    panel.append(...this.#layout());
    // samples and choices are in the address, files are not
    addEventListener("beforeunload", (event) => {
      if (this.#tables.hasOwnFiles) event.preventDefault();
    });
    void this.#openEngine();
    void this.#open(linkedOf(parameters));
  }

  /** Does what an address says, unless that is here already, or would take the place of the reader's own files. */
  show(parameters: URLSearchParams): void {
    const linked = linkedOf(parameters);
    const isNew = linked.spec !== null && String(parameters) !== String(this.#parameters());
    if (!isNew || this.#work.busy) this.#note();
    else if (this.#tables.hasOwnFiles) {
      this.#note();
      this.#work.say("Your files stay open here. Open the address in another tab to see what it names.");
    } else void this.#open(linked);
  }

  #layout(): HTMLElement[] {
    return [
      h("h1", { id: "try-title", tabIndex: -1 }, "Try it on your own files"),
      h(
        "p",
        { class: "lead" },
        "Join, group or deduplicate CSV, Parquet and Arrow files in your browser. Or start with a sample of 3 million flights (13 MB):",
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
        { class: "bar" },
        this.#run,
        this.#compare,
        this.#work.element,
        h(
          "small",
          { class: "words" },
          "Compare runs the same with Map, Arquero and DuckDB-Wasm (34 MB to load, 8 compressed)",
        ),
      ),
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

  async #runPreset({ left, right, spec }: Preset): Promise<void> {
    const samples = { left, ...(right !== undefined && { right }) };
    await this.#asked(this.#output, () => this.#open({ samples, spec, run: true }));
  }

  /** Does what a button asks for, one at a time, and brings what it made into sight. The focus stays on the button. */
  async #asked(made: HTMLElement, work: () => Promise<boolean>): Promise<void> {
    if (this.#isAsked) return;
    this.#setAsked(true);
    try {
      await work();
    } finally {
      this.#setAsked(false);
    }
    if (made.hasChildNodes()) made.scrollIntoView({ block: "start" });
  }

  /** Loads samples, shows a spec, and runs it. @returns whether it came to its end */
  async #open({ samples, spec, run }: Linked): Promise<boolean> {
    if (spec) this.#form.set(spec);
    this.#changed();
    for (const side of ["left", "right"] as const) {
      const file = samples[side];
      if (file !== undefined && !(await this.#tables.loadSample(side, file))) return false;
    }
    // guesses gave way to columns that were not there yet
    if (spec) this.#form.set(spec);
    this.#changed();
    return run && this.#runOperation();
  }

  /** Shows the result of what is chosen; none, where it does not come. */
  async #runOperation(): Promise<boolean> {
    const isThere = await this.#work.perform("Running", async (options) => {
      const request = this.#request();
      const revision = this.#revision;
      const name = resultName(request.spec, (side) => this.#tables.name(side));
      await this.#tables.restore(options);
      const facts = await this.#client.call<RunFacts>("run", request, options);
      this.#engineText.textContent = engineText(facts.engine);
      if (revision !== this.#revision) this.#showStale();
      else await this.#showResult(facts, request, name);
    });
    if (!isThere) {
      this.#clear();
      await this.#explainTypes();
    }
    this.#note();
    return isThere;
  }

  /** Shows the keys of both sides where a join was refused since their types cannot be compared. */
  async #explainTypes(): Promise<void> {
    const spec = this.#specOrNull();
    const [left, right] = (["left", "right"] as const).map((side) => this.#tables.facts(side));
    if (spec?.kind !== "join" || !left || !right) return;
    const named = (columns: typeof left.columns, name: string) => columns.find((each) => each.name === name);
    const isRefused = spec.on.some(([l, r]) => {
      const [a, b] = [named(left.columns, l), named(right.columns, r)];
      return a && b && !areComparable(a, b);
    });
    if (isRefused) replace(this.#output, await this.#unmatched(spec.on));
  }

  async #unmatched(on: readonly (readonly [string, string])[]): Promise<HTMLElement> {
    return unmatchedPicture(await this.#client.call<KeyPair[]>("keys", on));
  }

  async #runComparison(): Promise<boolean> {
    replace(this.#comparison);
    return this.#work.perform("Comparing", async (options) => {
      const request = this.#request();
      const revision = this.#revision;
      await this.#tables.restore(options);
      const comparison = await this.#client.call<Comparison>("compare", request, options);
      if (revision !== this.#revision) {
        this.#showStale();
        return;
      }
      if (this.#result === null) replace(this.#output, this.#comparison);
      replace(this.#comparison, comparisonPicture(comparison));
    });
  }

  /** What is shown no longer is of these tables and choices. */
  #changed(): void {
    this.#revision++;
    this.#tables.showRight(this.#form.kind === "join");
    if (this.#output.hasChildNodes()) this.#showStale();
    this.#note();
  }

  #showStale(): void {
    this.#clear(
      h(
        "p",
        { class: "quiet", role: "status" },
        "The tables or options have changed. Press Run for a new result.",
      ),
    );
  }

  #clear(text: HTMLElement | null = null): void {
    this.#result = null;
    replace(this.#comparison);
    replace(this.#output, text);
  }

  /** Puts samples and choices into the address. */
  #note(): void {
    noteParameters("try", this.#parameters());
  }

  #parameters(): URLSearchParams {
    const { samples, hasOwnFiles } = this.#tables;
    const isLink = !hasOwnFiles && Object.keys(samples).length > 0;
    const parameters = isLink
      ? parametersOf({ samples, spec: this.#specOrNull(), run: this.#result !== null })
      : new URLSearchParams();
    if (this.#engine.value !== "auto") parameters.set("engine", this.#engine.value);
    return parameters;
  }

  #specOrNull(): Spec | null {
    try {
      return this.#form.spec();
    } catch {
      return null; // something is missing yet
    }
  }

  /** @throws Error with what is missing */
  #request(): RunRequest {
    this.#tables.check(this.#form.kind);
    return { spec: this.#form.spec(), engine: this.#engine.value as EngineChoice };
  }

  async #showResult(
    facts: RunFacts,
    { spec, engine: choice }: RunRequest,
    resultName: string,
  ): Promise<void> {
    await this.#grid.show(facts.rows, facts.columns);
    this.#result = resultName;
    const { rows, columns, ms, engine } = facts;
    const name =
      engine.backend === "cpu"
        ? `the cpu engine, ${counted(engine.threads, "thread")}`
        : `webgpu, ${engine.name}`;
    const summary = `${counted(rows, "row")} × ${counted(columns.length, "column")} in ${msText(ms)} by ${name}`;
    const unmatched = facts.unmatched && spec.kind === "join" ? await this.#unmatched(spec.on) : null;
    replace(this.#comparison);
    replace(
      this.#output,
      unmatched,
      h(
        "section",
        { class: "card", "aria-labelledby": "result-title" },
        h("h2", { id: "result-title" }, "Result"),
        h("p", { class: "summary", role: "status" }, summary),
        hasAnyOrder(spec) ? h("p", { class: "quiet" }, "Rows come in no particular order.") : null,
        this.#grid.element,
        this.#exportRow(),
      ),
      h(
        "section",
        { class: "card", "aria-labelledby": "plan-title" },
        h("h2", { id: "plan-title" }, "Plan"),
        planPicture(facts),
      ),
      programCard(this.#program(spec, choice), !this.#tables.hasOwnFiles),
      this.#comparison,
    );
  }

  #program(spec: Spec, engine: EngineChoice): string {
    const tableOf = (side: Side) => {
      const facts = this.#tables.facts(side);
      return (
        facts && { name: this.#tables.name(side), url: this.#tables.url(side), delimiter: facts.delimiter }
      );
    };
    return programOf({ spec, engine, tables: { left: tableOf("left"), right: tableOf("right") } });
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
      const name = `${this.#result ?? "result"}.${format}`;
      download(name, [bytes], "application/octet-stream");
      this.#work.say(`${name}, ${bytesText(bytes.length)}`);
    });
  }

  /** A button that is disabled would lose the focus: those that are pressed meanwhile do nothing. What is pressed while a file is read waits. */
  #setAsked(asked: boolean): void {
    this.#isAsked = asked;
    for (const button of [this.#run, this.#compare, ...this.#presets])
      button.setAttribute("aria-disabled", String(asked));
  }
}

/** Semi and anti joins, groups and distinct rows come in the order of the left table. */
function hasAnyOrder(spec: Spec): boolean {
  return spec.kind === "join" && spec.how !== "semi" && spec.how !== "anti";
}
