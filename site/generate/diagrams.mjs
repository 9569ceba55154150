// Diagrams of Mermaid (what GitHub draws) as HTML: each line of a diagram is a row of boxes with labelled arrows between them. It reads well
// on a phone, and needs no script. Kinds of lines that are not known here stay a block of code.

const ARROWS = [
  /^\s*--+>\s*/, // plain
  /^\s*-\.\s*(.+?)\s*\.->\s*/, // a -. label .-> b
  /^\s*--\s+(.+?)\s+--+>\s*/, // a -- label --> b
];
const NODE = /^\s*(\w+)\s*(?:\(\[(.*?)\]\)|\{\{(.*?)\}\}|\[(.*?)\]|\{(.*?)\}|\((.*?)\))?/;

const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "{": "&#123;", "}": "&#125;" };
const escaped = (text) =>
  text.replace(/[&<>"{}]/g, (character) => escapes[character]).replace(/`(.*?)`/g, "<code>$1</code>");

/** @param source what stands in a block of "mermaid" @returns one line of HTML; undefined for what cannot be shown this way */
export function diagramHtml(source) {
  const [kind, ...lines] = source
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const rowsOf = /^flowchart /.test(kind) ? flowRows : MESSAGES.get(kind);
  const rows = rowsOf?.(lines);
  if (!rows || rows.includes(undefined)) return undefined;
  return `<div class="diagram" role="list">${rows.map(rowHtml).join("")}</div>`;
}

/** A row is boxes and arrows in turn: { box }, { arrow: label }. */
function rowHtml(row) {
  const parts = row.map(({ box, arrow }) => {
    if (box !== undefined) return `<span class="box">${escaped(box)}</span>`;
    const label = arrow === "" ? "" : `<span class="label">${escaped(arrow)}</span>`;
    return `<span class="arrow">${label}<span aria-label="to">→</span></span>`;
  });
  return `<div role="listitem">${parts.join("")}</div>`;
}

/** Boxes have their text where they first come; later they are named alone. */
function flowRows(lines) {
  const names = new Map();
  const rows = lines.map((line) => {
    const row = [];
    let rest = line;
    while (true) {
      const node = NODE.exec(rest);
      if (!node) return undefined;
      const [whole, name, ...texts] = node;
      const text = texts.find((text) => text !== undefined);
      if (text !== undefined) names.set(name, text);
      row.push({ box: names.get(name) ?? name });
      rest = rest.slice(whole.length);
      if (rest.trim() === "") return row;
      const arrow = ARROWS.map((pattern) => pattern.exec(rest)).find(Boolean);
      if (!arrow) return undefined;
      row.push({ arrow: arrow[1] ?? "" });
      rest = rest.slice(arrow[0].length);
    }
  });
  return rows;
}

const message = (pattern, place) => (lines) =>
  lines
    .filter((line) => !line.startsWith("participant "))
    .map((line) => {
      const [, from, to, label] = pattern.exec(line) ?? [];
      if (from === undefined) return undefined;
      return [{ box: place(from) }, { arrow: label }, { box: place(to) }];
    });

/** Diagrams whose lines are "from, to: label". */
const MESSAGES = new Map([
  ["sequenceDiagram", message(/^(\w+)->>(\w+): (.*)$/, (name) => name)],
  ["stateDiagram-v2", message(/^(\S+) --> (\S+): (.*)$/, (name) => (name === "[*]" ? "start" : name))],
]);
