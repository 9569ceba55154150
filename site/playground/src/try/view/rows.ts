/** Rows as a table of the page: names and types above, numbers to the right, null as such. */
import { grouped, h } from "../../dom.js";
import type { Cells, ColumnFacts } from "../protocol.js";

/** @param from number of rows before the first; undefined: rows have no numbers */
export function rowsTable(columns: readonly ColumnFacts[], cells: Cells, from?: number): HTMLTableElement {
  const classOf = (i: number) => (columns[i].numeric ? "number" : "");
  const isNumbered = from !== undefined;
  const head = columns.map(({ name, type }, i) =>
    h("th", { scope: "col", class: classOf(i) }, name, h("span", { class: "type" }, type)),
  );
  const body = cells.map((row, at) =>
    h(
      "tr",
      {},
      isNumbered && h("td", { class: "line-number" }, grouped(from + at + 1)),
      ...row.map((cell, i) =>
        h("td", { class: classOf(i) }, cell === null ? h("em", { class: "null" }, "null") : cell),
      ),
    ),
  );
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, isNumbered && h("th", { scope: "col", class: "line-number" }, "#"), ...head)),
    h("tbody", {}, ...body),
  );
}
