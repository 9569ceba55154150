// Makes a built site work from any path. VitePress writes absolute addresses below one base; here that base, ANY_BASE, becomes "up from
// this page" in HTML and style sheets. In scripts it becomes `siteBase`, which each page sets from its own address first of all.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "rollup/parseAst";
import { ANY_BASE } from "./paths.mjs";

const IN_SCRIPTS = `.replaceAll(${JSON.stringify(ANY_BASE)},globalThis.siteBase)`;

/** Changes the files of a folder in place. @throws where a script has the base in a place that is not known here */
export function relocate(folder) {
  const changes = { ".html": relocateHtml, ".js": relocateScript, ".css": relocateStyle };
  for (const path of readdirSync(folder, { recursive: true })) {
    const change = changes[/\.\w+$/.exec(path)?.[0]];
    if (change === undefined) continue;
    const file = join(folder, path);
    const text = readFileSync(file, "utf8");
    const changed = change(text, path.replaceAll("\\", "/"));
    if (changed !== text) writeFileSync(file, changed);
  }
}

/** Up from a file of the site to its root: "./", "../", "../../". */
const rootFrom = (path) => "../".repeat(path.split("/").length - 1) || "./";

export function relocateHtml(text, path) {
  const up = rootFrom(path);
  const pieces = text.split(/(<script\b[^>]*>[\s\S]*?<\/script>)/);
  const changed = pieces.map((piece) => {
    const [, open, script, close] = /^(<script\b[^>]*>)([\s\S]*?)(<\/script>)$/.exec(piece) ?? [];
    if (open === undefined) return piece.replaceAll(ANY_BASE, up);
    const isCode = !/type="(?!module|text\/javascript)/.test(open);
    return open.replaceAll(ANY_BASE, up) + (isCode ? relocateScript(script) : script) + close;
  });
  const first = `<script>globalThis.siteBase=new URL(${JSON.stringify(up)},location.href).pathname</script>`;
  return changed.join("").replace("<head>", `<head>${first}`);
}

function relocateStyle(text, path) {
  return text.replaceAll(ANY_BASE, rootFrom(path));
}

/** Strings and templates that hold the base have it replaced when they are evaluated. */
export function relocateScript(text) {
  if (!text.includes(ANY_BASE)) return text;
  const ends = [];
  let found = 0;
  visit(parseAst(text), (node, parent) => {
    if (node.type === "TemplateLiteral" && parent?.type !== "TaggedTemplateExpression") {
      const here = node.quasis.reduce((sum, { value }) => sum + count(value.raw), 0);
      if (here > 0) ends.push(node.end);
      found += here;
    } else if (node.type === "Literal" && typeof node.value === "string" && isExpression(node, parent)) {
      const here = count(text.slice(node.start, node.end));
      if (here > 0) ends.push(node.end);
      found += here;
    }
  });
  if (found !== count(text))
    throw new Error(`a script has the base where it cannot be replaced: ${text.slice(0, 200)}`);
  let changed = "";
  let from = 0;
  for (const end of ends.sort((a, b) => a - b)) {
    changed += text.slice(from, end) + IN_SCRIPTS;
    from = end;
  }
  return changed + text.slice(from);
}

const count = (text) => text.split(ANY_BASE).length - 1;

/** Not a name of a module or of a property. */
function isExpression(node, parent) {
  if (parent?.source === node) return parent.type === "ImportExpression";
  return !(parent?.type === "Property" && parent.key === node && !parent.computed);
}

function visit(node, see, parent) {
  if (Array.isArray(node)) for (const each of node) visit(each, see, parent);
  else if (node !== null && typeof node === "object" && typeof node.type === "string") {
    see(node, parent);
    for (const [key, child] of Object.entries(node)) if (key !== "parent") visit(child, see, node);
  }
}
