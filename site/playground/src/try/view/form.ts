/** What to do with the tables: join, group or distinct, with their options, as a form that answers a Spec. */
import { choice, field, h, replace, select } from "../../dom.js";
import {
  AGGREGATES,
  type AggregateFunction,
  type AggregateSpec,
  type ColumnFacts,
  JOIN_KINDS,
  type JoinKind,
  type Side,
  type Spec,
} from "../protocol.js";
import { likelyKeys } from "./comparable.js";
import { addButton, list, removeButton } from "./form-parts.js";

type Columns = (side: Side) => readonly ColumnFacts[];

const KINDS = [
  ["join", "Join"],
  ["group", "Group"],
  ["distinct", "Distinct"],
] as const;
type Kind = (typeof KINDS)[number][0];

const KIND_TEXTS: Record<JoinKind, string> = {
  inner: "inner: pairs of matching rows",
  left: "left: also left rows without a match",
  right: "right: also right rows without a match",
  full: "full: rows of both sides",
  semi: "semi: left rows with a match",
  anti: "anti: left rows without a match",
};

export interface FormContext {
  readonly columns: Columns;
  /** The reader has chosen something else. */
  readonly changed: () => void;
}

/** The form. What is chosen stays while columns with these names are there. */
export class OperationForm {
  readonly element: HTMLElement;
  readonly #columns: Columns;
  readonly #body = h("div", { class: "operation" });
  readonly #radios = new Map<Kind, HTMLInputElement>();
  #kind: Kind = "join";
  #how: JoinKind = "inner";
  #on: [string, string][] = [["", ""]];
  #select: Set<string> | null = null;
  #by = new Set<string>();
  #aggregates: { fn: AggregateFunction; column: string }[] = [{ fn: "count", column: "" }];
  #distinct = new Set<string>();
  /** Names of aggregates that were given, by what they stand for. */
  #names = new Map<string, string>();

  constructor({ columns, changed }: FormContext) {
    this.#columns = columns;
    const options = KINDS.map(([kind, text]) => {
      const radio = h("input", {
        type: "radio",
        name: "operation",
        value: kind,
        checked: kind === this.#kind,
      });
      radio.onchange = () => {
        this.#kind = kind;
        this.refresh();
      };
      this.#radios.set(kind, radio);
      return choice(text, radio);
    });
    this.element = h(
      "section",
      { class: "card" },
      h("fieldset", { class: "segments" }, h("legend", {}, h("h2", {}, "Operation")), ...options),
      this.#body,
    );
    // every choice is a control's, whose own handler comes first; buttons add and remove
    this.element.addEventListener("change", changed);
    this.#body.addEventListener("click", ({ target }) => {
      if (target instanceof HTMLButtonElement) changed();
    });
    this.refresh();
  }

  get kind(): Kind {
    return this.#kind;
  }

  /** Shows a spec. */
  set(spec: Spec): void {
    this.#kind = spec.kind;
    const radio = this.#radios.get(spec.kind);
    if (radio) radio.checked = true;
    if (spec.kind === "join") {
      this.#how = spec.how;
      this.#on = spec.on.map(([left, right]) => [left, right]);
      this.#select = spec.select ? new Set(spec.select) : null;
    } else if (spec.kind === "group") {
      this.#by = new Set(spec.by);
      this.#aggregates = spec.aggregates.map(({ fn, column = "" }) => ({ fn, column }));
      this.#names = new Map(spec.aggregates.map(({ name, fn, column = "" }) => [`${fn} ${column}`, name]));
    } else this.#distinct = new Set(spec.on);
    this.refresh();
  }

  /** What is chosen. @throws Error with what is missing */
  spec(): Spec {
    if (this.#kind === "join") {
      const on = this.#on.filter(([left, right]) => left !== "" && right !== "");
      if (on.length === 0) throw new Error("Choose the key columns to join on.");
      if (this.#select?.size === 0) throw new Error("Choose at least one column of the result.");
      const select = this.#select ? { select: [...this.#select] } : {};
      return { kind: "join", how: this.#how, on, ...select };
    }
    if (this.#kind === "distinct") return { kind: "distinct", on: this.#known(this.#distinct) };
    const by = this.#known(this.#by);
    if (by.length === 0) throw new Error("Choose at least one column to group by.");
    return { kind: "group", by, aggregates: this.#aggregateSpecs(by) };
  }

  /** Draws the fields anew: tables have come, or another kind was chosen. */
  refresh(): void {
    this.#guessKeys();
    this.#replaceStrangers();
    const fields = {
      join: () => this.#joinFields(),
      group: () => this.#groupFields(),
      distinct: () => this.#distinctFields(),
    };
    replace(this.#body, ...fields[this.#kind]());
  }

  #known(names: Set<string>): string[] {
    return this.#columns("left")
      .map(({ name }) => name)
      .filter((name) => names.has(name));
  }

  #aggregateSpecs(by: readonly string[]): AggregateSpec[] {
    const taken = new Set(by);
    return this.#aggregates.map(({ fn, column }) => {
      const wanted = this.#names.get(`${fn} ${column}`) ?? (column === "" ? fn : `${fn} ${column}`);
      let name = wanted;
      for (let i = 2; taken.has(name); i++) name = `${wanted} ${i}`;
      taken.add(name);
      return { name, fn, ...(column !== "" && { column }) };
    });
  }

  /** Keys that are not in the tables give way to the likeliest ones. */
  #guessKeys(): void {
    const [left, right] = [this.#columns("left"), this.#columns("right")];
    if (left.length === 0 || right.length === 0) return;
    const has = (columns: readonly ColumnFacts[], name: string) =>
      columns.some((column) => column.name === name);
    this.#on = this.#on.filter(([l, r]) => has(left, l) && has(right, r));
    if (this.#on.length > 0) return;
    this.#on = [likelyKeys(left, right) ?? [left[0].name, right[0].name]];
  }

  /** Aggregates of columns that are not in the table take another; of the result's columns those are left that it has. */
  #replaceStrangers(): void {
    const left = this.#columns("left").map(({ name }) => name);
    if (left.length === 0) return; // what is chosen waits for the next table
    for (const aggregate of this.#aggregates) {
      if (aggregate.column !== "" && !left.includes(aggregate.column))
        aggregate.column = this.#columnFor(aggregate.fn);
    }
    if (!this.#select) return;
    const names = this.#resultColumns();
    const kept = [...this.#select].filter((name) => names.includes(name));
    if (kept.length < this.#select.size) this.#select = kept.length > 0 ? new Set(kept) : null;
  }

  #joinFields(): HTMLElement[] {
    const kinds = select(
      JOIN_KINDS.map((kind) => [kind, KIND_TEXTS[kind]] as const),
      { value: this.#how },
    );
    kinds.onchange = () => {
      this.#how = kinds.value as JoinKind;
      this.#select = null; // semi and anti joins have the left's columns only
      this.refresh();
    };
    const names = (side: Side) => this.#columns(side).map(({ name }) => name);
    const pairs = this.#on.map((pair, i) => {
      const sides = (["left", "right"] as const).map((side, at) => {
        const list = select(names(side).length > 0 ? names(side) : [["", "no table yet"]], {
          value: pair[at],
          "aria-label": `Key ${i + 1}, ${side} column`,
        });
        list.onchange = () => {
          pair[at] = list.value;
        };
        return list;
      });
      const remove = () => {
        this.#on.splice(i, 1);
        this.refresh();
      };
      return h(
        "li",
        {},
        sides[0],
        h("span", { "aria-hidden": "true" }, "="),
        sides[1],
        this.#on.length > 1 ? removeButton(`Remove key ${i + 1}`, remove) : null,
      );
    });
    const next = () => likelyKeys(this.#columns("left"), this.#columns("right"), this.#on);
    const add = addButton("Add a key", () => {
      const pair = next();
      if (pair) this.#on.push(pair);
      this.refresh();
    });
    if (!next()) {
      add.disabled = true;
      add.title = "No two columns are left that can be compared.";
    }
    return [field("Join type", kinds), list("Rows match when", pairs, add), this.#selectField()];
  }

  /** Columns that the result has; the right's keys are not among them, and names that both sides have get a suffix. */
  #resultColumns(): string[] {
    const left = this.#columns("left").map(({ name }) => name);
    if (this.#how === "semi" || this.#how === "anti") return left;
    const keys = new Set(this.#on.map(([, right]) => right));
    const names = [...left];
    for (const { name } of this.#columns("right")) {
      if (keys.has(name)) continue;
      let free = name;
      while (names.includes(free)) free += "_right";
      names.push(free);
    }
    return names;
  }

  #selectField(): HTMLElement {
    const names = this.#resultColumns();
    const boxes = names.map((name) => {
      const box = h("input", { type: "checkbox", checked: this.#select?.has(name) ?? true });
      box.onchange = () => {
        const chosen = new Set(this.#select ?? names);
        if (box.checked) chosen.add(name);
        else chosen.delete(name);
        const kept = names.filter((name) => chosen.has(name));
        this.#select = kept.length === names.length ? null : new Set(kept);
      };
      return choice(name, box);
    });
    const details = h("details", { open: this.#select !== null }, h("summary", {}, "Columns of the result"));
    details.append(
      h("div", { class: "boxes", role: "group", "aria-label": "Columns of the result" }, ...boxes),
    );
    return details;
  }

  #groupFields(): HTMLElement[] {
    const names = this.#columns("left").map(({ name }) => name);
    const rows = this.#aggregates.map((aggregate, i) => {
      const fn = select(AGGREGATES, { value: aggregate.fn, "aria-label": `Aggregate ${i + 1}, function` });
      fn.onchange = () => {
        aggregate.fn = fn.value as AggregateFunction;
        if (aggregate.fn !== "count" && aggregate.column === "")
          aggregate.column = this.#columnFor(aggregate.fn);
        this.refresh();
      };
      const all = aggregate.fn === "count" ? [["", "rows"] as const] : [];
      const column = select([...all, ...names.map((name) => [name, name] as const)], {
        value: aggregate.column,
        "aria-label": `Aggregate ${i + 1}, column`,
      });
      column.onchange = () => {
        aggregate.column = column.value;
      };
      const remove = () => {
        this.#aggregates.splice(i, 1);
        this.refresh();
      };
      return h(
        "li",
        {},
        fn,
        h("span", { "aria-hidden": "true" }, "of"),
        column,
        removeButton(`Remove aggregate ${i + 1}`, remove),
      );
    });
    const add = addButton("Add an aggregate", () => {
      this.#aggregates.push({ fn: "mean", column: this.#columnFor("mean") });
      this.refresh();
    });
    return [this.#boxes("Group by", this.#by), list("Compute", rows, add)];
  }

  #columnFor(fn: AggregateFunction): string {
    const columns = this.#columns("left");
    const numeric = ["sum", "mean", "median", "std", "variance"].includes(fn);
    return ((numeric ? columns.find((column) => column.numeric) : undefined) ?? columns[0])?.name ?? "";
  }

  #distinctFields(): HTMLElement[] {
    return [this.#boxes("Columns to compare (none: all)", this.#distinct)];
  }

  #boxes(title: string, chosen: Set<string>): HTMLElement {
    const boxes = this.#columns("left").map(({ name }) => {
      const box = h("input", { type: "checkbox", checked: chosen.has(name) });
      box.onchange = () => {
        if (box.checked) chosen.add(name);
        else chosen.delete(name);
      };
      return choice(name, box);
    });
    const none = boxes.length === 0 ? h("span", { class: "quiet" }, "no table yet") : null;
    return h("fieldset", {}, h("legend", {}, title), h("div", { class: "boxes" }, none, ...boxes));
  }
}
