/** The program of a result, with a button that copies it, and for samples a link that opens it in the view Code. */
import { keepProgram, TRY_PROGRAM } from "../../code/view/edits.js";
import { h } from "../../dom.js";

export function programCard(program: string, isRunnable: boolean): HTMLElement {
  if (isRunnable) keepProgram(program);
  const copy = h("button", { type: "button" }, "Copy");
  copy.onclick = async () => {
    try {
      await navigator.clipboard.writeText(program);
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "The browser forbids it: select the text";
    }
    setTimeout(() => {
      copy.textContent = "Copy";
    }, 2000);
  };
  const open = isRunnable ? h("a", { href: `#/code?program=${TRY_PROGRAM}` }, "Open in Code") : null;
  return h(
    "section",
    { class: "card", "aria-labelledby": "program-title" },
    h("h2", { id: "program-title" }, "As a program"),
    h(
      "pre",
      { class: "program", tabIndex: 0, role: "region", "aria-label": "Program" },
      h("code", {}, program),
    ),
    h("div", { class: "row" }, copy, open),
  );
}
