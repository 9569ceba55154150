/** Elements of the page, made by calls. Text goes in as text, never as markup, so what a file holds cannot become a part of the page. */

import { grouped } from "../../../src/cli/text.js";

export { counted, grouped } from "../../../src/cli/text.js";

type Child = Node | string | null | undefined | false;
type Properties = Readonly<Record<string, unknown>>;

/**
 * Makes an element. Properties are set as such where the element has them (`value`, `disabled`, `onclick`), else as attributes;
 * `class` is the class, and what is undefined or false is left out.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (name === "class") element.className = String(value);
    else if (name in element && !ATTRIBUTES.has(name)) Reflect.set(element, name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/** Those that cannot be set as properties. */
const ATTRIBUTES = new Set(["list", "form", "role"]);

/** Puts children in place of those that an element has. */
export function replace(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

function append(parent: Element, children: readonly Child[]): void {
  for (const child of children)
    if (child !== null && child !== undefined && child !== false) parent.append(child);
}

/** A select with options; each is its value, or value and text. */
export function select(
  options: readonly (string | readonly [value: string, text: string])[],
  properties: Properties = {},
): HTMLSelectElement {
  const { value, ...rest } = properties;
  const pairs = options.map((option) => (typeof option === "string" ? ([option, option] as const) : option));
  const element = h("select", rest, ...pairs.map(([value, text]) => h("option", { value }, text)));
  if (value !== undefined && pairs.some(([own]) => own === value)) element.value = String(value);
  return element;
}

let lastId = 0;

/** A label above a control, tied to it. */
export function field(text: string, control: HTMLElement, hint?: string): HTMLElement {
  control.id ||= `f${++lastId}`;
  return h(
    "div",
    { class: "field" },
    h("label", { htmlFor: control.id }, text),
    control,
    hint ? h("small", {}, hint) : null,
  );
}

/** A control within its label, for checkboxes and radio buttons. */
export function choice(text: string, control: HTMLInputElement): HTMLElement {
  return h("label", { class: "choice" }, control, h("span", {}, text));
}

/** Milliseconds with three digits: "0.42 ms", "12.3 ms", "1,234 ms". */
export function msText(ms: number): string {
  if (ms >= 100) return `${grouped(ms)} ms`;
  return `${Number(ms.toPrecision(ms < 1 ? 2 : 3))} ms`;
}

/** "1.2 MB", "340 KB". */
export function bytesText(bytes: number): string {
  if (bytes < 1e6) return `${grouped(Math.ceil(bytes / 1e3))} KB`;
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}

/** Hands a file to the reader. */
export function download(name: string, parts: BlobPart[], type: string): void {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
