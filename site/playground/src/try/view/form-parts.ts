/** Parts of the form that are in it more than once: lists that grow, with the buttons that add and remove. */
import { h } from "../../dom.js";

export function list(title: string, items: HTMLElement[], add: HTMLElement): HTMLElement {
  return h("fieldset", {}, h("legend", {}, title), h("ul", { class: "pairs" }, ...items), add);
}

export function removeButton(label: string, onclick: () => void): HTMLElement {
  return h(
    "button",
    { type: "button", class: "quiet-button", "aria-label": label, title: label, onclick },
    "×",
  );
}

export function addButton(text: string, onclick: () => void): HTMLButtonElement {
  return h("button", { type: "button", class: "quiet-button", onclick }, `+ ${text}`);
}
