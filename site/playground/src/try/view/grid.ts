/** The result's rows, a page at a time; the worker has them. */
import { grouped, h, replace } from "../../dom.js";
import type { Cells, ColumnFacts, PageRequest } from "../protocol.js";
import { rowsTable } from "./rows.js";

const ROWS = 50;

export class ResultGrid {
  readonly element = h("div", { class: "result-grid" });
  readonly #fetch: (request: PageRequest) => Promise<Cells>;
  readonly #place = h("p", { class: "place", role: "status" });
  readonly #wrapper = h("div", {
    class: "scroll",
    tabIndex: 0,
    role: "region",
    "aria-label": "Rows of the result",
  });
  readonly #buttons: readonly HTMLButtonElement[];
  #columns: readonly ColumnFacts[] = [];
  #rows = 0;
  #from = 0;
  /** Of the latest request: answers to earlier ones are not shown. */
  #turn = 0;

  constructor(fetch: (request: PageRequest) => Promise<Cells>) {
    this.#fetch = fetch;
    const button = (text: string, label: string, target: () => number) =>
      h("button", { type: "button", "aria-label": label, onclick: () => void this.#go(target()) }, text);
    this.#buttons = [
      button("First", "First rows", () => 0),
      button("Back", "Rows before", () => this.#from - ROWS),
      button("Next", "Next rows", () => this.#from + ROWS),
      button("Last", "Last rows", () => Number.POSITIVE_INFINITY),
    ];
    this.element.append(
      this.#wrapper,
      h(
        "div",
        { class: "pager", role: "group", "aria-label": "Pages of rows" },
        ...this.#buttons,
        this.#place,
      ),
    );
  }

  async show(rows: number, columns: readonly ColumnFacts[]): Promise<void> {
    this.#rows = rows;
    this.#columns = columns;
    await this.#go(0);
  }

  async #go(from: number): Promise<void> {
    const last = Math.max(0, Math.floor((this.#rows - 1) / ROWS) * ROWS);
    this.#from = Math.max(0, Math.min(from, last));
    const turn = ++this.#turn;
    try {
      const cells = await this.#fetch({ from: this.#from, count: ROWS });
      if (turn === this.#turn) this.#draw(cells);
    } catch (error) {
      // the worker that had the rows was ended
      if (turn === this.#turn) this.#place.textContent = (error as Error).message;
    }
  }

  #draw(cells: Cells): void {
    const end = this.#from + cells.length;
    this.#place.textContent =
      this.#rows === 0
        ? "no rows"
        : `rows ${grouped(this.#from + 1)} to ${grouped(end)} of ${grouped(this.#rows)}`;
    const [first, before, next, last] = this.#buttons;
    first.disabled = before.disabled = this.#from === 0;
    next.disabled = last.disabled = end >= this.#rows;
    replace(this.#wrapper, rowsTable(this.#columns, cells, this.#from));
    this.#wrapper.scrollTop = 0;
  }
}
