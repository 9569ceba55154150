/** The two tables of the view Try: files that are dropped or chosen, or samples; read by the worker, and again by the next one if it ended. */
import { bytesText, counted, field, h, msText, replace, select } from "../../dom.js";
import type { WorkerClient } from "../../rpc/client.js";
import type { Work, WorkOptions } from "../../work.js";
import { type LoadRequest, type Side, type Spec, type TableFacts, tablesFor } from "../protocol.js";
import { rowsTable } from "./rows.js";
import { SAMPLES, sampleUrl } from "./samples.js";

interface Loaded {
  readonly request: LoadRequest;
  readonly facts: TableFacts;
  /** Of the worker that holds it. */
  generation: number;
}

export interface TablesContext {
  readonly client: WorkerClient;
  /** Runs a piece of work with progress and Stop; shows what it throws. */
  readonly perform: (text: string, work: Work) => Promise<boolean>;
  /** A table is there, or another one, or none: it could not be read. */
  readonly changed: () => void;
}

const ACCEPTED = ".csv,.tsv,.parquet,.arrow,.feather,.ipc,.gz";
const SIDES: readonly Side[] = ["left", "right"];
const TITLES: Record<Side, string> = { left: "Left table", right: "Right table" };

export class TablePair {
  readonly element: HTMLElement;
  readonly #context: TablesContext;
  readonly #loaded: Partial<Record<Side, Loaded>> = {};
  readonly #cards: Record<Side, HTMLElement>;
  readonly #about: Record<Side, HTMLElement>;
  readonly #samples: Record<Side, HTMLSelectElement>;

  constructor(context: TablesContext) {
    this.#context = context;
    this.#about = { left: h("div", { class: "about" }), right: h("div", { class: "about" }) };
    this.#samples = { left: this.#sampleSelect("left"), right: this.#sampleSelect("right") };
    this.#cards = { left: this.#card("left"), right: this.#card("right") };
    this.element = h("div", { class: "tables" }, this.#cards.left, this.#cards.right);
    document.addEventListener("dragover", (event) => this.#mark(event));
    document.addEventListener("dragleave", () => this.#mark());
    document.addEventListener("drop", (event) => void this.#take(event));
  }

  facts(side: Side): TableFacts | undefined {
    return this.#loaded[side]?.facts;
  }

  /** What it was read from; "" for none. */
  name(side: Side): string {
    return this.#loaded[side]?.request.name ?? "";
  }

  /** The address of a sample; undefined for a file of the reader's. */
  url(side: Side): string | undefined {
    const source = this.#loaded[side]?.request.source;
    return typeof source === "string" ? source : undefined;
  }

  /** The samples that are loaded, by side. */
  get samples(): Partial<Record<Side, string>> {
    const own = Object.values(this.#loaded).filter(({ request }) => isSample(request));
    return Object.fromEntries(own.map(({ request: { side, name } }) => [side, name]));
  }

  /** Whether there is a table that nobody else has. */
  get hasOwnFiles(): boolean {
    return Object.values(this.#loaded).some(({ request }) => !isSample(request));
  }

  /** @throws Error when a table that an operation needs is not there */
  check(kind: Spec["kind"]): void {
    tablesFor(this.#loaded, kind);
  }

  /** The right table is for joins alone. */
  showRight(shown: boolean): void {
    this.#cards.right.hidden = !shown;
    const title = this.#cards.left.querySelector("h2");
    if (title) title.textContent = shown ? TITLES.left : "Table";
  }

  async loadSample(side: Side, file: string): Promise<boolean> {
    const source = sampleUrl(file);
    if (this.#loaded[side]?.request.source === source) return true;
    return this.#load({ side, name: file, source });
  }

  /** Reads tables again whose worker was ended. */
  async restore(options: WorkOptions): Promise<void> {
    for (const loaded of Object.values(this.#loaded)) {
      if (loaded.generation === this.#context.client.generation) continue;
      await this.#context.client.call("load", loaded.request, options);
      loaded.generation = this.#context.client.generation;
    }
  }

  /** What was there gives way to what cannot be read, too: else a result might be taken for one of the file that was chosen. */
  async #load(request: LoadRequest): Promise<boolean> {
    const { client, perform, changed } = this.#context;
    return perform(`Reading ${request.name}`, async (options) => {
      delete this.#loaded[request.side];
      try {
        const facts = await client.call<TableFacts>("load", request, options);
        this.#loaded[request.side] = { request, facts, generation: client.generation };
      } finally {
        this.#describe(request, this.#loaded[request.side]?.facts);
        changed();
      }
    });
  }

  #card(side: Side): HTMLElement {
    const file = h("input", { type: "file", accept: ACCEPTED });
    file.onchange = () => {
      const [chosen] = file.files ?? [];
      if (chosen) void this.#load({ side, name: chosen.name, source: chosen });
      file.value = ""; // so that the same file can be chosen again
    };
    return h(
      "section",
      { class: "card drop" },
      h("h2", {}, TITLES[side]),
      h(
        "div",
        { class: "row" },
        h(
          "div",
          { class: "field" },
          h("label", { class: "file-button" }, "Open a file", file),
          h("small", {}, "CSV, Parquet or Arrow; or drop it here"),
        ),
        field("or choose a sample", this.#samples[side]),
      ),
      this.#about[side],
    );
  }

  #sampleSelect(side: Side): HTMLSelectElement {
    const samples = select([["", "choose …"], ...SAMPLES.map(({ file, title }) => [file, title] as const)]);
    samples.onchange = () => {
      if (samples.value !== "") void this.loadSample(side, samples.value);
      else samples.value = this.samples[side] ?? "";
    };
    return samples;
  }

  /** The card that files come to which are dropped where the event says: the one below, else the first without a table. */
  #sideOf({ target }: DragEvent): Side {
    const below = SIDES.find((side) => this.#cards[side].contains(target as Node));
    const free = SIDES.find((side) => this.#loaded[side] === undefined && !this.#cards[side].hidden);
    return below ?? free ?? "left";
  }

  /** Shows where files would come to. */
  #mark(event?: DragEvent): void {
    const over = event?.dataTransfer?.types.includes("Files") ? this.#sideOf(event) : undefined;
    // beside the cards, too, a browser would open the file in place of the page
    if (over !== undefined) event?.preventDefault();
    for (const side of SIDES) this.#cards[side].classList.toggle("over", side === over);
  }

  /** Two files are both tables, one is that of a side. */
  async #take(event: DragEvent): Promise<void> {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    this.#mark();
    if (!this.element.checkVisibility()) return; // another view is shown
    const sides = files.length > 1 && !this.#cards.right.hidden ? SIDES : [this.#sideOf(event)];
    await Promise.all(sides.map((side, i) => this.#load({ side, name: files[i].name, source: files[i] })));
  }

  /** Says what a side holds; without facts, that it holds nothing. */
  #describe(request: LoadRequest, facts: TableFacts | undefined): void {
    const { side, name, source } = request;
    this.#samples[side].value = this.samples[side] ?? "";
    if (!facts) {
      replace(
        this.#about[side],
        h("p", { class: "quiet" }, "No table: ", h("strong", {}, name), " was not read."),
      );
      return;
    }
    const { rows, columns, ms, notes, preview } = facts;
    const sample = isSample(request) ? SAMPLES.find(({ file }) => file === name) : undefined;
    const size = typeof source === "string" ? "" : `, ${bytesText(source.size)}`;
    replace(
      this.#about[side],
      h("p", {}, h("strong", {}, name), `: ${counted(rows, "row")}${size}, read in ${msText(ms)}`),
      h(
        "div",
        { class: "scroll", tabIndex: 0, role: "region", "aria-label": `First rows of ${name}` },
        rowsTable(columns, preview),
      ),
      ...notes.map((note) => h("p", { class: "note" }, note)),
      sample ? h("p", { class: "origin" }, sample.origin) : null,
    );
  }
}

/** A file of the reader's may have a sample's name, but never its address. */
function isSample({ source }: LoadRequest): boolean {
  return typeof source === "string";
}
