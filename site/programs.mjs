// The programs of the repository that run in a page, by the names under which the playground's view Code opens them: those of examples/,
// and the blocks of README.md and docs/ that stand alone. test/docs runs the same blocks in Node; here is only who of them needs no Node.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./paths.mjs";

/** What programs of a page may import: the library, flechette, and modules of Node that a page has a like of. */
const OFFERED = new Set([
  "warpmap",
  "warpmap/relational",
  "warpmap/io",
  "warpmap/sketches",
  "warpmap/wgsl",
  "@uwdata/flechette",
  "node:fs",
  "node:util",
]);

/** Calls for files and processes of Node's, which no page has. */
const OF_NODE =
  /\b(?:writeTable|readFileSync|writeFileSync|rmSync|mkdtempSync)\(|\bread(?:Table|Batches)\("|\bprocess\.(?!argv)|\bmemory:/;

const text = (path) => readFileSync(join(root, path), "utf8");

/** @typedef {{ name: string, title: string, source: string, prints?: string }} Program `prints`: what the page says that it prints */

/** @returns {Program[]} those of examples/ that need nothing but the library, data and what a page has a like of */
export function examplePrograms() {
  return readdirSync(join(root, "examples"))
    .filter((name) => name.endsWith(".mjs"))
    .map((name) => ({ name, title: name, source: text(`examples/${name}`) }))
    .filter(({ source }) => importsOffered(source));
}

/** @returns {Program[]} the blocks of README.md and docs/: the first has the name map.mjs, the others those of their pages and a number */
export function documentedPrograms() {
  const pages = readdirSync(join(root, "docs"), { recursive: true })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".md") && !path.startsWith("api"))
    .sort();
  return [
    programsOf("readme", "README.md"),
    ...pages.map((path) => programsOf(path.replace(/\.md$/, ""), `docs/${path}`)),
  ].flat();
}

/** The program of a block of code; undefined where it does not run in a page. */
export function programOf(source) {
  byText ??= new Map(
    [...documentedPrograms(), ...examplePrograms()].map((each) => [each.source.trim(), each.name]),
  );
  return byText.get(source.trim());
}
let byText;

function programsOf(stem, path) {
  const page = text(path);
  const blocks = [...page.matchAll(/^```js\n([\s\S]*?)^```$(?:\s*^```text\n([\s\S]*?)^```$)?/gm)];
  return blocks
    .map(({ 1: source, 2: prints, index }, i) => {
      const headings = [
        ...page
          .slice(0, index)
          .replace(/^```[\s\S]*?^```$/gm, "")
          .matchAll(/^#+ (.*)$/gm),
      ];
      const heading = headings.at(-1)?.[1].replaceAll("`", "") ?? stem;
      const name = stem === "readme" && i === 0 ? "map.mjs" : `${stem}-${i + 1}.mjs`;
      return { name, title: `${heading} (${path})`, source, prints };
    })
    .filter(({ source }) => importsOffered(source) && !OF_NODE.test(source));
}

function importsOffered(source) {
  const imports = [...source.matchAll(/(?:^import [\s\S]*?from |\bimport\()"(.*?)"/gm)];
  return imports.length > 0 && imports.every(([, from]) => OFFERED.has(from));
}
