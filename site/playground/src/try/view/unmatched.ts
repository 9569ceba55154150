/** Why rows of a join found no partner: keys of both sides beside each other, and what differs. */
import { h } from "../../dom.js";
import type { KeyPair, KeySample } from "../protocol.js";

export function unmatchedPicture(pairs: readonly KeyPair[]): HTMLElement {
  return h(
    "section",
    { class: "card unmatched", "aria-labelledby": "unmatched-title" },
    h("h2", { id: "unmatched-title" }, "No rows match"),
    ...pairs.flatMap(({ left, right, differences }) => [
      h("div", { class: "key-pair" }, sample("Left", left), sample("Right", right)),
      ...differences.map((text) => h("p", { class: "difference" }, text)),
    ]),
  );
}

function sample(side: string, { column, type, keys }: KeySample): HTMLElement {
  return h(
    "div",
    {},
    h("p", {}, `${side}, `, h("strong", {}, column), " ", h("span", { class: "type" }, type)),
    h("ul", { class: "keys" }, ...keys.map((key) => h("li", {}, h("code", {}, key)))),
  );
}
